//! The keys of the settings, with what each is for.

use super::{Given, Origin};

/// One setting.
#[derive(Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name in the file; `keys.experiment` is `experiment` under `[keys]`.
    pub name: &'static str,
    /// Its option on the command line, if it has one.
    pub flag: Option<&'static str>,
    /// Its variable in the environment.
    pub variable: &'static str,
    /// Its default as text, where it has one.
    pub default: Option<&'static str>,
    /// What it is for.
    pub meaning: &'static str,
    /// What it may be.
    pub expected: &'static str,
}

pub(super) const STORE_DEFAULT: &str = "./.trainbill";

macro_rules! key {
    ($name:literal, $flag:expr, $variable:literal, $default:expr, $meaning:literal, $expected:literal) => {
        Key {
            name: $name,
            flag: $flag,
            variable: $variable,
            default: $default,
            meaning: $meaning,
            expected: $expected,
        }
    };
}

/// Every key, in the order of the manual.
pub const KEYS: &[Key] = &[
    key!(
        "store",
        Some("--store"),
        "TRAINBILL_STORE",
        Some(STORE_DEFAULT),
        "folder of the store; in a file, relative to the file",
        "the path of a folder"
    ),
    key!(
        "basis",
        Some("--basis"),
        "TRAINBILL_BASIS",
        Some("effective"),
        "how usage is valued",
        "list, effective or marginal"
    ),
    key!(
        "net_of_credits",
        Some("--net-of-credits"),
        "TRAINBILL_NET_OF_CREDITS",
        Some("false"),
        "whether provider credits are subtracted",
        "true or false"
    ),
    key!(
        "scope",
        Some("--scope"),
        "TRAINBILL_SCOPE",
        Some("direct"),
        "only what a run used itself, or its share of shared cost as well",
        "direct or fully-loaded"
    ),
    key!(
        "currency",
        Some("--currency"),
        "TRAINBILL_CURRENCY",
        None,
        "only what is billed in this currency; this or `convert_to` is needed where the store has several",
        "a three-letter code such as USD"
    ),
    key!(
        "convert_to",
        Some("--convert-to"),
        "TRAINBILL_CONVERT_TO",
        None,
        "currency to which all figures are converted, by the day rates of a list in the store",
        "a three-letter code such as USD"
    ),
    key!(
        "rates",
        Some("--rates"),
        "TRAINBILL_RATES",
        None,
        "source of the list of rates by which is converted; needed where the store has several",
        "the name of a source, such as ecb"
    ),
    key!(
        "format",
        Some("--format"),
        "TRAINBILL_FORMAT",
        Some("table"),
        "form of the output",
        "table, csv, json, jsonl or markdown"
    ),
    key!(
        "time_zone",
        Some("--time-zone"),
        "TRAINBILL_TIME_ZONE",
        None,
        "zone of imported times that carry none",
        "an IANA zone such as UTC or America/New_York"
    ),
    key!(
        "threads",
        None,
        "TRAINBILL_THREADS",
        None,
        "threads of the engine; as many as the machine has if not given",
        "a whole number from 1 to 1024"
    ),
    key!(
        "memory",
        None,
        "TRAINBILL_MEMORY",
        Some("1GiB"),
        "memory that the engine may hold before it spills to disk",
        "bytes, or a number with KiB, MiB, GiB, KB, MB or GB; at least 64MiB"
    ),
    key!(
        "estimate.provider",
        None,
        "TRAINBILL_ESTIMATE_PROVIDER",
        None,
        "provider of machines whose id does not tell it, as price lists name it",
        "a name such as aws or on-prem"
    ),
    key!(
        "estimate.region",
        None,
        "TRAINBILL_ESTIMATE_REGION",
        None,
        "region of the machines, as price lists name it; without one nothing is estimated",
        "a name such as us-east-1"
    ),
    key!(
        "estimate.operating_system",
        None,
        "TRAINBILL_ESTIMATE_OPERATING_SYSTEM",
        Some("linux"),
        "operating system of the machines, as price lists name it",
        "a name such as linux or windows"
    ),
    key!(
        "estimate.price_lists",
        None,
        "TRAINBILL_ESTIMATE_PRICE_LISTS",
        None,
        "sources of prices, the strongest first; those not named follow, the newest first",
        "a list of sources, as `trainbill prices` shows them"
    ),
    key!(
        "keys.experiment",
        None,
        "TRAINBILL_KEYS_EXPERIMENT",
        Some("experiment_id, experiment, trainbill_experiment"),
        "tag keys whose value names an experiment",
        "a list of tag keys"
    ),
    key!(
        "keys.attempt",
        None,
        "TRAINBILL_KEYS_ATTEMPT",
        Some("attempt_id, attempt, trainbill_attempt"),
        "tag keys whose value names an attempt",
        "a list of tag keys"
    ),
];

impl Key {
    /// Whether the value is a list.
    pub(super) fn is_list(&self) -> bool {
        self.name.starts_with("keys.") || self.name == "estimate.price_lists"
    }

    pub(super) fn given_by_flag(&self, text: &str) -> Given {
        self.given(text, Origin::Flag(self.flag.unwrap_or(self.name)))
    }

    pub(super) fn given_by_environment(&self, text: &str) -> Given {
        self.given(text, Origin::Environment(self.variable))
    }

    fn given(&self, text: &str, origin: Origin) -> Given {
        let texts = if self.is_list() {
            text.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
        } else {
            vec![text.to_owned()]
        };
        Given { texts, origin, blame: None }
    }
}
