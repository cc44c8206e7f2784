//! Slurm accounting that is typed here: forms, broken rows, and input that is no accounting at all.

use std::path::PathBuf;

use ledger::{Cause, Outcome, RunState};
use proptest::prelude::*;
use sources::telemetry::slurm::{Content, SlurmFile, read};

use crate::{attempt, codes, import, import_text, utc};

#[test]
fn any_delimiter_order_and_case_of_columns_is_read() {
    for text in [
        "state\x1fEND\x1fstart\x1fsubmit\x1fjobidraw\x1fcluster\x1fElapsed\nCOMPLETED\x1f1795998682\x1f1795998677\x1f1795998677\x1f7\x1fc\x1f1-00:00:05\n",
        "State|End|Start|Submit|JobIDRaw|Cluster|Elapsed|\r\nCOMPLETED|1795998682|1795998677|1795998677|7|c|1-00:00:05|\r\n",
        "\u{feff}State::End::Start::Submit::JobIDRaw::Cluster::Elapsed\nCOMPLETED::1795998682::1795998677::1795998677::7::c::1-00:00:05",
    ] {
        let read = import_text(text).unwrap();
        let view = attempt(&read, "slurm:c:7:1795998677");
        assert_eq!((view.outcome, view.elapsed_seconds), (Outcome::Completed, Some(86_405)), "for {text}");
    }
}

#[test]
fn arrays_that_wait_are_accepted_and_say_nothing() {
    let header = "Cluster|JobID|JobIDRaw|Submit|Start|End|State|NodeList\n";
    let range = "c|4103947_[1-3,9...|4103947|1795998677|Unknown|Unknown|PENDING|None assigned\n";
    let read =
        import_text(&format!("{header}{range}c|5_2|13|1795998677|Unknown|Unknown|PENDING|None assigned\n"))
            .unwrap();
    assert_eq!((read.rows, read.accepted, read.observations.len()), (2, 2, 1));
    assert_eq!(attempt(&read, "slurm:c:13:1795998677").state, RunState::Pending);
    let json = r#"{"jobs":[{"job_id":9,"cluster":"c","array":{"job_id":9,"task_id":{"set":false,"infinite":false,"number":0},
        "task":"1-3"},"time":{"submission":1795998677,"start":0,"end":0},"state":{"current":["PENDING"]}}]}"#;
    let read = import_text(json).unwrap();
    assert_eq!((read.accepted, read.observations.len()), (1, 0));
}

/// As 22.05 wrote them: job 1 failed and was put back, job 3 was stopped to be put back. Job 4 was killed.
#[test]
fn a_job_that_failed_before_it_was_requeued_failed() {
    let header = "Cluster|JobIDRaw|Submit|Start|End|State|ExitCode|DerivedExitCode|NodeList\n";
    let row = |job: &str, state: &str, exit: &str| {
        format!("c|{job}|1796082115|1796082116|1796082119|{state}|{exit}|0:0|vm\n")
    };
    let put_back = [("1", "75:0"), ("3", "0:0"), ("4", "1:9")];
    let jobs: String = put_back.iter().map(|(job, exit)| row(job, "REQUEUED", exit)).collect();
    // The accounting of a job that was stopped has a batch step that was cancelled.
    let steps = row("1.batch", "FAILED", "75:0")
        + &row("2", "REQUEUED", "0:0")
        + &row("2.batch", "CANCELLED", "0:15");
    let json = |job: &str, exit: &str, step: &str| {
        format!(
            r#"{{"job_id":{job},"cluster":"c","time":{{"submission":1796082115,"start":1796082116,"end":1796082119}},
            "state":{{"current":"REQUEUED"}},"exit_code":{exit},"nodes":"vm",
            "steps":[{{"step":{{"id":"batch"}},"state":"{step}","exit_code":{exit}}}]}}"#
        )
    };
    let untold = r#"{"status":"SUCCESS","return_code":0}"#;
    let killed = r#"{"return_code":{"set":true,"number":1},"signal":{"id":{"set":true,"number":9}}}"#;
    let json = [json("1", untold, "FAILED"), json("3", untold, "CANCELLED"), json("4", killed, "CANCELLED")];
    let json = format!(r#"{{"jobs":[{}]}}"#, json.join(","));
    for (text, code, evidence) in [
        (format!("{header}{jobs}"), Some(75), "state REQUEUED; exit code 75"),
        (
            format!("{header}{}{steps}{}", row("1", "REQUEUED", "75:0"), jobs.split_once('\n').unwrap().1),
            Some(75),
            "state REQUEUED; exit code 75; step batch FAILED",
        ),
        (json, None, "state REQUEUED; step batch FAILED"),
    ] {
        let read = import_text(&text).unwrap();
        let how = |key: &str| {
            let view = attempt(&read, key);
            (view.outcome, view.cause, view.exit_code, view.cause_evidence.join("; "))
        };
        let failed = (Outcome::Failed, Cause::AppError, code, evidence.to_owned());
        assert_eq!(how("slurm:c:1:1796082115"), failed, "for {text}");
        let stopped = (Outcome::Cancelled, Cause::RequeuedByOperator, Some(0), "state REQUEUED".to_owned());
        assert_eq!(how("slurm:c:3:1796082115"), stopped, "for {text}");
        assert_eq!(how("slurm:c:4:1796082115").1, Cause::RequeuedByOperator, "for {text}");
    }
    let waits = r#"{"jobs":[{"job_id":5,"cluster":"c","time":{"submission":1,"start":0,"end":0},
        "state":{"current":["PENDING","REQUEUE_HOLD"]},"exit_code":{"return_code":7}}]}"#;
    assert_eq!(attempt(&import_text(waits).unwrap(), "slurm:c:5:1").outcome, Outcome::Unknown);
}

