//! What tests of readers of JSON documents share: a file against its golden text, and hostile changes of it.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use sources::SourceError;
use sources::telemetry::TelemetryRead;

use crate::golden;

/// Reads a file of the test data, and compares what it says with the golden text beside it.
pub(crate) fn file(name: &str, read: impl Fn(&[u8]) -> Result<TelemetryRead, SourceError>) -> TelemetryRead {
    let read = read(&std::fs::read(golden::testdata(name)).unwrap()).unwrap();
    golden::check(&name.replace(".json", ".expected.txt"), &read);
    read
}

/// A byte that is changed, or from which on the file is cut off.
pub(crate) fn changes() -> impl Strategy<Value = (usize, u8, bool)> {
    (0_usize..20_000, any::<u8>(), any::<bool>())
}

/// Reads a changed file: whatever comes of it, every row is counted.
pub(crate) fn survives(
    name: &str,
    (at, byte, is_cut): (usize, u8, bool),
    read: impl Fn(&[u8]) -> Result<TelemetryRead, SourceError>,
) -> Result<(), TestCaseError> {
    let mut bytes = std::fs::read(golden::testdata(name)).unwrap();
    let at = at % bytes.len();
    if is_cut {
        bytes.truncate(at);
    } else {
        bytes[at] = byte;
    }
    if let Ok(read) = read(&bytes) {
        prop_assert_eq!(read.rows, read.accepted + read.rejections.len() as u64);
    }
    Ok(())
}
