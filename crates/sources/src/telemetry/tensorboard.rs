//! Reads TensorBoard event files: the scalars that a training program logs, one process after another.
//!
//! # What it reads
//!
//! Files named `events.out.tfevents.{time}.{host}[.{pid}.{number}][.v2]`, one by one or a folder with all its
//! sub-folders. Each is a sequence of records, checked by their masked CRC-32C; a record is an `Event` of TensorFlow.
//! Scalars are read in both forms, `simple_value` and a `tensor` without dimensions (TensorFlow 2, PyTorch); images,
//! histograms, text and hyperparameters are accepted and say nothing here.
//!
//! | where | what it becomes |
//! |---|---|
//! | folder below the root | the run; `train`, `validation`, `val`, `eval` and `test` are splits of the run above them |
//! | `wall_time` of the first and the last event | start and end |
//! | `tag`, `step` and value of a scalar | quality; which way is better is not told |
//! | `session_log` START with a step | the process begins again at that step |
//! | `session_log` STOP | the process ended, and does not say how |
//!
//! # How a record becomes an attempt
//!
//! One file is one process, and one process is one attempt: `tb:{logdir}:{first wall time}:{host}`, where `logdir` is the
//! declared name of the root, else the name of its folder, and the folder below it. The runs of one folder are attempts
//! of one experiment: `<experiment>` if the folder is called `<experiment>.a<number>`, else `tb:{logdir}`.
//!
//! * Files of one process (same host and `pid`) are one attempt, unless a tag begins again at a step that it had reached:
//!   then the same process trained once more.
//! * Files of one host and folder that begin within ten minutes of each other and overlap are the ranks of one attempt.
//! * A file that begins later is a further attempt. If one of its tags begins at or before the last step of the attempt
//!   before, that one was interrupted, and what lies after the restart was done twice: the interruption says
//!   `restarted at step 3 after step 4`.
//! * Processes of several hosts that overlap in one folder are attempts of their own, and a warning says so.
//!
//! Event files do not say that a run ended. An attempt counts as lost at its last event until a later import of the same
//! files shows more.
//!
//! Of every tag all values are kept up to 1,000 a file; beyond that they are thinned out evenly, the first, the last, the
//! least and the greatest are kept, and a warning counts the others.
//!
//! # What it cannot tell
//!
//! * Who ran it, on how many accelerators, and how it ended.
//! * A retry that went on exactly after the last step that its predecessor logged: nothing shows an interruption.
//! * Two imports of one folder under different roots give two names: import from the same root, or declare `logdir`.
//! * A record that was being written when a process was killed: the cut is told as a warning.
//!
//! # References
//!
//! * <https://github.com/tensorflow/tensorflow/blob/master/tensorflow/core/util/event.proto>
//! * <https://github.com/tensorflow/tensorboard/blob/master/tensorboard/compat/proto/summary.proto>
//! * <https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details>

mod event;
mod frame;
mod log;
mod name;
mod session;
mod tensor;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use ledger::SourceId;

use self::log::Log;
use self::name::{FileName, RunFolder};
use super::TelemetryRead;
use super::attempts::cannot_read;
use super::shared::series::Thinned;
use super::shared::{folder, framed};
use crate::SourceError;

/// What the user says beside the files.
#[derive(Debug, Clone)]
pub struct TensorboardOptions {
    /// Name of the file, from which its host is known; not used for a folder, whose files have names.
    pub file: String,
    /// The source.
    pub source: SourceId,
    /// Name of the root folder in keys, instead of its own: the same at each import.
    pub logdir: Option<String>,
}

/// Reads one event file.
///
/// # Errors
/// A coded error where the file cannot be read.
pub fn read(input: impl BufRead, options: &TensorboardOptions) -> Result<TelemetryRead, SourceError> {
    let mut import = Import::new(options);
    let (above, last) = options.file.rsplit_once('/').unwrap_or(("", &options.file));
    let folder = options.logdir.as_deref().unwrap_or_else(|| above.rsplit('/').next().unwrap_or_default());
    import.file(input, &options.file, (folder, FileName::of(last)))?;
    Ok(import.finished())
}

