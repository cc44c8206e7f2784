//! The record of a run: what it says, and that nothing which keeps it from being written reaches the program.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of a test may stop it")]

mod shared;

use std::process::{Command, Output, Stdio};

use ledger::{Outcome, PhaseKind, RunRecord, RunState};
use serde_json::json;
use shared::{Spool, said, surroundings};

/// Runs the launcher under a limit of a file's size, in blocks of 512 bytes: what a full disk does, for anybody.
fn limited(blocks: u32, spool: &Spool, script: &str) -> Output {
    let inner = spool.sh(script);
    let mut outer = Command::new("/bin/sh");
    outer.args(["-c", &format!("ulimit -f {blocks}; exec \"$@\""), "sh"]);
    outer.arg(inner.get_program()).args(inner.get_args());
    surroundings(&mut outer);
    outer.env("TRAINBILL_HEARTBEAT_SECONDS", "0.01").output().unwrap()
}

#[test]
fn without_room_for_a_record_the_program_runs_and_one_line_says_so() {
    let spool = Spool::new();
    let output = limited(0, &spool, "echo out; exit 3");
    assert_eq!((output.stdout.as_slice(), output.status.code()), (b"out\n".as_slice(), Some(3)));
    let said = said(&output);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].contains("incomplete") && said[1].contains("exit code 3"), "{said:?}");
    assert!(!said[1].contains("next:"), "what was not recorded is not offered: {said:?}");
    assert_eq!(spool.kinds(), [""; 0]);
}

#[test]
fn what_there_was_room_for_is_whole() {
    let spool = Spool::new();
    // The start has room, and some of what follows.
    let output = limited(
        4,
        &spool,
        "i=0; while [ $i -lt 50 ]; do echo \"metric loss=$i\" >>\"$TRAINBILL_MARKS\"; \
                     i=$((i+1)); done; exit 3",
    );
    assert_eq!(output.status.code(), Some(3));
    let kinds = spool.kinds();
    assert_eq!(kinds[0], "START");
    assert!(kinds.len() > 1 && !kinds.contains(&"FAIL".to_owned()), "{kinds:?}");
    assert_eq!(said(&output).iter().filter(|line| line.contains("incomplete")).count(), 1);
    let attempts = spool.attempts();
    assert_eq!((attempts.len(), attempts[0].state), (1, RunState::Running));
    assert_eq!(spool.marks().len(), 1, "marks that are not in the record stay");
}

#[test]
fn without_a_folder_for_records_the_program_runs() {
    let spool = Spool::new();
    let taken = spool.file("file");
    std::fs::write(&taken, "").unwrap();
    let mut command = Command::new(shared::FACE);
    command.arg("--spool").arg(taken.join("below")).args([
        "--",
        "sh",
        "-c",
        "echo ${TRAINBILL_MARKS:-none}; exit 5",
    ]);
    surroundings(&mut command);
    let output = command.output().unwrap();
    assert_eq!((output.stdout.as_slice(), output.status.code()), (b"none\n".as_slice(), Some(5)));
    assert!(said(&output)[0].contains("cannot be kept"), "{:?}", said(&output));
}

#[test]
fn a_run_is_one_attempt_with_what_it_was_and_how_it_ended() {
    for (script, outcome, code) in [
        ("exit 0", Outcome::Completed, Some(0)),
        ("exit 1", Outcome::Failed, Some(1)),
        ("exit 143", Outcome::Cancelled, Some(143)),
    ] {
        let spool = Spool::new();
        let mut command = spool.sh(script);
        assert!(command.env("USER", "anna").output().unwrap().status.code().is_some());
        let attempts = spool.attempts();
        let [attempt] = attempts.as_slice() else { unreachable!("{attempts:?}") };
        assert_eq!(
            (attempt.state, attempt.outcome, attempt.exit_code),
            (RunState::Ended, outcome, code),
            "{script}"
        );
        assert_eq!((attempt.scheduler.as_str(), attempt.user.as_deref()), ("exec", Some("anna")));
        assert_eq!(attempt.link.experiment.0, "vitl");
        assert_eq!(
            attempt.bindings[0].node_name.as_deref(),
            Some("node-1"),
            "even the shortest run names its node"
        );
        assert!(attempt.started_at <= attempt.ended_at);
    }
}

#[test]
fn a_retry_is_another_attempt_of_the_same_experiment() {
    let spool = Spool::new();
    for script in ["exit 1", "exit 0"] {
        spool.sh(script).output().unwrap();
    }
    let attempts = spool.attempts();
    let mut outcomes: Vec<Outcome> = attempts.iter().map(|attempt| attempt.outcome).collect();
    outcomes.sort();
    assert_eq!(outcomes, [Outcome::Completed, Outcome::Failed]);
}

#[test]
fn ranks_of_one_step_on_one_node_are_one_attempt_that_holds_it_once() {
    let spool = Spool::new();
    let rank = |rank: &str| {
        let mut command = spool.sh("echo \"metric loss=$SLURM_PROCID\" >>\"$TRAINBILL_MARKS\"");
        command.env("SLURM_JOB_ID", "42").env("SLURM_CLUSTER_NAME", "gpu26").env("SLURM_STEP_ID", "0");
        command.env("SLURM_PROCID", rank).env("SLURM_LOCALID", rank).env("SLURMD_NODENAME", "gpu07");
        command.env("SLURM_GPUS_ON_NODE", "2").env("CUDA_VISIBLE_DEVICES", rank);
        command.stderr(Stdio::null()).spawn().unwrap()
    };
    for mut child in [rank("0"), rank("1")] {
        assert!(child.wait().unwrap().success());
    }
    let attempts = spool.attempts();
    let [attempt] = attempts.as_slice() else { unreachable!("{attempts:?}") };
    assert_eq!((attempt.outcome, attempt.scheduler.as_str()), (Outcome::Completed, "slurm"));
    let held: Vec<_> = attempt.bindings.iter().map(|b| (b.node_name.as_deref(), b.gpus)).collect();
    assert_eq!(held, [(Some("gpu07"), 2_000)]);
    assert_eq!(attempt.quality.len(), 2, "what either rank marks is of the one attempt");
    assert!(attempt.aliases.contains(&"slurm:gpu26:42".to_owned()));
}

