//! Reads runs of Weights & Biases: the local run folders, which keep every attempt, and answers of the API.
//!
//! # What it reads
//!
//! * `run-<id>.wandb` in `wandb/run-…` or `wandb/offline-run-…`: a file of checksummed records that the program writes as
//!   it runs, online or offline. A folder is read with all its run folders; symbolic links such as `latest-run` are not
//!   followed. Beside each, `files/wandb-metadata.json` tells what older versions keep only there: accelerators, the
//!   Slurm job, the commit.
//! * Runs from the API as JSON: an answer of GraphQL, a list of runs, or one run a line, with the fields of its
//!   `RunFragment`.
//!
//! | record | what it becomes |
//! |---|---|
//! | run: entity, project, id, start time | the attempt |
//! | run: group, else sweep | the experiment; else `experiment` or `experiment_id` of the config, else the name `<experiment>.a<number>` |
//! | config | `model_version`, `config_version`, `dataset_snapshot`, and `attempt_alias`, the key of the same attempt elsewhere |
//! | tag `attempt_alias=…` | the key of the same attempt elsewhere, as `trainbill exec` sets it |
//! | history: every number whose name begins with no `_` | quality; which way is better is not told |
//! | summary: numbers that the history does not have | final quality; of the API, the last value of each metric |
//! | exit | end; code 0, which is written as an empty record, is completed |
//! | preempting | pre-empted, if the run did not exit with 0 |
//! | artifacts of type model, checkpoint or dataset | artifacts, by their references where they have any |
//! | used artifact of type dataset | dataset snapshot, if the config names none |
//! | environment: GPUs, Slurm | accelerators of the host, job id and cluster |
//!
//! # How a record becomes an attempt
//!
//! Every start of a program makes a folder of its own, even where the server merges a resumed run into one. So a folder
//! is one attempt, `wandb:{entity}/{project}/{run id}:{start time}`, and attempts of one run id share an experiment. A run
//! without an exit record crashed, was killed, or still runs: it counts as lost at the last time that it tells, until a
//! later import shows more.
//!
//! A run of the API is one attempt from `createdAt` (or the start time in its config) to `heartbeatAt`: the API knows of
//! a resumed run only the last state. `finished`, `failed`, `killed`, `preempted` end it, `crashed` is lost. Its summary
//! tells the last value of each metric.
//!
//! Of every metric all values are kept up to 1,000; beyond that they are thinned out evenly, the first, the last, the
//! least and the greatest are kept, and a warning counts the others.
//!
//! # What it cannot tell
//!
//! * Accelerators of other hosts than the one that logs, and how many of the host's the run used.
//! * Machines, and so the rows of a bill: give the experiment as a tag to the machines, or import the scheduler.
//! * Import the folders or the API of one run, not both: their start times may differ, and then they are two attempts.
//!
//! # References
//!
//! * <https://github.com/wandb/wandb/blob/main/wandb/proto/wandb_internal.proto>
//! * <https://github.com/wandb/wandb/blob/main/core/internal/transactionlog>
//! * <https://docs.wandb.ai/models/ref/python/public-api/run>

mod executions;
mod export;
mod frame;
mod item;
mod metadata;
mod record;
mod run;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use ledger::SourceId;

use self::executions::Executions;
use self::record::Record;
use self::run::Run;
use super::TelemetryRead;
use super::attempts::cannot_read;
use super::shared::series::Thinned;
use super::shared::{folder, framed};
use crate::SourceError;

/// What the user says beside the files.
#[derive(Debug, Clone)]
pub struct WandbOptions {
    /// Name of the file for places in messages; not used for a folder, whose files have names.
    pub file: String,
    /// The source.
    pub source: SourceId,
    /// Entity of runs that name none, as offline runs of a user without a login do.
    pub entity: Option<String>,
    /// Project of runs that name none.
    pub project: Option<String>,
}

