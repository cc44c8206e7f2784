//! Reads the logs of MLPerf training: `:::MLLOG` lines, one result file per attempt, or a folder of them.
//!
//! # What it reads
//!
//! Any text in which lines hold `:::MLLOG {…}`, with or without something before it; other lines are not records and
//! are passed over. Programs that log with `mlperf_logging` write such lines, whether or not they are submitted.
//!
//! ```text
//! :::MLLOG {"namespace": "", "time_ms": 1715224910183, "event_type": "INTERVAL_START", "key": "run_start", "value": null, "metadata": {}}
//! ```
//!
//! A folder is read whole: every `.txt`, `.log` and `.out` file in it. In the layout of MLCommons submissions,
//! `{org}/results/{system}/{benchmark}/result_{n}.txt`, the description of the system,
//! `{org}/systems/{system}.json`, tells the accelerators.
//!
//! | where | what it becomes |
//! |---|---|
//! | earliest `init_start`, else `run_start`, else the first event | start of the attempt |
//! | `init_start` to `run_start` | phase `init`, which no advertised time to train contains |
//! | `run_start` to `run_stop` | phase `train`, with the evaluations in it |
//! | `run_stop` with `metadata.status` | end: `success` is completed, `aborted` is failed |
//! | `eval_accuracy` and other numbers under `eval_…` | quality, by `metadata.metric` (`FID`, `CLIP`) where told |
//! | `metadata.epoch_num`, `samples_count` or `step_num` | step of the quality, if it is a whole number |
//! | `number_of_nodes`, `accelerators_per_node`, `accelerator_model_name` of the system | nodes and accelerators |
//! | `submission_org`, `submission_platform`, `submission_benchmark` | team, system and benchmark outside that layout |
//!
//! # How a record becomes an attempt
//!
//! A result file is one attempt, `mlperf:{org}/{system}/{benchmark}:{start in ms}`, of the experiment
//! `{org}/{system}/{benchmark}`, unless the user declares another. An `init_start` or `run_start` later than a
//! `run_stop` opens a further attempt in the same file. Several processes log the same events: the earliest start and
//! the latest stop hold, and one that says `aborted` decides.
//!
//! A log without `run_stop` is of an attempt that was lost at its last event; a later import of the longer log corrects
//! that. The last value of each metric is final if there is a `run_stop`, as stable_diffusion evaluates its checkpoints
//! only then. Which way is better, and the protocol `mlperf_training_{round}/{benchmark}`, are told for the benchmarks
//! of MLPerf training.
//!
//! Of every metric all values are kept up to 1,000; beyond that they are thinned out evenly, the first, the last, the
//! least and the greatest are kept, and a warning counts the others.
//!
//! # What it cannot tell
//!
//! * Accelerators, without the description of the system or a declaration: they are not reported.
//! * Machines, and so the rows of a bill: give the experiment as a tag to the machines, or import the scheduler.
//! * The time of an evaluation after `run_stop`: the log does not say on which machines it ran.
//! * The seed and the batch size: they are logged, and not kept.
//!
//! # References
//!
//! * <https://github.com/mlcommons/logging>
//! * <https://github.com/mlcommons/training_policies/blob/master/training_rules.adoc>
//! * <https://github.com/mlcommons/training_results_v4.0>

mod benchmark;
mod line;
mod run;
mod system;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use ledger::SourceId;

use self::run::Run;
use self::system::{Systems, Teller};
use super::TelemetryRead;
use super::attempts::{Lines, cannot_read};
use super::shared::folder;
use super::shared::series::Thinned;
use crate::SourceError;

/// What the user says beside the files.
#[derive(Debug, Clone)]
pub struct MlperfOptions {
    /// Name of the file for places in messages; not used for a folder, whose files have names.
    pub file: String,
    /// The source.
    pub source: SourceId,
    /// The experiment of all attempts, instead of organisation, system and benchmark.
    pub experiment: Option<String>,
    /// The benchmark's round, such as `v4.0`: part of the validation protocol, whose targets differ from round to round.
    pub round: Option<String>,
    /// Accelerators over all nodes, in thousandths, where no description of the system tells them.
    pub gpus: Option<u64>,
}

impl MlperfOptions {
    /// Options that declare nothing.
    pub fn new(file: impl Into<String>, source: SourceId) -> Self {
        Self { file: file.into(), source, experiment: None, round: None, gpus: None }
    }
}

