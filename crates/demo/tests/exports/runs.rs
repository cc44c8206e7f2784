//! The records of runs: requeues, shared nodes, idle time, lost nodes, and their resources on the bill.

use std::collections::{BTreeMap, BTreeSet};

use demo::ImportKind;

use crate::bill::DELIVERIES;
use crate::paths;
use crate::reading::{cell, files_under};

/// A record of a table with a delimiter, by column.
pub(crate) type Record = BTreeMap<String, String>;

fn table(text: &str, delimiter: char) -> Vec<Record> {
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(delimiter).collect();
    let cells =
        |line: &str| -> Vec<String> { line.splitn(header.len(), delimiter).map(str::to_owned).collect() };
    lines.map(|line| header.iter().map(|name| (*name).to_owned()).zip(cells(line)).collect()).collect()
}

fn read(kind: ImportKind, file: &str) -> String {
    let path = paths(kind).into_iter().find(|path| path.ends_with(file)).unwrap();
    std::fs::read_to_string(path).unwrap()
}

fn accounting() -> Vec<Record> {
    table(&read(ImportKind::Slurm, "sacct.txt"), '|')
}

fn instances() -> Vec<Record> {
    table(&read(ImportKind::Slurm, "instances.txt"), '|')
}

fn spreadsheet() -> Vec<Record> {
    table(&read(ImportKind::Attempts, "attempts.csv"), ',')
}

/// The attempts on machines that are rented elsewhere.
pub(crate) fn rented() -> Vec<Record> {
    table(&read(ImportKind::Attempts, "rented.csv"), ',')
}

fn events() -> Vec<serde_json::Value> {
    let text = read(ImportKind::OpenLineage, "runs.ndjson");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn second(record: &Record, column: &str) -> Option<i64> {
    record[column].parse().ok()
}

/// Records that are one attempt each, over all sources.
pub(crate) fn count_of_records() -> u64 {
    let starts = events().iter().filter(|event| event["eventType"] == "START").count();
    u64::try_from(accounting().len() + starts + spreadsheet().len() + rented().len()).unwrap()
}

fn billed_resources() -> BTreeSet<&'static str> {
    DELIVERIES.iter().flat_map(|(_, rows)| rows).map(|row| cell(row, "line_item_resource_id")).collect()
}

#[test]
fn every_end_of_a_job_occurs() {
    let records = accounting();
    for state in [
        "COMPLETED",
        "FAILED",
        "OUT_OF_MEMORY",
        "TIMEOUT",
        "CANCELLED by 1004",
        "NODE_FAIL",
        "PREEMPTED",
        "REQUEUED",
        "RUNNING",
    ] {
        assert!(records.iter().any(|record| record["State"] == state), "no {state}");
    }
    let withdrawn =
        |r: &Record| r["State"].starts_with("CANCELLED") && r["Start"] == "None" && r["AllocTRES"].is_empty();
    assert!(records.iter().any(withdrawn));
    assert!(records.iter().any(|record| record["AdminComment"].contains("spot interruption")));
    assert!(records.iter().any(|record| record["JobID"].contains('_')));
    assert!(records.iter().any(|record| record["JobName"].contains('|')));
}

#[test]
fn a_requeue_keeps_the_job_id_and_no_attempt_is_recorded_twice() {
    let records = accounting();
    let mut attempts: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for record in &records {
        assert!(attempts.entry(&record["JobIDRaw"]).or_default().insert(&record["Submit"]), "{record:?}");
    }
    assert!(attempts.values().any(|submits| submits.len() == 3));
    let mut times: Vec<(Option<i64>, Option<i64>)> = Vec::new();
    for record in &records {
        let (start, end) = (second(record, "Start"), second(record, "End"));
        assert!(start.is_none_or(|start| start >= second(record, "Eligible").unwrap()), "{record:?}");
        assert!(start.zip(end).is_none_or(|(start, end)| start < end && end <= 1_793_404_800), "{record:?}");
        times.push((start, end));
    }
    assert!(times.iter().any(|(start, end)| start.is_some() && end.is_none()));
}

#[test]
fn memory_runs_out_at_hour_ten_and_the_retry_succeeds() {
    let records = accounting();
    let named = |record: &&Record| record["Comment"].contains("experiment=vitl-tune;");
    let of: Vec<&Record> = records.iter().filter(named).collect();
    let failed = of.iter().find(|record| record["ExitCode"] == "137:0").unwrap();
    assert_eq!(failed["State"], "FAILED");
    assert!((36_000..36_300).contains(&failed["ElapsedRaw"].parse::<i64>().unwrap()));
    assert!(of.iter().any(|r| r["State"] == "COMPLETED" && second(r, "Start") > second(failed, "End")));
}

#[test]
fn an_experiment_has_no_success_and_another_has_several_seeds() {
    let named = |record: &Record| format!("{}{}", record["Comment"], record["Extra"]);
    let records = accounting();
    let of = |name: &str| {
        let wanted = format!("experiment={name};");
        records.iter().filter(|record| named(record).contains(&wanted)).collect::<Vec<_>>()
    };
    assert!(of("t5-sum").len() > 3 && of("t5-sum").iter().all(|record| record["State"] == "FAILED"));
    let seeds: BTreeSet<&str> = of("llm1b-sft").iter().map(|record| record["JobName"].as_str()).collect();
    assert_eq!(seeds.len(), 4);
    assert!(records.iter().all(|record| named(record).starts_with("experiment=")));
    let queued = |record: &Record| {
        second(record, "Start").map_or(0, |start| start - second(record, "Submit").unwrap())
    };
    assert!(records.iter().any(|record| queued(record) > 3600));
}

