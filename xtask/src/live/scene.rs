//! The jobs that run in the cluster, and the imports of what they left.
//!
//! `train` fails, is requeued by the cluster on another machine, and completes; `ranks` is a step of two processes that
//! are one attempt; `stopped` is cancelled while it runs. All of them run under `exec`.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::accounting::{self, Export};
use super::mlflow::Mlflow;
use super::prometheus::Prometheus;
use super::scratch::Scratch;
use super::slurm::{CLUSTER, Job, Slurm};
use super::spool;
use super::store::Store;
use super::verdict::{self, Faults, Joined};

/// Seconds that a job may take to come to where it is waited for.
const TO_RUN: u32 = 240;

/// Each run of it is on another machine.
const TRAIN: Job<'_> = Job {
    name: "train",
    tasks: 1,
    script: r#"AWS_EC2_METADATA_SERVICE_ENDPOINT=$MACHINES/${SLURM_RESTART_COUNT:-0} "$PROGRAM" exec --experiment vitl -- "$PYTHON" "$TRAIN""#,
};
const RANKS: Job<'_> = Job {
    name: "ranks",
    tasks: 2,
    script: r#"AWS_EC2_METADATA_DISABLED=true srun "$PROGRAM" exec --experiment two-ranks -- sleep 2"#,
};
const STOPPED: Job<'_> = Job {
    name: "stopped",
    tasks: 1,
    script: r#"AWS_EC2_METADATA_DISABLED=true "$PROGRAM" exec --experiment stopped -- sleep 600"#,
};

/// Everything that runs, and the program under test.
pub(super) struct Scene<'a> {
    pub(super) root: &'a Path,
    pub(super) scratch: &'a Scratch,
    pub(super) program: &'a Path,
    pub(super) python: &'a Path,
    pub(super) slurm: &'a Slurm<'a>,
    pub(super) mlflow: &'a Mlflow,
    /// Where the machines tell of themselves.
    pub(super) machines: &'a str,
}

