//! Reads runs of MLflow: answers of its REST interface, or the folder of its file store.
//!
//! # What it reads
//!
//! * Answers of `runs/search`, `runs/get`, `experiments/search`, `experiments/get` and `metrics/get-history`, as JSON, any
//!   number of them together, in any order. An answer of `get-history` does not name its run: its values must carry
//!   `run_id`, or the file must be named after the run. Other answers are passed over.
//! * The file store, `mlruns/`: `meta.yaml`, `metrics/`, `tags/` and `inputs/` of every run. A folder without any
//!   `meta.yaml` is read as a folder of answers.
//!
//! | where | what it becomes |
//! |---|---|
//! | `run_id` | the attempt |
//! | `start_time`, `end_time`, in milliseconds | start and end |
//! | `status` `FINISHED`, `FAILED`, `KILLED` (3, 4, 5 in the file store) | completed, failed, cancelled |
//! | tag `experiment` or `experiment_id` | the experiment |
//! | tag `mlflow.parentRunId` | else the experiment of the parent run |
//! | tag `mlflow.databricks.jobRunID` | else the job run, whose retries share it |
//! | run name `<experiment>.a<number>`, else the name of the MLflow experiment, unless it is `Default` | else the experiment |
//! | tags `model_version`, `config_version`, `dataset_snapshot`, `team` | as they say |
//! | tag `mlflow.source.git.commit`, dataset inputs with their digests | else configuration version and dataset snapshot |
//! | tags `slurm_job_id`, `pod_uid`, `attempt_alias` | other names of the same execution; `attempt_alias` holds its key |
//! | `metrics` | quality; which way is better is not told |
//! | `artifact_uri` | where the run's models and files lie |
//!
//! `runs/search` tells the last value of each metric only. `"NaN"` is no number, and `1.797…e308`, as which SQL stores
//! it, is infinite.
//!
//! # How a record becomes an attempt
//!
//! A run is one attempt, `mlflow:{tracking}:{run id}:0`, where `tracking` is the user's name of the server or folder.
//!
//! MLflow overwrites a run that is resumed: `FAILED` becomes `RUNNING` with the old end, then `FINISHED` with a new end
//! and the old start. A snapshot that was imported before keeps the failed attempt; the resumed one is the further
//! session `…:0#2`. A run that is `RUNNING` with an end was resumed, whether or not an earlier snapshot is here: it ended
//! then, without saying how, and runs again. A run whose steps go back was probably resumed: a warning counts them, and
//! nothing is guessed. So import on a schedule, not once at the end.
//!
//! A run without `end_time` is running, and stays so for ever if its program was killed.
//!
//! Of every metric all values are kept up to 1,000; beyond that they are thinned out evenly, the first, the last, the
//! least and the greatest are kept, and a warning counts the others.
//!
//! # What it cannot tell
//!
//! * Accelerators and machines: give the experiment as a tag to the machines, or import the scheduler.
//! * When a killed run ended, and a resume that happened between two snapshots and did not fail before.
//! * Runs of further pages; a warning says so where an answer names one that is not here.
//!
//! # References
//!
//! * <https://mlflow.org/docs/latest/api_reference/rest-api.html>
//! * <https://mlflow.org/docs/latest/self-hosting/architecture/backend-store/>
//! * <https://docs.databricks.com/aws/en/mlflow/tracking>

mod answer;
mod facts;
mod link;
mod run;
mod store;
mod yaml;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use ledger::SourceId;

use self::facts::Facts;
use self::link::Experiments;
use super::TelemetryRead;
use super::attempts::cannot_read;
use super::shared::folder;
use super::shared::series::Thinned;
use crate::SourceError;

/// What the user says beside the files.
#[derive(Debug, Clone)]
pub struct MlflowOptions {
    /// The source.
    pub source: SourceId,
    /// Name of the tracking server or folder, part of every key: the same at each import.
    pub tracking: String,
}

