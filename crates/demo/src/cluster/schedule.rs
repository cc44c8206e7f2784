//! Plays the plan on the nodes, first come first served, and remembers which instance each node was.

use std::collections::BTreeMap;

use super::partition::{BLOCK, DEV, P4D, Partition, SPOT, Shape, WIDE};
use super::plan::{EXPERIMENTS, Ending, PlannedAttempt, PlannedExperiment, Submission};
use crate::random::Stream;
use crate::span::{LAST, Span, moment};

/// Names of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JobId {
    /// The accounting number, which a requeue keeps.
    pub(crate) raw: u64,
    /// The array's number and the task's.
    pub(crate) task: Option<(u64, usize)>,
}

/// One attempt that took place.
#[derive(Debug)]
pub(crate) struct ClusterAttempt {
    /// What it belongs to.
    pub(crate) experiment: &'static PlannedExperiment,
    /// What was planned.
    pub(crate) planned: &'static PlannedAttempt,
    /// Its job.
    pub(crate) job: JobId,
    /// Position among the attempts that were handed in together.
    pub(crate) position: usize,
    /// Restarts of the job before it.
    pub(crate) restarts: u32,
    /// Handed in, or sent back to the queue.
    pub(crate) submitted: i64,
    /// May start.
    pub(crate) eligible: i64,
    /// Allocated.
    pub(crate) started: Option<i64>,
    /// Ended.
    pub(crate) ended: Option<i64>,
    /// Numbers of its nodes.
    pub(crate) nodes: Vec<usize>,
}

/// One cloud instance that was a node for a while.
#[derive(Debug, Clone)]
pub(crate) struct Instance {
    /// Partition of the node.
    pub(crate) partition: &'static Partition,
    /// Number of the node.
    pub(crate) node: usize,
    /// Instance id.
    pub(crate) id: String,
    /// Its root volume.
    pub(crate) volume: String,
    /// Power-up requested.
    pub(crate) requested: i64,
    /// The time that EC2 bills.
    pub(crate) billed: Span,
    /// Gone; `None` while up at the end of the demo.
    pub(crate) terminated: Option<i64>,
    /// True if EC2 took it back.
    pub(crate) taken: bool,
    last_busy: i64,
}

impl Instance {
    /// True if EC2 took it back in its first hour, for which it charges nothing.
    pub(crate) fn is_free(&self) -> bool {
        self.taken && self.billed.seconds() < 3600
    }
}

/// All that took place on the cluster.
#[derive(Debug)]
pub(crate) struct Cluster {
    /// Attempts in the order in which they were handed in.
    pub(crate) attempts: Vec<ClusterAttempt>,
    /// Instances in the order of power-up.
    pub(crate) instances: Vec<Instance>,
}

/// Plays the plan.
pub(crate) fn play(seed: u64) -> Cluster {
    let mut scheduler = Scheduler::new(seed);
    let mut queue = BTreeMap::new();
    for (index, experiment) in EXPERIMENTS.iter().enumerate() {
        queue.insert((experiment.submitted + scheduler.stream.span(0, 900), index), 0);
    }
    while let Some(((submitted, index), first)) = queue.pop_first() {
        let Some(experiment) = EXPERIMENTS.get(index) else { continue };
        let together = together(experiment, first);
        let ended = scheduler.submit(experiment, together, submitted);
        let next = first + together.len();
        let pause = match experiment.attempts.get(next).map(|following| following.submission) {
            None => continue,
            Some(Submission::Requeue) => 0,
            Some(Submission::New | Submission::Task | Submission::Seed) => scheduler.stream.span(900, 5400),
        };
        queue.insert((ended + pause, index), next);
    }
    scheduler.finish()
}