impl Scene<'_> {
    /// Plays it and compares what comes out with what happened.
    pub(super) fn play(&self, prometheus: &mut Prometheus) -> Result<(), String> {
        let (train, stopped) = (self.submit(&TRAIN)?, self.submit(&STOPPED)?);
        eprintln!("job {train} trains, job {stopped} waits to be cancelled");
        self.requeued(&train)?;
        let mut faults = Faults::default();
        let grown = Store::new(self.scratch, self.program, "grown");
        self.import_half(&mut faults, &grown)?;
        self.cancel(&stopped)?;
        let ranks = self.submit(&RANKS)?;
        eprintln!("job {ranks} has two ranks");
        let start_now = ["update", &format!("jobid={train}"), "StartTime=now"];
        self.slurm
            .until("the requeued job to wait", 30, || Ok(self.slurm.ask("scontrol", &start_now).ok()))?;
        self.ended(4)?;
        prometheus.samples(self.scratch, &train, 3)?;

        let export = self.export("sacct")?;
        let (runs, answers) = self.mlflow.answers(self.scratch)?;
        let whole = Store::new(self.scratch, self.program, "whole");
        for store in [&grown, &whole] {
            store.import("slurm", &[&export.text])?;
            store.import("spool", &[self.spool()])?;
            store.import("mlflow", &answers)?;
        }
        let recorded = spool::attempts(&self.spool())?;
        verdict::trackers(&mut faults, &recorded, &runs);
        verdict::joined(&mut faults, &whole, &Joined { train: &train, ranks: &ranks, stopped: &stopped })?;
        verdict::same_store(&mut faults, &grown, &whole)?;
        self.forms(&mut faults, &export)?;
        self.utilisation(&mut faults, prometheus, (&whole, &train))?;
        faults.outcome()
    }

    fn spool(&self) -> PathBuf {
        self.scratch.path("answers/spool")
    }

    fn submit(&self, job: &Job<'_>) -> Result<String, String> {
        let (program, python) = (self.program.to_string_lossy(), self.python.to_string_lossy());
        let train = self.root.join("xtask/live/train.py");
        let (train, spool) = (train.to_string_lossy(), self.spool());
        let variables = [
            ("PROGRAM", &*program),
            ("PYTHON", &*python),
            ("TRAIN", &*train),
            ("MACHINES", self.machines),
            ("MLFLOW_TRACKING_URI", &*self.mlflow.endpoint),
            ("TRAINBILL_SPOOL", &*spool.to_string_lossy()),
        ];
        self.slurm.submit(job, &variables)
    }

    /// Waits until the first run of a job has failed and the cluster has put it back into the queue.
    fn requeued(&self, job: &str) -> Result<(), String> {
        self.slurm.until("the first run to be requeued", TO_RUN, || {
            let records = accounting::records(self.slurm)?;
            match records.iter().rev().find(|(of, _)| of == job) {
                Some((_, state)) if state == "COMPLETED" || state == "FAILED" => {
                    Err(format!("job {job} is {state} without having been requeued"))
                }
                _ => Ok(records.iter().any(|(of, state)| of == job && state == "REQUEUED").then_some(())),
            }
        })
    }

    /// Imports while the second run has not begun: what failed must not change later.
    fn import_half(&self, faults: &mut Faults, store: &Store<'_>) -> Result<(), String> {
        let export = self.export("sacct-half")?;
        eprintln!("between the two runs:");
        store.import("slurm", &[&export.text])?;
        store.import("spool", &[self.spool()])?;
        verdict::half(faults, store)
    }

    /// Cancels a job once its program has been recorded to run.
    fn cancel(&self, job: &str) -> Result<(), String> {
        self.slurm.until("a record of the job that will be cancelled", TO_RUN, || {
            let recorded = spool::attempts(&self.spool())?;
            let began =
                |run: &spool::Recorded| run.experiment.as_deref() == Some("stopped") && !run.told.is_empty();
            Ok(recorded.values().any(began).then_some(()))
        })?;
        self.slurm.ask("scancel", &[job]).map(|_| ())
    }

    /// Waits until there are so many records and none of them waits or runs.
    fn ended(&self, count: usize) -> Result<(), String> {
        self.slurm.until("the end of all jobs", TO_RUN, || {
            let records = accounting::records(self.slurm)?;
            let goes_on = |state: &str| ["PENDING", "RUNNING", "COMPLETING"].contains(&state);
            Ok((records.len() == count && !records.iter().any(|(_, state)| goes_on(state))).then_some(()))
        })?;
        let records = accounting::records(self.slurm)?;
        let listed: Vec<String> = records.iter().map(|(job, state)| format!("{job} {state}")).collect();
        eprintln!("accounting: {}", listed.join(", "));
        Ok(())
    }

    fn export(&self, name: &str) -> Result<Export, String> {
        accounting::export(self.root, (self.slurm, self.scratch), name)
    }

    /// Text and JSON of one accounting are the same attempts.
    fn forms(&self, faults: &mut Faults, export: &Export) -> Result<(), String> {
        let store = |name| Store::new(self.scratch, self.program, name);
        let (text, json, both) = (store("text"), store("json"), store("both"));
        text.import("slurm", &[&export.text])?;
        json.import("slurm", &[&export.json])?;
        both.import("slurm", &[&export.text, &export.json])?;
        verdict::same_accounting(faults, [&text, &json, &both])
    }

    /// Keeps what Prometheus recorded of the accelerators, and imports it.
    fn utilisation(
        &self,
        faults: &mut Faults,
        prometheus: &Prometheus,
        (store, job): (&Store<'_>, &str),
    ) -> Result<(), String> {
        let (answer, file) = prometheus.answer(self.scratch, verdict::first_start(store)?)?;
        verdict::series(faults, &answer, job)?;
        if !store.reads("prometheus")? {
            eprintln!("SKIPPED: import prometheus, which this program does not have yet");
            return Ok(());
        }
        let options = ["--cluster".into(), CLUSTER.into(), file.into_os_string()];
        store.import("prometheus", &options)?;
        verdict::attempts_stay(faults, store)
    }
}

/// Reads a text of a JSON value.
pub(super) fn text<'v>(value: &'v Value, path: &str) -> &'v str {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default()
}
