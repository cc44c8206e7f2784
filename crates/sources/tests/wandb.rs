//! Runs of W&B: what their own files and the API say, and that every start of a program is an attempt.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::format_collect,
    reason = "a test that cannot go on has failed"
)]

mod golden;
mod proto;
mod told;

#[path = "wandb/decoded.rs"]
mod decoded;
#[path = "wandb/writer.rs"]
mod writer;

use ledger::{Cause, Outcome, RunState, SourceId};
use proptest::prelude::*;
use proto::{bytes, text, whole};
use sources::telemetry::TelemetryRead;
use sources::telemetry::wandb::{WandbOptions, read, read_folder};
use told::{codes, qualities, views};
use writer::file;

fn options() -> WandbOptions {
    let source = SourceId("wandb".to_owned());
    WandbOptions { file: "run-x.wandb".to_owned(), source, entity: Some("acme".to_owned()), project: None }
}

fn typed(content: &[u8]) -> TelemetryRead {
    let read = read(content, &options()).unwrap();
    assert_eq!(read.rows, read.accepted + read.rejections.len() as u64);
    read
}

fn fixture() -> TelemetryRead {
    read_folder(&golden::testdata("wandb"), &options()).unwrap()
}

/// A run record of run `r` of the host, started at second 100.
fn begun(host: &str, more: &[u8]) -> Vec<u8> {
    let start = bytes(17, &whole(1, 100));
    bytes(17, &[text(1, "r"), text(2, "acme"), text(3, "p"), text(13, host), start, more.to_vec()].concat())
}

/// A value of a metric at a second.
fn logged(at: u32, metric: &str, value: &str) -> Vec<u8> {
    let item = |key: &str, value: &str| bytes(1, &[text(2, key), text(16, value)].concat());
    bytes(2, &[item(metric, value), item("_timestamp", &at.to_string()), bytes(2, &whole(1, 7))].concat())
}

/// The end with a code, as it is written: 0 is no field at all.
fn exit(code: u64) -> Vec<u8> {
    bytes(18, &if code == 0 { Vec::new() } else { whole(1, code) })
}

#[test]
fn run_folders_are_read_whole() {
    let read = fixture();
    golden::check("wandb/folders.expected.txt", &read);
    assert_eq!((read.rows, read.accepted), (75, 75));
}

#[test]
fn a_resumed_run_is_two_attempts_of_one_experiment_and_the_failed_one_is_kept() {
    let read = fixture();
    let attempts = views(&read);
    assert_eq!(attempts.len(), 3);
    let of_run: Vec<Outcome> =
        attempts.iter().filter(|(key, _)| key.contains("/exp42a0:")).map(|(_, view)| view.outcome).collect();
    assert_eq!(of_run, [Outcome::Failed, Outcome::Completed]);
    assert!(attempts.iter().all(|(_, view)| view.link.as_ref().unwrap().experiment.0 == "exp-42"));
}

// Trap18.
#[test]
fn a_tag_names_the_same_attempt_elsewhere_wherever_a_run_is_read_from() {
    let tags = ["baseline", "attempt_alias=ol:01ab; k8s:c:u", "other=ol:02"];
    let tagged: Vec<u8> = tags.iter().flat_map(|tag| text(10, tag)).collect();
    // A run record is sent again when something changes.
    let local = typed(&file(&[begun("h", &tagged), begun("h", &tagged), exit(0)]));
    let api = typed(
        br#"{"name":"r","state":"finished","createdAt":"2026-07-01T10:00:00Z","heartbeatAt":"2026-07-01T10:01:00Z",
            "tags":["baseline","attempt_alias=ol:01ab; k8s:c:u","other=ol:02"]}"#,
    );
    for read in [local, api] {
        assert_eq!(views(&read)[0].1.aliases, ["ol:01ab", "k8s:c:u"]);
    }
    let untagged = typed(br#"{"name":"r","state":"finished","createdAt":"2026-07-01T10:00:00Z","tags":"a"}"#);
    assert_eq!(untagged.rejections[0].code, "row::not_a_text");
}

