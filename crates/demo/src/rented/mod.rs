//! Machines that are rented elsewhere: at a GPU cloud that bills in euros, and in a project on Google Cloud.

pub(crate) mod google;
pub(crate) mod neocloud;
pub(crate) mod rates;

use crate::random::Stream;
use crate::span::{Span, moment, rfc3339};

/// Where a machine is rented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Landlord {
    /// The GPU cloud.
    Neocloud,
    /// Google Cloud.
    Google,
}

/// A machine that is there for one attempt.
#[derive(Debug, Clone)]
pub(crate) struct RentedMachine {
    /// As the bill names it.
    pub(crate) id: String,
    /// When it was up.
    pub(crate) up: Span,
    /// True if it could be taken back.
    pub(crate) is_spot: bool,
}

/// One attempt on such a machine.
#[derive(Debug, Clone)]
pub(crate) struct RentedAttempt {
    /// Id.
    pub(crate) id: String,
    /// What is run and by whom.
    pub(crate) sheet: &'static Sheet,
    /// How it ended, and why it failed.
    pub(crate) end: (&'static str, &'static str),
    /// Its quality; empty if nothing was measured.
    pub(crate) quality: &'static str,
    /// When it ran.
    pub(crate) ran: Span,
    /// Its machine.
    pub(crate) machine: RentedMachine,
}

/// The attempts of one experiment: the day and minute on which each was begun, how long it ran, how it ended and why,
/// and its quality.
#[derive(Debug)]
pub(crate) struct Sheet {
    /// Where its machines are.
    pub(crate) landlord: Landlord,
    /// Experiment, team, user.
    pub(crate) owner: [&'static str; 3],
    /// Metric.
    pub(crate) metric: &'static str,
    attempts: &'static [(i64, i64, [&'static str; 3])],
}

const SHEETS: &[Sheet] = &[
    // The first one is on a Sunday, for which no rate is published; the last two are on days not billed yet.
    Sheet {
        landlord: Landlord::Neocloud,
        owner: ["moe-8x7b", "nlp", "lena"],
        metric: "val_loss",
        attempts: &[
            (moment(33, 9 * 60), 410, ["failed", "oom_gpu", ""]),
            (moment(34, 10 * 60), 95, ["failed", "app_error", ""]),
            (moment(36, 11 * 60), 1_730, ["completed", "", "1.7120"]),
            (moment(58, 9 * 60), 610, ["failed", "app_error", ""]),
            (moment(59, 8 * 60), 540, ["completed", "", "1.6890"]),
        ],
    },
    Sheet {
        landlord: Landlord::Neocloud,
        owner: ["moe-sft", "nlp", "omar"],
        metric: "val_loss",
        attempts: &[(moment(47, 13 * 60), 265, ["completed", "", "1.2040"])],
    },
    Sheet {
        landlord: Landlord::Google,
        owner: ["paligemma-tune", "vision", "ana"],
        metric: "val_acc",
        attempts: &[
            (moment(44, 9 * 60), 100, ["preempted", "", ""]),
            (moment(44, 13 * 60), 185, ["preempted", "", ""]),
            (moment(45, 8 * 60), 330, ["completed", "", "0.8130"]),
        ],
    },
];

/// Runs it all.
pub(crate) fn play(seed: u64) -> Vec<RentedAttempt> {
    let mut stream = Stream::new(seed, "rented");
    let mut attempts = Vec::new();
    for sheet in SHEETS {
        for (number, (begun, minutes, [status, cause, quality])) in sheet.attempts.iter().enumerate() {
            let start = begun + stream.span(60, 900);
            let ran = Span::new(start, start + minutes * 60 + stream.span(0, 59));
            let up = Span::new(start - stream.span(120, 400), ran.end + stream.span(60, 600));
            let id = match sheet.landlord {
                Landlord::Neocloud => neocloud::machine_id(&mut stream),
                Landlord::Google => google::machine_id(&mut stream),
            };
            let [experiment, ..] = sheet.owner;
            attempts.push(RentedAttempt {
                id: format!("{experiment}-a{}", number + 1),
                sheet,
                end: (*status, *cause),
                quality,
                ran,
                machine: RentedMachine { id, up, is_spot: *status == "preempted" },
            });
        }
    }
    attempts
}

/// The attempts on one landlord's machines.
pub(crate) fn at(attempts: &[RentedAttempt], landlord: Landlord) -> impl Iterator<Item = &RentedAttempt> {
    attempts.iter().filter(move |attempt| attempt.sheet.landlord == landlord)
}

/// The spreadsheet of these attempts as CSV.
pub(crate) fn spreadsheet(attempts: &[RentedAttempt]) -> String {
    let mut text = String::from(
        "attempt_id,experiment,team,user,status,cause,started,ended,gpus,capacity,resource_ids,instance_type,\
         resource_capacity,metric,metric_value,metric_direction\n",
    );
    for RentedAttempt { id, sheet, end: (status, cause), quality, ran, machine } in attempts {
        let [experiment, team, user] = sheet.owner;
        let (kind, gpus) = match sheet.landlord {
            Landlord::Neocloud => (neocloud::MACHINE, "8"),
            Landlord::Google => (google::MACHINE, "1"),
        };
        let (start, end) = (rfc3339(ran.start), rfc3339(ran.end));
        let capacity = if machine.is_spot { "spot" } else { "on_demand" };
        // A machine whose id has no known shape is held as a whole, and its type would say nothing of it.
        let (kind, of) = if sheet.landlord == Landlord::Neocloud { (kind, gpus) } else { ("", "") };
        let direction = match (quality.is_empty(), sheet.metric) {
            (true, _) => "",
            (false, "val_loss") => "minimise",
            (false, _) => "maximise",
        };
        let metric = if quality.is_empty() { "" } else { sheet.metric };
        let held = machine.id.as_str();
        let fields = [
            id.as_str(),
            experiment,
            team,
            user,
            status,
            cause,
            &start,
            &end,
            gpus,
            capacity,
            held,
            kind,
            of,
            metric,
            quality,
            direction,
        ];
        text.push_str(&fields.join(","));
        text.push('\n');
    }
    text
}
