//! Answers of `query_range`: their series, each with its name, labels and samples.

use std::collections::BTreeMap;
use std::io::BufRead;

use ledger::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::SourceError;
use crate::telemetry::attempts::{Codes, Refusal, documents};
use crate::telemetry::shared::clock;

const CODES: Codes = Codes {
    cannot_read: "prometheus::cannot_read",
    too_large: "prometheus::too_large",
    not_json: "prometheus::not_json",
};

/// The label that holds the name of a metric.
const NAME: &str = "__name__";

/// A series.
#[derive(Debug)]
pub(super) struct Series {
    pub(super) name: String,
    labels: BTreeMap<String, String>,
    /// Values are text, as they came.
    pub(super) points: Vec<(Timestamp, String)>,
}

impl Series {
    /// The value of a label that is not empty.
    pub(super) fn label(&self, name: &str) -> Option<&str> {
        self.labels.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The value of a label that the scraping may have renamed, since it has such a label of its own for the scraped.
    pub(super) fn own(&self, name: &str) -> Option<&str> {
        let is_renamed = self.labels.keys().any(|label| label.starts_with("exported_"));
        let renamed = is_renamed.then(|| self.label(&format!("exported_{name}"))).flatten();
        renamed
            .or_else(|| self.label(name).filter(|_| !self.labels.contains_key(&format!("exported_{name}"))))
    }

    /// All labels.
    pub(super) fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.labels.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// A refusal for a label.
    pub(super) fn lacks(&self, code: &'static str, label: &str, expected: &str) -> Refusal {
        let labels: Vec<String> =
            self.labels().filter(|(_, value)| !value.is_empty()).map(|(k, v)| format!("{k}={v}")).collect();
        Refusal::new(code, &format!("metric.{label}"), &labels.join(","), expected)
    }
}

/// The series of a file, or why one cannot be taken; and what the server warned of.
pub(super) struct Answers {
    pub(super) series: Vec<Result<Series, Refusal>>,
    pub(super) warnings: Vec<String>,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    status: String,
    #[serde(default, rename = "errorType")]
    error_type: Option<String>,
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    warnings: Option<Vec<String>>,
    #[serde(default)]
    data: Option<Data>,
}

#[derive(Deserialize)]
struct Data {
    #[serde(default, rename = "resultType")]
    result_type: String,
    #[serde(default)]
    result: Vec<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Told {
    metric: BTreeMap<String, String>,
    #[serde(default)]
    values: Vec<(f64, String)>,
}

/// Reads the answers of a file.
///
/// # Errors
/// It is no answer of `query_range`, or one that failed.
pub(super) fn answers(input: impl BufRead, file: &str) -> Result<Answers, SourceError> {
    let found = documents::<Answer>(input, file, &CODES)?;
    let mut answers = Answers { series: Vec::new(), warnings: Vec::new() };
    for answer in found.documents {
        if answer.status != "success" {
            let words =
                [answer.error_type, answer.error].into_iter().flatten().collect::<Vec<_>>().join(": ");
            return Err(SourceError::new(
                "prometheus::failed_answer",
                "an answer is not one of a query that succeeded",
            )
            .at(file)
            .expected("`\"status\":\"success\"`", words)
            .help("query again; a shorter window or a longer step makes the query smaller"));
        }
        let data = answer.data.filter(|data| data.result_type == "matrix").ok_or_else(|| {
            SourceError::new(
                "prometheus::not_a_matrix",
                "an answer is not one of a query over a range of time",
            )
            .at(file)
            .expected("`resultType` `matrix`", "another one")
            .help("ask /api/v1/query_range, with start, end and step")
        })?;
        answers.warnings.extend(answer.warnings.into_iter().flatten());
        answers.series.extend(data.result.iter().map(|raw| series(raw)));
    }
    if let Some(refusal) = found.broken {
        answers.series.push(Err(refusal));
    }
    Ok(answers)
}

fn series(raw: &RawValue) -> Result<Series, Refusal> {
    let told: Told = serde_json::from_str(raw.get()).map_err(|error| {
        let expected = format!("a series with `metric` and `values` of [time, \"value\"] ({error})");
        Refusal::of_record("row::not_a_series", raw.get(), expected)
    })?;
    let Told { metric: mut labels, values } = told;
    let Some(name) = labels.remove(NAME).filter(|name| !name.is_empty()) else {
        let expected = "the name of a metric: query the metric itself, with no function applied to it";
        return Err(Refusal::new("row::no_metric_name", "metric.__name__", raw.get(), expected));
    };
    let mut points = Vec::with_capacity(values.len());
    for (seconds, value) in values {
        let Some(at) = clock::of_seconds(seconds) else {
            let expected = "seconds since 1970";
            return Err(Refusal::new("row::not_a_time", "values", &seconds.to_string(), expected));
        };
        points.push((at, value));
    }
    points.sort_by_key(|(at, _)| *at);
    Ok(Series { name, labels, points })
}
