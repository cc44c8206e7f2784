//! The attribution operator: a logical node, its execution, and the kernel that splits batches of charges.

mod attributed;
mod columns;
mod dimensions;
mod groups;
mod kernel;
mod memory;
mod node;
mod run;

pub use attributed::{Attributed, Group};
pub(crate) use columns::Columns;
pub(crate) use node::OperatorPlanner;
pub use run::{Charges, MEASURES, Measures, Run, Witness, attribute};