/// The attempts from `first` on that are handed in at one time.
fn together(experiment: &'static PlannedExperiment, first: usize) -> &'static [PlannedAttempt] {
    let rest = experiment.attempts.get(first..).unwrap_or_default();
    let Some(head) = rest.first() else { return rest };
    let count = match head.submission {
        Submission::New | Submission::Requeue => 1,
        Submission::Task | Submission::Seed => {
            rest.iter().take_while(|attempt| attempt.submission == head.submission).count()
        }
    };
    rest.get(..count).unwrap_or(rest)
}

#[derive(Debug)]
struct Node {
    free: [i64; 2],
    instance: Option<Instance>,
}

#[derive(Debug)]
struct Scheduler {
    stream: Stream,
    nodes: BTreeMap<&'static str, Vec<Node>>,
    attempts: Vec<ClusterAttempt>,
    gone: Vec<Instance>,
    next_job: u64,
}

/// A node and the halves of it that an attempt takes.
type Seat = (usize, &'static [usize]);

impl Scheduler {
    fn new(seed: u64) -> Self {
        let nodes = [&P4D, &SPOT, &WIDE, &DEV, &BLOCK].map(|partition| {
            let idle = || Node { free: [0; 2], instance: None };
            (partition.name, (0..partition.nodes).map(|_| idle()).collect())
        });
        let mut scheduler = Self {
            stream: Stream::new(seed, "cluster"),
            nodes: BTreeMap::from(nodes),
            attempts: Vec::new(),
            gone: Vec::new(),
            next_job: 4100,
        };
        // Two nodes are brought up by hand before anybody uses them: their first minutes are billed and idle.
        scheduler.hold(&P4D, 0, Span::new(moment(0, 33), moment(0, 80)));
        scheduler.hold(&DEV, 0, Span::new(moment(0, 540), moment(0, 600)));
        scheduler
    }

    /// Hands in attempts at one time and returns when the last of them has ended.
    fn submit(
        &mut self,
        experiment: &'static PlannedExperiment,
        together: &'static [PlannedAttempt],
        submitted: i64,
    ) -> i64 {
        let base = self.next_job;
        let mut last = submitted;
        for (position, planned) in together.iter().enumerate() {
            let (job, restarts) = self.job(experiment, planned.submission, (base, position, together.len()));
            let requeued = planned.submission == Submission::Requeue;
            let eligible = submitted + if requeued { 121 } else { 0 };
            let mut attempt = ClusterAttempt {
                experiment,
                planned,
                job,
                position,
                restarts,
                submitted,
                eligible,
                started: None,
                ended: None,
                nodes: Vec::new(),
            };
            if planned.ending == Ending::Withdrawn {
                attempt.ended = Some(submitted + planned.minutes * 60);
            } else {
                self.start(&mut attempt);
            }
            last = last.max(attempt.ended.unwrap_or(LAST));
            self.attempts.push(attempt);
        }
        last
    }

    fn job(
        &mut self,
        experiment: &PlannedExperiment,
        submission: Submission,
        (base, position, count): (u64, usize, usize),
    ) -> (JobId, u32) {
        let before = self.attempts.iter().rev().find(|attempt| attempt.experiment.name == experiment.name);
        if let (Submission::Requeue, Some(before)) = (submission, before) {
            return (before.job, before.restarts + 1);
        }
        let raw = self.next_job;
        self.next_job += 1;
        if submission != Submission::Task {
            return (JobId { raw, task: None }, 0);
        }
        // Slurm gives the tasks new numbers and the last one the number of the array.
        let raw = if position + 1 == count { base } else { raw + 1 };
        (JobId { raw, task: Some((base, position)) }, 0)
    }

    fn start(&mut self, attempt: &mut ClusterAttempt) {
        let shape = attempt.planned.shape;
        let ready = attempt.eligible + self.stream.span(1, 25);
        let (started, seats) = self.seats(shape, ready);
        let seconds = self.seconds(attempt.planned);
        let runs_on = attempt.planned.ending == Ending::Running;
        let ended = if runs_on { LAST } else { started + seconds };
        for (node, halves) in &seats {
            self.hold(shape.partition, *node, Span::new(started, ended));
            if let Some(node) = self.node(shape.partition, *node) {
                for (half, free) in node.free.iter_mut().enumerate() {
                    if halves.contains(&half) {
                        *free = ended;
                    }
                }
            }
        }
        attempt.started = Some(started);
        attempt.ended = (!runs_on).then_some(ended);
        attempt.nodes = seats.iter().map(|(node, _)| *node).collect();
        let Some((first, _)) = seats.first() else { return };
        if attempt.planned.ending == Ending::SpotTaken {
            self.lose(shape.partition, *first, (ended, true));
        }
        if attempt.planned.ending == Ending::NodeFail {
            self.lose(shape.partition, *first, (ended + 300, false));
        }
    }

    fn seconds(&mut self, planned: &PlannedAttempt) -> i64 {
        let seconds = planned.minutes * 60;
        // A time limit and the memory leak of ten hours strike when they are due.
        if matches!(planned.ending, Ending::Timeout | Ending::Killed) {
            return seconds + self.stream.span(0, 20);
        }
        seconds * self.stream.span(940, 1060) / 1000
    }

    /// The seats that are free first, packed on nodes that are in use already, and when all of them are free.
    fn seats(&self, shape: Shape, ready: i64) -> (i64, Vec<Seat>) {
        let mut choices: Vec<(i64, bool, usize, &'static [usize])> = Vec::new();
        for (index, node) in self.nodes.get(shape.partition.name).into_iter().flatten().enumerate() {
            let [left, right] = node.free;
            if shape.half {
                choices.push((left.max(ready), right <= ready, index, &[0]));
                choices.push((right.max(ready), left <= ready, index, &[1]));
            } else {
                choices.push((left.max(right).max(ready), false, index, &[0, 1]));
            }
        }
        choices.sort_unstable();
        choices.truncate(usize::try_from(shape.nodes).unwrap_or(1));
        let started = choices.iter().map(|choice| choice.0).max().unwrap_or(ready);
        let mut seats: Vec<Seat> = choices.into_iter().map(|(_, _, node, halves)| (node, halves)).collect();
        seats.sort_unstable();
        (started, seats)
    }

    fn node(&mut self, partition: &Partition, index: usize) -> Option<&mut Node> {
        self.nodes.get_mut(partition.name)?.get_mut(index)
    }

    /// Keeps a node's instance up over `busy`, or brings up a new one.
    fn hold(&mut self, partition: &'static Partition, index: usize, busy: Span) {
        let boot = self.stream.span(150, 290);
        let (id, volume) = (format!("i-{}", self.stream.hex()), format!("vol-{}", self.stream.hex()));
        let Some(node) = self.node(partition, index) else { return };
        let mut closed = None;
        match &mut node.instance {
            Some(instance) if busy.start <= instance.last_busy + partition.kept => {
                // Of two jobs handed in together the second may be placed a few seconds before the first.
                instance.requested = instance.requested.min(busy.start);
                instance.last_busy = instance.last_busy.max(busy.end);
            }
            other => {
                closed = other.take();
                *other = Some(Instance {
                    partition,
                    node: index,
                    id,
                    volume,
                    requested: busy.start,
                    billed: Span::new(busy.start + boot, busy.end),
                    terminated: None,
                    taken: false,
                    last_busy: busy.end,
                });
            }
        }
        self.gone.extend(closed.map(power_down));
    }

    fn lose(&mut self, partition: &'static Partition, index: usize, (at, taken): (i64, bool)) {
        let Some(node) = self.node(partition, index) else { return };
        node.free = node.free.map(|free| free.max(at));
        let lost = node.instance.take().map(|mut instance| {
            instance.billed.end = at;
            instance.terminated = Some(at);
            instance.taken = taken;
            instance
        });
        self.gone.extend(lost);
    }

    fn finish(mut self) -> Cluster {
        for nodes in self.nodes.into_values() {
            self.gone.extend(nodes.into_iter().filter_map(|node| node.instance).map(power_down));
        }
        self.gone.sort_by(|a, b| (a.requested, &a.id).cmp(&(b.requested, &b.id)));
        self.attempts.sort_by_key(|attempt| (attempt.submitted, attempt.job.raw));
        Cluster { attempts: self.attempts, instances: self.gone }
    }
}

/// Takes an empty instance down after the time for which its partition keeps it.
fn power_down(mut instance: Instance) -> Instance {
    let end = (instance.last_busy + instance.partition.kept).min(instance.partition.closes);
    instance.billed.end = end.min(LAST);
    instance.terminated = (end < LAST).then_some(end);
    instance
}
