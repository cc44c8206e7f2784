//! Whose attempt it was and on what: the layout of a submission, the description of its system, and what is logged.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};

use ledger::{ExperimentId, ExperimentLink, LinkMethod};
use serde_json::Value;

use super::MlperfOptions;
use super::run::Run;
use crate::telemetry::Warning;
use crate::telemetry::attempts::Refusal;
use crate::telemetry::openlineage::Object;
use crate::telemetry::shared::folder::Found;

/// Largest description, in bytes.
const MAX_DESCRIPTION: u64 = 1024 * 1024;

/// What a description tells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct System {
    /// In thousandths, over all nodes.
    gpus: Option<u64>,
    kind: Option<String>,
    nodes: Option<u32>,
}

/// Descriptions by the submitter's folder and the system's name.
#[derive(Debug, Default)]
pub(super) struct Systems {
    known: BTreeMap<(String, String), System>,
}

impl Systems {
    /// All `systems/{system}.json` (or `systems/{org}__{system}.json`) among the files.
    pub(super) fn of(files: &[Found]) -> (Self, Vec<Warning>) {
        let mut systems = Self::default();
        let mut warnings = Vec::new();
        for found in files {
            let parts = found.parts();
            let (Some(("systems", above)), Some(name)) = (
                parts.split_last().and_then(|(_, above)| above.split_last()).map(|(a, b)| (*a, b)),
                found.last().strip_suffix(".json"),
            ) else {
                continue;
            };
            let (org, name) = name
                .split_once("__")
                .map_or_else(|| (above.last().copied().unwrap_or_default(), name), |(org, name)| (org, name));
            match description(found) {
                Ok(system) => {
                    systems.known.insert((org.to_owned(), name.to_owned()), system);
                }
                Err(refusal) => warnings.push(unread(found, &refusal)),
            }
        }
        (systems, warnings)
    }

    fn find(&self, org: &str, system: &str) -> Option<&System> {
        let key = |org: &str| (org.to_owned(), system.to_owned());
        // In the folder of one submitter its own name is not among the parts below the root.
        self.known.get(&key(org)).or_else(|| self.known.get(&key("")))
    }
}

fn unread(found: &Found, refusal: &Refusal) -> Warning {
    let column = refusal.column.as_deref().unwrap_or("the file");
    Warning {
        code: "mlperf::system_not_read",
        message: format!("{}: {column} is `{}`, expected {}", found.name, refusal.found, refusal.expected),
        help: "mend the description, or declare the accelerators".to_owned(),
    }
}

fn description(found: &Found) -> Result<System, Refusal> {
    let not_json = |text: &str| Refusal::of_record("row::not_json", text, "a JSON object of a few kilobytes");
    let file = File::open(&found.path).map_err(|error| not_json(&error.to_string()))?;
    let mut bytes = Vec::new();
    BufReader::new(file)
        .take(MAX_DESCRIPTION)
        .read_to_end(&mut bytes)
        .map_err(|error| not_json(&error.to_string()))?;
    let Ok(Value::Object(fields)) = serde_json::from_slice(&bytes) else { return Err(not_json("")) };
    let fields = Object::root(&fields);
    let nodes = fields.small_count("number_of_nodes")?;
    let each = fields.count("accelerators_per_node")?;
    let gpus =
        each.zip(nodes).and_then(|(each, nodes)| each.checked_mul(u64::from(nodes))?.checked_mul(1_000));
    Ok(System { gpus, kind: fields.owned("accelerator_model_name")?, nodes })
}

/// Everything about an attempt that is not of its events.
#[derive(Debug)]
pub(super) struct Teller {
    pub(super) org: Option<String>,
    pub(super) system: Option<String>,
    pub(super) benchmark: Option<String>,
    /// Experiment, and how it was found.
    pub(super) link: Option<ExperimentLink>,
    /// Organisation, system and benchmark, or the source where they are not told.
    pub(super) key: String,
    /// In thousandths.
    pub(super) gpus: Option<u64>,
    pub(super) kind: Option<String>,
    pub(super) nodes: Option<u32>,
}

impl Teller {
    pub(super) fn of(run: &Run, parts: &[&str], systems: &Systems, options: &MlperfOptions) -> Self {
        let layout = layout(parts);
        let logged = |name: &str| run.submission(name).map(str::to_owned);
        let org = layout.and_then(|(org, ..)| org).map(str::to_owned).or_else(|| logged("org"));
        let system = layout.map(|(_, system, _)| system.to_owned()).or_else(|| logged("platform"));
        let benchmark = logged("benchmark").or_else(|| layout.map(|(.., benchmark)| benchmark.to_owned()));
        // Two folders of one benchmark, such as two limits of power, are two experiments.
        let of_folder = layout.map(|(.., benchmark)| benchmark.to_owned()).or_else(|| benchmark.clone());
        let named: Option<Vec<&str>> =
            [&org, &system, &of_folder].into_iter().map(Option::as_deref).collect();
        let named = named.map(|parts| parts.join("/"));
        let link = |experiment: &String, method| ExperimentLink {
            experiment: ExperimentId(experiment.clone()),
            method,
        };
        let declared = options.experiment.as_ref().map(|experiment| link(experiment, LinkMethod::Explicit));
        let described = system
            .as_deref()
            .and_then(|system| systems.find(org.as_deref().unwrap_or_default(), system))
            .cloned()
            .unwrap_or_default();
        Self {
            link: declared.or_else(|| named.as_ref().map(|named| link(named, LinkMethod::NameRule))),
            key: named.unwrap_or_else(|| options.source.0.clone()),
            org,
            system,
            benchmark,
            gpus: described.gpus.or(options.gpus),
            kind: described.kind,
            nodes: described.nodes,
        }
    }
}

/// Organisation, system and benchmark of `{org}/results/{system}/{benchmark}/{file}`.
fn layout<'a>(parts: &[&'a str]) -> Option<(Option<&'a str>, &'a str, &'a str)> {
    let (_, above) = parts.split_last()?;
    match above {
        [.., org, "results", system, benchmark] => Some((Some(*org), *system, *benchmark)),
        ["results", system, benchmark] => Some((None, *system, *benchmark)),
        _ => None,
    }
}
