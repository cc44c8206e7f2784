//! Rows for managed training jobs: each names its job by ARN.

use super::Window;
use super::line::Line;
use crate::DemoError;
use crate::company::Company;
use crate::exact::{Used, amount, share};

/// Hourly rows of every job; managed spot has a usage type of its own.
pub(crate) fn jobs(company: &Company, window: Window) -> Result<Vec<Line>, DemoError> {
    let mut lines = Vec::new();
    for job in &company.managed {
        let machine = job.machine;
        let (prefix, rate) = if job.spot { ("TrSpt", machine.spot_rate) } else { ("Train", machine.rate) };
        for piece in job.ran.within(window.covered).hours() {
            let usage_type = format!("USE1-{prefix}:{}", machine.kind);
            let cost = share(amount(rate)?, piece.seconds(), 3600)?;
            let mut line = Line::usage("AmazonSageMaker", usage_type, "RunInstance", piece.clock_hour())
                .on(job.arn.clone())
                .used(Used::part(1, piece.seconds(), 3600), "Hrs")
                .costing(cost)
                .described(format!("${rate} per Training {} hour in US East (N. Virginia)", machine.kind))
                .tagged("user_team", job.experiment.team);
            line.instance_type = machine.kind;
            if job.spot {
                line.public = None;
            }
            lines.push(line);
        }
    }
    Ok(lines)
}
