//! Delimited text of `sacct` and `sacctmgr`, by its header row.

use std::collections::BTreeMap;
use std::io::{BufRead, Read};

use ledger::Timestamp;

use super::fault::{Fault, Refusal, text_time};
use super::instance::{self, Instance};
use super::record::{Job, Record, Step};
use super::tres::{Tres, bytes};
use super::{Import, cannot_read, surplus};
use crate::{SourceError, Zone};

/// Longest line, in bytes.
const MAX_LINE: u64 = 4 << 20;

const HELP: &str = concat!("export with a header and a delimiter: ", include_str!("command.txt"));

/// The header of a file.
struct Header {
    delimiter: String,
    /// Names in lower case.
    columns: Vec<String>,
    places: BTreeMap<String, usize>,
    /// True for `-p`, which ends every line with a delimiter.
    trailing: bool,
}

/// A row by column name.
struct Row<'h> {
    header: &'h Header,
    fields: Vec<String>,
}

impl Row<'_> {
    /// The text of a column; empty where the file has no such column.
    fn text(&self, column: &str) -> &str {
        self.header
            .places
            .get(column)
            .and_then(|place| self.fields.get(*place))
            .map_or("", |text| text.trim())
    }

    fn some(&self, column: &str) -> Option<String> {
        let text = self.text(column);
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn time(&self, column: &str, zone: &Zone) -> Result<Option<Timestamp>, Fault> {
        text_time(self.text(column), column, zone)
    }

    /// A whole number; nothing for an empty column.
    fn whole(&self, column: &str) -> Result<Option<u64>, Refusal> {
        let text = self.text(column);
        if text.is_empty() {
            return Ok(None);
        }
        text.parse().map(Some).map_err(|_| Refusal::new("slurm::not_a_count", column, text, "a whole number"))
    }

    /// The raw id of the job or step, else the shown one.
    fn id(&self) -> &str {
        let raw = self.text("jobidraw");
        if raw.is_empty() { self.text("jobid") } else { raw }
    }
}

/// Reads a whole file.
pub(super) fn read(mut input: Box<dyn BufRead + '_>, import: &mut Import<'_>) -> Result<(), SourceError> {
    let first = next_line(&mut input, &import.file)?.unwrap_or_default();
    let header = header(&first).map_err(|error| error.at(&import.file))?;
    if header.places.contains_key("instanceid") && header.places.contains_key("nodename") {
        return instances(input, &header, import);
    }
    require(&header, import)?;
    jobs(input, &header, import)
}

fn jobs(
    mut input: Box<dyn BufRead + '_>,
    header: &Header,
    import: &mut Import<'_>,
) -> Result<(), SourceError> {
    // A record waits for the steps that follow it, since they are evidence of its cause.
    let mut waiting: Option<(u64, Record)> = None;
    let mut number = 0;
    while let Some(line) = next_line(&mut input, &import.file)? {
        number += 1;
        if line.trim().is_empty() {
            continue;
        }
        let row = match split(header, &line) {
            Ok(row) => row,
            Err(refusal) => {
                import.settle(number, Err(refusal.into()))?;
                continue;
            }
        };
        if let Some((job, step)) = step_id(row.id()) {
            if let Some((_, record)) = waiting.as_mut().filter(|(_, record)| record.job.id == job) {
                record.steps.push(read_step(&row, step));
            }
            import.settle(number, Ok(()))?;
            continue;
        }
        flush(waiting.take(), import)?;
        match record(&row, import) {
            Ok(record) => waiting = Some((number, record)),
            Err(fault) => import.settle(number, Err(fault))?,
        }
    }
    flush(waiting, import)
}

fn flush(waiting: Option<(u64, Record)>, import: &mut Import<'_>) -> Result<(), SourceError> {
    let Some((number, record)) = waiting else { return Ok(()) };
    let outcome = import.take(&record);
    import.settle(number, outcome)
}

fn instances(
    mut input: Box<dyn BufRead + '_>,
    header: &Header,
    import: &mut Import<'_>,
) -> Result<(), SourceError> {
    let mut number = 0;
    while let Some(line) = next_line(&mut input, &import.file)? {
        number += 1;
        if !line.trim().is_empty() {
            let outcome = instance_row(header, &line, import);
            import.settle(number, outcome)?;
        }
    }
    Ok(())
}

fn instance_row(header: &Header, line: &str, import: &mut Import<'_>) -> Result<(), Fault> {
    let row = split(header, line)?;
    let zone = &import.options.zone;
    let observation = instance::observation(Instance {
        cluster: import.cluster(Some(row.text("cluster")))?,
        node_name: row.text("nodename"),
        start: row.time("timestart", zone)?,
        end: row.time("timeend", zone)?,
        instance_id: row.text("instanceid"),
        instance_type: row.text("instancetype"),
        extra: row.text("extra"),
    })?;
    import.read.observations.push(observation);
    Ok(())
}

