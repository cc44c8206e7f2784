//! Reads the accounting of a Slurm cluster: `sacct` as text or JSON, `slurmrestd` answers, and the table of instances.
//!
//! # What it reads
//!
//! The format is found by content; a file may be compressed with gzip.
//!
//! * `sacct -P` or `-p` text with its header: any delimiter, any columns in any order, any version. `JobIDRaw` (or
//!   `JobID`), `Submit`, `Start` and `End` must be there; `State`, `AllocTRES`, `NodeList` and `Cluster` should be.
//! * `sacct --json` and `slurmrestd`'s `/slurmdb/<version>/jobs`, from Slurm 22.05 to 26.05.
//! * `sacctmgr show instance -P` and `slurmrestd`'s `/slurmdb/<version>/instances`: which instance a node was, and when.
//!
//! Text times are in the zone of the machine that ran `sacct`, unless `SLURM_TIME_FORMAT=%s` or an offset makes them
//! absolute; a bare time needs a declared zone. The command to ask for, without the columns that the version lacks:
//!
//! ```text
//! SLURM_TIME_FORMAT=%s sacct -a -D -X -P --noconvert -S 2026-11-01 -E now -o Cluster,JobID,JobIDRaw,Account,User,\
//! Partition,QOS,Submit,Eligible,Start,End,ElapsedRaw,State,ExitCode,DerivedExitCode,NNodes,NCPUS,ReqTRES,AllocTRES,\
//! NodeList,Reason,Restarts,FailedNode,DBIndex,SLUID,OriginalSLUID,Comment,AdminComment,Extra,JobName
//! ```
//!
//! # How a record becomes an attempt
//!
//! One accounting record is one attempt, `slurm:{cluster}:{job id}:{submit epoch}`: a requeue resets the submit time
//! and makes a record of its own. A record that ends as RESIZING is a segment, which its chain joins to the next one.
//! The parts of a heterogeneous job are attempts of their own under one experiment. A range of array tasks that never
//! started is not an attempt yet, and a REVOKED record ran at another cluster of the federation; both are accepted
//! and say nothing. Job steps are accepted as evidence only: they give no attempt and no sum.
//!
//! Each node of the record is a binding, with the GPUs of the record spread evenly over its nodes (CPUs, if it has no
//! GPU). GPUs are `gres/gpu`, or the sum of `gres/gpu:<type>` where that is missing, of `AllocTRES`, else of `ReqTRES`.
//!
//! The state decides how an attempt ended; an exit code never makes a success. A FAILED record becomes out-of-memory if a
//! step says so or held more than its memory. A job that failed and was then put back into the queue, by hand or by
//! `RequeueExit`, is REQUEUED with the exit code of its failure, or with a batch step that FAILED: it failed. One without
//! either was stopped to be put back.
//!
//! The experiment is named by `experiment=<id>;config=<version>;dataset=<snapshot>;model=<version>` (also with `,` or
//! blanks between, or as a JSON object, whose quotes Slurm may have stored as backticks) in `Extra`, else `Comment`,
//! else `AdminComment`; else by a job name `<experiment>.a<number>`; else the job is its own experiment,
//! `slurm:{cluster}/{job id}`, which its requeues share. The name is not used for that: unrelated jobs are all `train`.
//!
//! # What it cannot tell
//!
//! * `sacct` without `-D` hides every attempt before the last; a warning says so where the file shows it.
//! * Without `gres/gpu` in `AccountingStorageTRES`, GPUs are not counted: they are not reported, which is not none.
//!   A MIG slice counts as one GPU, as Slurm counts it; shards are not counted.
//! * A `|` in a job name is not escaped. Surplus fields are given to the free-text columns if the other columns then
//!   hold; otherwise the row is rejected. A line break in a text column always rejects its row.
//! * An array task without `JobIDRaw` gets another key than with it.
//! * The elapsed time of an attempt that still runs: the record does not say when it was exported.
//! * The exit code of a failed job in the JSON of 22.05, which says 0 of every one.
//! * When a job ended that failed and was put back into the queue later by hand: its end becomes that of the requeue, up to
//!   `MinJobAge` later.
//! * The size of a node and what was bought; spot is known only from the `Extra` of an instance (`market=spot`).
//! * After `MaxJobId` job ids begin again: two unnamed jobs with one id then share an experiment, never an attempt.
//!
//! # References
//!
//! * <https://slurm.schedmd.com/sacct.html>
//! * <https://slurm.schedmd.com/sacctmgr.html>
//! * <https://slurm.schedmd.com/rest_api.html>
//! * <https://slurm.schedmd.com/tres.html>

