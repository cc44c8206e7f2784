//! Rows for volumes, snapshots, buckets, requests and the bytes that leave a region.

use super::Window;
use super::line::Line;
use crate::DemoError;
use crate::cluster::partition::BLOCK_START;
use crate::cluster::schedule::ClusterAttempt;
use crate::company::{CHECKPOINTS, Company, DATASETS, TAGGED, TOKENS};
use crate::exact::{Used, amount, share, times};
use crate::random::Stream;
use crate::span::{DAY, HOUR, LAST, Span, moment};

const VOLUME_GB_MONTH: &str = "0.08";
const SNAPSHOT_GB_MONTH: &str = "0.05";
const BUCKET_GB_MONTH: &str = "0.023";
const THOUSAND_PUTS: &str = "0.005";
const THOUSAND_GETS: &str = "0.0004";
const TRANSFER_GB: &str = "0.02";
/// PUT requests of a training node in an hour: checkpoints in many small parts.
const PUTS_AN_HOUR: u64 = 18_000;

/// A volume's row for a piece of a day or an hour.
pub(crate) fn volume((id, gigabytes): (&str, u64), piece: Span, window: Window) -> Result<Line, DemoError> {
    let month = window.month.seconds();
    let cost = share(times(amount(VOLUME_GB_MONTH)?, gigabytes)?, piece.seconds(), month)?;
    Ok(Line::usage("AmazonEC2", "EBS:VolumeUsage.gp3", "CreateVolume-Gp3", piece)
        .on(id)
        .used(Used::part(gigabytes, piece.seconds(), month), "GB-Mo")
        .costing(cost)
        .described(
            "$0.08 per GB-month of General Purpose (gp3) provisioned storage - US East (Northern Virginia)",
        ))
}

/// Root volumes of the cluster's instances, scratch volumes of experiments, one that nobody uses, and snapshots.
pub(crate) fn volumes(company: &Company, window: Window) -> Result<Vec<Line>, DemoError> {
    let mut lines = Vec::new();
    for instance in &company.cluster.instances {
        for piece in instance.billed.within(window.covered).hours() {
            let root = (instance.volume.as_str(), instance.partition.root_gb);
            let mut line =
                volume(root, piece, window)?.tagged("user_cluster", crate::cluster::sacct::CLUSTER);
            line.span = piece.clock_hour();
            if instance.partition.region == "us-east-2" {
                line.region = "us-east-2";
                line.usage_type = format!("USE2-{}", line.usage_type);
            }
            lines.push(line);
        }
    }
    let mut stream = Stream::new(company.seed, "volumes");
    for name in TAGGED {
        let id = format!("vol-{}", stream.hex());
        for piece in lifetime(company, name).within(window.covered).hours() {
            let line = volume((&id, 2000), piece, window)?.tagged("user_experiment_id", name);
            lines.push(Line { span: piece.clock_hour(), ..line });
        }
    }
    // Left behind when its instance went on day 20; attached to nothing since.
    let id = format!("vol-{}", stream.hex());
    for day in Span::new(moment(20, 0), LAST).within(window.covered).days() {
        lines.push(
            volume((&id, 500), day, window)?.tagged("user_team", "vision").tagged("user_state", "unattached"),
        );
    }
    lines.extend(snapshots(&mut stream, window)?);
    Ok(lines)
}

fn snapshots(stream: &mut Stream, window: Window) -> Result<Vec<Line>, DemoError> {
    let mut lines = Vec::new();
    for (team, gigabytes) in [("vision", 850), ("nlp", 1200), ("", 300)] {
        let id = format!("arn:aws:ec2:us-east-1:111122223333:snapshot/snap-{}", stream.hex());
        for day in window.covered.days() {
            let month = window.month.seconds();
            let cost = share(times(amount(SNAPSHOT_GB_MONTH)?, gigabytes)?, day.seconds(), month)?;
            let line = Line::usage("AmazonEC2", "EBS:SnapshotUsage", "CreateSnapshot", day)
                .on(id.clone())
                .used(Used::part(gigabytes, day.seconds(), month), "GB-Mo")
                .costing(cost)
                .described("$0.05 per GB-Month of snapshot data stored - US East (Northern Virginia)");
            lines.push(line.tagged("user_team", team));
        }
    }
    Ok(lines)
}

/// From the first start of an experiment of the cluster to an hour after its last end.
fn lifetime(company: &Company, experiment: &str) -> Span {
    let attempts = || company.cluster.attempts.iter().filter(|attempt| attempt.experiment.name == experiment);
    let start = attempts().filter_map(|attempt| attempt.started).min();
    let end = attempts().filter_map(|attempt| attempt.ended).max();
    Span::new(start.unwrap_or(LAST), end.map_or(LAST, |end| end + HOUR))
}

