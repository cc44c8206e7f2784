//! What the people of the cluster set out to train, attempt by attempt.

use super::partition::{BLOCK, BLOCK_START, DEV, P4D, SPOT, Shape, WIDE};
use crate::span::moment;

/// How an attempt ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It completes.
    Completed,
    /// The program fails.
    Failed,
    /// The kernel kills it for memory; Slurm sees exit 137.
    Killed,
    /// Slurm's own memory limit ends it.
    OutOfMemory,
    /// Its time limit passes.
    Timeout,
    /// Its user stops it.
    Cancelled,
    /// Its user withdraws it before it starts.
    Withdrawn,
    /// A node is lost.
    NodeFail,
    /// EC2 takes a spot node back.
    SpotTaken,
    /// A job of higher priority takes the nodes.
    Preempted,
    /// An operator sends it back to the queue.
    Requeued,
    /// It still runs at the end of the demo.
    Running,
}

/// How an attempt comes about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Submission {
    /// A new job, after the attempt before has ended.
    New,
    /// The same job goes back to the queue.
    Requeue,
    /// A task of a job array, handed in together with its neighbours.
    Task,
    /// A job of a sweep, handed in together with its neighbours.
    Seed,
}

/// One attempt to come.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlannedAttempt {
    /// How it comes about.
    pub(crate) submission: Submission,
    /// What it asks for.
    pub(crate) shape: Shape,
    /// Minutes that it runs, before jitter.
    pub(crate) minutes: i64,
    /// How it ends.
    pub(crate) ending: Ending,
}

