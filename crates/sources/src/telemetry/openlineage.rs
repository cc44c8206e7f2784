//! Reads run events in the OpenLineage form, with seven facets for what a GPU run needs beyond it.
//!
//! # What it reads
//!
//! OpenLineage 2 RunEvents, one JSON object a line (appended by the training script as things happen) or one JSON
//! array; each may be wrapped as a CloudEvent (`{"type": "io.openlineage.run", "data": {…}}`). Every time must carry
//! an offset. Facets and fields that are not listed here are tolerated and not read; DatasetEvents and JobEvents are
//! accepted and say nothing of a run.
//!
//! ```text
//! {"eventType":"START","eventTime":"2026-07-01T10:00:00Z","producer":"https://example.com/train",
//!  "run":{"runId":"018f…","facets":{
//!    "parent":{"run":{"runId":"…"},"job":{"namespace":"ml","name":"vitl-tune"}},
//!    "gpuRun_attempt":{"scheduler":"slurm","capacity":"spot","aliases":["slurm:gpu26:42:1782900000"]},
//!    "gpuRun_resources":{"bindings":[{"resourceId":"i-0abc","sku":"p4d.24xlarge","gpus":8}]}}},
//!  "job":{"namespace":"ml","name":"train.vitl"}}
//! ```
//!
//! What is read of the standard facets:
//!
//! | where | what it becomes |
//! |---|---|
//! | `run.runId` | the attempt |
//! | `run.facets.parent.root.job.name`, else `run.facets.parent.job.name` | the experiment |
//! | `run.facets.tags`, `job.facets.tags` | `experiment`, `model`, `config`, `dataset`, `team`, `user` by key |
//! | `job.facets.sourceCodeLocation.version` | configuration version, if no tag names it |
//! | `inputs[].facets.version.datasetVersion` | dataset snapshot, if no tag names it; several joined by `;` |
//! | `outputs[]` with `facets.version`, `facets.datasetType` | artifacts: models, unless the type or name says else |
//! | `run.facets.errorMessage.message` | evidence of the cause |
//!
//! The seven facets of a GPU run, all under `run.facets`; every field may be left out unless it says required:
//!
//! `gpuRun_attempt` — what launched the run and why it ended.
//!
//! | field | type | unit | example |
//! |---|---|---|---|
//! | `ordinal` | integer | from 1 | `2` |
//! | `scheduler`, `cluster`, `namespace`, `queue` | text | | `"slurm"` |
//! | `user`, `team` | text | | `"vision"` |
//! | `submittedAt` | time | | `"2026-07-01T09:58:00Z"` |
//! | `gpuCount` | number | accelerators over all nodes | `8` |
//! | `gpuKind` | text | | `"a100"` |
//! | `nodeCount` | integer | nodes | `1` |
//! | `capacity` | `on_demand`, `spot` or `reserved` | | `"spot"` |
//! | `modelVersion`, `configVersion`, `datasetSnapshot` | text | | `"v3"` |
//! | `outcome` | on an end, a word for the outcome, where it is more than the event type | | `"timeout"` |
//! | `lostAt` | time; when it was last seen, of a run that is gone without an end | | `"2026-07-01T13:30:00Z"` |
//! | `cause` | a word for the cause | | `"spot_interruption"` |
//! | `evidence` | list of text | | `["CUDA out of memory"]` |
//! | `exitCode` | integer | | `1` |
//! | `signal` | text | | `"SIGTERM"` |
//! | `aliases` | list of text | | `["slurm:gpu26:42:1782900000"]` |
//! | `endedAt` | time; on an OTHER event, of a run that ended nobody knows how | | `"2026-07-01T13:30:00Z"` |
//!
//! `gpuRun_resources` — what the run holds: a list `bindings` of
//!
//! | field | type | unit | example |
//! |---|---|---|---|
//! | `resourceId` | text; this or `nodeName` is required | | `"i-0abc"` |
//! | `nodeName` | text | | `"cld1"` |
//! | `kind` | `instance`, `node`, `volume`, `bucket_prefix`, `managed_job`, `pod`, `resource` | | `"node"` |
//! | `sku` | text | instance type | `"p4d.24xlarge"` |
//! | `start` | time; required but on START, where it is `eventTime` | | `"2026-07-01T10:00:00Z"` |
//! | `end` | time | | `"2026-07-01T13:30:00Z"` |
//! | `gpus` | number | accelerators held of it | `0.5` |
//! | `gpuCapacity` | number | accelerators that it has | `8` |
//! | `cpus`, `cpuCapacity` | number | processors held and had, where no accelerators are | `4` |
//!
//! `gpuRun_phases` — a list `phases`, where `kind` is one of `queue`, `provision`, `container_start`, `data_load`,
//! `init`, `train`, `eval`, `ckpt_save`, `ckpt_restore`, `upload`, `idle`, `teardown` and `unknown`.
//!
//! | field | type | unit | example |
//! |---|---|---|---|
//! | `kind` | a word for the kind, required | | `"train"` |
//! | `start`, `end` | time, required | | `"2026-07-01T10:04:00Z"` |
//! | `grade` | `measured` by the run itself, else `reported` | | `"measured"` |
//!
//! `gpuRun_checkpoint` — on a RUNNING or OTHER event, one checkpoint.
//!
//! | field | type | unit | example |
//! |---|---|---|---|
//! | `step` | integer | training step | `4000` |
//! | `startedAt`, `completedAt` | time | | `"2026-07-01T11:00:00Z"` |
//! | `bytes` | integer | bytes | `5368709120` |
//! | `uri` | text | | `"s3://ckpt/vitl/4000"` |
//! | `durable` | boolean: it survives the node; if left out, true for the URI of a remote store | | `true` |
//!
//! `gpuRun_quality` — one value of a metric.
//!
//! | field | type | unit | example |
//! |---|---|---|---|
//! | `metric` | text, required | | `"val_acc"` |
//! | `value` | number, or text such as `"NaN"`, required | the metric's own | `0.781` |
//! | `direction` | `maximise` or `minimise` | | `"maximise"` |
//! | `split`, `protocol` | text | | `"top1-v2"` |
//! | `step` | integer | training step | `4000` |
//! | `isFinal` | boolean | | `true` |
//!
//! `gpuRun_heartbeat` — on START and RUNNING events, the promise of a sign of life.
//!
//! | field | type | unit | example |
//! |---|---|---|---|
//! | `everySeconds` | number, required | seconds | `30` |
//!
//! `gpuRun_gpus` — what the accelerators of one machine did at a moment. Their number is that of the event's one binding
//! where it tells no `gpus`, and their name the run's `gpuKind` where nobody tells one and all have the same. What they did
//! is not kept: it prices nothing.
//!
//! | field | type | unit | example |
//! |---|---|---|---|
//! | `sampledAt` | time | | `"2026-07-01T10:30:00Z"` |
//! | `gpus` | list of `index`, `uuid`, `name`, `utilizationPercent`, `memoryUsedMib`, `memoryTotalMib`, `powerWatts`, `lost` | as named | `[{"index":0,"name":"NVIDIA A100-SXM4-80GB","utilizationPercent":87}]` |
//! | `unreadLines` | integer: lines of the driver's tool that are no accelerator | | `1` |
//!
//! # How a record becomes an attempt
//!
//! A run is one attempt, `ol:{runId}`; its events add up. START gives the start, COMPLETE, FAIL and ABORT the end;
//! RUNNING and OTHER only carry facets, unless OTHER has an `endedAt`: the run ended then, and its outcome is unknown.
//! `eventTime` orders them. FAIL is a failure, of the program if there is evidence
//! and no other cause; ABORT is cancelled, or pre-empted if the cause says so. A run without an end is running: a crash
//! shows itself.
//! A run that promised signs of life and gave none for three times as long as promised is lost as of its last event. Of
//! the RUNNING events that only say so the last one of a run is kept.
//! A run without a parent and without an `experiment` tag belongs to the experiment of its job,
//! `ol:{namespace}/{name}`. An event is accepted whole or rejected whole.
//!
//! # What it cannot tell
//!
//! * When a killed run really ended, if nobody sent an event: the scheduler's record of the same run tells it, and
//!   `aliases` joins the two.
//! * Resources of a run without `gpuRun_resources`.
//!
//! # References
//!
//! * <https://openlineage.io/docs/spec/object-model>
//! * <https://openlineage.io/docs/spec/run-cycle>
//! * <https://openlineage.io/docs/spec/facets/run-facets/parent_run>
//! * <https://github.com/cloudevents/spec>

