//! The records of a run that matter here, out of `wandb_internal.Record`.

use ledger::Timestamp;

use super::item::Item;
use crate::telemetry::attempts::Refusal;
use crate::telemetry::shared::protobuf::{Broken, Field, Message};

/// Items of one record.
const MAX_ITEMS: usize = 100_000;

/// Tags of one run.
const MAX_TAGS: usize = 1_000;

/// One record.
#[derive(Debug)]
pub(super) enum Record {
    /// What the run is.
    Run(Box<RunRecord>),
    /// Values at a step.
    History(Vec<Item>, Option<u64>),
    /// Last or chosen values.
    Summary(Vec<Item>),
    /// Configuration.
    Config(Vec<Item>),
    /// Measurements of the machine, of which only the time is read.
    Stats(Timestamp),
    /// The end, with its exit code and its run time in seconds.
    Exit(i32, Option<i64>),
    /// The run gives way.
    Preempting,
    /// The machine.
    Environment(Environment),
    /// An artifact that was made.
    Artifact(ArtifactRecord),
    /// An artifact that was used: its type and its name.
    Used(String, String),
    /// Anything else.
    Other,
}

/// What a run is.
#[derive(Debug, Clone, Default)]
pub(super) struct RunRecord {
    pub(super) id: String,
    pub(super) entity: String,
    pub(super) project: String,
    pub(super) config: Vec<Item>,
    pub(super) group: String,
    pub(super) name: String,
    pub(super) tags: Vec<String>,
    pub(super) sweep: String,
    pub(super) host: String,
    pub(super) start: Option<Timestamp>,
    pub(super) resumed: bool,
    pub(super) commit: String,
}

/// The machine, as far as it is told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Environment {
    pub(super) gpu_kind: Option<String>,
    pub(super) gpu_count: Option<u64>,
    pub(super) slurm: Vec<(String, String)>,
    pub(super) commit: Option<String>,
}

/// An artifact.
#[derive(Debug, Clone, Default)]
pub(super) struct ArtifactRecord {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) digest: String,
    /// Where its files lie, if elsewhere than with W&B.
    pub(super) references: Vec<String>,
}

impl Record {
    /// The record of these bytes.
    pub(super) fn of(bytes: &[u8]) -> Result<Self, Refusal> {
        read(Message::of(bytes)).map_err(|Broken| {
            Refusal::of_record("row::not_protobuf", &format!("{} bytes", bytes.len()), "a Record of W&B")
        })
    }
}

fn read(message: Message<'_>) -> Result<Record, Broken> {
    let mut record = Record::Other;
    for field in message {
        let (number, field) = field?;
        let content = field.message();
        record = match number {
            2 => {
                let (items, step) = history(content)?;
                Record::History(items, step)
            }
            3 => Record::Summary(items(content)?),
            5 => Record::Config(items(content)?),
            7 => match stats_time(content)? {
                Some(at) => Record::Stats(at),
                None => record,
            },
            8 => Record::Artifact(artifact(content)?),
            17 => Record::Run(Box::new(run(content)?)),
            18 => exit(content)?,
            23 => Record::Preempting,
            24 => used(content)?,
            26 => Record::Environment(environment(content)?),
            _ => record,
        };
    }
    Ok(record)
}

fn history(message: Message<'_>) -> Result<(Vec<Item>, Option<u64>), Broken> {
    let (mut items, mut step) = (Vec::new(), None);
    for field in message {
        match field? {
            (1, item) if items.len() < MAX_ITEMS => items.push(Item::of(item.message())?),
            (2, number) => {
                // Step 0 is written as an empty message.
                step = Some(0);
                for field in number.message() {
                    if let (1, number) = field? {
                        step = number.whole().and_then(|number| u64::try_from(number).ok());
                    }
                }
            }
            _ => {}
        }
    }
    Ok((items, step))
}

/// The updates of a summary or a configuration.
fn items(message: Message<'_>) -> Result<Vec<Item>, Broken> {
    let mut items = Vec::new();
    for field in message {
        if let (1, item) = field?
            && items.len() < MAX_ITEMS
        {
            items.push(Item::of(item.message())?);
        }
    }
    Ok(items)
}

