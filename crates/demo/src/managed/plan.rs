//! The managed training jobs, one job an attempt.

use crate::company::PLATFORM;
use crate::random::Stream;
use crate::span::{HOUR, Span, moment};

/// A managed machine.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    /// Type.
    pub(crate) kind: &'static str,
    /// Accelerators.
    pub(crate) gpus: u32,
    /// Their model.
    pub(crate) gpu_model: &'static str,
    /// Rate an hour.
    pub(crate) rate: &'static str,
    /// Managed-spot rate an hour.
    pub(crate) spot_rate: &'static str,
}

const A100: Machine = Machine {
    kind: "ml.p4d.24xlarge",
    gpus: 8,
    gpu_model: "a100",
    rate: "25.2512883",
    spot_rate: "9.3429767",
};
const A10G: Machine =
    Machine { kind: "ml.g5.12xlarge", gpus: 4, gpu_model: "a10g", rate: "7.09", spot_rate: "2.6233" };
const A10G_SMALL: Machine =
    Machine { kind: "ml.g5.2xlarge", gpus: 1, gpu_model: "a10g", rate: "1.515", spot_rate: "0.56055" };

/// How a job ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It completes with a metric, or with none reported.
    Completed(Option<&'static str>),
    /// The program fails.
    Failed,
    /// Accelerator memory runs out.
    OutOfGpuMemory,
    /// Managed spot takes the instance back.
    SpotTaken,
    /// The maximum run time passes.
    Timeout,
    /// Its user stops it.
    Stopped,
}

