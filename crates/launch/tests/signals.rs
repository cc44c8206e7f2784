//! Signals reach the program, and what happens to the launcher itself leaves a record behind.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of a test may stop it")]

mod shared;

use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;

use ledger::{Outcome, RunState, Timestamp};
use rustix::process::Signal;
use shared::{Growing, Running, Spool, folded};

/// A program that waits for its input to end in a way that a signal interrupts.
const WAITS: &str = "exec 3<&0; cat <&3 >/dev/null 2>&1 & echo ready; wait; wait; echo over";

fn waiting(handlers: &str) -> String {
    format!("{handlers}\n{WAITS}")
}

#[test]
fn a_signal_is_the_programs_and_its_own_handler_decides_the_end() {
    let spool = Spool::new();
    let mut running = Running::start(&mut spool.sh(&waiting("trap 'echo checkpoint; exit 7' TERM")));
    running.signal(Signal::TERM);
    assert_eq!(running.line(), "checkpoint");
    let (status, told) = running.end();
    assert_eq!(status.code(), Some(7), "{told}");
    let end = spool.end();
    assert_eq!(
        (&end["eventType"], &end["run"]["facets"]["gpuRun_attempt"]["exitCode"]),
        (&"FAIL".into(), &7.into())
    );
}

#[test]
fn every_signal_that_schedulers_send_is_passed_on_and_the_program_goes_on() {
    let spool = Spool::new();
    let traps: Vec<String> = ["HUP", "INT", "QUIT", "USR1", "USR2", "TERM"]
        .map(|name| format!("trap 'echo {name}' {name}"))
        .into();
    // Each signal interrupts one wait.
    let script = format!(
        "{}\nexec 3<&0; cat <&3 >/dev/null 2>&1 & echo ready\nuntil wait $!; [ $? -lt 128 ]; do :; done; exit 0",
        traps.join("\n")
    );
    let mut running = Running::start(&mut spool.sh(&script));
    for (signal, name) in [
        (Signal::USR1, "USR1"),
        (Signal::USR2, "USR2"),
        (Signal::HUP, "HUP"),
        (Signal::INT, "INT"),
        (Signal::QUIT, "QUIT"),
        (Signal::TERM, "TERM"),
        (Signal::USR1, "USR1"),
    ] {
        running.signal(signal);
        assert_eq!(running.line(), name);
    }
    let (status, told) = running.end();
    assert_eq!(status.code(), Some(0), "{told}");
}

#[test]
fn a_program_without_a_handler_ends_by_the_signal_and_so_does_the_launcher() {
    let spool = Spool::new();
    let running = Running::start(&mut spool.sh(WAITS));
    running.signal(Signal::TERM);
    let (status, told) = running.end();
    assert_eq!(status.signal(), Some(15), "{told}");
    let attempts = spool.attempts();
    assert_eq!((attempts.len(), attempts[0].outcome), (1, Outcome::Cancelled));
}

#[test]
fn a_signal_that_was_ignored_before_stays_ignored() {
    let spool = Spool::new();
    let inner = spool.exec(&["/bin/sh", "-c", "kill -HUP $PPID; kill -HUP $$; echo still here"]);
    let mut outer = Command::new("/bin/sh");
    outer.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]).arg(inner.get_program()).args(inner.get_args());
    shared::surroundings(&mut outer);
    let output = outer.output().unwrap();
    assert_eq!((output.stdout.as_slice(), output.status.code()), (b"still here\n".as_slice(), Some(0)));
}

#[test]
fn a_launcher_that_is_killed_leaves_an_attempt_that_is_lost_as_of_its_last_sign_of_life() {
    let spool = Spool::new();
    let mut running = Running::start(spool.sh(WAITS).env("TRAINBILL_HEARTBEAT_SECONDS", "0.05"));
    let mut record = Growing::file(&spool.record());
    record.wait_for_kind("START");
    record.wait_for_kind("RUNNING");
    record.wait_for_kind("RUNNING");
    running.signal(Signal::KILL);
    assert_eq!(running.child.wait().unwrap().signal(), Some(9));
    let last = spool.end();
    assert_eq!(last["eventType"], "RUNNING");
    let last: jiff::Timestamp = last["eventTime"].as_str().unwrap().parse().unwrap();
    let last = Timestamp(last.as_microsecond());

    let at = |missed: i64| spool.read(Some(Timestamp(last.0 + missed * 50_000)));
    let soon = folded(&at(2).observations);
    assert_eq!((soon.len(), soon[0].state, soon[0].ended_at), (1, RunState::Running, None));
    let later = at(4);
    assert_eq!(later.warnings[0].code, "openlineage::lost");
    let lost = folded(&later.observations);
    assert_eq!(
        (lost[0].state, lost[0].outcome, lost[0].ended_at),
        (RunState::Lost, Outcome::Unknown, Some(last))
    );
    assert_eq!(lost[0].link.experiment.0, "vitl");
}

#[test]
fn a_program_outlives_its_launcher() {
    let spool = Spool::new();
    let mut running = Running::start(&mut spool.sh(WAITS));
    running.signal(Signal::KILL);
    running.child.wait().unwrap();
    drop(running.input);
    let mut line = String::new();
    std::io::BufRead::read_line(&mut running.output, &mut line).unwrap();
    assert_eq!(line, "over\n");
}