fn stats_time(message: Message<'_>) -> Result<Option<Timestamp>, Broken> {
    for field in message {
        if let (2, time) = field? {
            return timestamp(time.message());
        }
    }
    Ok(None)
}

fn timestamp(message: Message<'_>) -> Result<Option<Timestamp>, Broken> {
    let (mut seconds, mut nanos) = (0, 0);
    for field in message {
        match field? {
            (1, number) => seconds = number.whole().unwrap_or_default(),
            (2, number) => nanos = number.whole().unwrap_or_default(),
            _ => {}
        }
    }
    let micros =
        seconds.checked_mul(1_000_000).and_then(|micros| micros.checked_add(nanos.div_euclid(1_000)));
    Ok(micros.filter(|micros| *micros > 0).map(Timestamp))
}

fn run(message: Message<'_>) -> Result<RunRecord, Broken> {
    let mut run = RunRecord::default();
    for field in message {
        let (number, field) = field?;
        match number {
            1 => run.id = field.text().into_owned(),
            2 => run.entity = field.text().into_owned(),
            3 => run.project = field.text().into_owned(),
            4 => run.config = items(field.message())?,
            6 => run.group = field.text().into_owned(),
            8 => run.name = field.text().into_owned(),
            10 if run.tags.len() < MAX_TAGS => run.tags.push(field.text().into_owned()),
            12 => run.sweep = field.text().into_owned(),
            13 => run.host = field.text().into_owned(),
            17 => run.start = timestamp(field.message())?,
            18 => run.resumed = field.is_set(),
            21 => {
                for field in field.message() {
                    if let (2, commit) = field? {
                        run.commit = commit.text().into_owned();
                    }
                }
            }
            _ => {}
        }
    }
    Ok(run)
}

fn exit(message: Message<'_>) -> Result<Record, Broken> {
    let (mut code, mut runtime) = (0, None);
    for field in message {
        match field? {
            (1, number) => {
                code = number.whole().and_then(|code| i32::try_from(code).ok()).unwrap_or(i32::MAX)
            }
            (2, number) => runtime = number.whole(),
            _ => {}
        }
    }
    Ok(Record::Exit(code, runtime))
}

fn used(message: Message<'_>) -> Result<Record, Broken> {
    let (mut kind, mut name) = (String::new(), String::new());
    for field in message {
        match field? {
            (2, text) => kind = text.text().into_owned(),
            (3, text) => name = text.text().into_owned(),
            _ => {}
        }
    }
    Ok(Record::Used(kind, name))
}

fn environment(message: Message<'_>) -> Result<Environment, Broken> {
    let mut environment = Environment::default();
    for field in message {
        match field? {
            (18, text) => {
                environment.gpu_kind = Some(text.text().into_owned()).filter(|kind| !kind.is_empty())
            }
            (19, Field::Varint(count)) => environment.gpu_count = Some(count).filter(|count| *count > 0),
            (27, entry) if environment.slurm.len() < 1_000 => {
                let (mut key, mut value) = (String::new(), String::new());
                for field in entry.message() {
                    match field? {
                        (1, text) => key = text.text().into_owned(),
                        (2, text) => value = text.text().into_owned(),
                        _ => {}
                    }
                }
                environment.slurm.push((key, value));
            }
            _ => {}
        }
    }
    Ok(environment)
}

fn artifact(message: Message<'_>) -> Result<ArtifactRecord, Broken> {
    let mut artifact = ArtifactRecord::default();
    for field in message {
        match field? {
            (4, text) => artifact.kind = text.text().into_owned(),
            (5, text) => artifact.name = text.text().into_owned(),
            (6, text) => artifact.digest = text.text().into_owned(),
            (12, manifest) => {
                for field in manifest.message() {
                    let (4, entry) = field? else { continue };
                    for field in entry.message() {
                        if let (3, reference) = field?
                            && artifact.references.len() < 100
                        {
                            artifact.references.push(reference.text().into_owned());
                        }
                    }
                }
            }
            _ => {}
        }
    }
    artifact.references.retain(|reference| !reference.is_empty());
    Ok(artifact)
}
