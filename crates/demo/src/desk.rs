//! Work outside the schedulers: evaluation on CPU machines, a workstation and pods, kept in a spreadsheet.

use crate::company::EVALUATION;
use crate::random::Stream;
use crate::span::{Span, moment, rfc3339};

/// A machine of the evaluation account.
#[derive(Debug, Clone)]
pub(crate) struct DeskMachine {
    /// Instance id.
    pub(crate) id: String,
    /// Its volume.
    pub(crate) volume: String,
    /// Instance type, rate an hour, size of the volume in GB.
    pub(crate) kind: (&'static str, &'static str, u64),
    /// When it was up.
    pub(crate) up: Vec<Span>,
    /// How long its volume exists.
    pub(crate) volume_kept: Span,
    /// The team on its tag; empty if it has none.
    pub(crate) team: &'static str,
}

/// A pod of the Kubernetes cluster.
#[derive(Debug, Clone)]
pub(crate) struct Pod {
    /// Name on the bill's split rows.
    pub(crate) arn: String,
    /// Experiment.
    pub(crate) experiment: &'static str,
    /// Accelerators, processors and memory in GiB that it reserves.
    pub(crate) reserved: [u32; 3],
    /// When it ran.
    pub(crate) ran: Span,
}

/// One attempt of the spreadsheet.
#[derive(Debug, Clone)]
pub(crate) struct DeskAttempt {
    /// Id.
    pub(crate) id: String,
    /// Experiment, team and user.
    pub(crate) owner: [&'static str; 3],
    /// How it ended.
    pub(crate) status: &'static str,
    /// When it ran.
    pub(crate) ran: Span,
    /// Accelerators.
    pub(crate) gpus: u32,
    /// Resources that it held.
    pub(crate) resources: Vec<String>,
}

/// All work outside the schedulers.
#[derive(Debug)]
pub(crate) struct Desk {
    /// Attempts.
    pub(crate) attempts: Vec<DeskAttempt>,
    /// Machines.
    pub(crate) machines: Vec<DeskMachine>,
    /// Pods.
    pub(crate) pods: Vec<Pod>,
    /// The node of the Kubernetes cluster.
    pub(crate) node: DeskMachine,
}

const CPU: (&str, &str, u64) = ("c7i.8xlarge", "1.428", 60);
const WORKSTATION: (&str, &str, u64) = ("g4dn.xlarge", "0.526", 500);
const FORGOTTEN: (&str, &str, u64) = ("g5.xlarge", "1.006", 100);
/// The node: four L4, 48 processors, 192 GiB.
const NODE: (&str, &str, u64) = ("g6.12xlarge", "4.6016", 200);

type Sheet = ([&'static str; 3], i64, &'static [(i64, &'static str)]);

/// Experiment, team, user; first day; minutes and status of each attempt.
const EVALUATIONS: &[Sheet] = &[
    (
        ["eval-glue", "nlp", "omar"],
        7,
        &[(110, "completed"), (25, "failed"), (112, "completed"), (108, "completed"), (111, "completed")],
    ),
    (
        ["eval-wer", "speech", "mei"],
        23,
        &[(75, "completed"), (77, "completed"), (12, "cancelled"), (74, "completed")],
    ),
    (
        ["eval-imagenet", "vision", "ana"],
        32,
        &[(62, "completed"), (61, "completed"), (64, "completed"), (63, "completed")],
    ),
];
const ON_WORKSTATION: Sheet =
    (["proto-gan", "vision", "ben"], 4, &[(140, "failed"), (50, "cancelled"), (260, "completed")]);
const PODS: [(Sheet, [u32; 3]); 2] = [
    ((["distill-eks", "nlp", "lena"], 40, &[(310, "failed"), (620, "completed")]), [2, 24, 96]),
    ((["bench-eks", "speech", "raj"], 40, &[(200, "completed"), (205, "completed")]), [1, 8, 32]),
];

/// Runs it all.
pub(crate) fn play(seed: u64) -> Desk {
    let mut stream = Stream::new(seed, "desk");
    let node_up = Span::new(moment(40, 8 * 60), moment(41, 23 * 60));
    let node = machine(&mut stream, NODE, (vec![node_up], node_up));
    let mut desk = Desk { attempts: Vec::new(), machines: Vec::new(), pods: Vec::new(), node };
    for sheet in EVALUATIONS {
        evaluate(&mut desk, &mut stream, *sheet);
    }
    workstation(&mut desk, &mut stream);
    for (sheet, reserved) in PODS {
        run_pods(&mut desk, &mut stream, (sheet, reserved));
    }
    // Nobody remembers who started this one, and no attempt names it.
    let up = Span::new(moment(22, 850), moment(37, 540));
    let forgotten = machine(&mut stream, FORGOTTEN, (vec![up], up));
    desk.machines.push(forgotten);
    desk
}

fn machine(
    stream: &mut Stream,
    kind: (&'static str, &'static str, u64),
    (up, volume_kept): (Vec<Span>, Span),
) -> DeskMachine {
    let (id, volume) = (format!("i-{}", stream.hex()), format!("vol-{}", stream.hex()));
    DeskMachine { id, volume, kind, up, volume_kept, team: "" }
}

/// The runs of a sheet, one after another from nine o'clock on its first day.
fn runs(stream: &mut Stream, (_, day, attempts): Sheet) -> Vec<(Span, &'static str)> {
    let mut next = moment(day, 9 * 60);
    let mut runs = Vec::new();
    for (minutes, status) in attempts {
        let start = next + stream.span(60, 1500);
        let end = start + minutes * 60 * stream.span(950, 1050) / 1000;
        runs.push((Span::new(start, end), *status));
        next = end + 1800;
    }
    runs
}

fn attempt(owner: [&'static str; 3], number: usize, (ran, status): (Span, &'static str)) -> DeskAttempt {
    let [experiment, ..] = owner;
    let id = format!("{experiment}-a{}", number + 1);
    DeskAttempt { id, owner, status, ran, gpus: 0, resources: Vec::new() }
}

fn evaluate(desk: &mut Desk, stream: &mut Stream, sheet: Sheet) {
    let [_, team, _] = sheet.0;
    for (number, run) in runs(stream, sheet).into_iter().enumerate() {
        let up = Span::new(run.0.start - stream.span(120, 300), run.0.end + stream.span(300, 900));
        let mut host = machine(stream, CPU, (vec![up], up));
        host.team = team;
        let mut attempt = attempt(sheet.0, number, run);
        attempt.resources = vec![host.id.clone(), host.volume.clone()];
        desk.attempts.push(attempt);
        desk.machines.push(host);
    }
}

/// Up from eight to eight on eighteen days, then stopped for good; its volume stays.
fn workstation(desk: &mut Desk, stream: &mut Stream) {
    let up = (3..21).map(|day| Span::new(moment(day, 8 * 60), moment(day, 20 * 60))).collect();
    let mut host = machine(stream, WORKSTATION, (up, Span::new(moment(3, 470), moment(60, 0))));
    host.team = "vision";
    for (number, run) in runs(stream, ON_WORKSTATION).into_iter().enumerate() {
        let mut attempt = attempt(ON_WORKSTATION.0, number, run);
        attempt.gpus = 1;
        attempt.resources = vec![host.id.clone()];
        desk.attempts.push(attempt);
    }
    desk.machines.push(host);
}

fn run_pods(desk: &mut Desk, stream: &mut Stream, (sheet, reserved): (Sheet, [u32; 3])) {
    let ([experiment, team, _], [gpus, ..]) = (sheet.0, reserved);
    for (number, run) in runs(stream, sheet).into_iter().enumerate() {
        let mut attempt = attempt(sheet.0, number, run);
        let name = format!("{experiment}-{number}");
        let arn = format!("arn:aws:eks:us-east-1:{EVALUATION}:pod/eval/{team}/{name}/{}", stream.uuid());
        attempt.gpus = gpus;
        attempt.resources = vec![arn.clone()];
        desk.pods.push(Pod { arn, experiment, reserved, ran: run.0 });
        desk.attempts.push(attempt);
    }
}

/// The spreadsheet as CSV; work without accelerators leaves their number empty.
pub(crate) fn spreadsheet(desk: &Desk) -> String {
    let mut text = String::from(
        "attempt_id,experiment,team,user,status,started,ended,gpus,capacity,resource_ids,instance_type\n",
    );
    for DeskAttempt { id, owner: [experiment, team, user], status, ran, gpus, resources } in &desk.attempts {
        let gpus = if *gpus == 0 { String::new() } else { gpus.to_string() };
        let machine = desk.machines.iter().find(|machine| resources.contains(&machine.id));
        let (start, end) = (rfc3339(ran.start), rfc3339(ran.end));
        let kind = machine.map_or("", |machine| machine.kind.0);
        let held = resources.join(";");
        let fields = [id, *experiment, team, user, status, &start, &end, &gpus, "on_demand", &held, kind];
        text.push_str(&fields.join(","));
        text.push('\n');
    }
    text
}
