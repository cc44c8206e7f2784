//! Finds two executions under one key: overlapping in time, with different starts, on different hosts.

use std::collections::{BTreeMap, BTreeSet};

use ledger::{AttemptView, Binding, BindingKind, SourceId, Timestamp};

use super::gather::{Records, Said};

/// Views that can be of one execution.
#[derive(Debug, Default)]
pub(super) struct Lane<'a> {
    pub(super) views: Vec<Said<'a, AttemptView>>,
    pub(super) stretches: Vec<Stretch<'a>>,
}

/// One start that a source told, with the end and the hosts that go with it.
#[derive(Debug)]
pub(super) struct Stretch<'a> {
    pub(super) source: &'a SourceId,
    pub(super) start: Timestamp,
    pub(super) end: Option<Timestamp>,
    pub(super) hosts: BTreeSet<&'a str>,
}

impl Stretch<'_> {
    fn collides(&self, other: &Self) -> bool {
        let ends_before = |a: &Self, b: &Self| a.end.is_some_and(|end| end <= b.start);
        self.source == other.source
            && self.start != other.start
            && !self.hosts.is_empty()
            && !other.hosts.is_empty()
            && self.hosts.is_disjoint(&other.hosts)
            && !ends_before(self, other)
            && !ends_before(other, self)
    }
}

impl<'a> Lane<'a> {
    /// True if a binding on `host` belongs here.
    pub(super) fn holds(&self, host: &str) -> bool {
        self.stretches.iter().any(|stretch| stretch.hosts.contains(host))
    }

    /// The first start told.
    pub(super) fn first(&self) -> Option<&Stretch<'a>> {
        self.stretches.first()
    }

    fn ends_by(&self, end: Timestamp) -> bool {
        self.stretches.iter().any(|stretch| stretch.end == Some(end))
    }
}

/// The host or resource of a binding that a run computes on.
pub(super) fn host(binding: &Binding) -> Option<&str> {
    match binding.kind {
        BindingKind::Instance | BindingKind::Node | BindingKind::Pod => {
            binding.node_name.as_deref().or(binding.resource_id.as_deref())
        }
        BindingKind::Volume | BindingKind::BucketPrefix | BindingKind::ManagedJob | BindingKind::Resource => {
            None
        }
    }
}

/// Sorts the views of a key into lanes; more than one lane is an id collision.
pub(super) fn lanes<'a>(records: &Records<'a>) -> Vec<Lane<'a>> {
    let stretches = stretches(records);
    if stretches.len() < 2 {
        return vec![Lane { views: records.views.clone(), stretches }];
    }
    let mut lanes: Vec<Lane<'a>> = Vec::new();
    for stretch in stretches {
        let fits = |lane: &&mut Lane<'a>| !lane.stretches.iter().any(|known| known.collides(&stretch));
        match lanes.iter_mut().find(fits) {
            Some(lane) => lane.stretches.push(stretch),
            None => lanes.push(Lane { views: Vec::new(), stretches: vec![stretch] }),
        }
    }
    for view in &records.views {
        let belongs = |lane: &Lane<'a>| match (view.record.started_at, view.record.ended_at) {
            (Some(start), _) => lane.stretches.iter().any(|s| s.start == start && s.source == view.source),
            (None, Some(end)) => lane.ends_by(end),
            (None, None) => false,
        };
        let index = lanes.iter().position(belongs).unwrap_or(0);
        if let Some(lane) = lanes.get_mut(index) {
            lane.views.push(*view);
        }
    }
    lanes
}

/// Every start told, in order. An end that was told without a start goes to the first start before it without one.
fn stretches<'a>(records: &Records<'a>) -> Vec<Stretch<'a>> {
    let mut ends: BTreeMap<(Timestamp, &'a SourceId), Option<Timestamp>> = BTreeMap::new();
    for said in &records.views {
        if let Some(start) = said.record.started_at {
            let end = ends.entry((start, said.source)).or_default();
            *end = (*end).max(said.record.ended_at);
        }
    }
    if ends.len() > 1 {
        let mut loose: Vec<(Timestamp, &SourceId)> = records
            .views
            .iter()
            .filter(|said| said.record.started_at.is_none())
            .filter_map(|said| said.record.ended_at.map(|end| (end, said.source)))
            .collect();
        loose.sort_unstable();
        loose.dedup();
        for (end, source) in loose {
            let open = ends
                .iter_mut()
                .find(|((start, of), known)| *of == source && *start <= end && known.is_none());
            if let Some((_, known)) = open {
                *known = Some(end);
            }
        }
    }
    let mut hosts: BTreeMap<(Timestamp, &'a SourceId), BTreeSet<&'a str>> = BTreeMap::new();
    for said in &records.bindings {
        if let Some(host) = host(said.record) {
            hosts.entry((said.record.start, said.source)).or_default().insert(host);
        }
    }
    ends.into_iter()
        .map(|((start, source), end)| {
            let hosts = hosts.remove(&(start, source)).unwrap_or_default();
            Stretch { source, start, end, hosts }
        })
        .collect()
}
