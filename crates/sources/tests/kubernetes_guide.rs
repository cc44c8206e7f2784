//! The guide to labels in `docs/kubernetes.md`: what its table promises is what its example is read as.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

use std::path::Path;

use ledger::{PhaseKind, RunRecord};
use serde_json::Value;
use sources::telemetry::TelemetryRead;
use sources::telemetry::kubernetes::{KubernetesOptions, read};

fn page() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/kubernetes.md")).unwrap()
}

/// The one block of this language.
fn block<'p>(page: &'p str, language: &str) -> &'p str {
    let mut blocks = page.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix(language));
    let block = blocks.next().expect("the page has such a block");
    assert!(blocks.next().is_none(), "one block of {language}");
    block
}

/// The values of a row of the last table, each in backticks.
fn promised<'p>(page: &'p str, what: &str) -> Vec<&'p str> {
    let row =
        page.lines().rev().find(|line| line.starts_with(&format!("| {what} |"))).expect("a row of the table");
    let value = row.rsplit('|').nth(1).expect("a last column");
    value.split('`').skip(1).step_by(2).collect()
}

fn example(page: &str) -> TelemetryRead {
    let keys = vec!["experiment_id".to_owned(), "experiment".to_owned(), "trainbill_experiment".to_owned()];
    let options = KubernetesOptions { experiment_keys: keys, ..KubernetesOptions::default() };
    read(block(page, "json").as_bytes(), &options).unwrap()
}

#[test]
fn the_example_is_read_as_the_table_says() {
    let page = page();
    let read = example(&page);
    assert_eq!((read.rows, read.accepted), (4, 4));
    let key = promised(&page, "attempt")[0];
    let records: Vec<&RunRecord> =
        read.observations.iter().filter(|seen| seen.key == key).map(|seen| &seen.record).collect();
    let view = records.iter().find_map(|record| match record {
        RunRecord::Attempt(view) => Some(view),
        _ => None,
    });
    let view = view.expect("the attempt of the table");
    let check = |what: &str, found: &[Option<&str>]| {
        let found: Vec<&str> = found.iter().map(|value| value.expect(what)).collect();
        assert_eq!(found, promised(&page, what), "{what}");
    };
    check("experiment", &[view.link.as_ref().map(|link| link.experiment.0.as_str())]);
    check("team", &[view.team.as_deref()]);
    check("configuration version", &[view.config_version.as_deref()]);
    check("dataset snapshot", &[view.dataset_snapshot.as_deref()]);
    check("outcome, cause", &[Some(view.outcome.word()), Some(view.cause.word())]);
    let binding = records.iter().find_map(|record| match record {
        RunRecord::Binding(binding) => Some(binding),
        _ => None,
    });
    let binding = binding.expect("the node that it held");
    let (start, end) = (binding.start.to_string(), binding.end.unwrap().to_string());
    check("held", &[Some(&start), Some(&end)]);
    check("accelerators", &[Some(&(binding.gpus / 1_000).to_string())]);
    let queued = records.iter().find_map(|record| match record {
        RunRecord::Phase(phase) if phase.kind == PhaseKind::Queue => Some(phase.interval.start.to_string()),
        _ => None,
    });
    check("queued from", &[queued.as_deref()]);
    let machine = read.observations.iter().find_map(|seen| match &seen.record {
        RunRecord::Node(period) => Some(period),
        _ => None,
    });
    let machine = machine.expect("the machine of the node");
    let capacity = machine.capacity.word();
    check(
        "machine, type, capacity",
        &[Some(machine.instance_id.as_str()), machine.instance_type.as_deref(), Some(capacity)],
    );
}

#[test]
fn the_labels_of_the_manifest_are_those_of_the_example() {
    let page = page();
    let list: Value = serde_json::from_str(block(&page, "json")).unwrap();
    let pod = list["items"].as_array().unwrap().iter().find(|item| item["kind"] == "Pod").unwrap();
    let prefix = "        trainbill.example.com/";
    let in_manifest: Vec<(String, &str)> = block(&page, "yaml")
        .lines()
        .filter_map(|line| line.strip_prefix(prefix)?.split_once(": "))
        .map(|(key, value)| (format!("trainbill.example.com/{key}"), value))
        .collect();
    assert_eq!(in_manifest.len(), 4);
    for (key, value) in in_manifest {
        let held = ["labels", "annotations"].map(|place| &pod["metadata"][place][&key]);
        assert!(held.contains(&&Value::from(value)), "{key}");
    }
    let uid = &list["items"][0]["metadata"]["uid"];
    assert!(block(&page, "yaml").contains(uid.as_str().unwrap()), "exec is told the uid of the cluster");
}