/// The next line without its end; bytes that are no UTF-8 are replaced.
fn next_line(input: &mut Box<dyn BufRead + '_>, name: &str) -> Result<Option<String>, SourceError> {
    let mut line = Vec::new();
    let read =
        input.take(MAX_LINE).read_until(b'\n', &mut line).map_err(|error| cannot_read(name, &error))?;
    if read == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if u64::try_from(read).unwrap_or(MAX_LINE) == MAX_LINE {
        return Err(SourceError::new(
            "slurm::line_too_long",
            "a line is too long to be an accounting record",
        )
        .at(name)
        .expected(format!("at most {MAX_LINE} bytes"), "more")
        .help(HELP));
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(Some(String::from_utf8_lossy(&line).into_owned()))
}

fn header(line: &str) -> Result<Header, SourceError> {
    let named = |c: char| c.is_alphanumeric() || c == '_';
    let behind = line.trim_start_matches(named);
    let delimiter = behind.get(..behind.find(named).unwrap_or(behind.len())).unwrap_or_default().to_owned();
    let mut columns: Vec<String> = if delimiter.is_empty() {
        vec![line.to_owned()]
    } else {
        line.split(&delimiter).map(str::to_owned).collect()
    };
    let trailing = columns.len() > 1 && columns.last().is_some_and(String::is_empty);
    if trailing {
        columns.pop();
    }
    for column in &mut columns {
        *column = column.trim().to_ascii_lowercase();
    }
    if delimiter.len() > 1 && delimiter.trim().is_empty() {
        return Err(SourceError::new("slurm::not_parsable", "the columns are padded with blanks").help(HELP));
    }
    let mut places = BTreeMap::new();
    for (place, column) in columns.iter().enumerate() {
        places.entry(column.clone()).or_insert(place);
    }
    let known = ["jobid", "jobidraw", "nodename"].iter().any(|name| places.contains_key(*name));
    if !known {
        let found: String = line.chars().take(80).collect();
        return Err(SourceError::new(
            "slurm::no_header",
            "the first line is not the header of sacct or sacctmgr",
        )
        .expected("column names such as JobIDRaw|Submit|Start|End|State", found)
        .help(HELP));
    }
    Ok(Header { delimiter, columns, places, trailing })
}

fn require(header: &Header, import: &Import<'_>) -> Result<(), SourceError> {
    let missing =
        ["Submit", "Start", "End"].into_iter().find(|name| !header.places.contains_key(&name.to_lowercase()));
    let missing = missing.or_else(|| {
        let named = ["jobid", "jobidraw"].iter().any(|name| header.places.contains_key(*name));
        (!named).then_some("JobIDRaw")
    });
    let Some(missing) = missing else { return Ok(()) };
    Err(SourceError::new("slurm::missing_column", format!("the column {missing} is missing"))
        .at(&import.file)
        .expected(missing, header.columns.join(", "))
        .help(HELP))
}

fn split<'h>(header: &'h Header, line: &str) -> Result<Row<'h>, Refusal> {
    let line = if header.trailing { line.strip_suffix(&header.delimiter).unwrap_or(line) } else { line };
    let parts: Vec<&str> =
        if header.delimiter.is_empty() { vec![line] } else { line.split(&header.delimiter).collect() };
    let (expected, found) = (header.columns.len(), parts.len());
    let fields = if found > expected {
        surplus::fit(&header.columns, &parts, &header.delimiter)
    } else {
        (found == expected).then(|| parts.into_iter().map(str::to_owned).collect())
    };
    let fields = fields.ok_or_else(|| Refusal {
        code: "slurm::wrong_field_count",
        column: None,
        found: format!("{found} fields: {line}").chars().take(80).collect(),
        expected: format!("{expected} fields; put free text such as JobName last"),
    })?;
    Ok(Row { header, fields })
}

