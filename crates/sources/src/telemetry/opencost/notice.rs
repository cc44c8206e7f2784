//! What is counted while rows are read, and what the user should know of it.

use std::collections::BTreeMap;

use super::allocation::{Held, Said};
use super::windows::Windows;
use crate::telemetry::Warning;

/// Where the size of nodes can be had.
const WITH_NODES: &str =
    "query with `includeIdle=true&idleByNode=true`, and `node` and `cluster` in `aggregate`";

/// Counts of an import.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) windows: Windows,
    pub(super) empty_windows: u64,
    pods: u64,
    apart: BTreeMap<&'static str, u64>,
    without_node: u64,
    without_count: u64,
    without_size: u64,
}

impl Seen {
    /// Counts an accepted row.
    pub(super) fn row(&mut self, said: Said) {
        match said {
            Said::Pod => self.pods += 1,
            Said::Apart(word) => *self.apart.entry(word).or_default() += 1,
        }
    }

    /// Looks at what a pod's row holds.
    pub(super) fn pod(&mut self, held: &Held) {
        self.without_node += u64::from(held.node.is_none());
        self.without_count += u64::from(!held.is_counted());
    }

    /// Counts a binding, by whether the size of its node is known.
    pub(super) const fn bound(&mut self, has_size: bool) {
        if !has_size {
            self.without_size += 1;
        }
    }

    /// What the user should know.
    pub(super) fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let mut warn = |code: &'static str, message: String, help: &str| {
            warnings.push(Warning { code, message, help: help.to_owned() });
        };
        let faults = self.windows.faults();
        if let Some((count, first)) = faults.overlaps {
            let message = format!("{count} window(s) overlap, first {first}: what both tell is held twice");
            warn(
                "opencost::windows_overlap",
                message,
                "import answers of one `step`, whose windows do not overlap",
            );
        }
        if let Some((count, first)) = faults.gaps {
            let message =
                format!("{count} gap(s) between windows, first {first}: nothing is known of that time");
            warn("opencost::windows_gap", message, "query the missing window, and import its answer as well");
        }
        if self.empty_windows > 0 {
            let message = format!("{} window(s) hold no allocation", self.empty_windows);
            warn("opencost::empty_windows", message, "check that the server has data of that time");
        }
        if !self.apart.is_empty() {
            let words: Vec<String> =
                self.apart.iter().map(|(word, count)| format!("{count} {word}")).collect();
            let message = format!("rows of no pod say nothing of a run: {}", words.join(", "));
            warn("opencost::of_no_pod", message, "nothing needs to be done");
        }
        if self.without_node > 0 {
            let message = format!("{} row(s) of pods name no node, so nothing was held", self.without_node);
            warn("opencost::without_node", message, WITH_NODES);
        }
        if self.without_count > 0 {
            let message = format!(
                "{} row(s) of pods do not tell how many accelerators or processors they held, so nothing was held",
                self.without_count
            );
            warn("opencost::without_count", message, "query that window again");
        }
        if self.without_size > 0 {
            let message = format!(
                "{} holding(s) are of nodes whose size is not known: their holders have all of the node, and none is idle",
                self.without_size
            );
            warn("opencost::without_node_size", message, WITH_NODES);
        }
        if self.pods > 0 {
            let message = format!(
                "the costs of {} row(s) are modelled and were not imported; the bill tells what the machines cost",
                self.pods
            );
            warn("opencost::costs_not_imported", message, "import the bill of the machines");
        }
        warnings
    }
}
