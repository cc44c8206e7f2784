//! The CSV export: which pods ran on which day, without nodes and hours.

use super::allocation::{Said, apart};
use super::answer::not_an_answer;
use crate::SourceError;
use crate::telemetry::attempts::Refusal;

/// Columns by which the export is known.
const REQUIRED: [&str; 3] = ["Date", "Namespace", "Pod"];

/// Judges every row. None can be bound: what is not of a pod is accepted, everything else rejected.
pub(super) fn rows(
    bytes: &[u8],
    file: &str,
    mut count: impl FnMut(u64, Result<Said, Refusal>),
) -> Result<(), SourceError> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(bytes);
    let broken = |error: &csv::Error| {
        SourceError::new("opencost::cannot_read", format!("cannot read the file: {error}"))
            .at(file)
            .help("check that it is an answer of the allocation API, or the CSV export")
    };
    let header = reader.byte_headers().map_err(|error| broken(&error))?.clone();
    let at = |name: &str| header.iter().position(|known| known.eq_ignore_ascii_case(name.as_bytes()));
    let [Some(date), Some(namespace), Some(pod)] = REQUIRED.map(at) else {
        return Err(not_an_answer(file, "neither JSON nor CSV with columns `Date`, `Namespace` and `Pod`"));
    };
    let mut record = csv::ByteRecord::new();
    let mut number = 0;
    while reader.read_byte_record(&mut record).map_err(|error| broken(&error))? {
        number += 1;
        let cell = |index| String::from_utf8_lossy(record.get(index).unwrap_or_default()).trim().to_owned();
        if record.len() != header.len() {
            let expected = format!("{} fields, as the header has", header.len());
            let found = format!("{} fields", record.len());
            count(number, Err(Refusal::of_record("row::wrong_number_of_fields", &found, expected)));
            continue;
        }
        let (namespace, pod) = (cell(namespace), cell(pod));
        count(
            number,
            match apart(&namespace, Some(&pod)) {
                Some(word) => Ok(Said::Apart(word)),
                None => {
                    let found = format!("{namespace}/{pod} on {}", cell(date));
                    let expected =
                        "a node and hours: import an answer of /allocation/compute of that day instead";
                    Err(Refusal::new("row::no_node", "Pod", &found, expected))
                }
            },
        );
    }
    Ok(())
}
