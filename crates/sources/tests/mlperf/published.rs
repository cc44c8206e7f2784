//! The published results of MLPerf training v4.0: 1,949 logs, read where the data is at hand.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, create_dir_all};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use ledger::{Outcome, PhaseKind, RunState};
use serde_json::{Value, json};
use sources::telemetry::mlperf::read_folder;

use crate::options;
use crate::told::{phases, qualities, views};

fn shared() -> Option<PathBuf> {
    let data = "../../../shared/data/telemetry/mlperf_training_v4.0";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(data);
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("skipped: {} is not here", path.display());
    None
}

/// Writes the events as the result files that they were taken from, each beside the description of its system.
fn submissions(data: &Path, to: &Path) {
    let events = File::open(data.join("mllog_events.ndjson.gz")).unwrap();
    let mut open: Option<(String, BufWriter<File>)> = None;
    for line in BufReader::new(GzDecoder::new(events)).lines() {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let name = event["path"].as_str().unwrap();
        if open.as_ref().is_none_or(|(path, _)| path != name) {
            let path = to.join(name);
            create_dir_all(path.parent().unwrap()).unwrap();
            let file = File::options().append(true).create(true).open(&path).unwrap();
            open = Some((name.to_owned(), BufWriter::new(file)));
        }
        let logged = json!({
            "namespace": "", "time_ms": event["t"], "event_type": "POINT_IN_TIME",
            "key": event["k"], "value": event["v"], "metadata": event["m"],
        });
        writeln!(open.as_mut().unwrap().1, ":::MLLOG {logged}").unwrap();
    }
    for system in std::fs::read_dir(data.join("systems")).unwrap() {
        let system = system.unwrap();
        let name = system.file_name().into_string().unwrap();
        let (org, of_org) = name.split_once("__").unwrap();
        let folder = to.join(org).join("systems");
        create_dir_all(&folder).unwrap();
        std::fs::copy(system.path(), folder.join(of_org)).unwrap();
    }
}

#[test]
fn the_published_round_costs_twice_its_timed_runs() {
    let Some(data) = shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    submissions(&data, folder.path());
    let read = read_folder(folder.path(), &options()).unwrap();
    assert_eq!((read.rejections.len(), read.rows), (0, 424_395));
    let attempts: BTreeMap<_, _> = views(&read).into_iter().collect();
    assert_eq!((views(&read).len(), attempts.len()), (1_949, 1_949), "every key is of one attempt");
    let experiments: BTreeSet<&str> =
        attempts.values().map(|view| view.link.as_ref().unwrap().experiment.0.as_str()).collect();
    assert_eq!(experiments.len(), 165);
    let count = |state, outcome| {
        attempts.values().filter(|view| (view.state, view.outcome) == (state, outcome)).count()
    };
    assert_eq!(count(RunState::Ended, Outcome::Completed), 1_936);
    assert_eq!(count(RunState::Ended, Outcome::Failed), 12);
    assert_eq!(count(RunState::Lost, Outcome::Unknown), 1);

    let mut hours: BTreeMap<(PhaseKind, Outcome), f64> = BTreeMap::new();
    for (key, phase) in phases(&read) {
        let view = attempts[key];
        let seconds = (phase.interval.end.0 - phase.interval.start.0) as f64 / 1e6;
        let held = view.gpu_count.unwrap() as f64 / 1e3 * seconds / 3600.0;
        *hours.entry((phase.kind, view.outcome)).or_default() += held;
    }
    let of = |kind, outcome| format!("{:.1}", hours[&(kind, outcome)]);
    assert_eq!(of(PhaseKind::Train, Outcome::Completed), "29519.9");
    assert_eq!(of(PhaseKind::Train, Outcome::Failed), "46.2");
    let init: f64 = hours.iter().filter(|((kind, _), _)| *kind == PhaseKind::Init).map(|(_, h)| h).sum();
    assert_eq!(format!("{init:.1}"), "25187.5");

    let evaluations = qualities(&read);
    assert!(evaluations.len() > 60_000, "{}", evaluations.len());
    assert!(evaluations.iter().all(|quality| quality.direction.is_some() && quality.protocol.is_some()));
}
