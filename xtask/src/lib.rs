//! The project's own tools that a test can call: the rules which the code holds itself to, and the pages made from it.

pub mod generate;
pub mod tidy;
