//! `cargo xtask bench import`: ours, DuckDB, Polars and pyarrow read the same report and write it as Parquet, in turn.

use std::path::Path;
use std::process::Command;

use super::{DUCKDB, chosen, example, generated, median, print, run};
use crate::python::with as python;

/// The peers as they were when the figures in `docs/performance.md` were made.
const PEERS: [&str; 3] = [DUCKDB, "polars==2.1.0", "pyarrow==26.0.1"];

/// The two forms in which a report arrives, as they lie in the folder of a size.
const FORMS: [(&str, &str); 2] = [("CSV under gzip", "cur.csv.gz"), ("Parquet", "parquet")];

/// Runs the benchmark for the sizes asked for, or for all of them.
pub(crate) fn import(root: &Path, sizes: &[&str]) -> Result<(), String> {
    let sizes = chosen(sizes)?;
    let data = root.join("bench-data").join("import");
    let python = python(&data, &PEERS)?;
    let ours = example(root, "import_speed", &["--workspace"])?;
    for (name, hours) in sizes {
        let data = data.join(name);
        generated(&ours, &data, hours)?;
        for (form, file) in FORMS {
            compare(
                (root, &python, &ours),
                (&data.join(file), &data.join("written")),
                &format!("{name}, {form}"),
            )?;
        }
    }
    Ok(())
}

fn compare(
    (root, python, ours): (&Path, &Path, &Path),
    (bill, written): (&Path, &Path),
    title: &str,
) -> Result<(), String> {
    let script = root.join("xtask/bench/import_peers.py");
    let mut lines = Vec::new();
    lines.push(median(|| run(Command::new(ours).arg("write").args([bill, written])))?);
    lines.push(median(|| run(Command::new(ours).arg("read").arg(bill)))?);
    for engine in ["duckdb", "polars", "pyarrow"] {
        lines.push(median(|| run(Command::new(python).arg(&script).arg(engine).args([bill, written])))?);
    }
    print(title, &lines)
}
