//! What W&B itself decodes of its files, beside what is read of them.

use std::collections::BTreeSet;

use ledger::RunRecord;
use serde_json::Value;
use sources::telemetry::TelemetryRead;
use sources::telemetry::wandb::read;

use crate::told::{qualities, views};
use crate::{golden, options};

const RUNS: [(&str, &str); 3] = [
    ("offline-run-20261130_005545-exp42a0", "run-exp42a0"),
    ("offline-run-20261130_005546-exp42a0", "run-exp42a0"),
    ("offline-run-20261130_005546-exp42a1", "run-exp42a1"),
];

fn records(folder: &str) -> Vec<Value> {
    let path = golden::testdata("wandb").join(folder).join("records_decoded.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The messages of one kind, in their order.
fn of<'v>(records: &'v [Value], kind: &str) -> Vec<&'v Value> {
    records.iter().filter_map(|record| record.get(kind)).collect()
}

fn items(message: &Value, list: &str) -> Vec<(String, f64)> {
    let items = message[list].as_array().unwrap().iter();
    items
        .filter_map(|item| {
            let key = item["key"].as_str().or_else(|| item["nested_key"][0].as_str()).unwrap();
            Some((key.to_owned(), item["value_json"].as_str()?.parse().ok()?))
        })
        .collect()
}

type Logged = BTreeSet<(String, u64, String, String)>;

/// Every number of the history with its step and its time to the microsecond.
fn history(records: &[Value]) -> Logged {
    let mut logged = Logged::new();
    for message in of(records, "history") {
        let step = message["step"]["num"].as_str().unwrap_or("0").parse().unwrap();
        let items = items(message, "item");
        let at = items.iter().find(|(key, _)| key == "_timestamp").unwrap().1;
        for (key, value) in items.iter().filter(|(key, _)| !key.starts_with('_')) {
            logged.insert((key.clone(), step, format!("{value}"), format!("{at:.6}")));
        }
    }
    logged
}

fn history_read(read: &TelemetryRead) -> Logged {
    let of_step = qualities(read).into_iter().filter(|quality| quality.step.is_some());
    of_step
        .map(|quality| {
            let at = format!("{}.{:06}", quality.at.seconds(), quality.at.0.rem_euclid(1_000_000));
            (quality.metric.clone(), quality.step.unwrap(), format!("{}", quality.value), at)
        })
        .collect()
}

#[test]
fn what_is_read_equals_what_wandb_decodes() {
    for (folder, name) in RUNS {
        let path = golden::testdata("wandb").join(folder).join(format!("{name}.wandb"));
        let read = read(std::fs::read(path).unwrap().as_slice(), &options()).unwrap();
        let truth = records(folder);
        assert_eq!(read.accepted, truth.len() as u64, "{folder}: every record");
        assert_eq!(history_read(&read), history(&truth), "{folder}: every value");

        let run = of(&truth, "run")[0];
        let text = |name: &str| run[name].as_str().unwrap();
        let (key, view) = views(&read)[0];
        let identity = [text("entity"), text("project"), text("run_id")].join("/");
        assert_eq!(key, format!("wandb:{identity}:{}", text("start_time")), "{folder}");
        assert_eq!(view.started_at.unwrap().to_string(), text("start_time"), "{folder}");
        assert_eq!(view.link.as_ref().unwrap().experiment.0, text("run_group"), "{folder}");
        assert_eq!(view.name.as_deref(), Some(text("display_name")), "{folder}");
        assert_eq!(view.team.as_deref(), Some(text("entity")), "{folder}");
        let configured = |name: &str| {
            let update = run["config"]["update"].as_array().unwrap();
            let item = update.iter().find(|item| item["key"] == name).unwrap();
            item["value_json"].as_str().unwrap().trim_matches('"').to_owned()
        };
        assert_eq!(view.dataset_snapshot, Some(configured("dataset_snapshot")), "{folder}");
        assert_eq!(view.model_version, Some(configured("model_version")), "{folder}");

        let exit = of(&truth, "exit")[0]["exit_code"].as_i64().unwrap_or(0);
        assert_eq!(view.exit_code.map(i64::from), Some(exit), "{folder}");
        let artifacts: Vec<(String, Option<String>)> = read
            .observations
            .iter()
            .filter_map(|seen| match &seen.record {
                RunRecord::Artifact(artifact) => Some((artifact.uri.clone(), artifact.version.clone())),
                _ => None,
            })
            .collect();
        let artifact = of(&truth, "artifact")[0];
        let reference = artifact["manifest"]["contents"][0]["ref"].as_str().unwrap().to_owned();
        assert_eq!(artifacts, [(reference, artifact["digest"].as_str().map(str::to_owned))], "{folder}");

        let summary = of(&truth, "summary").into_iter().flat_map(|message| items(message, "update"));
        let chosen = summary.filter(|(key, _)| key == "final_val_top1").map(|(_, value)| value).next_back();
        let found =
            qualities(&read).into_iter().find(|quality| quality.is_final).map(|quality| quality.value);
        assert_eq!(found, chosen, "{folder}: the summary that the program set");
    }
}
