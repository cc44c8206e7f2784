//! A manifest of a cost and usage report: which files are one complete delivery of one billing period.

use ledger::BillingPeriod;
use serde::Deserialize;

use super::Entry;
use super::client::Scheme;
use crate::{SourceError, Zone, instant};

/// True for the name of a manifest.
pub(super) fn is_manifest_name(key: &str) -> bool {
    key.rsplit('/').next().unwrap_or(key).to_ascii_lowercase().ends_with("manifest.json")
}

/// A manifest that lists data files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Manifest {
    /// Its own entry.
    pub(super) entry: Entry,
    /// Whose report it is: account and report, as far as it tells.
    pub(super) account: String,
    /// Which report of the account.
    pub(super) report: String,
    pub(super) period: BillingPeriod,
    /// The folder below which its files must lie, with a `/` at the end unless it is the root.
    pub(super) root: String,
    /// True for the manifest of a legacy period, which names the current assembly.
    pub(super) is_current: bool,
    /// The time in the name of its execution's folder.
    pub(super) execution: Option<String>,
    /// Whose bucket it names, where its keys are URLs.
    pub(super) scheme: Option<Scheme>,
    /// Bucket that it names.
    pub(super) bucket: Option<String>,
    /// Keys that it lists, without scheme and bucket.
    pub(super) keys: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Raw {
    assembly_id: Option<String>,
    account: Option<String>,
    report_name: Option<String>,
    report_id: Option<String>,
    export_arn: Option<String>,
    bucket: Option<String>,
    billing_period: Option<RawPeriod>,
    report_keys: Option<Vec<String>>,
    data_files: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
struct RawPeriod {
    start: String,
}

/// Reads a manifest; `None` for a JSON that lists no files and so is no manifest of a report.
pub(super) fn read(entry: &Entry, text: &str) -> Result<Option<Manifest>, SourceError> {
    let bad = |message: String| SourceError::new("bill::bad_manifest", message).at(&entry.key);
    let raw: Raw =
        serde_json::from_str(text).map_err(|fault| bad(format!("the manifest cannot be read: {fault}")))?;
    let Some(listed) = raw.data_files.as_ref().or(raw.report_keys.as_ref()) else { return Ok(None) };
    let mut place = Placement::of(&entry.key);
    if place.in_assembly(raw.assembly_id.as_deref()) {
        place.leave_assembly();
    }
    let stated = raw.billing_period.as_ref().and_then(|period| instant(&period.start, &Zone::Utc).ok());
    let period = stated.map(BillingPeriod::of).or(place.period);
    let period = period.ok_or_else(|| bad("the manifest does not tell its billing period".to_owned()))?;
    let Keys { scheme, bucket, keys } = keys(entry, &raw, listed)?;
    let arn_account = raw.export_arn.as_deref().and_then(|arn| arn.split(':').nth(4)).map(str::to_owned);
    let is_current = raw.assembly_id.is_some() && !place.in_assembly(raw.assembly_id.as_deref());
    let report = raw.export_arn.or(raw.report_id).or(raw.report_name).unwrap_or_default();
    Ok(Some(Manifest {
        entry: entry.clone(),
        account: raw.account.or(arn_account).unwrap_or_default(),
        report,
        period,
        root: place.root,
        is_current,
        execution: place.execution,
        scheme,
        bucket,
        keys,
    }))
}

/// The listed keys without scheme and bucket, and the one bucket that all of them lie in.
struct Keys {
    scheme: Option<Scheme>,
    bucket: Option<String>,
    keys: Vec<String>,
}

fn keys(entry: &Entry, raw: &Raw, listed: &[String]) -> Result<Keys, SourceError> {
    let mut bucket = raw.bucket.clone().filter(|name| !name.is_empty());
    let mut scheme: Option<Scheme> = None;
    let mut keys = Vec::with_capacity(listed.len());
    for listed_key in listed {
        let hostile = |why: &str| hostile(entry, listed_key, why);
        let key = match Scheme::of_url(listed_key) {
            Some((named, rest)) => {
                let (name, key) = rest.split_once('/').ok_or_else(|| hostile("it names no object"))?;
                let other_name = bucket.as_deref().is_some_and(|known| known != name);
                if other_name || scheme.is_some_and(|known| known != named) {
                    return Err(hostile("it lies in another bucket"));
                }
                (bucket, scheme) = (Some(name.to_owned()), Some(named));
                key
            }
            None => listed_key.as_str(),
        };
        let leads_out = key.split('/').any(|part| matches!(part, ".." | "."));
        if leads_out || key.starts_with('/') || key.contains("://") || key.contains(['\\', '\0']) {
            return Err(hostile("it is no plain key"));
        }
        keys.push(key.to_owned());
    }
    Ok(Keys { scheme, bucket, keys })
}

/// The refusal of a key that a manifest must not name.
pub(super) fn hostile(entry: &Entry, key: &str, why: &str) -> SourceError {
    let shown: String = key.chars().take(200).collect();
    SourceError::new("bill::hostile_manifest", format!("the manifest names `{shown}`, but {why}"))
        .at(&entry.key)
        .help("do not import this folder before somebody has looked at the manifest")
}

/// What the folders above a manifest tell.
struct Placement<'a> {
    parts: Vec<&'a str>,
    root: String,
    period: Option<BillingPeriod>,
    execution: Option<String>,
}

