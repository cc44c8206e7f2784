//! Answers of the REST interface.

use std::collections::BTreeMap;
use std::io::BufRead;

use serde_json::Value;

use super::Import;
use super::facts::{Dataset, Facts, Fields, number, time};
use crate::SourceError;
use crate::telemetry::attempts::Refusal;
use crate::telemetry::openlineage::Object;
use crate::telemetry::shared::series::Point;
use crate::telemetry::shared::whole::{self, Unheld};

const UNHELD: Unheld = Unheld {
    cannot_read: "mlflow::cannot_read",
    too_large: "mlflow::too_large",
    help: "query with a smaller `max_results`, and import all pages together",
};

/// Values of histories that one import may hold.
const MAX_VALUES: usize = 5_000_000;

/// A value of a history, until its run is known.
#[derive(Debug)]
struct Row {
    file: String,
    number: u64,
    run: Option<String>,
    metric: String,
    point: Point,
}

/// What waits until all answers are read.
#[derive(Debug, Default)]
pub(super) struct Answers {
    rows: Vec<Row>,
    /// For every list that is answered in pages, whether its last page is here.
    complete: BTreeMap<String, bool>,
}

impl Answers {
    /// Reads an answer.
    pub(super) fn take(
        &mut self,
        file: &str,
        input: impl BufRead,
        import: &mut Import<'_>,
    ) -> Result<(), SourceError> {
        let answer = json(file, input)?;
        let list =
            |name: &str| answer.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let one = |name: &str| answer.get(name).into_iter();
        let mut numbers = 1..;
        let mut next = || numbers.next().unwrap_or(u64::MAX);
        for run in list("runs").iter().chain(one("run")) {
            let taken = facts(run).map(|facts| import.run(facts));
            import.read.count(taken, file, next());
        }
        for experiment in list("experiments").iter().chain(one("experiment")) {
            let taken = self::experiment(experiment, import);
            import.read.count(taken, file, next());
        }
        for value in list("metrics") {
            let number = next();
            if self.rows.len() >= MAX_VALUES {
                return Err(SourceError::new(
                    "mlflow::too_many_values",
                    "the histories hold too many values",
                )
                .at(file)
                .expected(format!("at most {MAX_VALUES} values over all files"), "more")
                .help("import the runs and their histories in parts"));
            }
            match self::value(value) {
                Ok((run, metric, point)) => {
                    self.rows.push(Row { file: file.to_owned(), number, run, metric, point });
                }
                Err(refusal) => import.read.count(Err(refusal), file, number),
            }
        }
        self.page(&answer, file);
        Ok(())
    }

    /// Notes whether the last page of a list is here. Pages of one history are told apart by their metric.
    fn page(&mut self, answer: &Value, file: &str) {
        let list = ["runs", "experiments", "metrics"].into_iter().find(|name| answer.get(*name).is_some());
        let Some(list) = list else { return };
        let metric = answer.pointer("/metrics/0/key").and_then(Value::as_str).unwrap_or_default();
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let key = if list == "metrics" { format!("{list}/{folder}/{metric}") } else { list.to_owned() };
        let goes_on =
            answer.get("next_page_token").and_then(Value::as_str).is_some_and(|token| !token.is_empty());
        *self.complete.entry(key).or_default() |= !goes_on;
    }

    /// Gives the histories to their runs.
    pub(super) fn close(self, import: &mut Import<'_>) {
        let lacking = self.complete.values().filter(|complete| !**complete).count();
        import.unfinished = u64::try_from(lacking).unwrap_or(u64::MAX);
        for row in self.rows {
            let named =
                row.run.or_else(|| import.runs.keys().find(|run| row.file.contains(run.as_str())).cloned());
            let views = named.as_ref().and_then(|run| import.runs.get_mut(run));
            let taken = match views.and_then(|views| views.last_mut()) {
                Some(facts) => {
                    facts.measured(&row.metric, row.point);
                    Ok(())
                }
                None => Err(Refusal::new(
                    "row::no_run",
                    "run_id",
                    named.as_deref().unwrap_or_default(),
                    "a `run_id`, or a file named after the id of a run that is imported with it",
                )),
            };
            import.read.count(taken, &row.file, row.number);
        }
        for facts in import.runs.values_mut().flatten() {
            facts.take_last_values();
        }
    }
}