#[test]
fn an_exit_code_of_0_of_a_job_that_failed_is_none() {
    let old = import("22.05/sacct_D.json");
    let text = import("22.05/sacct_D_X_std.txt");
    let key =
        text.observations.iter().find(|seen| seen.key.starts_with("slurm:gpu22:2:")).unwrap().key.clone();
    let how = |read| {
        let view = attempt(read, &key);
        (view.outcome, view.exit_code)
    };
    assert_eq!((how(&text), how(&old)), ((Outcome::Failed, Some(7)), (Outcome::Failed, None)));
}

#[test]
fn a_broken_row_is_rejected_with_its_place_and_the_others_stand() {
    let header = "Cluster|JobIDRaw|Submit|Start|End|State|NodeList|AllocTRES\n";
    let rows = [
        ("c|1|1795998677|1795998677|1795998682|COMPLETED|g[0-999999999]|cpu=1", "slurm::too_many_nodes"),
        ("c|2|1795998677|1795998677|1795998682|COMPLETED|g1|cpu=many", "slurm::bad_tres"),
        ("c|3|soon|1795998677|1795998682|COMPLETED|g1|cpu=1", "slurm::not_a_time"),
        ("c|4|1795998677|1795998677|Unknown|COMPLETED|g1|cpu=1", "slurm::no_end"),
        ("c|5|1795998677|1795998690|1795998682|COMPLETED|g1|cpu=1", "slurm::ends_before_start"),
        ("c|six|1795998677|1795998677|1795998682|COMPLETED|g1|cpu=1", "slurm::not_a_job_id"),
        ("c|7|1795998677|1795998677|1795998682|COMPLETED|g1", "slurm::wrong_field_count"),
        ("c|8|1795998677|1795998677|1795998682|COMPLETED|g1|cpu=1|x", "slurm::wrong_field_count"),
        ("c|9|Unknown|1795998677|1795998682|COMPLETED|g1|cpu=1", "slurm::not_a_time"),
        ("c|10|1795998677|1795998677|1795998682|done?|g1|cpu=1", "slurm::not_a_state"),
    ];
    let body: String = rows.iter().map(|(row, _)| format!("{row}\n")).collect();
    let read =
        import_text(&format!("{header}{body}c|11|1795998677|1795998677|1795998682|COMPLETED|g1|cpu=1\n"))
            .unwrap();
    assert_eq!((read.rows, read.accepted), (11, 1));
    for (row, code) in rows {
        let line = rows.iter().position(|other| other.0 == row).unwrap() as u64 + 1;
        let rejection = read.rejections.iter().find(|rejection| rejection.row == line).unwrap();
        assert_eq!(rejection.code, code, "for {row}");
    }
    let json = r#"{"jobs":[{"job_id":1,"cluster":"c","time":{"submission":"soon"}},{"job_id":2,"cluster":"c",
        "time":{"submission":9223372036854775807}},{"cluster":"c","time":{"submission":1}},7,
        {"job_id":3,"cluster":"c","time":{"submission":1},"nodes":"g[1-99999]","state":{"current":"RUNNING"}}]}"#;
    let read = import_text(json).unwrap();
    assert_eq!((read.rows, read.accepted, read.rejections.len()), (5, 0, 5));
}

