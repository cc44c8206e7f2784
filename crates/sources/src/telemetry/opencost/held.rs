//! What an attempt held of one node in a window, as bindings that do not overlap.

use ledger::{Binding, Interval, ShareDriver};

use super::allocation::Held;
use super::node::Node;

/// A count in thousandths, to the nearest; `None` if it is not told or too large to be one.
pub(super) fn thousandths(count: f64) -> Option<u64> {
    let scaled = (count * 1e3).round();
    (0.0..=1e15).contains(&scaled).then(|| whole(scaled))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole number of at most 10¹⁵ that is not negative"
)]
const fn whole(number: f64) -> u64 {
    number as u64
}

/// The bindings of rows of one attempt on one node: at every time the sum of what its containers and pods held.
///
/// Accelerators go before processors: where the attempt holds any, its processors have no say. Rows that do not tell what
/// they held bind nothing.
pub(super) fn bindings(node: &Node, rows: &[&Held]) -> Vec<Binding> {
    let mut edges: Vec<_> = rows.iter().flat_map(|row| [row.interval.start, row.interval.end]).collect();
    edges.sort_unstable();
    edges.dedup();
    let mut bindings: Vec<Binding> = Vec::new();
    for pair in edges.windows(2) {
        let (Some(start), Some(end)) = (pair.first(), pair.last()) else { continue };
        let span = Interval { start: *start, end: *end };
        let is_active = |row: &&&Held| row.is_counted() && row.interval.intersection(span).is_some();
        let active = || rows.iter().filter(is_active);
        let sum = |of: fn(&Held) -> Option<f64>| active().filter_map(|row| of(row)).fold(0.0, |a, b| a + b);
        let gpus = thousandths(sum(|row| row.gpus.count)).unwrap_or(0);
        let cpus = thousandths(sum(|row| row.cpus.count)).unwrap_or(0);
        let shares = match (gpus, cpus) {
            (0, 0) => continue,
            (0, cpus) => (ShareDriver::Cpu, cpus, 0),
            (gpus, _) => (ShareDriver::Gpu, gpus, gpus),
        };
        let next = node.binding(span, shares);
        match bindings.last_mut() {
            Some(last) if last.end == Some(next.start) && is_same(last, &next) => last.end = next.end,
            _ => bindings.push(next),
        }
    }
    bindings
}

fn is_same(one: &Binding, other: &Binding) -> bool {
    (one.driver, one.weight) == (other.driver, other.weight)
}

#[cfg(test)]
mod tests {
    use ledger::Timestamp;

    use super::super::allocation::Measure;
    use super::*;

    fn row(start: i64, end: i64, gpus: Option<f64>, cpus: f64) -> Held {
        Held {
            node: None,
            interval: Interval { start: Timestamp(start), end: Timestamp(end) },
            gpus: Measure { count: gpus, cost: 0.0 },
            cpus: Measure { count: Some(cpus), cost: 0.0 },
        }
    }

    fn shown(rows: &[Held]) -> String {
        let node = Node { cluster: None, id: Some("i-1".to_owned()), name: None };
        let rows: Vec<&Held> = rows.iter().collect();
        let shown = |b: Binding| format!("{}-{} {} {}", b.start.0, b.end.unwrap().0, b.weight, b.driver);
        bindings(&node, &rows).into_iter().map(shown).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn containers_of_one_attempt_are_added_up_while_they_run() {
        let two = [row(0, 60, Some(2.0), 1.0), row(0, 60, Some(2.0), 1.0)];
        assert_eq!(shown(&two), "0-60 4000 gpu");
        let later = [row(0, 60, Some(2.0), 0.0), row(5, 60, Some(2.0), 0.0)];
        assert_eq!(shown(&later), "0-5 2000 gpu, 5-60 4000 gpu");
    }

    #[test]
    fn processors_count_only_where_no_accelerator_is_held() {
        assert_eq!(
            shown(&[row(0, 60, Some(4.0), 8.0), row(0, 90, Some(0.0), 0.5)]),
            "0-60 4000 gpu, 60-90 500 cpu"
        );
        assert_eq!(shown(&[row(0, 60, None, 8.0)]), "");
        assert_eq!(shown(&[row(0, 0, Some(4.0), 0.0)]), "");
    }

    #[test]
    fn counts_are_rounded_to_the_thousandth() {
        for (count, expect) in
            [(3.99999, Some(4_000)), (0.14286, Some(143)), (0.0, Some(0)), (-0.1, None), (f64::NAN, None)]
        {
            assert_eq!(thousandths(count), expect, "for {count}");
        }
    }
}
