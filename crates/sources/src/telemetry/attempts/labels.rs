//! Labels, tags and variables of a record, by key: what they say of an attempt beside its own fields.

use ledger::{AttemptView, ExperimentId, ExperimentLink, LinkMethod, normalised_key};

use super::refusal::Refusal;
use crate::telemetry::openlineage::Object;

/// Longest value that is looked at, in bytes.
const MAX_VALUE: usize = 300;

/// Values by normalised key, the strongest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::telemetry) struct Labels(Vec<(String, String)>);

impl Labels {
    /// The labels in maps of text that an object has under these names.
    pub(in crate::telemetry) fn of(object: &Object<'_>, names: &[&str]) -> Result<Self, Refusal> {
        let mut labels = Self::default();
        for name in names {
            let Some(map) = object.object(name)? else { continue };
            for key in map.names() {
                if let Some(value) = map.text(key)? {
                    labels.add(key, value);
                }
            }
        }
        Ok(labels)
    }

    /// Adds one, under its key and under the part of it after a prefix such as `example.com/`.
    pub(in crate::telemetry) fn add(&mut self, key: &str, value: &str) {
        if value.is_empty() || value.len() > MAX_VALUE {
            return;
        }
        self.0.push((normalised_key(key), value.to_owned()));
        if let Some((_, name)) = key.split_once('/') {
            self.0.push((normalised_key(name), value.to_owned()));
        }
    }

    /// Adds weaker ones.
    pub(in crate::telemetry) fn extend(&mut self, weaker: &Self) {
        self.0.extend(weaker.0.iter().cloned());
    }

    /// The value of a normalised key.
    pub(in crate::telemetry) fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// The value of the first of several keys that is there.
    pub(in crate::telemetry) fn any(&self, keys: &[&str]) -> Option<String> {
        keys.iter().find_map(|key| self.get(key)).map(str::to_owned)
    }

    /// The experiment that the first of these keys names.
    pub(in crate::telemetry) fn link(&self, keys: &[String]) -> Option<ExperimentLink> {
        let name = keys.iter().find_map(|key| self.get(key))?;
        Some(ExperimentLink { experiment: ExperimentId(name.to_owned()), method: LinkMethod::Label })
    }

    /// A view with what they say of people and versions.
    pub(in crate::telemetry) fn described(&self, view: AttemptView) -> AttemptView {
        AttemptView {
            user: self.any(&["user", "owner"]).or(view.user),
            team: self.any(&["team"]).or(view.team),
            model_version: self.any(&["model_version", "model"]).or(view.model_version),
            config_version: self.any(&["config_version", "config"]).or(view.config_version),
            dataset_snapshot: self.any(&["dataset_snapshot", "dataset"]).or(view.dataset_snapshot),
            ..view
        }
    }
}
