//! Reads attempts that people keep in a spreadsheet: CSV with a header, or one JSON object a line.
//!
//! # What it reads
//!
//! The format is found by content: a `{` begins JSON lines, anything else is CSV with a header, separated by commas,
//! semicolons or tabs. Columns come in any order; case, blanks and `-` in their names do not matter. A column that is
//! not listed here is not read, and a warning names it. In JSON a list may be an array.
//!
//! | column | meaning |
//! |---|---|
//! | `attempt_id` | required: unique id of this execution; a retry has another |
//! | `experiment` | required: the logical trial that the attempt belongs to |
//! | `aliases` | list of other names, such as `slurm:gpu:42:1795998677`: the row then adds to that attempt |
//! | `name`, `user`, `team` | job name, who ran it, who owns it |
//! | `scheduler`, `cluster`, `queue` | what launched it and where; the scheduler is `manual` if empty |
//! | `status` | `completed`, `failed`, `cancelled`, `preempted`, `timeout`, `running`, `pending` or `lost` |
//! | `cause` | a word for why it failed, such as `oom_gpu`; other text is kept as evidence |
//! | `exit_code` | exit code; never decides success |
//! | `submitted`, `started`, `ended` | times; billed time may begin at `started` |
//! | `modified` | when the row was last changed; the newest row of an attempt corrects older imports |
//! | `gpus`, `gpu_kind`, `nodes` | accelerators over all nodes (`0.5` is allowed), their model, number of nodes |
//! | `capacity` | `on_demand`, `spot` or `reserved` |
//! | `model_version`, `config_version`, `dataset_snapshot` | what was trained, how and on what |
//! | `resource_ids` | list of ids as the bill names them: `i-…`, `vol-…`, `arn:…`, `s3://bucket/prefix` |
//! | `resource_gpus` | accelerators held of each machine; `gpus` spread evenly if empty |
//! | `resource_capacity` | accelerators that each machine has |
//! | `instance_type` | type of each machine, from which its accelerators are known |
//! | `metric`, `metric_value`, `metric_direction` | final quality; `maximise` or `minimise` |
//! | `metric_split`, `metric_step`, `metric_at`, `protocol` | its data split, step, time and validation protocol |
//! | `checkpoint_at` | list of times at which a checkpoint was durable |
//! | `artifact_uri` | where the model lies |
//!
//! Lists are separated by `;`. For `resource_gpus`, `resource_capacity` and `instance_type` one value stands for all
//! machines. Times are RFC 3339 with an offset or epoch seconds; a time without offset needs a declared zone.
//!
//! ```text
//! attempt_id,experiment,status,started,ended,gpus,capacity,resource_ids,metric,metric_value,metric_direction,protocol
//! a1,vitl,preempted,2026-07-01T10:00:00Z,2026-07-01T13:30:00Z,8,spot,i-0abc,,,,
//! a2,vitl,completed,2026-07-01T14:00:00Z,2026-07-02T01:00:00Z,8,spot,i-0def,val_acc,0.781,maximise,top1-v2
//! ```
//!
//! # How a record becomes an attempt
//!
//! A row is one attempt, `csv:{source}:{attempt_id}`. Without `status`, a row that ended has an unknown outcome, one
//! that started is running, and any other is pending. `success`, `done`, `error`, `killed`, `queued` and other common
//! words are understood. Each id of `resource_ids` is held from `started` to `ended`: its shape tells what it is, and
//! machines are held by their accelerators, everything else as a whole. A row that ended and was submitted but has an
//! empty `started` never ran, and held nothing.
//!
//! An id that stands twice in one file with different content is rejected. A later import with another end for the
//! same id corrects the attempt; one that turns a failure into a success with a later end is a further session, since
//! a failed attempt is never rewritten: give a retry an id of its own.
//!
//! # What it cannot tell
//!
//! * Phases, and when a spot machine was taken back if the row ends later.
//! * A bare bucket or machine name is a resource of unknown kind: write `s3://name` for a bucket.
//! * Machines that changed during the attempt: give each its own row, or use events.
//!
//! # References
//!
//! * <https://www.rfc-editor.org/rfc/rfc3339>
//! * <https://www.rfc-editor.org/rfc/rfc4180>

