//! Finds the experiment and its versions in the texts that users attach to a job.

use ledger::{ExperimentId, ExperimentLink, LinkMethod, normalised_key};
use serde_json::{Map, Value};

use crate::telemetry::shared::convention::Conventions;

/// Longest value taken, in characters.
const MAX_VALUE: usize = 512;

/// What the texts of a job name.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(in crate::telemetry) struct Named {
    /// The experiment.
    pub(in crate::telemetry) experiment: Option<String>,
    /// Configuration version.
    pub(in crate::telemetry) config: Option<String>,
    /// Dataset snapshot.
    pub(in crate::telemetry) dataset: Option<String>,
    /// Model version.
    pub(in crate::telemetry) model: Option<String>,
}

impl Named {
    /// Takes a value, if the key is one of the documented convention and names what is not named yet.
    pub(in crate::telemetry) fn put(&mut self, key: &str, value: &str) {
        let slot = match normalised_key(key).as_str() {
            "experiment" | "experiment_id" => &mut self.experiment,
            "config" | "config_version" => &mut self.config,
            "dataset" | "dataset_snapshot" | "dataset_version" => &mut self.dataset,
            "model" | "model_version" => &mut self.model,
            _ => return,
        };
        let value = value.trim();
        if slot.is_none() && !value.is_empty() && value.chars().count() <= MAX_VALUE {
            *slot = Some(value.to_owned());
        }
    }
}

/// What texts name by the conventions of a site: of its keys the strongest, whichever text has it.
struct Reading<'c> {
    conventions: &'c Conventions,
    named: Named,
    rank: Option<usize>,
}

impl Reading<'_> {
    fn put(&mut self, key: &str, value: &str) {
        let Some(rank) = self.conventions.rank(key) else {
            // A site that gave the word another key means something else by it.
            if !matches!(normalised_key(key).as_str(), "experiment" | "experiment_id") {
                self.named.put(key, value);
            }
            return;
        };
        let value = value.trim();
        let is_stronger = self.rank.is_none_or(|known| rank < known);
        if is_stronger && !value.is_empty() && value.chars().count() <= MAX_VALUE {
            self.named.experiment = Some(value.to_owned());
            self.rank = Some(rank);
        }
    }
}

/// What the texts name, the first text that names a thing first.
pub(super) fn named(texts: &[Option<&str>], conventions: &Conventions) -> Named {
    let mut reading = Reading { conventions, named: Named::default(), rank: None };
    for text in texts.iter().flatten().map(|text| text.trim()) {
        if text.is_empty() || text.starts_with("JS1:") || text.starts_with("js1:") {
            // Utilisation summaries of jobstats; they name nothing.
            continue;
        }
        if text.starts_with('{') {
            object(text, &mut reading);
            continue;
        }
        for pair in text.split([';', ',', ' ', '\t']) {
            if let Some((key, value)) = pair.split_once('=') {
                reading.put(key, value);
            }
        }
    }
    reading.named
}

fn object(text: &str, reading: &mut Reading<'_>) {
    let parse = |text: &str| serde_json::from_str::<Map<String, Value>>(text).ok();
    // An edit by sacctmgr stores double quotes as backticks.
    let Some(object) = parse(text).or_else(|| parse(&text.replace('`', "\""))) else { return };
    for (key, value) in &object {
        match value {
            Value::String(value) => reading.put(key, value),
            Value::Number(value) => reading.put(key, &value.to_string()),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {}
        }
    }
}

/// The link of a job to its experiment: named in a text, else by its name, else its own.
pub(super) fn link(named: Option<&str>, by_name: Option<&str>, own: &str) -> ExperimentLink {
    let (experiment, method) = match (named, by_name) {
        (Some(experiment), _) => (experiment, LinkMethod::Label),
        (None, Some(experiment)) => (experiment, LinkMethod::NameRule),
        (None, None) => (own, LinkMethod::OwnJob),
    };
    ExperimentLink { experiment: ExperimentId(experiment.to_owned()), method }
}

/// The experiment of a job name `<experiment>.a<number>`.
pub(in crate::telemetry) fn name_rule(name: &str) -> Option<&str> {
    let (experiment, number) = name.rsplit_once(".a")?;
    let counted = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    (counted && !experiment.is_empty()).then_some(experiment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::shared::convention::NamingRule;

    fn read(texts: &[Option<&str>]) -> Named {
        named(texts, &Conventions::default())
    }

    #[test]
    fn pairs_and_objects_name_an_experiment() {
        for text in [
            "experiment=exp-42;attempt=0;config=git:abc",
            "experiment=exp-42 attempt=0 config=git:abc",
            "attempt=0, experiment=exp-42, config=git:abc",
            r#"{"experiment":"exp-42","config":"git:abc"}"#,
            "{`experiment_id`:`exp-42`,`config`:`git:abc`,`edited`:true}",
        ] {
            let named = read(&[Some(text)]);
            assert_eq!(named.experiment.as_deref(), Some("exp-42"), "for {text}");
            assert_eq!(named.config.as_deref(), Some("git:abc"), "for {text}");
        }
        for text in ["JS1:H4sIAAAA", "{broken", "a note about an experiment", "experiment=", ""] {
            assert_eq!(read(&[Some(text)]), Named::default(), "for {text}");
        }
    }

    #[test]
    fn the_first_text_wins_and_the_others_fill_gaps() {
        let named = read(&[Some("experiment=a"), Some("experiment=b dataset=d"), None, Some("model=m")]);
        assert_eq!(named.experiment.as_deref(), Some("a"));
        assert_eq!((named.dataset.as_deref(), named.model.as_deref()), (Some("d"), Some("m")));
    }

    #[test]
    fn a_site_names_experiments_by_keys_of_its_own_the_strongest_first() {
        let of_site = Conventions {
            experiment_keys: vec!["trial".to_owned(), "study".to_owned()],
            ..Conventions::default()
        };
        for (texts, expect) in [
            (vec![Some("study=s"), Some("Trial=t;config=c")], Some("t")),
            (vec![Some("study=s;study=other")], Some("s")),
            // There the documented word means something else.
            (vec![Some("experiment=e")], None),
        ] {
            assert_eq!(named(&texts, &of_site).experiment.as_deref(), expect, "for {texts:?}");
        }
    }

    #[test]
    fn a_job_name_links_only_by_its_rule() {
        let by_name = |name| NamingRule::default().experiment_of(name);
        assert_eq!(link(None, by_name("exp-43.a12"), "own").experiment.0, "exp-43");
        assert_eq!(link(None, by_name("exp-43.a12"), "own").method, LinkMethod::NameRule);
        for name in ["train", "exp.a", ".a1", "exp.alpha", "a1"] {
            assert_eq!(link(None, by_name(name), "own").method, LinkMethod::OwnJob, "for {name}");
            assert_eq!(name_rule(name), by_name(name));
        }
        assert_eq!(link(Some("x"), by_name("exp-43.a12"), "own").method, LinkMethod::Label);
    }
}