/// Reads answers of the REST interface together, each with its name for places in messages.
///
/// # Errors
/// A coded error where a file as a whole cannot be read: it breaks off, is larger than 256 MiB, or is no JSON.
pub fn read<R: BufRead>(
    files: impl IntoIterator<Item = (String, R)>,
    options: &MlflowOptions,
) -> Result<TelemetryRead, SourceError> {
    let mut import = Import::new(options);
    let mut answers = answer::Answers::default();
    for (name, input) in files {
        answers.take(&name, input, &mut import)?;
    }
    answers.close(&mut import);
    Ok(import.finished())
}

/// Reads a file store, or a folder of answers.
///
/// # Errors
/// A coded error where the folder or a file of it cannot be read, or it holds neither.
pub fn read_folder(root: &Path, options: &MlflowOptions) -> Result<TelemetryRead, SourceError> {
    let files = folder::files(root, "mlflow::cannot_read")?;
    let mut import = Import::new(options);
    if files.iter().any(|found| found.last() == "meta.yaml") {
        store::read(&files, &mut import)?;
        return Ok(import.finished());
    }
    let mut answers = answer::Answers::default();
    let mut count = 0_u64;
    for found in files.iter().filter(|found| found.name.ends_with(".json")) {
        count += 1;
        let input = File::open(&found.path)
            .map_err(|error| cannot_read("mlflow::cannot_read", &found.name, &error))?;
        answers.take(&found.name, BufReader::new(input), &mut import)?;
    }
    if count == 0 {
        return Err(SourceError::new("mlflow::no_runs", "the folder holds no run")
            .at(root.display().to_string())
            .expected("`meta.yaml` files of a file store, or `.json` answers", "none")
            .help("give the folder `mlruns`, or save answers of `runs/search` into a folder"));
    }
    answers.close(&mut import);
    Ok(import.finished())
}

/// What is gathered while files are read.
struct Import<'o> {
    options: &'o MlflowOptions,
    read: TelemetryRead,
    /// Runs by id; several views of one run where several snapshots are read together.
    runs: BTreeMap<String, Vec<Facts>>,
    experiments: Experiments,
    /// Answers whose next page is not here.
    unfinished: u64,
}

impl<'o> Import<'o> {
    fn new(options: &'o MlflowOptions) -> Self {
        let (runs, experiments) = (BTreeMap::new(), Experiments::default());
        Self { options, read: TelemetryRead::default(), runs, experiments, unfinished: 0 }
    }

    /// Takes a run, the same one once.
    fn run(&mut self, facts: Facts) {
        let known = self.runs.entry(facts.id.clone()).or_default();
        if !known.iter().any(|view| view.is_same(&facts)) {
            known.push(facts);
        }
    }

    fn finished(mut self) -> TelemetryRead {
        self.experiments.parents(&self.runs);
        let mut thinned = Thinned::default();
        let (mut resumed, mut went_back) = (0_u64, 0_u64);
        for facts in self.runs.into_values().flatten() {
            resumed += u64::from(facts.was_resumed());
            went_back += u64::from(facts.went_back() && !facts.was_resumed());
            let link = self.experiments.link(&facts, &self.options.tracking);
            let team = self.experiments.team(&facts.experiment_id);
            self.read.observations.extend(run::observations(facts, (link, team), self.options, &mut thinned));
        }
        self.read.warn_of(
            self.unfinished,
            "mlflow::more_pages",
            (
                "answer(s) name a next page that is not here",
                "query again with its `page_token`, and import all pages together",
            ),
        );
        self.read.warn_of(resumed,
            "mlflow::resumed",
            ("run(s) run again under the id of a run that had ended: how it had ended is known only if it was imported before",
            "import on a schedule, so that a snapshot from before the resume is kept"),
        );
        self.read.warn_of(went_back,
            "mlflow::step_went_back",
            ("run(s) logged a step that lies before an earlier one: they were probably resumed, and count as one attempt",
            "start a run of its own for every attempt, with the same `experiment` tag"),
        );
        self.read.warnings.extend(thinned.warnings("mlflow::values_thinned"));
        self.read
    }
}
