//! Rows that come when a month is settled: support, tax, promotional credits and a refund.

use money::{Amount, rounding};

use super::Window;
use super::line::Line;
use crate::DemoError;
use crate::company::{Payer, TRAINING};
use crate::exact::{amount, share, sum};

/// The settlement of a payer's month, from the rows before it.
pub(crate) fn lines(payer: &Payer, window: Window, before: &[Line]) -> Result<Vec<Line>, DemoError> {
    let usage = sum(before.iter().map(|line| line.cost))?;
    let support = rounding::rounded(share(usage, 3, 100)?, 2)?;
    let tax = rounding::rounded(share(sum([usage, support])?, 4, 100)?, 2)?;
    let mut lines = vec![
        month_long("Fee", "AWSSupportBusiness", window, support)
            .described("AWS Business Support charge for the month"),
        month_long("Tax", "AmazonEC2", window, tax).described("US Sales Tax to be collected"),
        credit(payer, window)?,
    ];
    if *payer == TRAINING && window.period.month == 10 {
        let mut refund = month_long("Refund", "AmazonEC2", window, amount("-38.4")?);
        refund.bill_type = "Refund";
        refund.usage_type = String::from("BoxUsage:p4d.24xlarge");
        lines.push(refund.described("Refund for impaired p4d.24xlarge capacity in use1-az4"));
    }
    Ok(lines)
}

fn credit(payer: &Payer, window: Window) -> Result<Line, DemoError> {
    let given = if *payer == TRAINING { "-750" } else { "-120.5" };
    let mut credit = month_long("Credit", "AmazonEC2", window, amount(given)?);
    credit.usage_type = String::from("BoxUsage:p4d.24xlarge");
    credit.operation = "RunInstances";
    Ok(credit.described("AWS Promotional Credit EDU_Research_FY26"))
}

fn month_long(line_type: &'static str, product: &'static str, window: Window, cost: Amount) -> Line {
    let mut line = Line::usage(product, "", "", window.month);
    line.line_type = line_type;
    line.cost = cost;
    line
}