/// Reads one `.wandb` file, or one JSON file of runs from the API; which it is follows from its content.
///
/// # Errors
/// A coded error where the file as a whole cannot be read: it breaks off, is too large, or is neither.
pub fn read(mut input: impl BufRead, options: &WandbOptions) -> Result<TelemetryRead, SourceError> {
    let broken = |error: std::io::Error| cannot_read("wandb::cannot_read", &options.file, &error);
    let start = input.fill_buf().map_err(broken)?.first().copied();
    let mut import = Import::new(options);
    if start == Some(b':') {
        import.log(input, &options.file, None)?;
    } else {
        export::read(input, &mut import)?;
    }
    Ok(import.finished())
}

/// Reads all run folders under a folder, such as `wandb`.
///
/// # Errors
/// A coded error where the folder or a file of it cannot be read, or it holds no `.wandb` file.
pub fn read_folder(root: &Path, options: &WandbOptions) -> Result<TelemetryRead, SourceError> {
    let mut import = Import::new(options);
    let mut files = 0_u64;
    for found in folder::files(root, "wandb::cannot_read")? {
        if !found.name.ends_with(".wandb") {
            continue;
        }
        files += 1;
        let input = File::open(&found.path)
            .map_err(|error| cannot_read("wandb::cannot_read", &found.name, &error))?;
        let beside = found.path.parent().map(|folder| folder.join("files").join("wandb-metadata.json"));
        import.log(BufReader::new(input), &found.name, beside.as_deref())?;
    }
    if files == 0 {
        return Err(SourceError::new("wandb::no_runs", "the folder holds no run")
            .at(root.display().to_string())
            .expected("files named `run-….wandb`", "none")
            .help("give the folder `wandb` that the program made, or a file of runs from the API"));
    }
    Ok(import.finished())
}

/// What is gathered while files are read.
struct Import<'o> {
    options: &'o WandbOptions,
    read: TelemetryRead,
    thinned: Thinned,
    executions: Executions,
    /// Files that end inside a record.
    cut: u64,
    /// Files without a run record.
    unnamed: u64,
}

impl<'o> Import<'o> {
    fn new(options: &'o WandbOptions) -> Self {
        let (read, thinned, executions) =
            (TelemetryRead::default(), Thinned::default(), Executions::default());
        Self { options, read, thinned, executions, cut: 0, unnamed: 0 }
    }

    /// Reads one `.wandb` file, with the metadata beside it.
    fn log(&mut self, input: impl BufRead, file: &str, beside: Option<&Path>) -> Result<(), SourceError> {
        let broken = |error: std::io::Error| cannot_read("wandb::cannot_read", file, &error);
        let mut frames = frame::Frames::new(input);
        if !frames.has_header().map_err(broken)? {
            return Err(SourceError::new("wandb::not_a_run", "the file is no run of W&B")
                .at(file)
                .expected("the header `:W&B` of version 0", "another one")
                .help("give a `run-….wandb` file as the program wrote it"));
        }
        let mut run = Run::default();
        let read = &mut self.read;
        let cut = framed::each(&mut frames, |number, bytes| {
            read.count(bytes.and_then(Record::of).map(|record| run.take(record)), file, number);
        });
        self.cut += u64::from(cut.map_err(broken)?);
        if let Some(path) = beside {
            run.told_beside(metadata::read(path));
        }
        self.close(run);
        Ok(())
    }

    /// Says what the records of a run told.
    fn close(&mut self, run: Run) {
        let Some(identity) = run.identity(self.options) else {
            self.unnamed += 1;
            return;
        };
        self.executions.note(&identity, &run);
        self.read.observations.extend(run.observations(&identity, &self.options.source, &mut self.thinned));
    }

    fn finished(mut self) -> TelemetryRead {
        self.read.warn_of(
            self.cut,
            "wandb::cut_short",
            (
                "file(s) end inside a record: the program was killed, or still writes",
                "import the files again when the run has ended",
            ),
        );
        self.read.warn_of(
            self.unnamed,
            "wandb::no_run_record",
            (
                "file(s) do not name their run and its start: nothing is known of it",
                "nothing needs to be done if the program ended before it began",
            ),
        );
        self.read.warnings.extend(self.executions.warning());
        self.read.warnings.extend(self.thinned.warnings("wandb::values_thinned"));
        self.read
    }
}