/// One experiment to come.
#[derive(Debug)]
pub(crate) struct ManagedExperiment {
    /// Name.
    pub(crate) name: &'static str,
    /// Team.
    pub(crate) team: &'static str,
    /// User.
    pub(crate) user: &'static str,
    /// Model version, configuration version, dataset snapshot.
    pub(crate) versions: [&'static str; 3],
    /// Metric, validation protocol.
    pub(crate) measure: (&'static str, &'static str),
    /// First submission.
    submitted: i64,
    /// Machine.
    machine: &'static Machine,
    /// Spot.
    spot: bool,
    /// Minutes and ending of each job.
    jobs: &'static [(i64, Ending)],
}

use Ending::{Completed, Failed, OutOfGpuMemory, SpotTaken, Stopped, Timeout};

const EXPERIMENTS: &[ManagedExperiment] = &[
    ManagedExperiment {
        name: "clip-hpo",
        team: "vision",
        user: "ben",
        versions: ["clip@1.2", "cfg-101", "pairs@2026-08"],
        measure: ("val_acc", "imagenet-v2@3"),
        submitted: moment(5, 600),
        machine: &A10G,
        spot: false,
        jobs: &[
            (95, Completed(Some("0.712"))),
            (92, Completed(Some("0.724"))),
            (40, Failed),
            (97, Completed(Some("0.731"))),
            (94, Completed(Some("0.719"))),
            (90, Completed(Some("0.744"))),
            (91, Completed(Some("0.739"))),
            (28, Stopped),
            (96, Completed(Some("0.751"))),
            (93, Completed(Some("0.748"))),
        ],
    },
    ManagedExperiment {
        name: "lora-13b",
        team: "nlp",
        user: "lena",
        versions: ["llm-13b@1.0", "cfg-110", "chat@2026-09"],
        measure: ("val_loss", "chat-eval@1"),
        submitted: moment(14, 660),
        machine: &A100,
        spot: false,
        jobs: &[(22, OutOfGpuMemory), (35, OutOfGpuMemory), (180, Failed), (410, Completed(Some("1.842")))],
    },
    ManagedExperiment {
        name: "seg-spot",
        team: "vision",
        user: "ana",
        versions: ["segany@4.1", "cfg-27", "masks@2026-08"],
        measure: ("val_iou", "masks-v1@2"),
        submitted: moment(20, 540),
        machine: &A10G,
        spot: true,
        jobs: &[(140, SpotTaken), (82, SpotTaken), (330, Completed(Some("0.803")))],
    },
    ManagedExperiment {
        name: "vad-small",
        team: "speech",
        user: "mei",
        versions: ["vad@2.2", "cfg-120", "calls@2026-08"],
        measure: ("val_f1", "calls-eval@4"),
        submitted: moment(28, 570),
        machine: &A10G_SMALL,
        spot: false,
        jobs: &[(65, Failed), (210, Completed(Some("0.918")))],
    },
    ManagedExperiment {
        name: "mt-ende",
        team: "nlp",
        user: "omar",
        versions: ["mt@5.5", "cfg-130", "europarl@10"],
        measure: ("val_bleu", "wmt-dev@2"),
        submitted: moment(34, 620),
        machine: &A100,
        spot: false,
        jobs: &[(240, Timeout), (300, Completed(Some("31.4"))), (296, Completed(Some("31.1")))],
    },
    ManagedExperiment {
        name: "ocr-line",
        team: "vision",
        user: "ben",
        versions: ["ocr@0.6", "cfg-140", "scans@2026-04"],
        measure: ("val_cer", "scans-eval@1"),
        submitted: moment(41, 560),
        machine: &A10G,
        spot: true,
        jobs: &[(150, Completed(None)), (148, Completed(None))],
    },
    ManagedExperiment {
        name: "kws-quant",
        team: "speech",
        user: "raj",
        versions: ["kws@3.3", "cfg-150", "calls@2026-08"],
        measure: ("val_acc", "kws-eval@1"),
        submitted: moment(47, 600),
        machine: &A10G_SMALL,
        spot: false,
        jobs: &[(50, Failed), (70, Failed)],
    },
];

/// One managed job.
#[derive(Debug)]
pub(crate) struct ManagedJob {
    /// What it belongs to.
    pub(crate) experiment: &'static ManagedExperiment,
    /// Position among the experiment's jobs, from 1.
    pub(crate) ordinal: usize,
    /// Identity of the run.
    pub(crate) run_id: String,
    /// Name of the job's resource on the bill.
    pub(crate) arn: String,
    /// Machine.
    pub(crate) machine: &'static Machine,
    /// Bought as managed spot.
    pub(crate) spot: bool,
    /// Handed in.
    pub(crate) submitted: i64,
    /// Billed time.
    pub(crate) ran: Span,
    /// How it ended.
    pub(crate) ending: Ending,
}

/// Runs the plan.
pub(crate) fn play(seed: u64) -> Vec<ManagedJob> {
    let mut stream = Stream::new(seed, "managed");
    let mut done = Vec::new();
    for experiment in EXPERIMENTS {
        let mut submitted = experiment.submitted + stream.span(0, 900);
        for (index, (minutes, ending)) in experiment.jobs.iter().enumerate() {
            let started = submitted + stream.span(120, 420);
            let jitter = if *ending == Timeout { 1000 } else { stream.span(940, 1060) };
            let ended = started + minutes * 60 * jitter / 1000;
            let (region, account) = ("us-east-1", PLATFORM.id);
            let suffix = stream.letters(4, b"abcdefghjkmnpqrstuvwxyz23456789");
            let name = format!("{}-{}-{suffix}", experiment.name, index + 1);
            done.push(ManagedJob {
                experiment,
                ordinal: index + 1,
                run_id: stream.uuid(),
                arn: format!("arn:aws:sagemaker:{region}:{account}:training-job/{name}"),
                machine: experiment.machine,
                spot: experiment.spot,
                submitted,
                ran: Span::new(started, ended),
                ending: *ending,
            });
            let pause = if *ending == SpotTaken { 60 } else { stream.span(600, 2 * 3600) };
            submitted = ended + pause;
        }
    }
    done
}

impl ManagedJob {
    /// When it saved a checkpoint: at the end of every hour that it ran.
    pub(crate) fn checkpoints(&self) -> impl Iterator<Item = i64> {
        let (first, end) = (self.ran.start + HOUR, self.ran.end);
        (0..).map(move |hour| first + hour * HOUR).take_while(move |at| *at < end)
    }
}