/// Reads one log.
///
/// # Errors
/// A coded error where the file cannot be read or holds no `:::MLLOG` line.
pub fn read(input: impl BufRead, options: &MlperfOptions) -> Result<TelemetryRead, SourceError> {
    let mut import = Import::new(options, Systems::default());
    import.log(input, &options.file, &[])?;
    if import.read.rows == 0 {
        return Err(SourceError::new("mlperf::no_records", "the file holds no `:::MLLOG` line")
            .at(&options.file)
            .help("give a log that was written with mlperf_logging, or a folder of them"));
    }
    Ok(import.finished())
}

/// Reads all logs of a folder.
///
/// # Errors
/// A coded error where the folder or a file of it cannot be read, or none of its files holds a `:::MLLOG` line.
pub fn read_folder(root: &Path, options: &MlperfOptions) -> Result<TelemetryRead, SourceError> {
    let files = folder::files(root, "mlperf::cannot_read")?;
    let (systems, warnings) = Systems::of(&files);
    let mut import = Import::new(options, systems);
    import.read.warnings.extend(warnings);
    let above: Vec<String> = root.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    for found in files.iter().filter(|found| is_log(&found.name)) {
        let input = File::open(&found.path)
            .map_err(|error| cannot_read("mlperf::cannot_read", &found.name, &error))?;
        let parts: Vec<&str> = above.iter().map(String::as_str).chain(found.parts()).collect();
        let before = import.read.rows;
        import.log(BufReader::new(input), &found.name, &parts)?;
        import.silent += u64::from(import.read.rows == before);
    }
    if import.read.rows == 0 {
        return Err(SourceError::new("mlperf::no_records", "no file of the folder holds a `:::MLLOG` line")
            .at(root.display().to_string())
            .help("give the folder that holds the result files"));
    }
    Ok(import.finished())
}

fn is_log(name: &str) -> bool {
    [".txt", ".log", ".out"].iter().any(|ending| name.to_lowercase().ends_with(ending))
}

/// What is gathered while logs are read.
struct Import<'o> {
    options: &'o MlperfOptions,
    systems: Systems,
    read: TelemetryRead,
    thinned: Thinned,
    /// Files without a record.
    silent: u64,
    /// Attempts whose accelerators nobody tells.
    uncounted: u64,
    /// Attempts without `run_stop`.
    lost: u64,
}

impl<'o> Import<'o> {
    fn new(options: &'o MlperfOptions, systems: Systems) -> Self {
        let (read, thinned) = (TelemetryRead::default(), Thinned::default());
        Self { options, systems, read, thinned, silent: 0, uncounted: 0, lost: 0 }
    }

    /// Reads one log, whose path has these parts.
    fn log(&mut self, input: impl BufRead, file: &str, parts: &[&str]) -> Result<(), SourceError> {
        let mut lines = Lines::new(input);
        let mut run: Option<Run> = None;
        loop {
            let next = lines.next_line();
            let Some((number, line)) =
                next.map_err(|error| cannot_read("mlperf::cannot_read", file, &error))?
            else {
                break;
            };
            let Some(event) = line.map_or_else(|refusal| Some(Err(refusal)), line::event) else { continue };
            let taken = event.map(|event| {
                if run.as_ref().is_some_and(|run| run.is_left_by(&event)) {
                    self.close(run.take(), parts);
                }
                run.get_or_insert_with(|| Run::from(event.at)).take(&event);
            });
            self.read.count(taken, file, number);
        }
        self.close(run, parts);
        Ok(())
    }

    /// Says what the log told of an attempt.
    fn close(&mut self, run: Option<Run>, parts: &[&str]) {
        let Some(run) = run else { return };
        let teller = Teller::of(&run, parts, &self.systems, self.options);
        self.uncounted += u64::from(teller.gpus.is_none());
        self.lost += u64::from(!run.has_stopped());
        self.read.observations.extend(run.observations(&teller, self.options, &mut self.thinned));
    }

    fn finished(mut self) -> TelemetryRead {
        self.read.warn_of(
            self.silent,
            "mlperf::no_records",
            ("file(s) hold no `:::MLLOG` line", "nothing needs to be done"),
        );
        self.read.warn_of(
            self.uncounted,
            "mlperf::accelerators_not_told",
            (
                "attempt(s) are of systems whose accelerators nobody tells",
                "keep `systems/{system}.json` beside `results`, or declare the accelerators",
            ),
        );
        self.read.warn_of(
            self.lost,
            "mlperf::no_run_stop",
            (
                "attempt(s) have no `run_stop`: they count as lost at their last event",
                "import the log again when the attempt has ended",
            ),
        );
        self.read.warnings.extend(self.thinned.warnings("mlperf::values_thinned"));
        self.read
    }
}
