//! The catalogue of machine types beside another list of the same facts, where that is at hand.

#![allow(
    clippy::panic,
    clippy::print_stderr,
    reason = "a test that cannot go on has failed, and one that is skipped says so"
)]

use std::path::Path;

use costing::gpu_catalogue::find;

/// What the other list has otherwise, and why.
fn known_difference(machine: &str) -> Option<&'static str> {
    match machine {
        "g6f.large" | "g6f.xlarge" | "g6f.2xlarge" | "g6f.4xlarge" | "gr6f.4xlarge" => {
            Some("the API of EC2 counts 0 GPUs where a part of one is sold")
        }
        "p4de.24xlarge" => Some("the API of EC2 calls an A100 of 80 GB an A100"),
        _ => None,
    }
}

#[test]
fn every_machine_of_the_list_is_in_the_catalogue() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data/billing/pricing/aws_gpu_instance_types_from_karpenter.csv");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: {} is not here", path.display());
        return;
    };
    let mut compared = 0;
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let (name, model, count, memory) = (fields[0], fields[3], fields[5], fields[6]);
        let machine = find(name).unwrap_or_else(|| panic!("{name} is not in the catalogue"));
        let ours = (machine.model, machine.gpus().count.to_string(), machine.memory_mib());
        let theirs = (model, count.to_owned(), memory.parse().ok());
        match known_difference(name) {
            Some(why) => {
                assert_ne!(ours, theirs, "{name}");
                assert_eq!(ours.2, theirs.2, "{name}");
                eprintln!("{name}: {ours:?} here, {theirs:?} there: {why}");
            }
            None => assert_eq!(ours, theirs, "{name}"),
        }
        compared += 1;
    }
    assert_eq!(compared, 83, "the list has 83 machines");
}