#[test]
fn trap_18_an_empty_exit_record_is_success_and_none_is_a_crash() {
    for (end, state, outcome, cause) in [
        (vec![exit(0)], RunState::Ended, Outcome::Completed, Cause::Unknown),
        (vec![exit(1)], RunState::Ended, Outcome::Failed, Cause::AppError),
        (vec![exit(255)], RunState::Ended, Outcome::Failed, Cause::Unknown),
        (vec![], RunState::Lost, Outcome::Unknown, Cause::Unknown),
        (vec![bytes(23, &[])], RunState::Ended, Outcome::Preempted, Cause::Unknown),
        (vec![bytes(23, &[]), exit(0)], RunState::Ended, Outcome::Completed, Cause::Unknown),
    ] {
        let records = [vec![begun("h", &[]), logged(160, "loss", "0.5")], end].concat();
        let read = typed(&file(&records));
        let view = views(&read)[0].1;
        assert_eq!((view.state, view.outcome, view.cause), (state, outcome, cause), "for {records:?}");
        assert_eq!(view.ended_at.unwrap().seconds(), 160, "the last time that is told");
    }
}

#[cfg(unix)]
#[test]
fn trap_18_the_link_to_the_latest_run_is_not_read_twice() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("offline-run-1-r");
    std::fs::create_dir(&run).unwrap();
    std::fs::write(run.join("run-r.wandb"), file(&[begun("h", &[]), exit(0)])).unwrap();
    std::os::unix::fs::symlink(&run, folder.path().join("latest-run")).unwrap();
    let read = read_folder(folder.path(), &options()).unwrap();
    assert_eq!((read.rows, views(&read).len()), (2, 1));
}

#[test]
fn t21_two_hosts_under_one_run_id_are_two_attempts_and_the_user_is_told() {
    let folder = tempfile::tempdir().unwrap();
    for (host, start) in [("a", 100), ("b", 130)] {
        let start = bytes(17, &whole(1, start));
        let records = [begun(host, &start), logged(200, "loss", "0.5"), exit(0)];
        std::fs::write(folder.path().join(format!("run-{host}.wandb")), file(&records)).unwrap();
    }
    let read = read_folder(folder.path(), &options()).unwrap();
    assert_eq!(views(&read).len(), 2);
    assert_eq!(codes(&read), ["wandb::run_id_shared"]);
    assert_eq!(codes(&fixture()), Vec::<&str>::new(), "a resumed run shares nothing");
}

#[test]
fn the_metadata_beside_a_run_tells_its_accelerators_and_its_job() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("files")).unwrap();
    let metadata = r#"{"gpu": "NVIDIA A100", "gpu_count": 8, "slurm": {"job_id": "42", "cluster_name": "gpu"},
        "git": {"commit": "abc"}}"#;
    std::fs::write(folder.path().join("files/wandb-metadata.json"), metadata).unwrap();
    std::fs::write(folder.path().join("run-r.wandb"), file(&[begun("h", &[]), exit(0)])).unwrap();
    let read = read_folder(folder.path(), &options()).unwrap();
    let view = views(&read)[0].1;
    assert_eq!((view.gpu_count, view.gpu_kind.as_deref()), (Some(8_000), Some("NVIDIA A100")));
    assert_eq!(
        (view.aliases.as_slice(), view.cluster.as_deref()),
        (&["slurm:gpu:42".to_owned()][..], Some("gpu"))
    );
    assert_eq!(view.config_version.as_deref(), Some("abc"));
}

#[test]
fn the_environment_record_tells_the_same() {
    let slurm = bytes(27, &[text(1, "SLURM_JOB_ID"), text(2, "42")].concat());
    let environment = bytes(26, &[text(18, "NVIDIA A100"), whole(19, 8), slurm].concat());
    let read = typed(&file(&[begun("h", &[]), environment, exit(0)]));
    let view = views(&read)[0].1;
    assert_eq!((view.gpu_count, view.gpu_kind.as_deref()), (Some(8_000), Some("NVIDIA A100")));
    assert_eq!(view.aliases, ["job_id=42"]);
    let none = typed(&file(&[begun("h", &[]), exit(0)]));
    assert_eq!(views(&none)[0].1.gpu_count, None, "not told is not none");
}