fn json(file: &str, input: impl BufRead) -> Result<Value, SourceError> {
    let bytes = whole::read(input, file, UNHELD)?;
    serde_json::from_slice(&bytes).map_err(|error| {
        SourceError::new("mlflow::not_json", format!("the answer is not JSON: {error}"))
            .at(format!("{file}:{}", error.line()))
            .help("save the body of the answer as it came")
    })
}

fn object(value: &Value) -> Result<Object<'_>, Refusal> {
    let refuse = || Refusal::of_record("row::not_an_object", &value.to_string(), "an object");
    value.as_object().map(Object::root).ok_or_else(refuse)
}

/// A time or a status, which is a number or a text.
fn plain(object: &Object<'_>, value: &Value, name: &str) -> Result<Option<String>, Refusal> {
    match value.get(name) {
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        _ => object.owned(name),
    }
}

fn facts(value: &Value) -> Result<Facts, Refusal> {
    let run = object(value)?;
    let missing = || Refusal::new("row::missing_value", "info", &value.to_string(), "a run with its `info`");
    let info = run.object("info")?.ok_or_else(missing)?;
    let plain = |name: &str| plain(&info, value.get("info").unwrap_or(&Value::Null), name);
    let mut facts = Facts::of(&Fields {
        id: info.text("run_id")?.or(info.text("run_uuid")?),
        experiment_id: info.text("experiment_id")?,
        name: info.text("run_name")?,
        user: info.text("user_id")?,
        status: plain("status")?,
        start: plain("start_time")?,
        end: plain("end_time")?,
        artifact_uri: info.text("artifact_uri")?,
    })?;
    if let Some(data) = run.object("data")? {
        for tag in data.objects("tags")? {
            facts.tag(tag.required("key")?, tag.text("value")?.unwrap_or_default());
        }
        let metrics = value.pointer("/data/metrics").and_then(Value::as_array).into_iter().flatten();
        for metric in metrics {
            let (_, metric, point) = self::value(metric)?;
            facts.last_value(metric, point);
        }
    }
    if let Some(inputs) = run.object("inputs")? {
        for input in inputs.objects("dataset_inputs")? {
            facts
                .datasets
                .extend(input.object("dataset")?.map(|dataset| self::dataset(&dataset)).transpose()?);
        }
    }
    Ok(facts)
}

fn dataset(dataset: &Object<'_>) -> Result<Dataset, Refusal> {
    Ok(Dataset {
        name: dataset.owned("name")?.unwrap_or_default(),
        digest: dataset.owned("digest")?.unwrap_or_default(),
        uri: dataset.text("source")?.and_then(source_uri),
    })
}

/// The place of a dataset, out of the JSON text in which MLflow describes its source.
pub(super) fn source_uri(source: &str) -> Option<String> {
    let source: Value = serde_json::from_str(source).ok()?;
    ["uri", "url", "path"]
        .iter()
        .find_map(|name| source.get(*name))
        .and_then(Value::as_str)
        .map(str::to_owned)
}

fn experiment(value: &Value, import: &mut Import<'_>) -> Result<(), Refusal> {
    let experiment = object(value)?;
    let id = experiment.required("experiment_id")?;
    import.experiments.note(id, experiment.text("name")?);
    for tag in experiment.objects("tags")? {
        import.experiments.tag(id, tag.required("key")?, tag.text("value")?.unwrap_or_default());
    }
    Ok(())
}

/// A value of a metric, with its run where it names one.
fn value(value: &Value) -> Result<(Option<String>, String, Point), Refusal> {
    let metric = object(value)?;
    let text = |name: &str| match value.get(name) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let key = metric.required("key")?.to_owned();
    let found = text("value").unwrap_or_default();
    let number = number(&found)
        .ok_or_else(|| Refusal::new("row::not_a_number", "value", &found, "a number or \"NaN\""))?;
    let at = time("timestamp", text("timestamp").as_deref())?;
    let at =
        at.ok_or_else(|| Refusal::new("row::missing_value", "timestamp", "", "milliseconds since 1970"))?;
    // A step below zero is none that training reached.
    let step = text("step").and_then(|step| step.parse().ok());
    Ok((metric.owned("run_id")?, key, Point { at, step, value: number }))
}