/// Reads all event files of a folder and its sub-folders.
///
/// # Errors
/// A coded error where the folder or a file of it cannot be read, or it holds no event file.
pub fn read_folder(root: &Path, options: &TensorboardOptions) -> Result<TelemetryRead, SourceError> {
    let own = root.file_name().map(|name| name.to_string_lossy().into_owned());
    let logdir = options.logdir.clone().or(own).unwrap_or_default();
    let mut import = Import::new(options);
    let mut files = 0_u64;
    for found in folder::files(root, "tensorboard::cannot_read")? {
        if !found.last().contains("tfevents") {
            continue;
        }
        files += 1;
        let input = File::open(&found.path)
            .map_err(|error| cannot_read("tensorboard::cannot_read", &found.name, &error))?;
        let folder = [logdir.as_str(), found.folder()]
            .iter()
            .filter(|part| !part.is_empty())
            .copied()
            .collect::<Vec<_>>();
        import.file(BufReader::new(input), &found.name, (&folder.join("/"), FileName::of(found.last())))?;
    }
    if files == 0 {
        return Err(SourceError::new("tensorboard::no_event_files", "the folder holds no event file")
            .at(root.display().to_string())
            .expected("files named `events.out.tfevents.…`", "none")
            .help("give the folder that `tensorboard --logdir` is given"));
    }
    Ok(import.finished())
}

/// What is gathered while files are read.
struct Import<'o> {
    options: &'o TensorboardOptions,
    read: TelemetryRead,
    /// What each process logged, by run.
    runs: BTreeMap<RunFolder, Vec<Log>>,
    /// Files that end inside a record.
    cut: u64,
    /// Files without a scalar.
    silent: u64,
}

impl<'o> Import<'o> {
    fn new(options: &'o TensorboardOptions) -> Self {
        Self { options, read: TelemetryRead::default(), runs: BTreeMap::new(), cut: 0, silent: 0 }
    }

    /// Reads one file of a folder.
    fn file(
        &mut self,
        input: impl BufRead,
        file: &str,
        (folder, name): (&str, FileName),
    ) -> Result<(), SourceError> {
        let (run, split) = RunFolder::of(folder);
        let mut frames = frame::Frames::new(input);
        let mut logs: Vec<Log> = Vec::new();
        let mut plugins = event::Plugins::default();
        let read = &mut self.read;
        let cut = framed::each(&mut frames, |number, bytes| {
            let event = bytes.and_then(|bytes| event::event(bytes, &mut plugins));
            read.count(event.map(|event| log::take(&mut logs, &event, (&name, split))), file, number);
        });
        self.cut += u64::from(cut.map_err(|error| cannot_read("tensorboard::cannot_read", file, &error))?);
        logs.retain(Log::has_scalars);
        self.silent += u64::from(logs.is_empty());
        self.runs.entry(run).or_default().extend(logs);
        Ok(())
    }

    fn finished(self) -> TelemetryRead {
        let mut read = self.read;
        let mut thinned = Thinned::default();
        let mut shared = 0;
        for (run, logs) in self.runs {
            let sessions = session::sessions(logs);
            shared += session::shared(&sessions);
            read.observations.extend(session::observations(
                &run,
                sessions,
                &self.options.source,
                &mut thinned,
            ));
        }
        read.warn_of(
            self.cut,
            "tensorboard::cut_short",
            (
                "file(s) end inside a record: the process was killed, or still writes",
                "import the files again when the run has ended",
            ),
        );
        read.warn_of(
            self.silent,
            "tensorboard::no_scalars",
            ("file(s) hold no scalar: nothing says that anything ran", "nothing needs to be done"),
        );
        read.warn_of(
            shared,
            "tensorboard::logdir_shared",
            (
                "attempt(s) logged to a folder while another host logged to it",
                "give each trial a folder of its own; ranks of one job should log from one rank only",
            ),
        );
        read.warnings.extend(thinned.warnings("tensorboard::values_thinned"));
        read
    }
}
