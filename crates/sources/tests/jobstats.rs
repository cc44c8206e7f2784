//! Summaries of jobstats in the accounting of Slurm, and by themselves.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::format_collect,
    reason = "a test that cannot go on has failed"
)]

mod documents;
mod golden;

use ledger::{Interval, Metric, RunRecord, Timestamp, Utilisation};
use proptest::prelude::*;
use sources::telemetry::TelemetryRead;
use sources::telemetry::jobstats::{JobstatsOptions, SummarisedJob, read};
use sources::telemetry::slurm::{self, Content, SlurmFile, SlurmOptions};
use sources::{SourceError, Zone};

fn options() -> JobstatsOptions {
    JobstatsOptions { slurm: SlurmOptions::new(Zone::Utc), job: None }
}

fn named() -> JobstatsOptions {
    let start = Timestamp::from_seconds(1_795_998_677);
    let ran = Interval { start, end: Timestamp(start.0 + 7_200_000_000) };
    let job = SummarisedJob { cluster: "gpu26".to_owned(), id: "1".to_owned(), ran };
    JobstatsOptions { job: Some(job), ..options() }
}

fn typed(bytes: &[u8], options: &JobstatsOptions) -> Result<TelemetryRead, SourceError> {
    read(&[SlurmFile { name: "jobs".to_owned(), content: Content::Bytes(bytes.to_vec()) }], options)
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(golden::testdata(&format!("jobstats/{name}"))).unwrap()
}

fn devices(read: &TelemetryRead) -> Vec<(&str, &Utilisation)> {
    let told = read.observations.iter().filter_map(|seen| match &seen.record {
        RunRecord::Utilisation(told) => Some((seen.key.as_str(), told)),
        _ => None,
    });
    told.collect()
}

#[test]
fn comments_of_the_accounting_are_read_whole() {
    let read = typed(&bytes("synthetic_accounting.txt"), &options()).unwrap();
    golden::check("jobstats/synthetic_accounting.expected.txt", &read);
    assert_eq!((read.rows, read.accepted), (10, 7));
    assert!(read.observations.iter().all(|seen| matches!(seen.record, RunRecord::Utilisation(_))));
}

#[test]
fn the_json_of_the_accounting_says_the_same() {
    let text = typed(&bytes("synthetic_accounting.txt"), &options()).unwrap();
    let json = typed(&bytes("synthetic_accounting.json"), &options()).unwrap();
    assert_eq!(json.observations[..], text.observations[..json.observations.len()]);
    assert_eq!(json.observations.len(), 6, "two hosts with two devices each");
}

#[test]
fn a_summary_belongs_to_the_attempt_of_its_record() {
    let accounting =
        [SlurmFile { name: "jobs".to_owned(), content: Content::Bytes(bytes("synthetic_accounting.txt")) }];
    let attempts = slurm::read(&accounting, &options().slurm).unwrap();
    let summaries = read(&accounting, &options()).unwrap();
    for (key, _) in devices(&summaries) {
        assert!(attempts.observations.iter().any(|seen| seen.key == key), "for {key}");
    }
}

#[test]
fn shares_are_millionths_without_a_float_between() {
    let read = typed(&bytes("synthetic_accounting.txt"), &options()).unwrap();
    let told = devices(&read);
    let of = |device: &str, metric| {
        let (_, told) = told.iter().find(|(_, told)| told.device == device).unwrap();
        *told.gauge(metric).unwrap()
    };
    assert_eq!(of("g1/0", Metric::GpuBusy).mean, Some(986_000));
    assert_eq!(of("g1/1", Metric::GpuBusy).mean, Some(0), "measured, and nothing");
    assert_eq!(of("g1/1", Metric::MemoryUsed).greatest, Some(512));
    // 57,620.8 s of twelve processors over two hours.
    assert_eq!(of("g1", Metric::CpuBusy).mean, Some(666_907));
    let slice = told.iter().find(|(_, told)| told.device == "g3/0").unwrap().1;
    assert_eq!(slice.gauge(Metric::GpuBusy), None, "not reported, which is not nothing");
    assert!(told.iter().all(|(_, told)| told.coverage.is_none()));
}

#[test]
fn a_summary_by_itself_needs_its_job() {
    let summary = bytes("synthetic_summary.json");
    assert_eq!(typed(&summary, &options()).unwrap_err().code, "jobstats::no_job");
    let read = documents::file("jobstats/synthetic_summary.json", |bytes| typed(bytes, &named()));
    assert_eq!(devices(&read).len(), 3);
    assert!(devices(&read).iter().all(|(key, _)| *key == "slurm:gpu26:1"));
    let accounting = String::from_utf8(bytes("synthetic_accounting.txt")).unwrap();
    let encoded = accounting.lines().nth(1).unwrap().rsplit('|').next().unwrap();
    assert_eq!(devices(&typed(encoded.as_bytes(), &named()).unwrap()).len(), 6);
}

#[test]
fn a_summary_of_another_execution_is_rejected() {
    let mut job = named();
    job.job.as_mut().unwrap().ran.end.0 += 301_000_000;
    let read = typed(&bytes("synthetic_summary.json"), &job).unwrap();
    assert_eq!((read.accepted, read.rejections[0].code), (0, "row::other_execution"));
    job.job.as_mut().unwrap().ran.end.0 -= 2_000_000;
    assert_eq!(typed(&bytes("synthetic_summary.json"), &job).unwrap().accepted, 1);
}

proptest! {
    #[test]
    fn no_change_of_a_good_file_makes_it_panic(change in documents::changes()) {
        for name in ["synthetic_accounting.txt", "synthetic_accounting.json"] {
            documents::survives(&format!("jobstats/{name}"), change, |bytes| typed(bytes, &options()))?;
        }
        documents::survives("jobstats/synthetic_summary.json", change, |bytes| typed(bytes, &named()))?;
    }
}
