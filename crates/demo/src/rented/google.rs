//! The project on Google Cloud: its detailed billing export as JSON lines.

use money::Amount;
use serde_json::{Value, json};

use super::{Landlord, RentedAttempt, at};
use crate::exact::{Used, amount, share, sum};
use crate::random::Stream;
use crate::span::{DAY, LAST, PERIODS, Span, moment, rfc3339};
use crate::{DemoError, ExpectedBill};

/// Type of its machines: one A100.
pub(crate) const MACHINE: &str = "a2-highgpu-1g";
const ACCOUNT: &str = "01A2B3-C4D5E6-F70819";
const PROJECT: &str = "larkspur-research";
const ZONE: &str = "europe-west4-a";
/// The disk that is kept for the next run: 500 GB, from the first machine on.
const DISK: &str = "//compute.googleapis.com/projects/larkspur-research/zones/europe-west4-a/disks/datasets";
const DISK_A_DAY: &str = "2.7419354839";
const DISK_FROM: i64 = moment(44, 0);

/// A part of a machine: SKU, what it is, unit and number of units of a second, price of an hour on demand and as spot.
struct Part {
    sku: [&'static str; 2],
    units: u64,
    unit: &'static str,
    hour: [&'static str; 2],
}

const PARTS: [Part; 3] = [
    Part {
        sku: ["2922-40C5-B19F", "A2 Instance Core running in Netherlands"],
        units: 12,
        unit: "seconds",
        hour: ["0.417276", "0.166908"],
    },
    Part {
        sku: ["2390-DCAF-DA38", "A2 Instance Ram running in Netherlands"],
        units: 85 << 30,
        unit: "byte-seconds",
        hour: ["0.39614", "0.15844"],
    },
    Part {
        sku: ["0039-6C9B-7F2E", "Nvidia Tesla A100 GPU running in Netherlands"],
        units: 1,
        unit: "seconds",
        hour: ["2.933908", "1.173563"],
    },
];

/// An id of a machine.
pub(crate) fn machine_id(stream: &mut Stream) -> String {
    let name = stream.letters(6, b"abcdefghijklmnopqrstuvwxyz");
    format!("//compute.googleapis.com/projects/{PROJECT}/zones/{ZONE}/instances/train-{name}")
}

/// A row of the export.
struct Row<'a> {
    span: Span,
    sku: [&'a str; 2],
    resource: &'a str,
    used: (String, &'a str),
    cost: Amount,
    credit: Option<Amount>,
    team: &'a str,
}

/// The export, and what its month comes to.
pub(crate) fn export(attempts: &[RentedAttempt], seed: u64) -> Result<(String, ExpectedBill), DemoError> {
    let mut rows = Vec::new();
    for attempt in at(attempts, Landlord::Google) {
        rows.extend(machine(attempt)?);
    }
    let day = amount(DISK_A_DAY)?;
    for span in Span::new(DISK_FROM, LAST).days() {
        let sku = ["D973-5D65-BAB2", "Storage PD Capacity in Netherlands"];
        let used = (Used::whole(500 << 30).to_string(), "byte-seconds");
        rows.push(Row { span, sku, resource: DISK, used, cost: day, credit: None, team: "vision" });
    }
    let mut stream = Stream::new(seed, "google export");
    let exported = LAST + DAY / 4 + stream.span(0, 3_600);
    let [_, october] = PERIODS;
    let net = sum(rows.iter().flat_map(|row| [Some(row.cost), row.credit]).flatten())?;
    // A credit that is no part of the price is a charge of its own.
    let charges = rows.len() + rows.iter().filter(|row| row.credit.is_some()).count();
    let expected = ExpectedBill {
        payer: ACCOUNT.to_owned(),
        period: october,
        rows: u64::try_from(charges).unwrap_or(u64::MAX),
        billed: net,
        effective: net,
    };
    let mut text = String::new();
    for row in &rows {
        text.push_str(&serde_json::to_string(&line(row, exported))?);
        text.push('\n');
    }
    Ok((text, expected))
}

/// The rows of a machine: one an hour and part; a promotion pays for a tenth of the accelerator on demand.
fn machine(attempt: &RentedAttempt) -> Result<Vec<Row<'_>>, DemoError> {
    let [_, team, _] = attempt.sheet.owner;
    let mut rows = Vec::new();
    for span in attempt.machine.up.hours() {
        for part in &PARTS {
            let [on_demand, spot] = part.hour;
            let hour = amount(if attempt.machine.is_spot { spot } else { on_demand })?;
            let cost = share(hour, span.seconds(), 3600)?;
            let promoted = part.units == 1 && !attempt.machine.is_spot;
            let credit = if promoted { Some(share(cost, 1, 10)?.negated()) } else { None };
            let used = (u128::from(part.units) * u128::from(span.seconds())).to_string();
            let resource = attempt.machine.id.as_str();
            rows.push(Row { span, sku: part.sku, resource, used: (used, part.unit), cost, credit, team });
        }
    }
    Ok(rows)
}

fn line(row: &Row<'_>, exported: i64) -> Value {
    let [sku, description] = row.sku;
    let utc = |second: i64| rfc3339(second).replace('T', " ").replace('Z', " UTC");
    let credits: Vec<Value> = row.credit.iter().map(|amount| json!({
        "id": "promo-2026", "full_name": "Research promotion", "type": "PROMOTION", "name": "Research promotion",
        "amount": amount.to_string(),
    })).collect();
    let (used, unit) = &row.used;
    json!({
        "billing_account_id": ACCOUNT,
        "service": { "id": "6F81-5844-456A", "description": "Compute Engine" },
        "sku": { "id": sku, "description": description },
        "usage_start_time": utc(row.span.start),
        "usage_end_time": utc(row.span.end),
        "project": { "id": PROJECT, "number": "604817223344", "name": "Larkspur Research", "labels": [] },
        "labels": [{ "key": "team", "value": row.team }],
        "system_labels": [],
        "location": { "location": "europe-west4", "country": "NL", "region": "europe-west4", "zone": ZONE },
        "tags": [],
        "resource": { "name": row.resource.rsplit('/').next(), "global_name": row.resource },
        "cost": row.cost.to_string(),
        "currency": "USD",
        "currency_conversion_rate": "1",
        "usage": { "amount": used, "unit": unit },
        "credits": credits,
        "invoice": { "month": "202610", "publisher_type": "GOOGLE" },
        "cost_type": "regular",
        "export_time": utc(exported),
        "cost_at_list": row.cost.to_string(),
    })
}
