//! Builders: attempts and charges with everything told that a test does not care about.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, Decimal128Array, DictionaryArray, Float64Array, Int64Array, StringArray,
    TimestampMicrosecondArray,
};
use arrow::datatypes::Int32Type;
use arrow::record_batch::RecordBatch;
use ledger::{
    Attempt, AttemptId, Binding, BindingKind, Capacity, Cause, ExperimentId, ExperimentLink, JoinMethod,
    LineClass, LinkMethod, Outcome, ResourceKind, RunState, ShareDriver, Timestamp,
};
use sources::charges::{COLUMNS, ColumnType};

/// 2026-07-01T00:00:00Z in microseconds.
pub const JULY: i64 = 1_782_864_000_000_000;

/// An hour in microseconds.
pub const HOUR: i64 = 3_600_000_000;

/// A completed attempt of an experiment, from hour to hour of July 2026.
pub fn attempt(key: &str, experiment: &str, hours: (i64, i64)) -> Attempt {
    Attempt {
        id: AttemptId::of_key(key),
        canonical_key: key.to_owned(),
        aliases: Vec::new(),
        link: ExperimentLink {
            experiment: ExperimentId(experiment.to_owned()),
            method: LinkMethod::Explicit,
        }
        .into(),
        ordinal: 1,
        scheduler: "test".to_owned(),
        cluster: None,
        namespace: None,
        name: None,
        user: None,
        team: None,
        queue: None,
        submitted_at: None,
        started_at: Some(Timestamp(JULY + hours.0 * HOUR)),
        ended_at: Some(Timestamp(JULY + hours.1 * HOUR)),
        state: RunState::Ended,
        outcome: Outcome::Completed,
        cause: Cause::Unknown,
        cause_evidence: Vec::new(),
        exit_code: None,
        restart_index: None,
        gpu_count: None,
        gpu_kind: None,
        gpu_milliseconds: None,
        node_count: None,
        capacity: Capacity::Unknown,
        model_version: None,
        config_version: None,
        dataset_snapshot: None,
        bindings: Vec::new(),
        phases: Vec::new(),
        checkpoints: Vec::new(),
        interruptions: Vec::new(),
        quality: Vec::new(),
        artifacts: Vec::new(),
        utilisation: Vec::new(),
        source_overwrote: false,
    }
}

/// A holding of `gpus` of `of` accelerators of an instance, in microseconds since the epoch.
pub fn holding(resource: &str, interval: (i64, i64), gpus: u64, of: u64) -> Binding {
    Binding {
        kind: BindingKind::Instance,
        resource_id: Some(resource.to_owned()),
        node_name: None,
        sku: None,
        start: Timestamp(interval.0),
        end: Some(Timestamp(interval.1)),
        weight: gpus * 1000,
        capacity: Some(of * 1000),
        driver: ShareDriver::Gpu,
        gpus: gpus * 1000,
        method: JoinMethod::ResourceId,
    }
}

/// A charge of a test bill; costs are in units of 10⁻²⁴.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestCharge {
    /// Resource, if the row has one.
    pub resource: Option<String>,
    /// Interval in microseconds since the epoch.
    pub interval: (i64, i64),
    /// Class.
    pub class: LineClass,
    /// Kind.
    pub kind: ResourceKind,
    /// Tags.
    pub tags: Vec<(String, String)>,
    /// Billed, list, effective and marginal cost.
    pub costs: [Option<i128>; 4],
}

/// The charges as a canonical batch.
pub fn batch(charges: &[TestCharge]) -> RecordBatch {
    let columns = COLUMNS.iter().map(|column| array(column.name, column.kind, charges)).collect();
    RecordBatch::try_new(sources::charges::schema(), columns).unwrap()
}

fn array(name: &str, kind: ColumnType, charges: &[TestCharge]) -> ArrayRef {
    match kind {
        ColumnType::Text => {
            let texts: DictionaryArray<Int32Type> = charges
                .iter()
                .map(|charge| text(name, charge))
                .collect::<Vec<_>>()
                .iter()
                .map(|t| t.as_deref())
                .collect();
            // An all-null column still needs a dictionary of text.
            let values = Arc::new(StringArray::from_iter(
                texts.values().as_any().downcast_ref::<StringArray>().unwrap(),
            ));
            Arc::new(DictionaryArray::<Int32Type>::try_new(texts.keys().clone(), values).unwrap())
        }
        ColumnType::Money => {
            let index = ["billed_cost", "list_cost", "effective_cost", "x_marginal_cost"]
                .iter()
                .position(|n| *n == name);
            let units = charges.iter().map(|charge| index.and_then(|index| charge.costs[index]));
            Arc::new(Decimal128Array::from_iter(units).with_precision_and_scale(38, 24).unwrap())
        }
        ColumnType::Quantity => Arc::new(Float64Array::from_iter(charges.iter().map(|_| None::<f64>))),
        ColumnType::Instant => {
            let at = charges.iter().map(|charge| match name {
                "charge_period_end" => charge.interval.1,
                "billing_period_start" => JULY,
                "billing_period_end" => JULY + 744 * HOUR,
                _ => charge.interval.0,
            });
            Arc::new(TimestampMicrosecondArray::from_iter_values(at).with_timezone("UTC"))
        }
        ColumnType::Row => Arc::new(Int64Array::from_iter_values(1..=charges.len() as i64)),
    }
}

fn text(name: &str, charge: &TestCharge) -> Option<String> {
    let fixed = match name {
        "x_file" => "test.csv",
        "billing_account_id" | "sub_account_id" => "111122223333",
        "billing_currency" => "USD",
        "charge_category" | "x_line_type" => "Usage",
        "provider_name" => "AWS",
        "service_name" => "AmazonEC2",
        "x_split_role" => "none",
        "x_class" => charge.class.word(),
        "x_resource_kind" => charge.kind.word(),
        "resource_id" => return charge.resource.clone(),
        "tags" if !charge.tags.is_empty() => {
            let pairs: Vec<String> = charge.tags.iter().map(|(k, v)| format!("\"{k}\":\"{v}\"")).collect();
            return Some(format!("{{{}}}", pairs.join(",")));
        }
        _ => return None,
    };
    Some(fixed.to_owned())
}