#[test]
fn a_file_that_is_no_accounting_is_refused_by_code() {
    for (text, code) in [
        ("", "slurm::no_header"),
        ("\n \n", "slurm::no_header"),
        ("1|2|3\n", "slurm::no_header"),
        ("JobID           JobName\n------------ ----------\n", "slurm::not_parsable"),
        ("JobID|State\n1|COMPLETED\n", "slurm::missing_column"),
        ("{\"nodes\":[]}", "slurm::unknown_answer"),
        ("{\"jobs\":[{\"job_id\":1", "slurm::not_json"),
        ("{\"jobs\":[]} x", "slurm::not_json"),
        ("{\"jobs\":[{\"job_id\":1,\"time\":{\"submission\":1}}]}", "slurm::no_cluster"),
    ] {
        let error = import_text(text).unwrap_err();
        assert_eq!(error.code, code, "for {text}");
        assert!(error.help.is_some() && error.place.is_some(), "for {text}");
    }
    let missing =
        SlurmFile { name: "gone.txt".to_owned(), content: Content::Path(PathBuf::from("/nowhere/gone.txt")) };
    assert_eq!(read(&[missing], &utc()).unwrap_err().code, "slurm::cannot_read");
    let answer = import_text("{\"jobs\":[],\"errors\":[{\"error\":\"x\"}]}").unwrap();
    assert_eq!(codes(&answer), ["slurm::answer_has_errors"]);
}

#[test]
fn the_command_of_the_documentation_is_the_command_of_the_messages() {
    let entry = sources::registry::all().iter().find(|source| source.id == "slurm").unwrap();
    let shown = entry.text.split("```text").nth(1).and_then(|text| text.split("```").next()).unwrap();
    let shown: String =
        shown.lines().map(|line| line.trim_start_matches("//!").trim().trim_end_matches('\\')).collect();
    let error = import_text("JobID|State\n").unwrap_err();
    assert!(error.help.unwrap().ends_with(&shown), "{shown}");
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&[SlurmFile { name: "x".to_owned(), content: Content::Bytes(bytes) }], &utc());
    }

    #[test]
    fn arbitrary_rows_are_all_accounted(
        fields in proptest::collection::vec("[0-9A-Za-z_+.,:=|\\[\\]{}`\" -]{0,24}|1795998677|COMPLETED|g\\[1-[0-9]{1,6}\\]|gres/gpu=[0-9]{1,20}", 0..60),
        width in 1_usize..14,
    ) {
        let mut text = "JobID|Submit|Start|End|State|NodeList|AllocTRES|Elapsed|ExitCode|Comment|SubmitLine|JobName\n".to_owned();
        for row in fields.chunks(width) {
            text.push_str(&row.join("|"));
            text.push('\n');
        }
        let mut options = utc();
        options.cluster = Some("c".to_owned());
        let read = read(&[SlurmFile { name: "x".to_owned(), content: Content::Bytes(text.into_bytes()) }], &options).unwrap();
        prop_assert_eq!(read.rows, read.accepted + read.rejections.len() as u64);
    }

    #[test]
    fn arbitrary_json_values_never_panic(
        job in "[0-9]{1,19}|\"x\"|null|\\{\"set\":true,\"number\":-[0-9]{1,18}\\}|\\[1\\]",
        time in "-?[0-9]{1,18}|1e300|\"x\"|null|\\{\"set\":false\\}|\\{\"infinite\":true\\}",
        nodes in "\"[a-z0-9\\[\\],-]{0,20}\"|7|null",
        state in "\"[A-Z_]{0,12}\"|\\[\"PENDING\",\"REQUEUED\"\\]|\\[\\]|\\{\\}",
    ) {
        let text = format!(
            "{{\"jobs\":[{{\"job_id\":{job},\"cluster\":\"c\",\"nodes\":{nodes},\"state\":{{\"current\":{state}}},\
             \"time\":{{\"submission\":{time},\"start\":{time},\"end\":{time},\"elapsed\":{time}}},\
             \"tres\":{{\"allocated\":[{{\"type\":\"gres\",\"name\":\"gpu\",\"count\":{time}}}]}},\"steps\":[{job}]}}]}}"
        );
        if let Ok(read) = import_text(&text) {
            prop_assert_eq!(read.rows, read.accepted + read.rejections.len() as u64);
        }
    }
}