#[test]
fn two_jobs_of_four_gpus_share_a_node_of_eight() {
    let records = accounting();
    let half =
        |record: &&Record| record["NodeList"] == "wide-1" && record["AllocTRES"].contains("gres/gpu=4");
    let on: Vec<&Record> = records.iter().filter(half).collect();
    let overlap = |a: &Record, b: &Record| {
        second(a, "Start").max(second(b, "Start")) < second(a, "End").min(second(b, "End"))
    };
    assert!(on.iter().enumerate().any(|(i, a)| on.iter().skip(i + 1).any(|b| overlap(a, b))));
}

/// Busy spans on an instance's node while it was up.
fn busy(instance: &Record, records: &[Record]) -> Vec<(i64, i64)> {
    let (name, number) = instance["NodeName"].rsplit_once('-').unwrap();
    let (up, down) =
        (second(instance, "TimeStart").unwrap(), second(instance, "TimeEnd").unwrap_or(i64::MAX));
    let on = |record: &&Record| {
        let list = record["NodeList"].strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
        list.is_some_and(|list| list.trim_matches(['[', ']']).split(',').any(|one| one == number))
    };
    let mut spans: Vec<(i64, i64)> = records
        .iter()
        .filter(on)
        .map(|record| (second(record, "Start").unwrap(), second(record, "End").unwrap_or(i64::MAX)))
        .filter(|(start, end)| *start < down && *end > up)
        .collect();
    spans.sort_unstable();
    spans
}

#[test]
fn nodes_are_reused_by_other_instances_and_every_attempt_was_on_one() {
    let (records, instances) = (accounting(), instances());
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    let mut bound = 0;
    for instance in &instances {
        *names.entry(&instance["NodeName"]).or_default() += 1;
        for (start, end) in busy(instance, &records) {
            let (up, down) =
                (second(instance, "TimeStart").unwrap(), second(instance, "TimeEnd").unwrap_or(i64::MAX));
            assert!(up <= start && end <= down, "an attempt outlives its instance: {instance:?}");
            bound += 1;
        }
    }
    assert!(names.values().any(|count| *count > 3), "{names:?}");
    let started = records.iter().filter(|record| second(record, "Start").is_some());
    let held: i32 = started.map(|record| record["NNodes"].parse::<i32>().unwrap()).sum();
    assert_eq!(bound, held);
}

#[test]
fn an_instance_is_idle_for_twenty_minutes_at_first_and_for_hours_between_jobs() {
    let (records, instances) = (accounting(), instances());
    let spans: Vec<(i64, Vec<(i64, i64)>)> = instances
        .iter()
        .map(|instance| (second(instance, "TimeStart").unwrap(), busy(instance, &records)))
        .filter(|(_, spans)| !spans.is_empty())
        .collect();
    let first = |(up, spans): &(i64, Vec<(i64, i64)>)| spans.first().map_or(0, |(start, _)| start - up);
    assert!(spans.iter().any(|span| (1500..3600).contains(&first(span))));
    let idle = |spans: &[(i64, i64)]| spans.windows(2).any(|pair| pair[1].0 - pair[0].1 > 4 * 3600);
    assert!(spans.iter().any(|(_, spans)| idle(spans)));
}

#[test]
fn what_attempts_held_is_on_the_bill_but_for_a_spot_hour_that_was_free() {
    let billed = billed_resources();
    let instances = instances();
    let unbilled = |instance: &&Record| !billed.contains(instance["InstanceId"].as_str());
    let free: Vec<&Record> = instances.iter().filter(unbilled).collect();
    assert_eq!(free.len(), 1, "{free:?}");
    assert!(free[0]["Extra"].contains("market=spot"));
    for record in spreadsheet() {
        assert!(record["resource_ids"].split(';').all(|id| billed.contains(id)), "{record:?}");
    }
    for event in events().iter().filter(|event| event["eventType"] == "START") {
        let id = event["run"]["facets"]["gpuRun_resources"]["bindings"][0]["resourceId"].as_str().unwrap();
        assert!(billed.contains(id), "{id}");
    }
}

#[test]
fn run_events_tell_checkpoints_quality_and_every_end() {
    let events = events();
    let facet = |name: &str| events.iter().filter(|event| !event["run"]["facets"][name].is_null()).count();
    assert!(facet("gpuRun_checkpoint") > 20 && facet("gpuRun_quality") > 10);
    assert_eq!(facet("parent"), events.len());
    for kind in ["COMPLETE", "FAIL", "ABORT"] {
        assert!(events.iter().any(|event| event["eventType"] == kind), "no {kind}");
    }
    let silent = |event: &&serde_json::Value| {
        event["eventType"] == "COMPLETE" && event["run"]["facets"]["gpuRun_quality"].is_null()
    };
    assert_eq!(events.iter().filter(silent).count(), 2);
}

#[test]
fn nothing_lies_beside_the_imports() {
    let folder = crate::WRITTEN.0.path();
    let listed: Vec<_> = crate::WRITTEN.1.imports.iter().flat_map(|import| &import.paths).collect();
    for file in files_under(folder) {
        assert!(listed.iter().any(|path| file.starts_with(path)), "{} is not imported", file.display());
    }
}