#[test]
fn numbers_of_python_are_read_as_they_are_and_other_values_are_no_metric() {
    for (json, expect) in [
        ("0.5", Some(0.5)),
        ("-1e3", Some(-1e3)),
        ("Infinity", Some(f64::INFINITY)),
        ("-Infinity", Some(f64::NEG_INFINITY)),
        ("\"text\"", None),
        ("true", None),
        ("{\"_type\":\"image-file\"}", None),
    ] {
        let read = typed(&file(&[begun("h", &[]), logged(160, "m", json)]));
        assert_eq!(qualities(&read).first().map(|one| one.value), expect, "for {json}");
    }
    let read = typed(&file(&[begun("h", &[]), logged(160, "m", "NaN")]));
    assert!(qualities(&read)[0].value.is_nan());
}

#[test]
fn a_record_over_several_blocks_is_one_and_a_broken_one_loses_only_its_block() {
    let note = "n".repeat(100_000);
    let long = bytes(5, &bytes(1, &[text(1, "note"), text(16, &format!("\"{note}\""))].concat()));
    let good = file(&[begun("h", &[]), long, logged(160, "loss", "0.5"), exit(0)]);
    let read = typed(&good);
    assert_eq!((read.rows, read.accepted, views(&read)[0].1.outcome), (4, 4, Outcome::Completed));
    let mut bad = good.clone();
    bad[40_000] ^= 1;
    let read = typed(&bad);
    assert_eq!(read.rejections.iter().map(|one| one.code).collect::<Vec<_>>(), ["row::checksum"]);
    assert_eq!(views(&read)[0].1.outcome, Outcome::Completed, "what follows is read");
    let cut = typed(&good[..good.len() - 2]);
    assert_eq!((codes(&cut), views(&cut)[0].1.state), (vec!["wandb::cut_short"], RunState::Lost));
}

#[test]
fn a_file_that_is_no_run_is_an_error_with_help() {
    for (content, code) in
        [(&b":W&B\xe1\xbe\x09"[..], "wandb::not_a_run"), (b"name,state\nr1,finished\n", "wandb::not_json")]
    {
        let error = read(content, &options()).unwrap_err();
        assert_eq!((error.code, error.help.is_some()), (code, true));
    }
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(read_folder(empty.path(), &options()).unwrap_err().code, "wandb::no_runs");
}

#[test]
fn runs_of_the_api_are_read_whole() {
    let file = std::fs::read(golden::testdata("wandb/runs.json")).unwrap();
    let declared =
        WandbOptions { file: "runs.json".to_owned(), project: Some("vitl".to_owned()), ..options() };
    let read = read(file.as_slice(), &declared).unwrap();
    golden::check("wandb/runs.expected.txt", &read);
    assert_eq!((read.rows, read.accepted), (9, 5));
}

#[test]
fn a_long_history_is_thinned_out_and_counted() {
    let mut records = vec![begun("h", &[])];
    records.extend((0..5_000).map(|at| logged(200 + at, "loss", &at.to_string())));
    let read = typed(&file(&records));
    let kept = qualities(&read).len();
    assert!((500..=1_003).contains(&kept), "{kept}");
    let warning = &read.warnings[0];
    assert_eq!(warning.code, "wandb::values_thinned");
    assert!(warning.message.starts_with(&format!("{} value(s)", 5_000 - kept)), "{}", warning.message);
}

proptest! {
    #[test]
    fn no_change_of_a_good_file_makes_it_panic(at in 7_usize..4_000, byte in any::<u8>(), cut in any::<bool>()) {
        let name = "wandb/offline-run-20261130_005545-exp42a0/run-exp42a0.wandb";
        let mut bytes = std::fs::read(golden::testdata(name)).unwrap();
        let at = at.min(bytes.len() - 1);
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] = byte;
        }
        typed(&bytes);
    }

    #[test]
    fn no_content_of_a_record_makes_it_panic(content in proptest::collection::vec(any::<u8>(), 0..200)) {
        typed(&file(&[begun("h", &[]), content]));
    }
}
