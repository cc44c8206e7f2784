//! The commands, one file each, and what all of them hand back.

mod check;
mod completions;
mod config;
mod coverage;
mod demo;
mod export;
mod import;
mod invoice;
mod ls;
mod man;
mod prices;
mod reconcile;
mod show;
mod spend;
mod sql;
#[cfg(test)]
mod tests;
mod why;

use app::{AppError, Decision, ReconcileBy};

use crate::arguments::{Arguments, Command};
use crate::progress::Line;
use crate::session::{Session, Surroundings};

/// What a command answers.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The answer.
    pub(crate) stdout: String,
    /// What the user should know besides.
    pub(crate) warnings: Vec<AppError>,
    /// What to type next, or what was left out; for standard error, after the answer.
    pub(crate) notes: Vec<String>,
    /// Whether what was checked holds.
    pub(crate) verdict: Verdict,
}

/// Whether what was checked holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Verdict {
    /// It does, or nothing was checked.
    #[default]
    Ok,
    /// It does not.
    CheckDidNotHold,
}

impl Outcome {
    pub(crate) fn of(stdout: String) -> Self {
        Self { stdout, ..Self::default() }
    }
}

/// Runs a command.
pub(crate) async fn run(arguments: Arguments, surroundings: &Surroundings) -> Result<Outcome, AppError> {
    let Arguments { global, command } = arguments;
    // These two speak of the program itself and work whatever the settings say.
    if let Command::Completions { shell } = command {
        return Ok(completions::run(shell));
    }
    if let Command::Man { markdown } = command {
        return man::run(markdown);
    }
    let time_zone = if let Command::Import(import) = &command { import::time_zone(import) } else { None };
    let session = Session::open(&global, time_zone, surroundings)?;
    let progress = Line::new();
    let context = session.context(&progress);
    match command {
        Command::Import(import) => import::run(&session, &context, import).await,
        Command::Exec(_) => {
            Err(AppError::new("cli::exec_with_store", "`exec` is run before a store is opened"))
        }
        Command::Ls => ls::run(&session, &context).await,
        Command::Show { experiment } => show::run(&session, &context, &experiment).await,
        Command::Why { experiment, kind, attempt } => {
            why::run(&session, &context, &why::selection(experiment, kind.as_deref(), attempt)).await
        }
        Command::Spend { by } => spend::run(&session, &context, &by).await,
        Command::Reconcile { by, check, tolerance } => {
            let by = match by.as_str() {
                "day" => ReconcileBy::Day,
                "experiment" => ReconcileBy::Experiment,
                "attempt" => ReconcileBy::Attempt,
                "delivery" => {
                    return invoice::run(&session, &context, (invoice::View::Delivery, check)).await;
                }
                _ => return invoice::run(&session, &context, (invoice::View::Invoice, check)).await,
            };
            let gate = reconcile::Gate { check, per_mille: reconcile::tolerance(&tolerance)? };
            reconcile::run(&session, &context, (by, gate)).await
        }
        Command::Coverage => coverage::run(&session, &context).await,
        Command::Link { attempt, experiment, reason, by, undo: _ } => {
            import::link(&session, &context, Decision { attempt, experiment, by, reason }).await
        }
        Command::Prices { item } => prices::run(&session, &context, item.as_deref()).await,
        Command::Export(export) => export::run(&session, &context, export).await,
        Command::Check => check::run(&session, &context).await,
        Command::Sql { statement } => sql::run(&session, &context, &statement).await,
        Command::Demo { dir, seed, no_serve: _ } => demo::run(&session, &context, (&dir, seed)).await,
        Command::Config(config) => config::run(&session, &config),
        Command::Completions { shell } => Ok(completions::run(shell)),
        Command::Man { markdown } => man::run(markdown),
    }
}
