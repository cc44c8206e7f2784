//! The scripts of `slurm/`: what slurmd's prolog and epilog record is read, is one attempt, and never fails a node.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of a test may stop it")]
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

mod shared;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ledger::{Attempt, LinkMethod, Outcome, RunState};
use shared::{Spool, folded};

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../slurm").join(name)
}

/// Runs a script as slurmd does: without a search path, with its own variables and those of the test.
fn run(name: &str, spool: &Spool, variables: &[(&str, &str)]) {
    let mut command = Command::new(script(name));
    command.env_clear().env("TRAINBILL_SPOOL", spool.path()).stdin(Stdio::null());
    let always = [("SLURM_JOB_ID", "42"), ("SLURM_CLUSTER_NAME", "gpu26"), ("SLURMD_NODENAME", "gpu07")];
    let output = command.envs(always).envs(variables.iter().copied()).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(0), 0, 0), "{name}");
}

const JOB: [(&str, &str); 9] = [
    ("SLURM_JOB_NODELIST", "gpu[07-08]"),
    ("SLURM_JOB_NUM_NODES", "2"),
    ("SLURM_JOB_START_TIME", "1782900000"),
    ("SLURM_JOB_RESTART_COUNT", "0"),
    ("SLURM_JOB_GPUS", "0,1,2,3"),
    ("SLURM_JOB_USER", "anna"),
    ("SLURM_JOB_ACCOUNT", "vision"),
    ("SLURM_JOB_PARTITION", "a100"),
    ("SLURM_JOB_COMMENT", r#"note="say \"hi\""; experiment=Grüße "vitl"; x=1"#),
];

/// The job on both of its nodes, ended with these variables.
fn job(spool: &Spool, end: &[(&str, &str)]) -> Attempt {
    for node in ["gpu08", "gpu07"] {
        run("prolog.sh", spool, &[&JOB[..], &[("SLURMD_NODENAME", node)]].concat());
    }
    for node in ["gpu07", "gpu08"] {
        run("epilog.sh", spool, &[&JOB[..], end, &[("SLURMD_NODENAME", node)]].concat());
    }
    let mut attempts = spool.attempts();
    assert_eq!(attempts.len(), 1, "{attempts:#?}");
    attempts.remove(0)
}

#[test]
fn a_job_is_one_attempt_that_held_each_of_its_nodes_until_it_ended_there() {
    let spool = Spool::new();
    let attempt = job(&spool, &[("SLURM_JOB_EXIT_CODE2", "3:0")]);
    assert_eq!(
        (attempt.state, attempt.outcome, attempt.exit_code),
        (RunState::Ended, Outcome::Failed, Some(3))
    );
    assert_eq!(attempt.started_at.unwrap().to_string(), "2026-07-01T10:00:00Z");
    assert_eq!(
        (attempt.link.experiment.0.as_str(), attempt.link.method),
        (r#"Grüße "vitl""#, LinkMethod::Label)
    );
    assert_eq!((attempt.user.as_deref(), attempt.team.as_deref()), (Some("anna"), Some("vision")));
    assert_eq!((attempt.queue.as_deref(), attempt.node_count), (Some("a100"), Some(2)));
    assert_eq!((attempt.gpu_count, attempt.restart_index), (Some(8_000), Some(0)));
    assert!(attempt.aliases.contains(&"slurm:gpu26:42".to_owned()));
    let held: Vec<_> = attempt.bindings.iter().map(|b| (b.node_name.as_deref().unwrap(), b.gpus)).collect();
    assert_eq!(held, [("gpu07", 4_000), ("gpu08", 4_000)]);
    assert!(attempt.bindings.iter().all(|b| Some(b.start) == attempt.started_at && b.end.is_some()));
}

#[test]
fn a_node_is_let_go_when_its_own_epilog_runs() {
    let spool = Spool::new();
    for (name, node) in [("prolog.sh", "gpu07"), ("prolog.sh", "gpu08"), ("epilog.sh", "gpu08")] {
        run(name, &spool, &[&JOB[..], &[("SLURMD_NODENAME", node)]].concat());
    }
    let attempts = spool.attempts();
    assert_eq!((attempts.len(), attempts[0].state, attempts[0].ended_at), (1, RunState::Running, None));
    let held: Vec<_> =
        attempts[0].bindings.iter().map(|b| (b.node_name.as_deref(), b.end.is_some())).collect();
    assert_eq!(held, [(Some("gpu07"), false), (Some("gpu08"), true)]);
    assert!(attempts[0].bindings.iter().all(|b| Some(b.start) == attempts[0].started_at));
}

#[test]
fn an_end_that_may_be_anything_is_an_end_and_no_success() {
    for (code, signal) in [("0:0", None), ("0:15", Some("SIGTERM")), ("", None)] {
        let spool = Spool::new();
        let attempt = job(&spool, &[("SLURM_JOB_EXIT_CODE2", code)]);
        assert_eq!((attempt.state, attempt.outcome), (RunState::Ended, Outcome::Unknown), "{code}");
        assert!(attempt.ended_at.is_some(), "{code}");
        let told = std::fs::read_to_string(spool.file("slurm.42.gpu07.ndjson")).unwrap();
        assert_eq!(
            signal.is_some_and(|name| told.contains(&format!("\"signal\":\"{name}\""))),
            signal.is_some(),
            "{told}"
        );
    }
}

#[test]
fn a_requeued_job_is_two_attempts_and_what_it_launched_is_a_part_of_one() {
    let spool = Spool::new();
    for restarts in ["0", "1"] {
        let variables = [("SLURM_JOB_RESTART_COUNT", restarts)];
        run("prolog.sh", &spool, &variables);
        if restarts == "1" {
            let mut command = spool.sh("exit 0");
            command
                .env("SLURM_JOB_ID", "42")
                .env("SLURM_CLUSTER_NAME", "gpu26")
                .env("SLURM_RESTART_COUNT", restarts);
            assert!(command.output().unwrap().status.success());
        }
        run("epilog.sh", &spool, &variables);
    }
    let attempts = spool.attempts();
    assert_eq!(attempts.len(), 2, "{attempts:#?}");
    let named: Vec<bool> = attempts.iter().map(|attempt| attempt.link.experiment.0 == "vitl").collect();
    assert_eq!(
        named.iter().filter(|named| **named).count(),
        1,
        "what exec says goes to the execution that it ran in"
    );
    let with = attempts.iter().find(|attempt| attempt.link.experiment.0 == "vitl").unwrap();
    assert_eq!(with.restart_index, Some(1));
}

#[test]
fn only_the_first_node_of_a_list_tells_the_start() {
    for (list, node, leads) in [
        ("gpu07", "gpu07", true),
        ("gpu[07-09,12],cpu1", "gpu07", true),
        ("gpu[07-09,12],cpu1", "gpu08", false),
        ("rack[1,3]n[05-07]x,b", "rack1n05x", true),
        ("rack[1,3]n[05-07]x,b", "b", false),
        ("a,gpu07", "gpu07", false),
        ("", "gpu07", true),
    ] {
        let spool = Spool::new();
        run("prolog.sh", &spool, &[("SLURM_JOB_NODELIST", list), ("SLURMD_NODENAME", node)]);
        assert_eq!(spool.kinds(), [if leads { "START" } else { "OTHER" }], "{list} {node}");
    }
}

#[test]
fn what_is_no_text_and_what_is_no_count_does_no_harm() {
    let spool = Spool::new();
    let mut command = Command::new(script("prolog.sh"));
    command
        .env_clear()
        .env("TRAINBILL_SPOOL", spool.path())
        .env("SLURM_JOB_ID", "42")
        .env("SLURMD_NODENAME", "../x");
    command
        .env("SLURM_JOB_GPUS", "0-3")
        .env("SLURM_JOB_NUM_NODES", "many")
        .env("SLURM_JOB_RESTART_COUNT", "x");
    let comment: &std::ffi::OsStr =
        std::os::unix::ffi::OsStrExt::from_bytes(b"experiment=a\xff\t\"$(touch x)`id`\\;b\nexperiment=c");
    assert!(command.env("SLURM_JOB_EXTRA", comment).status().unwrap().success());
    let attempts = folded(&spool.read(None).observations);
    assert_eq!(attempts[0].link.experiment.0, "a \"$(touch x)`id`\\");
    assert_eq!(attempts[0].bindings[0].gpus, 0);
    assert!(spool.record().ends_with("slurm.42.___x.ndjson"), "{:?}", spool.record());
}

#[test]
fn whatever_is_missing_a_node_is_not_drained() {
    let spool = Spool::new();
    for name in ["prolog.sh", "epilog.sh"] {
        let mut command = Command::new(script(name));
        command
            .env_clear()
            .env("TRAINBILL_SPOOL", spool.file("no").join("x"))
            .env("SLURM_JOB_ID", "$(exit 9)");
        assert_eq!(command.status().unwrap().code(), Some(0));
        // A folder for records that cannot be made.
        std::fs::write(spool.file("taken"), "").unwrap();
        command.env("TRAINBILL_SPOOL", spool.file("taken").join("x")).env("SLURM_JOB_ID", "42");
        assert_eq!(command.status().unwrap().code(), Some(0));
        // The other script is not beside it.
        let copy = spool.script(name, &std::fs::read_to_string(script(name)).unwrap());
        assert_eq!(Command::new(copy).status().unwrap().code(), Some(0));
    }
    assert!(!spool.file("no").exists());
}

#[test]
fn the_scripts_are_portable() {
    for name in ["prolog.sh", "epilog.sh", "record.sh"] {
        let is_read = Command::new("/bin/sh").arg("-n").arg(script(name)).status().unwrap();
        assert!(is_read.success(), "{name}");
        match Command::new("shellcheck").arg("--shell=sh").arg(script(name)).output() {
            Ok(found) => assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stdout)),
            Err(_) => eprintln!("skipped: no shellcheck"),
        }
    }
}