/// Buckets, requests and transfer.
pub(crate) fn objects(company: &Company, window: Window) -> Result<Vec<Line>, DemoError> {
    let mut lines = Vec::new();
    for day in window.covered.days() {
        let age = u64::try_from((day.start - moment(0, 0)) / DAY).unwrap_or(0);
        lines.push(stored(DATASETS, 41_000, (day, window))?);
        lines.push(stored(CHECKPOINTS, 2_600 + 45 * age, (day, window))?);
        lines.push(gets(company, day)?);
        for name in TAGGED {
            let begun = lifetime(company, name).start < day.end;
            if begun {
                let bucket = format!("larkspur-ckpt-{name}");
                lines.push(stored(&bucket, 900, (day, window))?.tagged("user_experiment_id", name));
            }
        }
    }
    for attempt in &company.cluster.attempts {
        lines.extend(puts(attempt, window)?);
    }
    lines.extend(transfer(company, window)?);
    Ok(lines)
}

fn stored(bucket: &str, gigabytes: u64, (day, window): (Span, Window)) -> Result<Line, DemoError> {
    let month = window.month.seconds();
    let cost = share(times(amount(BUCKET_GB_MONTH)?, gigabytes)?, day.seconds(), month)?;
    Ok(Line::usage("AmazonS3", "TimedStorage-ByteHrs", "StandardStorage", day)
        .on(bucket)
        .used(Used::part(gigabytes, day.seconds(), month), "GB-Mo")
        .costing(cost)
        .described("$0.023 per GB - first 50 TB / month of storage used"))
}

fn gets(company: &Company, day: Span) -> Result<Line, DemoError> {
    let count = u64::from(Stream::new(company.seed, &format!("gets {}", day.start)).between(1, 400_000));
    Ok(Line::usage("AmazonS3", "Requests-Tier2", "GetObject", day)
        .on(DATASETS)
        .used(Used::whole(count), "Requests")
        .costing(share(amount(THOUSAND_GETS)?, count, 1000)?)
        .described("$0.004 per 10,000 GET and all other requests"))
}

/// Checkpoint requests of attempts on whole nodes, hour by hour, in the experiment's bucket or the common one.
fn puts(attempt: &ClusterAttempt, window: Window) -> Result<Vec<Line>, DemoError> {
    let (Some(start), shape) = (attempt.started, attempt.planned.shape) else { return Ok(Vec::new()) };
    if shape.half {
        return Ok(Vec::new());
    }
    let ran = Span::new(start, attempt.ended.unwrap_or(LAST));
    let own = TAGGED.contains(&attempt.experiment.name);
    let tag = if own { attempt.experiment.name } else { "" };
    let bucket = if own { format!("larkspur-ckpt-{tag}") } else { CHECKPOINTS.to_owned() };
    let mut lines = Vec::new();
    for piece in ran.within(window.covered).hours() {
        let count = PUTS_AN_HOUR * u64::from(shape.nodes) * piece.seconds() / 3600;
        let line = Line::usage("AmazonS3", "Requests-Tier1", "PutObject", piece.clock_hour())
            .on(bucket.clone())
            .used(Used::whole(count), "Requests")
            .costing(share(amount(THOUSAND_PUTS)?, count, 1000)?)
            .described("$0.005 per 1,000 PUT, COPY, POST, or LIST requests");
        lines.push(line.tagged("user_experiment_id", tag));
    }
    Ok(lines)
}

/// The block's region has no copy of the tokens: its nodes pull them across in their first hours; a little moves daily.
fn transfer(company: &Company, window: Window) -> Result<Vec<Line>, DemoError> {
    let mut stream = Stream::new(company.seed, "transfer");
    let mut lines = Vec::new();
    let pull = Span::new(BLOCK_START + HOUR, BLOCK_START + 7 * HOUR);
    for piece in pull.within(window.covered).hours() {
        let gigabytes = u64::from(stream.between(540, 660)) * piece.seconds() / 3600;
        let line = crossing(TOKENS, gigabytes, piece.clock_hour())?;
        lines.push(line.tagged("user_experiment_id", "llm7b-pre"));
    }
    // Transfer of the last days before an early bill is metered late and comes with the next delivery.
    let late = if window.early { 3 * DAY } else { 0 };
    for day in Span::new(window.covered.start, window.covered.end - late).days() {
        lines.push(crossing(DATASETS, u64::from(stream.between(4, 30)), day)?);
    }
    Ok(lines)
}

fn crossing(bucket: &str, gigabytes: u64, span: Span) -> Result<Line, DemoError> {
    Ok(Line::usage("AmazonS3", "USE1-USE2-AWS-Out-Bytes", "GetObject", span)
        .on(bucket)
        .used(Used::whole(gigabytes), "GB")
        .costing(times(amount(TRANSFER_GB)?, gigabytes)?)
        .described("$0.02 per GB - US East (Northern Virginia) data transfer to US East (Ohio)"))
}