mod carrier;
mod fault;
mod history;
mod instance;
mod json;
mod nodes;
mod record;
mod state;
mod surplus;
mod text;
mod tres;

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::PathBuf;

use flate2::read::MultiGzDecoder;

pub(in crate::telemetry) use self::carrier::{Named, name_rule as experiment_of_name};
pub use super::shared::convention::{Conventions, NamingRule};

use self::fault::Fault;
use self::history::History;
use self::record::Record;
use super::TelemetryRead;
use super::shared::whole::{self, Unheld};
use crate::{Rejection, SourceError, Zone};

/// Bindings that one import may make; a longer period is imported in parts.
const MAX_BINDINGS: usize = 4_000_000;

/// One input.
#[derive(Debug, Clone)]
pub struct SlurmFile {
    /// Name for places in messages.
    pub name: String,
    /// Where its bytes are.
    pub content: Content,
}

/// Where the bytes of an input are.
#[derive(Debug, Clone)]
pub enum Content {
    /// In a local file, read as a stream.
    Path(PathBuf),
    /// In memory.
    Bytes(Vec<u8>),
}

/// What the user says beside the files.
#[derive(Debug, Clone)]
pub struct SlurmOptions {
    /// Zone of bare times.
    pub zone: Zone,
    /// Cluster of records that name none.
    pub cluster: Option<String>,
    /// What a record without GPUs means.
    pub gpu_accounting: GpuAccounting,
    /// How comments and names of jobs name experiments.
    pub conventions: Conventions,
}

/// What it means that a record lists no `gres/gpu`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GpuAccounting {
    /// Not told, since a cluster counts GPUs only if it is configured to.
    AsReported,
    /// None were held: the user declares that the cluster counts GPUs.
    Complete,
}

impl SlurmOptions {
    /// Options with a zone for bare times; the records name their cluster, GPUs are as reported, and experiments are named
    /// by the documented conventions.
    pub fn new(zone: Zone) -> Self {
        let conventions = Conventions::default();
        Self { zone, cluster: None, gpu_accounting: GpuAccounting::AsReported, conventions }
    }
}

/// Reads the files as one input, so that an attempt that one of them hides is found in another.
///
/// # Errors
/// A coded error where a file as a whole cannot be read: no header, no zone, no cluster, not JSON.
pub fn read(files: &[SlurmFile], options: &SlurmOptions) -> Result<TelemetryRead, SourceError> {
    read_for(Wanted::Attempts, files, options)
}

/// Reads the summaries of jobstats in the comments of records, and no attempts.
///
/// # Errors
/// As [`read`].
pub(in crate::telemetry) fn summaries(
    files: &[SlurmFile],
    options: &SlurmOptions,
) -> Result<TelemetryRead, SourceError> {
    read_for(Wanted::Summaries, files, options)
}

/// The text of a small file as a whole.
///
/// # Errors
/// It breaks off, is no text, or has more than 256 MiB.
pub(in crate::telemetry) fn text_of(file: &SlurmFile) -> Result<String, SourceError> {
    let unheld = Unheld {
        cannot_read: "slurm::cannot_read",
        too_large: "slurm::too_large",
        help: "give one summary in a file",
    };
    let bytes = whole::read(open(file)?, &file.name, unheld)?;
    String::from_utf8(bytes).map_err(|error| cannot_read(&file.name, &std::io::Error::other(error)))
}

fn read_for(
    wanted: Wanted,
    files: &[SlurmFile],
    options: &SlurmOptions,
) -> Result<TelemetryRead, SourceError> {
    let mut import = Import {
        wanted,
        options,
        file: String::new(),
        read: TelemetryRead::default(),
        history: History::default(),
        bindings: 0,
    };
    for file in files {
        file.name.clone_into(&mut import.file);
        read_one(file, &mut import)?;
    }
    if wanted == Wanted::Attempts {
        import.read.warnings = import.history.warnings();
    }
    Ok(import.read)
}

