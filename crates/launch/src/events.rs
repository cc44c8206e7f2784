//! The run events of a record, in the OpenLineage form with our facets, as `import openlineage` documents it.

use ledger::{ExperimentId, Timestamp};
use serde_json::{Value, json};

use crate::gpu::Sample;
use crate::identity::Machine;
use crate::instance_metadata::Instance;
use crate::marks::without_nulls;
use crate::place::Place;
use crate::{Ended, Request};

const PRODUCER: &str = concat!("https://github.com/trainbill/trainbill/", env!("CARGO_PKG_VERSION"));

/// Signals by which people, schedulers and clouds end a program: hangup, interrupt, terminate.
const ENDS_FROM_OUTSIDE: [i32; 3] = [1, 2, 15];

/// What all events of a run have in common.
#[derive(Debug)]
pub(crate) struct Events {
    attempt: String,
    experiment: String,
    job: String,
    told_at_start: Value,
    leads: bool,
    every: f64,
}

/// How a run ended, as its last event tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    kind: &'static str,
    exit_code: Option<i32>,
    signal: Option<i32>,
}

impl End {
    pub(crate) fn of(ended: &Ended) -> Self {
        match *ended {
            Ended::Code(0) => Self { kind: "COMPLETE", exit_code: Some(0), signal: None },
            // A shell reports its child's signal like this.
            Ended::Code(code) if ENDS_FROM_OUTSIDE.contains(&(code - 128)) => {
                Self { kind: "ABORT", exit_code: Some(code), signal: Some(code - 128) }
            }
            Ended::Code(code) | Ended::NotStarted(code) => {
                Self { kind: "FAIL", exit_code: Some(code), signal: None }
            }
            Ended::Signal(signal) => {
                let kind = if ENDS_FROM_OUTSIDE.contains(&signal) { "ABORT" } else { "FAIL" };
                Self { kind, exit_code: None, signal: Some(signal) }
            }
        }
    }
}

impl Events {
    pub(crate) fn new(attempt: &str, experiment: &str, place: &Place, request: &Request) -> Self {
        let program = request.command.first().map(std::path::Path::new).and_then(std::path::Path::file_name);
        let told_at_start = without_nulls(json!({
            "scheduler": place.scheduler,
            "cluster": place.cluster,
            "queue": place.queue,
            "user": place.user,
            "team": place.team,
            "nodeCount": place.nodes,
            "ordinal": place.restarts.map(|restarts| restarts + 1),
            "aliases": place.aliases,
        }));
        Self {
            attempt: attempt.to_owned(),
            experiment: experiment.to_owned(),
            job: program.map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            told_at_start,
            leads: place.leads,
            every: request.heartbeat.as_secs_f64(),
        }
    }

    pub(crate) fn start(&self, at: Timestamp) -> Value {
        let told = self.told_at_start.clone();
        self.event(
            "START",
            at,
            json!({
                "gpuRun_attempt": without_nulls(told),
                "gpuRun_heartbeat": {"everySeconds": self.every},
            }),
        )
    }

    pub(crate) fn alive(&self, at: Timestamp, sample: Option<(Timestamp, &Sample)>) -> Value {
        let gpus = sample.map(|(at, sample)| sample.facet(at));
        let facets = json!({"gpuRun_heartbeat": {"everySeconds": self.every}, "gpuRun_gpus": gpus});
        self.event("RUNNING", at, without_nulls(facets))
    }

    /// A facet of its own; of a process that does not lead it says nothing of the run's state.
    pub(crate) fn facet(&self, at: Timestamp, name: &str, facet: Value) -> Value {
        self.event("OTHER", at, json!({ name: facet }))
    }

    pub(crate) fn phase(&self, kind: &str, (from, until): (Timestamp, Timestamp)) -> Value {
        let phase = json!({"kind": kind, "start": from.to_string(), "end": until.to_string()});
        self.facet(until, "gpuRun_phases", json!({"phases": [phase]}))
    }

    pub(crate) fn machine(
        &self,
        at: Timestamp,
        (began, machine): (Timestamp, &Machine),
        sample: Option<&Sample>,
    ) -> Value {
        let Instance { id, kind, capacity } = &machine.instance;
        let binding = without_nulls(json!({
            "resourceId": id,
            "nodeName": machine.node,
            "kind": if id.is_some() { "instance" } else { "node" },
            "sku": kind,
            "start": began.to_string(),
            "gpus": machine.gpus_held,
            "gpuCapacity": machine.gpus,
        }));
        // What has neither name nor id is nothing that a bill or a scheduler could know.
        let is_named = id.is_some() || machine.node.is_some();
        let attempt = without_nulls(json!({"capacity": capacity, "gpuKind": machine.gpu_kind}));
        let facets = json!({
            "gpuRun_attempt": attempt,
            "gpuRun_resources": is_named.then(|| json!({"bindings": [binding]})),
            "gpuRun_gpus": sample.map(|sample| sample.facet(at)),
        });
        self.event("OTHER", at, without_nulls(facets))
    }

    pub(crate) fn end(&self, at: Timestamp, end: End) -> Value {
        let told = without_nulls(json!({
            "exitCode": end.exit_code,
            "signal": end.signal.map(name_of),
        }));
        let mut facets = json!({"gpuRun_attempt": told});
        if let ("FAIL", Some(code)) = (end.kind, end.exit_code) {
            facets["errorMessage"] =
                json!({"message": format!("exit code {code}"), "programmingLanguage": "unknown"});
        }
        self.event(end.kind, at, facets)
    }

    fn event(&self, kind: &str, at: Timestamp, mut facets: Value) -> Value {
        if self.leads {
            let run = ExperimentId(self.experiment.clone()).run_id().to_string();
            facets["parent"] =
                json!({"run": {"runId": run}, "job": {"namespace": "trainbill", "name": self.experiment}});
        }
        json!({
            "eventType": kind,
            "eventTime": at.to_string(),
            "producer": PRODUCER,
            "run": {"runId": self.attempt, "facets": facets},
            "job": {"namespace": "exec", "name": self.job},
        })
    }
}

/// `SIGTERM` for 15.
pub(crate) fn name_of(signal: i32) -> String {
    signal_hook::low_level::signal_name(signal).map_or_else(|| format!("signal {signal}"), str::to_owned)
}
