//! The benchmark's company: 2,000 instances with their volumes, buckets, and 20,000 attempts that never oversubscribe.

use ledger::{Attempt, Binding};
use testkit::build::{HOUR, JULY, attempt, holding};
use testkit::random::Random;

/// Instances.
pub(crate) const INSTANCES: usize = 2_000;
/// Volumes an instance.
pub(crate) const VOLUMES: usize = 8;
/// Buckets.
pub(crate) const BUCKETS: usize = 500;
/// Other rows an hour (control planes, metrics, …).
pub(crate) const OTHERS: usize = 2_200;
/// Attempts.
pub(crate) const ATTEMPTS: usize = 20_000;
/// Hours of the month.
pub(crate) const MONTH: i64 = 744;

pub(crate) fn instance(index: usize) -> String {
    format!("i-{:017x}", Random(index as u64).draw() >> 2)
}

pub(crate) fn volume(index: usize) -> String {
    format!("vol-{:017x}", Random(1_000_000 + index as u64).draw() >> 2)
}

/// GPUs of an instance: p4d, p5, g5 and g6 in turn.
pub(crate) const fn gpus(index: usize) -> u64 {
    if index % 4 == 3 { 4 } else { 8 }
}

/// Instance type and its price an hour in units of 10⁻¹⁰.
pub(crate) const TYPES: [(&str, i64); 4] = [
    ("p4d.24xlarge", 219_576_420_000),
    ("p5.48xlarge", 550_400_000_000),
    ("g5.48xlarge", 162_880_000_000),
    ("g6.12xlarge", 46_016_000_000),
];

/// What an attempt asks for.
struct Wish {
    key: String,
    experiment: u64,
    nodes: usize,
    first: usize,
    gpus: u64,
    start: i64,
    length: i64,
}

impl Wish {
    fn draw(key: String, random: &mut Random) -> Self {
        Self {
            key,
            experiment: random.below(4_000),
            nodes: [1, 1, 1, 2, 2, 4, 8, 16][random.below(8) as usize],
            first: random.below((INSTANCES - 16) as u64) as usize,
            gpus: [1, 2, 4, 8, 8][random.below(5) as usize],
            start: JULY + random.below((MONTH as u64) * 3600) as i64 * 1_000_000,
            length: (60 + random.below(4) * random.below(18_000) + random.below(9_000)) as i64 * 1_000_000,
        }
    }
}

/// The attempts, numbered in the order of their ids, which is the order in which ties of a split are broken.
pub(crate) fn attempts() -> Vec<Attempt> {
    let mut random = Random(11);
    let mut wishes: Vec<Wish> =
        (0..ATTEMPTS).map(|index| Wish::draw(format!("bench:{index}"), &mut random)).collect();
    // Served in the order of their start, as a scheduler does.
    wishes.sort_by_key(|wish| wish.start);
    // When each accelerator of each instance is free again, so that no instance is ever oversubscribed.
    let mut free: Vec<Vec<i64>> = (0..INSTANCES).map(|index| vec![JULY; gpus(index) as usize]).collect();
    let mut attempts: Vec<Attempt> = wishes.iter().map(|wish| serve(wish, &mut free)).collect();
    attempts.sort_by_key(|attempt| attempt.id);
    attempts
}

fn serve(wish: &Wish, free: &mut [Vec<i64>]) -> Attempt {
    let nodes = wish.first..wish.first + wish.nodes;
    let share = |node: usize| wish.gpus.min(gpus(node)) as usize;
    let mut start = wish.start;
    for node in nodes.clone() {
        free[node].sort_unstable();
        start = start.max(free[node][share(node) - 1]);
    }
    let end = (start + wish.length).min(JULY + MONTH * HOUR);
    let mut made = attempt(&wish.key, &format!("exp-{}", wish.experiment), (0, 1));
    if start >= end {
        return made;
    }
    for node in nodes {
        let held = share(node);
        free[node][..held].fill(end);
        made.bindings.push(bind(&instance(node), (start, end), node, held));
        for slot in 0..VOLUMES {
            made.bindings.push(bind(&volume(node * VOLUMES + slot), (start, end), node, held));
        }
    }
    made
}

fn bind(resource: &str, interval: (i64, i64), node: usize, held: usize) -> Binding {
    holding(resource, interval, held as u64, gpus(node))
}