impl<'a> Placement<'a> {
    fn of(key: &'a str) -> Self {
        let mut parts: Vec<&str> = key.split('/').collect();
        parts.pop();
        let metadata = parts.iter().rposition(|part| *part == "metadata");
        let exported = parts.iter().position(|part| part.starts_with("BILLING_PERIOD="));
        let legacy = parts.iter().rposition(|part| month_of_span(part).is_some());
        let depth = metadata.or(exported).or(legacy).unwrap_or(parts.len());
        let mut root = parts.get(..depth).unwrap_or_default().join("/");
        if !root.is_empty() {
            root.push('/');
        }
        let exported_period =
            exported.and_then(|at| parts.get(at)?.strip_prefix("BILLING_PERIOD=")?.parse().ok());
        let period = exported_period.or_else(|| legacy.and_then(|at| month_of_span(parts.get(at)?)));
        let execution = exported.and_then(|at| parts.get(at + 1)).map(|part| (*part).to_owned());
        Self { parts, root, period, execution }
    }

    /// Opened at the folder of the period, nothing but the assembly's own folder is left above its manifest.
    fn leave_assembly(&mut self) {
        if self.root == format!("{}/", self.parts.join("/")) {
            self.parts.pop();
            self.root = self.parts.join("/");
            if !self.root.is_empty() {
                self.root.push('/');
            }
        }
    }

    fn in_assembly(&self, assembly: Option<&str>) -> bool {
        self.parts.last().copied() == assembly && assembly.is_some()
    }
}

/// The month of a legacy folder such as `20260701-20260801`.
fn month_of_span(part: &str) -> Option<BillingPeriod> {
    let (start, end) = part.split_once('-')?;
    let day = |text: &str| text.len() == 8 && text.bytes().all(|b| b.is_ascii_digit());
    if !day(start) || !day(end) {
        return None;
    }
    format!("{}-{}", start.get(..4)?, start.get(4..6)?).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_at(key: &str, text: &str) -> Result<Option<Manifest>, SourceError> {
        read(&Entry { key: key.to_owned(), bytes: 0, modified: 0, version: None }, text)
    }

    #[test]
    fn a_data_export_tells_period_root_and_execution_by_its_folders() {
        let key = "bill/exp/metadata/BILLING_PERIOD=2026-07/2026-07-02T03:04:05.000Z-9f/exp-Manifest.json";
        let text = r#"{"executionId":"9f","exportArn":"arn:aws:bcm-data-exports:us-east-1:111111111111:export/exp-1",
            "dataFiles":["s3://b/bill/exp/data/BILLING_PERIOD=2026-07/2026-07-02T03:04:05.000Z-9f/exp-00001.csv.gz"]}"#;
        let manifest = read_at(key, text).unwrap().unwrap();
        assert_eq!(manifest.period.to_string(), "2026-07");
        assert_eq!(manifest.root, "bill/exp/");
        assert_eq!(manifest.account, "111111111111");
        assert_eq!(manifest.execution.as_deref(), Some("2026-07-02T03:04:05.000Z-9f"));
        assert_eq!(manifest.bucket.as_deref(), Some("b"));
        assert!(!manifest.is_current);
    }

    #[test]
    fn a_legacy_period_has_a_current_manifest_and_one_for_each_assembly() {
        let text = r#"{"assemblyId":"a1","account":"1","reportName":"cur","bucket":"b",
            "billingPeriod":{"start":"20260701T000000.000Z","end":"20260801T000000.000Z"},
            "reportKeys":["p/cur/20260701-20260801/a1/cur-1.csv.gz"]}"#;
        let current = read_at("p/cur/20260701-20260801/cur-Manifest.json", text).unwrap().unwrap();
        let assembly = read_at("p/cur/20260701-20260801/a1/cur-Manifest.json", text).unwrap().unwrap();
        assert!(current.is_current && !assembly.is_current);
        assert_eq!(current.root, "p/cur/");
        assert_eq!(current.keys, assembly.keys);
    }

    #[test]
    fn keys_that_lead_out_are_refused() {
        for key in [
            "../../etc/passwd",
            "s3://other/p/x.csv",
            "/etc/passwd",
            "file:///etc/passwd",
            "p/./x.csv",
            "gs://other/p/x.csv",
            "gs://b",
            "gs://b/../x.csv",
            "az://b/x.csv",
        ] {
            let text = format!(
                r#"{{"bucket":"b","billingPeriod":{{"start":"20260701T000000.000Z"}},"reportKeys":["{key}"]}}"#
            );
            assert_eq!(
                read_at("p/cur-Manifest.json", &text).unwrap_err().code,
                "bill::hostile_manifest",
                "for {key}"
            );
        }
        let two =
            r#"{"dataFiles":["s3://b/BILLING_PERIOD=2026-07/x.csv","gs://b/BILLING_PERIOD=2026-07/y.csv"]}"#;
        let fault = read_at("metadata/BILLING_PERIOD=2026-07/x-Manifest.json", two).unwrap_err();
        assert_eq!(fault.code, "bill::hostile_manifest");
        assert_eq!(read_at("x-Manifest.json", "{}").unwrap(), None);
        assert_eq!(read_at("x-Manifest.json", "[").unwrap_err().code, "bill::bad_manifest");
        let nameless = r#"{"dataFiles":["s3://b/x.csv"]}"#;
        assert_eq!(read_at("x-Manifest.json", nameless).unwrap_err().code, "bill::bad_manifest");
    }
}
