//! What tags say of a run: experiment, versions, team.

use std::collections::BTreeMap;

use ledger::normalised_key;

use super::object::Object;
use crate::telemetry::attempts::Refusal;

/// Tags of the run, then of its job, by normalised key.
pub(super) struct Tags<'a> {
    tags: BTreeMap<String, &'a str>,
}

impl<'a> Tags<'a> {
    pub(super) fn of(event: &Object<'a>) -> Result<Self, Refusal> {
        let mut tags = BTreeMap::new();
        for holder in ["run", "job"] {
            let Some(facet) = event.at(&[holder, "facets", "tags"])? else { continue };
            for tag in facet.objects("tags")? {
                if let (Some(key), Some(value)) = (tag.text("key")?, tag.text("value")?) {
                    tags.entry(normalised_key(key)).or_insert(value);
                }
            }
        }
        Ok(Self { tags })
    }

    /// The first of several spellings that is there.
    pub(super) fn any(&self, keys: &[&str]) -> Option<String> {
        keys.iter().find_map(|key| self.tags.get(*key)).map(|value| (*value).to_owned())
    }
}
