//! The attribution operator: a logical node, its execution, and the kernel that splits batches of charges.

mod columns;
mod dimensions;
mod groups;
mod kernel;
mod memory;
mod node;
mod run;

pub(crate) use columns::Columns;
pub(crate) use node::OperatorPlanner;
pub use run::{Attributed, Charges, Group, MEASURES, Measures, Run, Witness, attribute};
