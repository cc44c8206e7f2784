//! The code's own rules, each a pure function over the tree that names what breaks it.

mod documents;
mod fences;
mod generated;
mod kinds;
mod layers;
mod limits;
mod lints;
mod opening;
pub(crate) mod scan;
mod words;
mod workspace;

use std::fmt;

pub use workspace::{Dependency, DependencyKind, Member, SourceFile, Workspace, WorkspaceError};

/// One thing in the tree that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, file and line, or crate.
    pub place: String,
    /// What is wrong there, and what would be right.
    pub message: String,
}

impl Problem {
    fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// A rule with the name under which it is reported.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// One word.
    pub name: &'static str,
    /// The problems that it finds; none means that the rule holds.
    pub run: fn(&Workspace) -> Vec<Problem>,
}

/// Every rule.
pub const CHECKS: &[Check] = &[
    Check { name: "layers", run: |tree| layers::check(&tree.members) },
    Check { name: "fences", run: |tree| fences::check(&tree.members) },
    Check { name: "limits", run: |tree| limits::check(&tree.sources, limits::EXCEPTIONS) },
    Check { name: "opening", run: |tree| opening::check(&tree.sources) },
    Check { name: "kinds", run: |tree| kinds::check(&tree.paths, &tree.sources) },
    Check { name: "words", run: |tree| words::check(&tree.sources) },
    Check { name: "documents", run: |tree| documents::check(&tree.members, tree.text("ARCHITECTURE.md")) },
    Check { name: "generated", run: generated::check },
    Check { name: "lints", run: lints::check },
];
