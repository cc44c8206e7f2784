//! The Python module: its own tests, and that the launcher reads what it writes.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of a test may stop it")]
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

mod shared;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ledger::PhaseKind;
use shared::{Spool, said};

fn module() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python")
}

/// True where there is a Python that the module is for; a test without one is skipped, and says so.
fn has_python() -> bool {
    let mut python = Command::new("python3");
    python.args(["-c", "import sys; sys.exit(sys.version_info < (3, 9))"]).stderr(Stdio::null());
    let is_there = python.status().is_ok_and(|status| status.success());
    if !is_there {
        eprintln!("skipped: no python3 of at least 3.9");
    }
    is_there
}

#[test]
fn the_module_keeps_its_promises() {
    if !has_python() {
        return;
    }
    let mut python = Command::new("python3");
    python.args(["-W", "error", "-m", "unittest", "discover", "-s", "tests"]);
    let output =
        python.current_dir(module()).env("PYTHONPATH", module()).env("PYTHONDONTWRITEBYTECODE", "1").output();
    let output = output.unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.contains("Ran ") && !told.contains("Ran 0"), "{told}");
}

#[test]
fn what_the_module_marks_is_in_the_attempt() {
    if !has_python() {
        return;
    }
    let spool = Spool::new();
    let script = "import trainbill as t\n\
        t.phase('train')\n\
        t.metric('val acc', 0.781, step=4000, split='val', direction='maximise', protocol='top1-v2', final=True)\n\
        t.checkpoint('s3://ckpt/4000', step=4000, size=5)\n\
        t.checkpoint('/scratch/4001', step=4001, durable=True)\n";
    let mut command = spool.exec(&["python3", "-c", script]);
    command
        .env("PYTHONPATH", module())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PATH", std::env::var_os("PATH").unwrap());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(said(&output).len(), 1, "every line of the module is read: {output:?}");
    let attempt = &spool.attempts()[0];
    assert!(attempt.phases.iter().any(|phase| phase.kind == PhaseKind::Train));
    let [quality] = attempt.quality.as_slice() else { unreachable!("{:?}", attempt.quality) };
    let found =
        (quality.metric.as_str(), quality.step, quality.split.as_deref(), quality.protocol.as_deref());
    assert_eq!(found, ("val_acc", Some(4000), Some("val"), Some("top1-v2")));
    assert!(quality.is_final && quality.direction.is_some());
    let durable: Vec<_> = attempt.checkpoints.iter().map(|c| (c.step, c.durable, c.bytes)).collect();
    assert_eq!(durable, [(Some(4000), true, Some(5)), (Some(4001), true, None)]);
}
