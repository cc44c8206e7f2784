//! What EC2 told of instances: interruptions, ends, and which machine a node was.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::format_collect,
    reason = "a test that cannot go on has failed"
)]

mod documents;
mod golden;
mod shared;

use ledger::{Initiator, RunRecord, SourceId};
use proptest::prelude::*;
use sources::Zone;
use sources::telemetry::TelemetryRead;
use sources::telemetry::ec2_events::{Ec2EventsOptions, read};

fn options() -> Ec2EventsOptions {
    Ec2EventsOptions {
        file: "events.json".to_owned(),
        source: SourceId("ec2-events".to_owned()),
        zone: Zone::Undeclared,
        cluster: Some("gpu26".to_owned()),
    }
}

fn file(name: &str) -> TelemetryRead {
    documents::file(&format!("ec2_events/{name}"), |bytes| read(bytes, &options()))
}

// Trap29.
#[test]
fn a_warning_is_an_interruption_and_a_recommendation_is_none() {
    let read = file("synthetic_events.json");
    let interruptions: Vec<_> = read
        .observations
        .iter()
        .filter_map(|seen| match &seen.record {
            RunRecord::Interruption(found) => {
                Some((seen.key.as_str(), found.initiator, found.at.to_string()))
            }
            _ => None,
        })
        .collect();
    let expect = [
        ("instance:i-01", Initiator::Provider, "2026-07-01T10:00:00Z"),
        ("instance:i-03", Initiator::Provider, "2026-07-01T11:00:00Z"),
        ("instance:i-04", Initiator::User, "2026-07-01T11:00:00Z"),
    ];
    assert_eq!(interruptions, expect.map(|(key, initiator, at)| (key, initiator, at.to_owned())));
    assert_eq!(read.warnings[0].code, "ec2_events::rebalance_is_no_interruption");
}

#[test]
fn a_described_instance_is_a_node_until_the_first_event_that_ends_it() {
    let read = file("synthetic_events.json");
    let nodes: Vec<_> = read
        .observations
        .iter()
        .filter_map(|seen| match &seen.record {
            RunRecord::Node(node) => {
                Some((node.instance_id.as_str(), node.start.to_string(), node.end.unwrap().to_string()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(nodes, [("i-01", "2026-07-01T09:00:00Z".to_owned(), "2026-07-01T10:02:00Z".to_owned())]);
    let bytes = std::fs::read(golden::testdata("ec2_events/synthetic_events.json")).unwrap();
    let unnamed = sources::telemetry::ec2_events::read(
        bytes.as_slice(),
        &Ec2EventsOptions { cluster: None, ..options() },
    );
    let unnamed = unnamed.unwrap();
    assert!(!unnamed.observations.iter().any(|seen| matches!(seen.record, RunRecord::Node(_))));
    assert_eq!(unnamed.rows, unnamed.accepted);
}

#[test]
fn what_is_broken_is_rejected_with_its_reason_and_the_rest_is_read() {
    let read = file("synthetic_broken.json");
    assert_eq!((read.rows, read.accepted), (7, 1));
}

#[test]
fn recorded_answers_are_read_whole() {
    let Some(folder) = shared::shared("aws_azure_recorded/tests/data/placebo/test_ec2_propagate_spot_tags")
    else {
        return;
    };
    let files = std::fs::read_dir(&folder).unwrap();
    let mut files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let options = Ec2EventsOptions { zone: Zone::Utc, ..options() };
    let mut nodes = Vec::new();
    for path in &files {
        let read = read(std::fs::read(path).unwrap().as_slice(), &options).unwrap();
        assert_eq!((read.rows, read.accepted), (1, 1), "{}: {:?}", path.display(), read.rejections);
        nodes.extend(read.observations);
    }
    let [one] = nodes.as_slice() else { panic!("{nodes:?}") };
    let RunRecord::Node(node) = &one.record else { panic!("no node") };
    assert_eq!((node.instance_id.as_str(), node.capacity.word()), ("i-01db165f1452ef5e4", "spot"));
    assert_eq!((files.len(), node.start.to_string().as_str()), (5, "2018-03-29T08:49:35Z"));
}

proptest! {
    #[test]
    fn no_change_of_a_good_input_makes_it_panic(change in documents::changes()) {
        documents::survives("ec2_events/synthetic_events.json", change, |bytes| read(bytes, &options()))?;
    }
}