mod event;
mod gpus;
mod held;
mod object;
mod outputs;
mod pulse;
mod tags;

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use ledger::{SourceId, Timestamp};
use serde_json::Value;

pub(in crate::telemetry) use self::object::Object;

use self::pulse::Pulses;

use super::TelemetryRead;
use super::attempts::{Lines, Refusal, cannot_read};
use super::shared::folder;
use crate::SourceError;

/// Largest JSON array, in bytes: it is held in memory, unlike lines.
const MAX_ARRAY: u64 = 256 * 1024 * 1024;

/// What the user says beside the file.
#[derive(Debug, Clone)]
pub struct OpenLineageOptions {
    /// Name of the file for places in messages; not used for a folder, whose files have names.
    pub file: String,
    /// The source of the events.
    pub source: SourceId,
    /// When the files were taken: a run that promised signs of life and gave none for long is lost by then. `None` closes
    /// no run.
    pub taken_at: Option<Timestamp>,
}

/// Reads one file or request body.
///
/// # Errors
/// A coded error where the input as a whole cannot be read: it breaks off, or is an array that is no JSON.
pub fn read(input: impl BufRead, options: &OpenLineageOptions) -> Result<TelemetryRead, SourceError> {
    let mut import = Import::default();
    import.file(input, &options.file, options)?;
    Ok(import.finished(options))
}

