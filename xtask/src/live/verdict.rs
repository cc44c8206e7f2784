//! What must come out of a scene: one experiment with the attempts that there were, and all records at the right one.
//!
//! What does not hold is gathered while the scene goes on, so that one run tells all of it.

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde_json::Value;

use super::scene::text;
use super::spool::Recorded;
use super::store::Store;

/// What the accounting tells of an attempt in every form.
const OF_ACCOUNTING: &str = "attempt_id, canonical_key, experiment_id, link_method, ordinal, scheduler, \"cluster\", name, \
    user_name, team, queue, submitted_at, started_at, ended_at, state, outcome, cause, restart_index, gpu_count_milli, \
    gpu_milliseconds, node_count, capacity, bindings";

/// What did not hold.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<String>);

impl Faults {
    fn same<T: PartialEq<U> + Debug + ?Sized, U: Debug + ?Sized>(
        &mut self,
        what: &str,
        found: &T,
        expected: &U,
    ) -> bool {
        let holds = found == expected;
        if !holds {
            let fault = format!("{what}:\n    expected {expected:?}\n    found    {found:?}");
            eprintln!("  DOES NOT HOLD: {fault}");
            self.0.push(fault);
        }
        holds
    }

    /// All of it as one error.
    pub(super) fn outcome(self) -> Result<(), String> {
        match self.0.as_slice() {
            [] => Ok(()),
            faults => Err(format!("{} things do not hold:\n  {}", faults.len(), faults.join("\n  "))),
        }
    }
}

/// Ids of the jobs.
pub(super) struct Joined<'a> {
    pub(super) train: &'a str,
    pub(super) ranks: &'a str,
    pub(super) stopped: &'a str,
}

/// `ls` has the experiments that were named, and `show` the attempts of `vitl`: the failed and the completed one, each
/// with what the scheduler says and, from `exec`, what was bought for it.
///
/// A record of `exec` or MLflow that was not joined would be an attempt of its own.
pub(super) fn joined(faults: &mut Faults, store: &Store<'_>, jobs: &Joined<'_>) -> Result<(), String> {
    let list = store.ask("ls", &["ls", "--all"])?;
    let rows = list["rows"].as_array().into_iter().flatten();
    let mut found: Vec<String> = rows
        .map(|row| {
            format!(
                "{} {}, {} attempts, {} without success",
                text(row, "/experiment"),
                text(row, "/status"),
                row["attempts"],
                row["failed_attempts"]
            )
        })
        .collect();
    found.sort();
    let expected = [
        "stopped failed, 1 attempts, 1 without success",
        "two-ranks completed, 1 attempts, 0 without success",
        "vitl completed, 2 attempts, 1 without success",
    ];
    faults.same("experiments", &found, &expected);
    let of = |experiment: &str| attempts(store, experiment);
    let Joined { train, ranks, stopped } = jobs;
    let first = format!("slurm:lab:{train} failed app_error spot");
    faults.same(
        "attempts of vitl",
        &of("vitl")?,
        &[first, format!("slurm:lab:{train} completed unknown on_demand")],
    );
    faults.same(
        "attempts of two-ranks",
        &of("two-ranks")?,
        &[format!("slurm:lab:{ranks} completed unknown unknown")],
    );
    let cancelled = format!("slurm:lab:{stopped} cancelled user_cancelled unknown");
    faults.same("attempts of stopped", &of("stopped")?, &[cancelled]);
    let quality = &store.ask("ls-vitl", &["ls", "--where", "experiment = vitl"])?["rows"][0]["quality"];
    faults.same("quality of vitl, from MLflow", &text(quality, "/metric"), &"val_acc");
    Ok(())
}

/// The attempts of an experiment as `show` has them: job, outcome, cause and what was bought.
fn attempts(store: &Store<'_>, experiment: &str) -> Result<Vec<String>, String> {
    let answer = store.ask(&format!("show-{experiment}"), &["show", experiment])?;
    let rows = answer["rows"].as_array().ok_or_else(|| format!("no attempts: {answer}"))?;
    let line = |row: &Value| {
        let key = text(row, "/key");
        let job = key.rsplit_once(':').map_or(key, |(job, _)| job);
        format!("{job} {} {} {}", text(row, "/outcome"), text(row, "/cause"), text(row, "/capacity"))
    };
    Ok(rows.iter().map(line).collect())
}

/// Between the two runs the first has failed already.
pub(super) fn half(faults: &mut Faults, store: &Store<'_>) -> Result<(), String> {
    let answer = store.ask("show-vitl-half", &["show", "vitl"])?;
    faults.same("outcome between the runs", &text(&answer, "/rows/0/outcome"), &"failed");
    Ok(())
}

