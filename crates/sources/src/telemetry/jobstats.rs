//! Reads the summaries that jobstats leaves of Slurm jobs: how busy each accelerator and each host of a job was.
//!
//! # What it reads
//!
//! * Accounting of Slurm in any form that `import slurm` reads, with the column `AdminComment`, where the epilog of
//!   jobstats keeps `JS1:` and a summary as JSON, compressed with gzip and encoded in base64:
//!
//!   ```text
//!   SLURM_TIME_FORMAT=%s sacct -a -D -X -P -S 2026-11-01 -E now -o Cluster,JobIDRaw,Submit,Start,End,State,AdminComment
//!   ```
//!
//! * One summary by itself, as `jobstats -j` prints it or encoded, of a job that the user names with its times.
//!
//! | where | what it becomes |
//! |---|---|
//! | `nodes.<host>.gpu_utilization.<index>` | mean share of time in which a kernel ran, of the device `<host>/<index>` |
//! | `nodes.<host>.gpu_used_memory.<index>`, `gpu_total_memory` | the most device memory in use, and all that there is |
//! | `nodes.<host>.total_time`, `cpus` | mean share of the processors held that were busy, of the host |
//! | `nodes.<host>.used_memory`, `total_memory` | the most host memory in use, and what was held |
//! | `total_time` beside `nodes` | seconds of the run, which must be those of the record |
//!
//! # How a record becomes an attempt
//!
//! None does: import the accounting with `import slurm` as well. A summary is evidence of the attempt of its record,
//! `slurm:{cluster}:{job id}:{submit epoch}`, over the whole of its time. A record without a comment, with another
//! comment, or with `JS1:Short` or `JS1:None` (too short to sample, or no samples) is accepted and says nothing.
//!
//! # What it cannot tell
//!
//! * When a device was idle, and for how long at a time: a summary is one mean, and how many samples are behind it is
//!   not told.
//! * Utilisation of slices (MIG), of which jobstats has the memory alone.
//! * Whether a summary is of this execution: one that tells another length, by more than five minutes, is rejected.
//!
//! # References
//!
//! * <https://princetonuniversity.github.io/jobstats/setup/summaries/>

mod summary;

use ledger::Interval;

pub(in crate::telemetry) use self::summary::{Summarised, observations};

use super::TelemetryRead;
use super::slurm::{self, SlurmFile, SlurmOptions};
use crate::SourceError;

/// What the user says beside the files.
#[derive(Debug, Clone)]
pub struct JobstatsOptions {
    /// What is to be known of the accounting.
    pub slurm: SlurmOptions,
    /// The job of a summary that stands by itself.
    pub job: Option<SummarisedJob>,
}

/// A job, and when it ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummarisedJob {
    /// Its cluster.
    pub cluster: String,
    /// Its raw id.
    pub id: String,
    /// When it ran.
    pub ran: Interval,
}

/// Reads files together; where a job is named, each file is a summary of it.
///
/// # Errors
/// A coded error where a file as a whole cannot be read, as of [`slurm::read`]; or where a file is no accounting, and no
/// job is named.
pub fn read(files: &[SlurmFile], options: &JobstatsOptions) -> Result<TelemetryRead, SourceError> {
    if let Some(job) = &options.job {
        let mut read = TelemetryRead::default();
        for file in files {
            let text = slurm::text_of(file)?;
            let summarised = Summarised {
                key: format!("slurm:{}:{}", job.cluster, job.id),
                cluster: &job.cluster,
                ran: Some(job.ran),
                text: &text,
            };
            read.settle(observations(&summarised), &file.name);
        }
        return Ok(read);
    }
    slurm::summaries(files, &options.slurm).map_err(|error| {
        if error.code != "slurm::unknown_answer" {
            return error;
        }
        let place = error.place.unwrap_or_default();
        SourceError::new("jobstats::no_job", "a summary by itself does not say of which job it is")
            .at(place)
            .expected("accounting with `AdminComment`, or a job that is named", "neither")
            .help("export the accounting, or say `--cluster NAME --job ID --started TIME --ended TIME`")
    })
}