fn read_one(file: &SlurmFile, import: &mut Import<'_>) -> Result<(), SourceError> {
    let mut input = open(file)?;
    match first_byte(&mut input).map_err(|error| cannot_read(&file.name, &error))? {
        Some(b'{') => json::read(input, import),
        Some(_) => text::read(input, import),
        None => Err(SourceError::new("slurm::no_header", "the file is empty")
            .at(&file.name)
            .help("an export without records still has its header: run sacct again")),
    }
}

fn open(file: &SlurmFile) -> Result<Box<dyn BufRead + '_>, SourceError> {
    let raw: Box<dyn Read + '_> = match &file.content {
        Content::Path(path) => Box::new(File::open(path).map_err(|error| cannot_read(&file.name, &error))?),
        Content::Bytes(bytes) => Box::new(Cursor::new(bytes.as_slice())),
    };
    let mut input = BufReader::new(raw);
    let start = input.fill_buf().map_err(|error| cannot_read(&file.name, &error))?;
    if start.starts_with(&[0x1f, 0x8b]) {
        return Ok(Box::new(BufReader::new(MultiGzDecoder::new(input))));
    }
    Ok(Box::new(input))
}

/// Skips blanks and a byte order mark, and shows the byte after them.
fn first_byte(input: &mut Box<dyn BufRead + '_>) -> std::io::Result<Option<u8>> {
    loop {
        let buffer = input.fill_buf()?;
        let Some(byte) = buffer.first().copied() else { return Ok(None) };
        if !byte.is_ascii_whitespace() && ![0xef, 0xbb, 0xbf].contains(&byte) {
            return Ok(Some(byte));
        }
        input.consume(1);
    }
}

fn cannot_read(name: &str, error: &std::io::Error) -> SourceError {
    SourceError::new("slurm::cannot_read", format!("cannot read the file: {error}"))
        .at(name)
        .help("check the path and its permissions")
}

/// What is told of records.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// Their attempts, with what these held.
    Attempts,
    /// What jobstats wrote into their comments.
    Summaries,
}

/// What is gathered while the files are read.
struct Import<'o> {
    wanted: Wanted,
    options: &'o SlurmOptions,
    /// Name of the file being read.
    file: String,
    read: TelemetryRead,
    history: History,
    bindings: usize,
}

impl Import<'_> {
    /// Counts a row as accepted or rejected, or stops.
    fn settle(&mut self, row: u64, outcome: Result<(), Fault>) -> Result<(), SourceError> {
        let refusal = match outcome {
            Ok(()) => {
                self.read.rows += 1;
                self.read.accepted += 1;
                return Ok(());
            }
            Err(Fault::Stop(error)) => return Err(fault::at_row(error, &self.file, row)),
            Err(Fault::Row(refusal)) => refusal,
        };
        self.read.rows += 1;
        self.read.rejections.push(Rejection {
            code: refusal.code,
            file: self.file.clone(),
            row,
            column: refusal.column,
            found: refusal.found,
            expected: refusal.expected,
        });
        Ok(())
    }

    /// Takes what a record says.
    fn take(&mut self, record: &Record) -> Result<(), Fault> {
        if self.wanted == Wanted::Summaries {
            self.read.observations.extend(record::summary(record)?);
            return Ok(());
        }
        let observations = record::observations(record, self.options)?;
        self.bindings = self.bindings.saturating_add(observations.len());
        if self.bindings > MAX_BINDINGS {
            return Err(Fault::Stop(
                SourceError::new(
                    "slurm::too_many_bindings",
                    "the records hold too many nodes for one import",
                )
                .expected(format!("at most {MAX_BINDINGS} nodes over all records"), "more")
                .help("export a shorter period with -S and -E, and import it in parts"),
            ));
        }
        if !observations.is_empty() {
            self.history.note(record);
        }
        self.read.observations.extend(observations);
        Ok(())
    }

    /// The cluster of a record.
    fn cluster(&self, named: Option<&str>) -> Result<String, Fault> {
        let named = named.map(str::trim).filter(|name| !name.is_empty());
        named.or(self.options.cluster.as_deref()).map(str::to_owned).ok_or_else(|| {
            Fault::Stop(
                SourceError::new("slurm::no_cluster", "a record names no cluster, and none was declared")
                    .help("export with the Cluster column, or pass `--cluster NAME`"),
            )
        })
    }
}
