//! Memory does not follow the size of the bill (T79): a packed report is read in pieces, however much it unpacks to.
//!
//! The kernel's own high-water mark of this process is what is compared, so nothing else is tested in this binary.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot read its fixture has failed")]

use std::io::{BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use sources::billing::{BillOptions, aws_cur};
use sources::place::{self, PlaceLimits};

const HEADER: &str = "bill_payer_account_id,identity_line_item_id,line_item_line_item_type,line_item_product_code,\
    line_item_usage_type,line_item_operation,line_item_resource_id,line_item_usage_start_date,\
    line_item_usage_end_date,line_item_usage_amount,line_item_currency_code,line_item_unblended_cost,\
    line_item_line_item_description\n";

/// The most by which memory may grow while what is read grows by [`LARGE`] rows, and far less than they unpack to.
const MOST_MIB: u64 = 48;
const SMALL: u64 = 20_000;
const LARGE: u64 = 900_000;

/// Writes a packed report of so many rows; gives the bytes that it unpacks to.
fn write(path: &Path, rows: u64) -> u64 {
    let mut file = BufWriter::new(GzEncoder::new(std::fs::File::create(path).unwrap(), Compression::fast()));
    file.write_all(HEADER.as_bytes()).unwrap();
    let mut bytes = HEADER.len() as u64;
    for row in 0..rows {
        let (day, hour) = (row / 24 % 30 + 1, row % 24);
        let line = format!(
            "111111111111,line-{row},Usage,AmazonEC2,BoxUsage:p4d.24xlarge,RunInstances,i-{:017x},\
             2026-07-{day:02}T{hour:02}:00:00Z,2026-07-{day:02}T{hour:02}:59:59Z,1,USD,0.{row:07},\
             $32.77 per On Demand Linux p4d.24xlarge Instance Hour\n",
            row % 5_000
        );
        bytes += line.len() as u64;
        file.write_all(line.as_bytes()).unwrap();
    }
    file.into_inner().unwrap().finish().unwrap();
    bytes
}

/// Reads a report and gives its rows with the high-water mark of memory after it, in KiB.
fn read(path: &Path) -> (u64, u64) {
    let input = place::open(path.to_str().unwrap(), &PlaceLimits::default()).unwrap();
    let summary = aws_cur::read(&input, &BillOptions::default(), &mut |_| Ok(())).unwrap();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mark = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    (summary.accepted, mark.trim().trim_end_matches(" kB").trim().parse().unwrap())
}

#[test]
fn a_report_that_unpacks_to_much_is_read_in_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (small, large) = (folder.path().join("small.csv.gz"), folder.path().join("large.csv.gz"));
    write(&small, SMALL);
    let unpacked = write(&large, LARGE);
    let (rows, before) = read(&small);
    assert_eq!(rows, SMALL);
    let (rows, after) = read(&large);
    assert_eq!(rows, LARGE);
    let grown = (after - before) / 1024;
    assert!(unpacked / (1 << 20) > 3 * MOST_MIB, "{unpacked} bytes are too few to show anything");
    assert!(grown < MOST_MIB, "memory grew by {grown} MiB while {} MiB were read", unpacked / (1 << 20));
}
