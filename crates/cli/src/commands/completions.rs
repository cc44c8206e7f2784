//! `completions`: a script by which a shell completes the command line.

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use super::Outcome;
use crate::arguments::Arguments;

pub(super) fn run(shell: Shell) -> Outcome {
    let mut script = Vec::new();
    generate(shell, &mut Arguments::command(), "trainbill", &mut script);
    Outcome::of(String::from_utf8_lossy(&script).into_owned())
}