/// The run of MLflow that failed names the record of `exec` that failed, and the other the other.
pub(super) fn trackers(faults: &mut Faults, recorded: &BTreeMap<String, Recorded>, runs: &[Value]) {
    let mut of_exec: Vec<String> = recorded
        .iter()
        .filter(|(_, run)| run.experiment.as_deref() == Some("vitl"))
        .map(|(attempt, run)| format!("ol:{attempt} {}", run.told.join(" ")))
        .collect();
    let mut of_mlflow: Vec<String> = runs
        .iter()
        .map(|run| {
            let ended = match text(run, "/info/status") {
                "FAILED" => "START FAIL",
                "FINISHED" => "START COMPLETE",
                other => other,
            };
            format!("{} {ended}", tag(run, "attempt_alias"))
        })
        .collect();
    of_exec.sort();
    of_mlflow.sort();
    let mut how: Vec<&str> = of_exec.iter().filter_map(|run| Some(run.split_once(' ')?.1)).collect();
    how.sort_unstable();
    faults.same("records of exec", &how, &["START COMPLETE", "START FAIL"]);
    faults.same("runs of MLflow by the records that they name", &of_mlflow, &of_exec);
}

fn tag<'v>(run: &'v Value, key: &str) -> &'v str {
    let tags = run.pointer("/data/tags").and_then(Value::as_array).into_iter().flatten();
    tags.filter(|tag| text(tag, "/key") == key).map(|tag| text(tag, "/value")).next().unwrap_or_default()
}

/// A store that saw the first run before the second began is the store that saw both at once.
pub(super) fn same_store(faults: &mut Faults, grown: &Store<'_>, whole: &Store<'_>) -> Result<(), String> {
    let all = format!("{OF_ACCOUNTING}, exit_code");
    let (grown, whole) = (grown.attempts("grown", &all)?, whole.attempts("whole", &all)?);
    if faults.same("attempts of a store that grew", &grown, &whole) {
        eprintln!("one import and several make the same {} attempts", whole.len());
    }
    Ok(())
}

/// Text and JSON say the same of the same attempts, and together nothing more. An exit code may be missing in the JSON.
pub(super) fn same_accounting(
    faults: &mut Faults,
    [text, json, both]: [&Store<'_>; 3],
) -> Result<(), String> {
    let rows = |store: &Store<'_>, name: &str| store.attempts(name, OF_ACCOUNTING);
    let of_text = rows(text, "attempts-text")?;
    let alone = faults.same("attempts by the JSON", &rows(json, "attempts-json")?, &of_text);
    let together = faults.same("attempts by both", &rows(both, "attempts-both")?, &of_text);
    let codes = |store: &Store<'_>, name: &str| store.attempts(name, "canonical_key, exit_code");
    let (by_text, by_json) = (codes(text, "codes-text")?, codes(json, "codes-json")?);
    let told: Vec<&String> = by_json.iter().filter(|row| !row.contains("null")).collect();
    let of_told: Vec<&String> = by_text.iter().filter(|row| told.contains(row)).collect();
    let codes = faults.same("exit codes by the JSON", &told, &of_told);
    if alone && together && codes {
        eprintln!("text and JSON of the accounting are the same {} attempts", of_text.len());
    }
    Ok(())
}

/// When the first attempt started, in seconds since 1970.
pub(super) fn first_start(store: &Store<'_>) -> Result<u64, String> {
    let statement = "select min(canonical_key) as key from attempts";
    let answer = store.ask("first", &["sql", statement])?;
    let key = text(&answer, "/rows/0/key");
    // A key ends with when its attempt was handed in.
    let seconds = key.rsplit(':').next().and_then(|seconds| seconds.parse().ok());
    seconds.ok_or_else(|| format!("`{key}` is no key of Slurm"))
}

/// Prometheus has what the exporter told of the job and of the accelerator that nothing held.
pub(super) fn series(faults: &mut Faults, answer: &Value, job: &str) -> Result<(), String> {
    let found = answer.pointer("/data/result").and_then(Value::as_array).ok_or("Prometheus has no series")?;
    let values = |of: &dyn Fn(&Value) -> bool| -> Vec<&str> {
        let utilisation = found.iter().filter(|one| text(one, "/metric/__name__") == "DCGM_FI_DEV_GPU_UTIL");
        let points = utilisation.filter(|one| of(one)).filter_map(|one| one["values"].as_array()).flatten();
        let mut values: Vec<&str> = points.filter_map(|point| point[1].as_str()).collect();
        values.sort_unstable();
        values.dedup();
        values
    };
    let samples: usize = found.iter().filter_map(|one| one["values"].as_array()).map(Vec::len).sum();
    eprintln!("Prometheus: {} series with {samples} samples", found.len());
    faults.same(
        "utilisation of the job's accelerator",
        &values(&|one| text(one, "/metric/hpc_job") == job),
        &["87"],
    );
    faults.same(
        "utilisation of free accelerators",
        &values(&|one| one.pointer("/metric/hpc_job").is_none()),
        &["0"],
    );
    Ok(())
}

/// What is told of devices makes no attempt.
pub(super) fn attempts_stay(faults: &mut Faults, store: &Store<'_>) -> Result<(), String> {
    let attempts = store.attempts("after-prometheus", OF_ACCOUNTING)?;
    faults.same("attempts after the import of utilisation", &attempts.len(), &4);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_hold_is_told_at_the_end() {
        let mut faults = Faults::default();
        assert!(faults.same("a", &1, &1));
        assert_eq!(Faults::default().outcome(), Ok(()));
        assert!(!faults.same("b", &1, &2));
        assert!(!faults.same("c", "x", "y"));
        let told = faults.outcome().unwrap_err();
        assert!(
            told.starts_with("2 things do not hold:\n  b:\n    expected 2\n    found    1\n  c:"),
            "{told}"
        );
    }
}