/// One experiment to come.
#[derive(Debug)]
pub(crate) struct PlannedExperiment {
    /// Name.
    pub(crate) name: &'static str,
    /// Team, which is the Slurm account too.
    pub(crate) team: &'static str,
    /// User.
    pub(crate) user: &'static str,
    /// Model version, configuration version and dataset snapshot.
    pub(crate) versions: [&'static str; 3],
    /// When the first attempt is handed in.
    pub(crate) submitted: i64,
    /// Its attempts.
    pub(crate) attempts: &'static [PlannedAttempt],
}

const fn run(submission: Submission, shape: Shape, minutes: i64, ending: Ending) -> PlannedAttempt {
    PlannedAttempt { submission, shape, minutes, ending }
}

const P4D_1: Shape = Shape::whole(&P4D, 1);
const P4D_2: Shape = Shape::whole(&P4D, 2);
const P4D_HALF: Shape = Shape::half(&P4D);
const SPOT_1: Shape = Shape::whole(&SPOT, 1);
const SPOT_HALF: Shape = Shape::half(&SPOT);
const WIDE_1: Shape = Shape::whole(&WIDE, 1);
const WIDE_HALF: Shape = Shape::half(&WIDE);
const DEV_HALF: Shape = Shape::half(&DEV);
const BLOCK_2: Shape = Shape::whole(&BLOCK, 2);

use Ending::{
    Cancelled, Completed, Failed, Killed, NodeFail, OutOfMemory, Preempted, Requeued, Running, SpotTaken,
    Timeout, Withdrawn,
};
use Submission::{New, Requeue, Seed, Task};

macro_rules! experiment {
    ($name:literal, $team:literal, $user:literal, $versions:expr, $submitted:expr, $attempts:expr) => {
        PlannedExperiment {
            name: $name,
            team: $team,
            user: $user,
            versions: $versions,
            submitted: $submitted,
            attempts: $attempts,
        }
    };
}

const IMAGENET: &str = "imagenet@2026-08";
const WEB: &str = "webtext@2026-07";
const CALLS: &str = "calls@2026-08";

/// Half nodes of `vits-abl`, as one job array with a failed task.
const VITS: [PlannedAttempt; 7] = [
    run(Task, SPOT_HALF, 180, Completed),
    run(Task, SPOT_HALF, 176, Completed),
    run(Task, SPOT_HALF, 45, Failed),
    run(Task, SPOT_HALF, 184, Completed),
    run(Task, SPOT_HALF, 178, Completed),
    run(Task, SPOT_HALF, 181, Completed),
    run(New, SPOT_HALF, 183, Completed),
];

/// Every experiment of the cluster, the first to be handed in first.
pub(crate) const EXPERIMENTS: &[PlannedExperiment] = &[
    experiment!(
        "conformer-l",
        "speech",
        "mei",
        ["conformer@1.4", "cfg-31", CALLS],
        moment(0, 60),
        &[run(New, P4D_1, 720, Completed),]
    ),
    experiment!(
        "embed-v3",
        "nlp",
        "omar",
        ["embed@3.0", "cfg-08", WEB],
        moment(0, 200),
        &[run(New, SPOT_1, 38, SpotTaken), run(Requeue, SPOT_1, 540, Completed),]
    ),
    experiment!(
        "tok-ablate",
        "nlp",
        "lena",
        ["tok@0.9", "cfg-12", WEB],
        moment(1, 540),
        &[
            run(Seed, DEV_HALF, 240, Completed),
            run(Seed, DEV_HALF, 236, Completed),
            run(Seed, DEV_HALF, 243, Completed),
            run(Seed, DEV_HALF, 250, Completed),
            run(Seed, DEV_HALF, 239, Completed),
        ]
    ),
    experiment!(
        "vitb-base",
        "vision",
        "ana",
        ["vit-b@2.0", "cfg-01", IMAGENET],
        moment(2, 500),
        &[run(New, P4D_1, 840, NodeFail), run(Requeue, P4D_1, 1200, Completed),]
    ),
    experiment!("vits-abl", "vision", "ana", ["vit-s@2.0", "cfg-02", IMAGENET], moment(4, 610), &VITS),
    experiment!(
        "bert-qa",
        "nlp",
        "omar",
        ["bert@5.1", "cfg-40", WEB],
        moment(6, 480),
        &[
            run(Task, SPOT_HALF, 90, Completed),
            run(Task, SPOT_HALF, 92, Completed),
            run(Task, SPOT_HALF, 120, Timeout),
            run(Task, SPOT_HALF, 88, Completed),
            run(Task, SPOT_HALF, 91, Completed),
            run(Task, SPOT_HALF, 120, Timeout),
            run(Task, SPOT_HALF, 94, Completed),
            run(Task, SPOT_HALF, 87, Completed),
        ]
    ),
    experiment!(
        "vitl-tune",
        "vision",
        "ben",
        ["vit-l@2.1", "cfg-17", IMAGENET],
        moment(8, 550),
        &[
            run(New, SPOT_1, 370, Preempted),
            run(Requeue, SPOT_1, 600, Killed),
            run(New, P4D_HALF, 570, Completed),
        ]
    ),
    experiment!(
        "whisper-ft",
        "speech",
        "mei",
        ["whisper@3.2", "cfg-22", CALLS],
        moment(9, 620),
        &[run(New, SPOT_1, 250, OutOfMemory), run(New, SPOT_1, 660, Completed),]
    ),
    experiment!(
        "rerank-v2",
        "nlp",
        "lena",
        ["rerank@2.0", "cfg-19", WEB],
        moment(9, 700),
        &[run(New, DEV_HALF, 55, Withdrawn), run(New, DEV_HALF, 420, Completed),]
    ),
    experiment!(
        "resnet-abl",
        "vision",
        "ben",
        ["resnet@7.3", "cfg-05", IMAGENET],
        moment(10, 480),
        &[run(Seed, WIDE_HALF, 360, Completed), run(Seed, WIDE_HALF, 372, Completed),]
    ),
    experiment!(
        "resnet-long",
        "vision",
        "ana",
        ["resnet@7.3", "cfg-06", IMAGENET],
        moment(10, 485),
        &[run(New, WIDE_HALF, 1080, Completed),]
    ),
    experiment!(
        "llm1b-pre",
        "nlp",
        "lena",
        ["llm-1b@0.4", "cfg-50", WEB],
        moment(11, 840),
        &[
            run(New, P4D_2, 1080, Preempted),
            run(Requeue, P4D_2, 720, Preempted),
            run(Requeue, P4D_2, 1560, Completed),
        ]
    ),
    experiment!(
        "llm7b-pre",
        "nlp",
        "omar",
        ["llm-7b@0.2", "cfg-51", WEB],
        BLOCK_START + 600,
        &[run(New, BLOCK_2, 1320, NodeFail), run(Requeue, BLOCK_2, 2400, Completed),]
    ),
    experiment!(
        "detr-coco",
        "vision",
        "ben",
        ["detr@1.1", "cfg-60", "coco@2026-05"],
        moment(17, 600),
        &[run(New, P4D_1, 1440, Timeout), run(New, P4D_1, 960, Completed),]
    ),
    experiment!(
        "t5-sum",
        "nlp",
        "omar",
        ["t5@9.0", "cfg-33", WEB],
        moment(19, 520),
        &[
            run(New, SPOT_1, 75, Failed),
            run(New, SPOT_1, 130, Failed),
            run(New, SPOT_1, 310, Failed),
            run(New, SPOT_1, 95, Failed),
        ]
    ),
    experiment!(
        "segany-ft",
        "vision",
        "ana",
        ["segany@4.0", "cfg-26", "masks@2026-08"],
        moment(21, 540),
        &[
            run(New, SPOT_1, 300, SpotTaken),
            run(Requeue, SPOT_1, 192, SpotTaken),
            run(Requeue, SPOT_1, 420, Completed),
        ]
    ),
    experiment!(
        "wav2vec-pre",
        "speech",
        "raj",
        ["wav2vec@2.6", "cfg-70", CALLS],
        moment(24, 570),
        &[
            run(New, P4D_1, 1560, Preempted),
            run(Requeue, P4D_1, 1200, Requeued),
            run(Requeue, P4D_1, 1500, Completed),
        ]
    ),
    experiment!(
        "tts-vits",
        "speech",
        "raj",
        ["tts@0.8", "cfg-71", CALLS],
        moment(27, 660),
        &[run(New, WIDE_1, 960, NodeFail), run(Requeue, WIDE_1, 900, Completed),]
    ),
    experiment!(
        "conformer-s",
        "speech",
        "mei",
        ["conformer@1.4", "cfg-32", CALLS],
        moment(30, 500),
        &[
            run(Task, SPOT_HALF, 120, Completed),
            run(Task, SPOT_HALF, 118, Completed),
            run(Task, SPOT_HALF, 60, Failed),
            run(Task, SPOT_HALF, 125, Completed),
            run(Task, SPOT_HALF, 119, Completed),
        ]
    ),
    experiment!(
        "llm1b-sft",
        "nlp",
        "lena",
        ["llm-1b@0.5", "cfg-52", "chat@2026-09"],
        moment(33, 580),
        &[
            run(Seed, P4D_HALF, 300, Completed),
            run(Seed, P4D_HALF, 296, Completed),
            run(Seed, P4D_HALF, 305, Completed),
            run(Seed, P4D_HALF, 301, Completed),
        ]
    ),
    experiment!(
        "moe-probe",
        "nlp",
        "omar",
        ["moe@0.1", "cfg-80", WEB],
        moment(36, 630),
        &[run(New, P4D_1, 120, Failed), run(New, P4D_1, 95, Failed), run(New, P4D_1, 210, Cancelled),]
    ),
    experiment!(
        "dino-pre",
        "vision",
        "ben",
        ["dino@3.0", "cfg-90", IMAGENET],
        moment(38, 720),
        &[run(New, P4D_2, 1800, Failed), run(New, P4D_2, 2640, Completed),]
    ),
    experiment!(
        "vocoder",
        "speech",
        "raj",
        ["vocoder@1.0", "cfg-72", CALLS],
        moment(44, 510),
        &[
            run(Seed, DEV_HALF, 540, Completed),
            run(Seed, DEV_HALF, 533, Completed),
            run(Seed, DEV_HALF, 548, Completed),
        ]
    ),
    experiment!(
        "llm1b-dpo",
        "nlp",
        "lena",
        ["llm-1b@0.5", "cfg-53", "prefs@2026-10"],
        moment(48, 600),
        &[run(New, P4D_HALF, 18, Failed), run(New, P4D_HALF, 30, Failed), run(New, P4D_HALF, 360, Completed),]
    ),
    experiment!(
        "diar-x",
        "speech",
        "mei",
        ["diar@0.3", "cfg-74", CALLS],
        moment(52, 690),
        &[run(New, SPOT_1, 72, Cancelled), run(New, SPOT_1, 300, Completed),]
    ),
    experiment!(
        "lid-107",
        "speech",
        "raj",
        ["lid@1.7", "cfg-75", CALLS],
        moment(55, 480),
        &[
            run(Task, SPOT_HALF, 60, Completed),
            run(Task, SPOT_HALF, 62, Completed),
            run(Task, SPOT_HALF, 58, Completed),
            run(Task, SPOT_HALF, 61, Completed),
            run(Task, SPOT_HALF, 63, Completed),
            run(Task, SPOT_HALF, 59, Completed),
        ]
    ),
    experiment!(
        "asr-stream",
        "speech",
        "mei",
        ["asr@6.0", "cfg-76", CALLS],
        moment(59, 500),
        &[run(New, SPOT_1, 120, Failed), run(New, SPOT_1, 1440, Running),]
    ),
];