fn record(row: &Row<'_>, import: &Import<'_>) -> Result<Record, Fault> {
    let zone = &import.options.zone;
    let job = job(row)?;
    let submit = row.time("submit", zone)?;
    let submit =
        submit.ok_or_else(|| Refusal::new("slurm::not_a_time", "submit", row.text("submit"), "a time"))?;
    let (state, cancelled_by) = state(row.text("state"));
    let (exit_code, exit_signal) = exit(row.text("exitcode"));
    let whole_u32 = |column| row.whole(column).map(|count| count.and_then(|count| u32::try_from(count).ok()));
    Ok(Record {
        cluster: import.cluster(Some(row.text("cluster")))?,
        job,
        submit,
        eligible: row.time("eligible", zone)?,
        start: row.time("start", zone)?,
        end: row.time("end", zone)?,
        elapsed_seconds: row.whole("elapsedraw")?.or_else(|| elapsed(row.text("elapsed"))),
        state,
        cancelled_by,
        reason: row.some("reason"),
        failed_node: row.some("failednode"),
        exit_code,
        exit_signal,
        restarts: whole_u32("restarts")?,
        allocated: Tres::from_text(row.text("alloctres"), "AllocTRES")?,
        requested: Tres::from_text(row.text("reqtres"), "ReqTRES")?,
        cpus: row.whole("alloccpus")?.or(row.whole("ncpus")?),
        node_list: row.text("nodelist").to_owned(),
        node_count: whole_u32("allocnodes")?.or(whole_u32("nnodes")?),
        sluid: row.some("sluid"),
        db_index: row.some("dbindex"),
        name: row.some("jobname"),
        user: row.some("user"),
        account: row.some("account"),
        partition: row.some("partition"),
        extra: row.some("extra"),
        comment: row.some("comment"),
        admin_comment: row.some("admincomment"),
        steps: Vec::new(),
    })
}

/// The names of the job of a record that is no step.
fn job(row: &Row<'_>) -> Result<Job, Refusal> {
    let digits =
        |text: &str| !text.is_empty() && text.len() <= 20 && text.bytes().all(|b| b.is_ascii_digit());
    let refuse =
        |text: &str| Refusal::new("slurm::not_a_job_id", "JobID", text, "a job id such as 42, 5_2 or 8+1");
    let (id, shown) = (row.id(), row.text("jobid"));
    if let Some((array, _)) = shown.split_once("_[") {
        let raw = row.text("jobidraw");
        let id = if digits(raw) { raw } else { array };
        let job = Job { id: id.to_owned(), shown: Some(shown.to_owned()), leader: None, range: true };
        return if digits(id) { Ok(job) } else { Err(refuse(shown)) };
    }
    let parts = |text: &str, mark: char| {
        text.split_once(mark)
            .filter(|(base, part)| digits(base) && digits(part))
            .map(|(base, _)| base.to_owned())
    };
    let leader = parts(shown, '+').or_else(|| parts(id, '+'));
    if !digits(id) && leader.is_none() && parts(id, '_').is_none() {
        return Err(refuse(id));
    }
    // The first part of a heterogeneous job has the raw id of the job.
    let id = id.strip_suffix("+0").unwrap_or(id);
    let shown = (!shown.is_empty() && shown != id).then(|| shown.to_owned());
    Ok(Job { id: id.to_owned(), shown, leader, range: false })
}

/// The job and the step of an id such as `2.batch`; a cut range of array tasks may end with dots.
fn step_id(id: &str) -> Option<(&str, &str)> {
    if id.contains('[') {
        return None;
    }
    let (job, step) = id.split_once('.')?;
    Some((job.strip_suffix("+0").unwrap_or(job), step))
}

fn read_step(row: &Row<'_>, name: &str) -> Step {
    Step {
        name: name.to_owned(),
        max_rss: bytes(row.text("maxrss"), 1),
        out_of_memory: row.text("state").starts_with("OUT_OF_MEMORY"),
        failed: row.text("state") == "FAILED",
    }
}

/// The words of a state, and who cancelled: `CANCELLED by 1000`.
fn state(text: &str) -> (Vec<String>, Option<String>) {
    let (word, by) = text.split_once(" by ").map_or((text, None), |(word, by)| (word, Some(by)));
    let words =
        word.split([' ', ',', '+']).filter(|word| !word.is_empty()).map(str::to_ascii_uppercase).collect();
    (words, by.map(|by| by.trim().to_owned()).filter(|by| !by.is_empty()))
}

/// Code and signal of `137:0`; a signal of 0 is none.
fn exit(text: &str) -> (Option<i32>, Option<u32>) {
    let Some((code, signal)) = text.split_once(':') else { return (None, None) };
    (code.parse().ok(), signal.parse().ok().filter(|signal| *signal != 0))
}

/// Seconds of `[DD-[HH:]]MM:SS`.
fn elapsed(text: &str) -> Option<u64> {
    let (days, clock) = text.split_once('-').unwrap_or(("0", text));
    let clock = clock.split_once('.').map_or(clock, |(clock, _)| clock);
    if !clock.contains(':') {
        return None;
    }
    let mut seconds: u64 = 0;
    for part in clock.split(':') {
        seconds = seconds.checked_mul(60)?.checked_add(part.parse().ok()?)?;
    }
    days.parse::<u64>().ok()?.checked_mul(86_400)?.checked_add(seconds)
}