/// Reads the `.ndjson` files of a folder together, as `trainbill exec` writes them, one or more a run.
///
/// # Errors
/// As [`read`], and where the folder cannot be listed or holds no such file.
pub fn read_folder(root: &Path, options: &OpenLineageOptions) -> Result<TelemetryRead, SourceError> {
    let mut import = Import::default();
    let mut files = 0_u64;
    for found in folder::files(root, "openlineage::cannot_read")? {
        if !found.name.ends_with(".ndjson") {
            continue;
        }
        files += 1;
        let input = File::open(&found.path)
            .map_err(|error| cannot_read("openlineage::cannot_read", &found.name, &error))?;
        import.file(BufReader::new(input), &found.name, options)?;
    }
    if files == 0 {
        return Err(SourceError::new("openlineage::no_events", "the folder holds no events")
            .at(root.display().to_string())
            .expected("`.ndjson` files", "none")
            .help("give the folder that `trainbill exec` names, or one with files of run events"));
    }
    Ok(import.finished(options))
}

/// What was read so far.
#[derive(Default)]
struct Import {
    read: TelemetryRead,
    pulses: Pulses,
}

impl Import {
    fn file(
        &mut self,
        mut input: impl BufRead,
        name: &str,
        options: &OpenLineageOptions,
    ) -> Result<(), SourceError> {
        let broken = |error: std::io::Error| cannot_read("openlineage::cannot_read", name, &error);
        if first_byte(&mut input).map_err(broken)? == Some(b'[') {
            for (number, event) in (1..).zip(array(input, name)?) {
                self.take(Ok(event), (name, number), options);
            }
            return Ok(());
        }
        let mut lines = Lines::new(input);
        while let Some((number, line)) = lines.next_line().map_err(broken)? {
            let event = line.and_then(|line| {
                serde_json::from_slice::<Value>(line).map_err(|error| {
                    let expected = format!("one JSON object a line ({error})");
                    Refusal::of_record("row::not_json", &String::from_utf8_lossy(line), expected)
                })
            });
            self.take(event, (name, number), options);
        }
        Ok(())
    }

    /// Takes one event, or counts it as rejected.
    fn take(
        &mut self,
        event: Result<Value, Refusal>,
        (file, number): (&str, u64),
        options: &OpenLineageOptions,
    ) {
        let told = event.and_then(|event| event::told(&event, &options.source));
        let taken = told.map(|told| self.read.observations.extend(self.pulses.see(told)));
        self.read.count(taken, file, number);
    }

    fn finished(mut self, options: &OpenLineageOptions) -> TelemetryRead {
        let (observations, lost) = self.pulses.concluded(options.taken_at);
        self.read.observations.extend(observations);
        self.read.warn_of(
            lost,
            "openlineage::lost",
            (
                "runs gave no sign of life any more and no end: they are lost as of the last one",
                "import their scheduler, which may know how they ended",
            ),
        );
        self.read
    }
}

/// The events of a JSON array.
fn array(input: impl BufRead, file: &str) -> Result<Vec<Value>, SourceError> {
    let mut bytes = Vec::new();
    input
        .take(MAX_ARRAY + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| cannot_read("openlineage::cannot_read", file, &error))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_ARRAY {
        return Err(SourceError::new("openlineage::too_large", "the array of events is too large")
            .at(file)
            .expected(format!("at most {MAX_ARRAY} bytes"), "more")
            .help("write one event a line: lines have no limit together"));
    }
    serde_json::from_slice(&bytes).map_err(|error| {
        SourceError::new("openlineage::not_json", format!("the array of events is not JSON: {error}"))
            .at(format!("{file}:{}", error.line()))
            .help("write one event a line: a broken line then rejects only itself")
    })
}

/// Skips a byte order mark and shows the first byte that is not blank.
fn first_byte(input: &mut impl BufRead) -> std::io::Result<Option<u8>> {
    loop {
        let Some(byte) = input.fill_buf()?.first().copied() else { return Ok(None) };
        if byte == b'\n' || (!byte.is_ascii_whitespace() && ![0xef, 0xbb, 0xbf].contains(&byte)) {
            return Ok(Some(byte));
        }
        input.consume(1);
    }
}
