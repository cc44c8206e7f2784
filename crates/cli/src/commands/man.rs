//! `man`: the manual page.

use app::AppError;
use clap::CommandFactory;
use clap_mangen::Man;

use super::Outcome;
use crate::arguments::Arguments;
use crate::manual;

pub(super) fn run(markdown: bool) -> Result<Outcome, AppError> {
    if markdown {
        return Ok(Outcome::of(manual::markdown()));
    }
    let mut page = Vec::new();
    pages(&Arguments::command(), &mut page)
        .map_err(|error| AppError::new("cli::cannot_write", error.to_string()))?;
    Ok(Outcome::of(String::from_utf8_lossy(&page).into_owned()))
}

/// The page of the program, and after it one of each command.
fn pages(command: &clap::Command, page: &mut Vec<u8>) -> std::io::Result<()> {
    let mut command = command.clone();
    command.build();
    Man::new(command.clone()).render(page)?;
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        Man::new(inner.clone()).render(page)?;
    }
    Ok(())
}
