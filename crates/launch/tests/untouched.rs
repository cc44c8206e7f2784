//! The program is untouched: its input, output, exit code and environment are those that it would have without `exec`.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of a test may stop it")]

mod shared;

use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;

use shared::{Spool, fed, said, surroundings};

#[test]
fn every_exit_code_is_kept() {
    let spool = Spool::new();
    // Each thread has every fourth code.
    std::thread::scope(|scope| {
        for from in 0..4 {
            let spool = &spool;
            scope.spawn(move || {
                for code in (from..256).step_by(4) {
                    let status = spool.sh(&format!("exit {code}")).output().unwrap().status;
                    assert_eq!((status.code(), status.signal()), (Some(code), None));
                }
            });
        }
    });
    let mut told: Vec<i32> = spool.attempts().iter().map(|attempt| attempt.exit_code.unwrap()).collect();
    told.sort_unstable();
    assert_eq!(told, (0..256).collect::<Vec<i32>>());
}

#[test]
fn ten_thousand_lines_are_the_same_on_both_streams() {
    let spool = Spool::new();
    let script = "i=0; while [ $i -lt 10000 ]; do printf 'out %d \\377\\r\\n' $i; printf 'err %d \\000\\n' $i >&2; \
                  i=$((i+1)); done; printf 'no line feed'; printf 'nor here' >&2";
    let mut plain = Command::new("/bin/sh");
    surroundings(plain.args(["-c", script]));
    let plain = plain.output().unwrap();
    assert_eq!(plain.stdout.iter().filter(|byte| **byte == b'\n').count(), 10_000);
    let under = spool.sh(script).output().unwrap();
    assert!(under.stdout == plain.stdout, "standard output differs");
    let (programs, ours) = under.stderr.split_at(plain.stderr.len());
    assert!(programs == plain.stderr, "standard error differs");
    let ours = String::from_utf8(ours.to_vec()).unwrap();
    assert!(ours.starts_with("trainbill: attempt ") && ours.ends_with('\n'), "{ours}");
    assert_eq!(ours.lines().count(), 1, "{ours}");
}

#[test]
fn input_passes_through_byte_for_byte() {
    let spool = Spool::new();
    let input: Vec<u8> = (0..=255).cycle().take(1 << 20).collect();
    let output = fed(&mut spool.exec(&["cat"]), input.clone());
    assert!(output.stdout == input, "what went in is not what came out");
}

#[test]
fn what_cannot_be_run_ends_as_in_a_shell() {
    let spool = Spool::new();
    let not_executable = spool.file("data");
    std::fs::write(&not_executable, "#!/bin/sh\n").unwrap();
    for (program, code) in [
        ("/no/such/program", 127),
        ("no-such-program-on-the-path", 127),
        (not_executable.to_str().unwrap(), 126),
        (spool.path().to_str().unwrap(), 126),
    ] {
        let records = Spool::new();
        let output = records.exec(&[program]).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{program}");
        assert!(said(&output)[0].starts_with(&format!("trainbill: cannot run {program}: ")), "{program}");
        let end = records.end();
        assert_eq!(
            (&end["eventType"], &end["run"]["facets"]["gpuRun_attempt"]["exitCode"]),
            (&"FAIL".into(), &code.into())
        );
    }
}

#[test]
fn a_script_that_names_no_interpreter_is_one_of_the_shell() {
    let spool = Spool::new();
    let script = spool.script("train", "echo \"$0 $1\"\nexit 4\n");
    let output = spool.exec(&[script.to_str().unwrap(), "--lr"]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{} --lr\n", script.display()));
    assert_eq!(output.status.code(), Some(4));
    let by_name = spool.exec(&["train"]).env("PATH", spool.path()).output().unwrap();
    assert_eq!(by_name.status.code(), Some(4));
}

#[test]
fn a_program_that_a_signal_ends_is_seen_to_end_by_it() {
    for (name, signal, kind) in [
        ("KILL", 9, "FAIL"),
        ("SEGV", 11, "FAIL"),
        ("TERM", 15, "ABORT"),
        ("INT", 2, "ABORT"),
        ("PIPE", 13, "FAIL"),
    ] {
        let spool = Spool::new();
        let status = spool.sh(&format!("kill -{name} $$")).output().unwrap().status;
        assert_eq!((status.signal(), status.code()), (Some(signal), None), "{name}");
        let end = spool.end();
        let facet = &end["run"]["facets"]["gpuRun_attempt"];
        assert_eq!((&end["eventType"], &facet["signal"]), (&kind.into(), &format!("SIG{name}").into()));
        assert_eq!(facet.get("exitCode"), None, "a signal is no exit code");
    }
}

#[test]
fn the_variables_of_the_program_are_its_own_and_those_that_name_the_run() {
    let spool = Spool::new();
    let mut plain = Command::new("env");
    surroundings(&mut plain);
    let lines = |bytes: Vec<u8>| {
        let mut lines: Vec<String> = String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let before = lines(plain.env("WANDB_TAGS", "a,b").output().unwrap().stdout);
    let after = lines(spool.exec(&["env"]).env("WANDB_TAGS", "a,b").output().unwrap().stdout);
    let run = spool.end()["run"]["runId"].as_str().unwrap().to_owned();
    let mut new = String::new();
    for line in after.iter().filter(|line| !before.contains(line)) {
        writeln!(new, "{}", line.replace(&run, "ID").replace(spool.path().to_str().unwrap(), "SPOOL"))
            .unwrap();
    }
    let marks = new.lines().find(|line| line.starts_with("TRAINBILL_MARKS=")).unwrap().to_owned();
    assert!(marks.starts_with("TRAINBILL_MARKS=SPOOL/ID.") && marks.ends_with(".marks"), "{marks}");
    assert_eq!(
        new.replace(&format!("{marks}\n"), ""),
        "MLFLOW_RUN_CONTEXT={\"attempt_alias\":\"ol:ID\",\"experiment\":\"vitl\"}\n\
         TRAINBILL_ATTEMPT_ID=ID\nTRAINBILL_EXPERIMENT=vitl\nTRAINBILL_EXPERIMENT_ID=vitl\n\
         WANDB_RUN_GROUP=vitl\nWANDB_TAGS=a,b,attempt_alias=ol:ID\n"
    );
    let gone: Vec<&String> = before.iter().filter(|line| !after.contains(line)).collect();
    assert_eq!(gone, ["WANDB_TAGS=a,b"], "only what is added to is changed");
}

#[test]
fn what_trackers_were_told_already_stays() {
    let spool = Spool::new();
    let show = "printf '%s\\n%s\\n' \"$MLFLOW_RUN_CONTEXT\" \"$WANDB_RUN_GROUP\"";
    let mut command = spool.sh(show);
    command.env("WANDB_RUN_GROUP", "mine").env("MLFLOW_RUN_CONTEXT", r#"{"experiment":"theirs","who":"me"}"#);
    let output = command.output().unwrap();
    let run = spool.end()["run"]["runId"].as_str().unwrap().to_owned();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        format!("{{\"attempt_alias\":\"ol:{run}\",\"experiment\":\"theirs\",\"who\":\"me\"}}\nmine\n")
    );
    let mut broken = spool.sh(show);
    let broken = broken.env("MLFLOW_RUN_CONTEXT", "not JSON").output().unwrap();
    assert_eq!(String::from_utf8(broken.stdout.clone()).unwrap(), "not JSON\nvitl\n");
    assert!(said(&broken)[0].contains("MLFLOW_RUN_CONTEXT"), "{:?}", said(&broken));
}