mod cell;
mod column;
mod documents;
mod labels;
mod lines;
mod refusal;
mod resource;
mod row;
mod words;

use std::collections::BTreeMap;
use std::io::BufRead;

use ledger::{Observation, SourceId};

use self::cell::Row;
use self::refusal::Fault;
use super::{TelemetryRead, Warning};
use crate::{Rejection, SourceError, Zone};

pub(in crate::telemetry) use self::cell::thousandths;
pub(in crate::telemetry) use self::documents::{Codes, documents, moment, values};
pub(in crate::telemetry) use self::labels::Labels;
pub(in crate::telemetry) use self::lines::Lines;
pub(in crate::telemetry) use self::refusal::{Refusal, cannot_read};
pub(in crate::telemetry) use self::resource::Resource;
pub(in crate::telemetry) use self::words::{interruption, outcome_of};

/// What the user says beside the file.
#[derive(Debug, Clone)]
pub struct AttemptsOptions {
    /// Name of the file for places in messages.
    pub file: String,
    /// The source, part of every key: the same spreadsheet must have the same name at each import.
    pub source: SourceId,
    /// Zone of times without an offset.
    pub zone: Zone,
}

/// Reads one file.
///
/// # Errors
/// A coded error where the file as a whole cannot be read: no header, a required column missing, no zone.
pub fn read(input: impl BufRead, options: &AttemptsOptions) -> Result<TelemetryRead, SourceError> {
    let mut import =
        Import { options, read: TelemetryRead::default(), seen: BTreeMap::new(), idle_resources: 0 };
    lines::rows(input, &mut import)?;
    if import.idle_resources > 0 {
        import.read.warnings.push(Warning {
            code: "attempts::resources_without_start",
            message: format!(
                "{} rows name resources but no start, so nothing was held",
                import.idle_resources
            ),
            help: "fill the `started` column of those rows".to_owned(),
        });
    }
    Ok(import.read)
}

/// What is gathered while the file is read.
struct Import<'o> {
    options: &'o AttemptsOptions,
    read: TelemetryRead,
    /// First row of each attempt, and where its observations stand.
    seen: BTreeMap<String, (u64, std::ops::Range<usize>)>,
    idle_resources: u64,
}

impl Import<'_> {
    /// Takes one row, or counts it as rejected.
    fn take(&mut self, number: u64, row: Result<Row, Refusal>) -> Result<(), SourceError> {
        self.read.rows += 1;
        let refusal = match row.map_err(Fault::Row).and_then(|row| self.observe(number, &row)) {
            Ok(()) => {
                self.read.accepted += 1;
                return Ok(());
            }
            Err(Fault::Stop(error)) => return Err(error.at(format!("{}:{number}", self.options.file))),
            Err(Fault::Row(refusal)) => refusal,
        };
        self.read.rejections.push(refusal.rejection(&self.options.file, number));
        Ok(())
    }

    fn observe(&mut self, number: u64, row: &Row) -> Result<(), Fault> {
        let made: Vec<Observation> = row::observations(row, self.options)?;
        if row.has("resource_ids") && !row.has("started") {
            self.idle_resources += 1;
        }
        let id = row.required("attempt_id")?;
        let Some((first, range)) = self.seen.get(id) else {
            let from = self.read.observations.len();
            self.read.observations.extend(made);
            self.seen.insert(id.to_owned(), (number, from..self.read.observations.len()));
            return Ok(());
        };
        let same = self.read.observations.get(range.clone()).is_some_and(|known| {
            // A value that is no number is not equal to itself, but it is the same text.
            known.len() == made.len() && format!("{known:?}") == format!("{made:?}")
        });
        if same {
            return Ok(());
        }
        let expected = format!("an id of its own: row {first} has this id with other content");
        Err(Refusal::new("row::duplicate_attempt_id", "attempt_id", id, expected).into())
    }
}

impl Refusal {
    pub(in crate::telemetry) fn rejection(self, file: &str, row: u64) -> Rejection {
        Rejection {
            code: self.code,
            file: file.to_owned(),
            row,
            column: self.column,
            found: self.found,
            expected: self.expected,
        }
    }
}