#[test]
fn a_run_inside_of_a_run_belongs_to_it() {
    let spool = Spool::new();
    let inner = format!("{} --spool {} -- sh -c 'exit 6'; exit 0", shared::FACE, spool.path().display());
    assert!(spool.sh(&inner).output().unwrap().status.success());
    let attempts = spool.attempts();
    assert_eq!((attempts.len(), attempts[0].outcome), (1, Outcome::Completed));
}

#[test]
fn marks_become_phases_checkpoints_and_quality() {
    let spool = Spool::new();
    let script = "cat >>\"$TRAINBILL_MARKS\" <<'END'\n\
        2026-07-01T10:00:00Z phase data_load\n\
        2026-07-01T10:01:00Z phase train\n\
        2026-07-01T10:05:00Z checkpoint step=4000 uri=s3://ckpt/4000 bytes=5 started=2026-07-01T10:04:00Z\n\
        2026-07-01T10:06:00Z metric val_acc=0.781 step=4000 split=val direction=maximise final=true\n\
        2026-07-01T10:07:00Z metric loss=nan\n\
        2026-07-01T10:08:00Z phase eval\n\
        END";
    let output = spool.sh(script).output().unwrap();
    assert_eq!(said(&output).len(), 1);
    assert!(spool.marks().is_empty(), "marks that are in the record are let go");
    let attempt = &spool.attempts()[0];
    let time = |at: ledger::Timestamp| at.to_string()[11..16].to_owned();
    // Told as marked; an attempt takes of them what lies in its own time.
    let read = spool.read(None);
    let phases: Vec<_> = read
        .observations
        .iter()
        .filter_map(|seen| match &seen.record {
            RunRecord::Phase(phase) => Some((phase.kind, time(phase.interval.start))),
            _ => None,
        })
        .collect();
    for (kind, from) in
        [(PhaseKind::DataLoad, "10:00"), (PhaseKind::Train, "10:01"), (PhaseKind::Eval, "10:08")]
    {
        assert!(phases.contains(&(kind, from.to_owned())), "{phases:?}");
    }
    let [checkpoint] = attempt.checkpoints.as_slice() else { unreachable!("{:?}", attempt.checkpoints) };
    assert_eq!((checkpoint.step, checkpoint.durable, checkpoint.bytes), (Some(4000), true, Some(5)));
    assert_eq!(checkpoint.completed_at.map(time).as_deref(), Some("10:05"));
    let quality: Vec<_> = attempt.quality.iter().map(|q| (q.metric.as_str(), q.step, q.is_final)).collect();
    assert_eq!(quality, [("val_acc", Some(4000), true), ("loss", None, false)]);
    assert!(attempt.quality[1].value.is_nan());
}

#[test]
fn a_mark_that_is_none_is_counted_and_kept() {
    let spool = Spool::new();
    let output = spool
        .sh("printf 'metric loss=1\\nmetric loss=high\\nepoch 3' >>\"$TRAINBILL_MARKS\"")
        .output()
        .unwrap();
    assert!(said(&output)[0].starts_with("trainbill: 2 lines of marks"), "{:?}", said(&output));
    assert_eq!(spool.marks().len(), 1);
    assert_eq!(spool.attempts()[0].quality.len(), 1);
}

#[test]
fn marks_are_written_down_however_many_came_at_the_end() {
    let spool = Spool::new();
    // Some megabytes, which is more than is read at once.
    let script = "i=0; while [ $i -lt 3000 ]; do echo \"metric loss=$i uri=$0\"; i=$((i+1)); done >>\"$TRAINBILL_MARKS\"";
    let long = "x".repeat(1_000);
    let output = spool.exec(&["/bin/sh", "-c", script, &long]).output().unwrap();
    assert_eq!(said(&output).len(), 1);
    let metrics =
        spool.events().iter().filter(|e| e["run"]["facets"].get("gpuRun_quality").is_some()).count();
    assert_eq!(metrics, 3_000);
}

#[test]
fn an_experiment_that_nobody_named_is_made_of_the_command_and_said() {
    let spool = Spool::new();
    let run = |argument: &str| {
        let mut command = Command::new(shared::FACE);
        command.arg("--spool").arg(spool.path()).args(["--", "true", argument]);
        surroundings(&mut command);
        let output = command.output().unwrap();
        assert!(said(&output)[0].contains("(named after repository, script and arguments)"));
    };
    ["1", "1", "2"].iter().for_each(|argument| run(argument));
    let mut links: Vec<String> = spool.attempts().iter().map(|a| a.link.experiment.0.clone()).collect();
    links.sort();
    links.dedup();
    assert_eq!(links.len(), 2, "{links:?}");
    assert_eq!(json!(links).to_string().matches("true-").count(), 2, "{links:?}");
}
