//! `why`: the charges that add up to a figure.

use app::{AppError, Context, ConvertedPart, ExplainLine, Explanation, Selection};
use ledger::{CostBasis, ResourceKind, Rule, Timestamp};
use wire::{Empty, ExplainRest};

use super::Outcome;
use crate::display::{Machine, Sheet, basis_line, evidence_line, render, single};
use crate::session::Session;

/// What the command line selects; the kind is one that the command line admits.
pub(super) fn selection(experiment: String, kind: Option<&str>, attempt: Option<u32>) -> Selection {
    Selection { experiment, attempt, kind: kind.and_then(ResourceKind::from_word) }
}

pub(super) async fn run(
    session: &Session<'_>,
    context: &Context<'_>,
    selection: &Selection,
) -> Result<Outcome, AppError> {
    let explanation = app::why(context, &session.query()?, selection).await?;
    let answer = wire::why(&explanation, session.limit())?;
    let machine = Machine { document: &answer, rows: &answer.flat_rows(), meta: Some(&answer.meta) };
    render(session.settings.format, &machine, || sheet(session, &explanation, &answer.not_shown))
        .map(Outcome::of)
}

pub(super) fn sheet(
    session: &Session<'_>,
    explanation: &Explanation,
    rest: &ExplainRest,
) -> Result<Sheet, AppError> {
    let mut sheet = Sheet::default();
    sheet.line(subject(&explanation.selection));
    sheet.line(basis_line(&explanation.meta));
    let shown = single(&explanation.total, Empty::NoCharges)?;
    sheet.line(format!("{shown}  {}", evidence_line(&explanation.total)?));
    sheet.line(formula(explanation));
    sheet.gap();
    let currency = explanation.meta.currency.map(|currency| format!(" {currency}")).unwrap_or_default();
    for line in explanation.lines.iter().take(explanation.lines.len() - rest.rows) {
        lines_of(&mut sheet, line, &format!(" {}", line.currency));
    }
    if rest.rows > 0 {
        let sums: Vec<String> =
            rest.sums.iter().map(|sum| format!("{} {}", sum.amount, sum.currency)).collect();
        sheet.line(format!("  {}  not shown: {} more parts", sums.join(" and "), rest.rows));
        sheet.hint(format!(
            "    {} shows them",
            session.hint(&format!("{} -a", again(&explanation.selection)))
        ));
    }
    for part in &explanation.conversions {
        sheet.line(converted(part, explanation));
    }
    let exact = explanation.total.total()?;
    sheet.line(format!(
        "= {exact}{currency}  exactly, the sum of {} parts of charges; shown as {shown}",
        explanation.lines.len()
    ));
    Ok(sheet)
}

/// `= 13.5 USD  12.5 EUR of 2026-10-03 × 1.08, the rate of 2026-10-02`.
fn converted(part: &ConvertedPart, explanation: &Explanation) -> String {
    let to = explanation.meta.currency.map(|currency| format!(" {currency}")).unwrap_or_default();
    let mut text = format!("  = {}{to}  {} {}", part.converted, part.amount, part.currency);
    match (part.day, part.rate) {
        (Some(day), Some(rate)) if day == rate.published => {
            text.push_str(&format!(" of {day} {}, the rate of the day", rate.exchange));
        }
        (Some(day), Some(rate)) => {
            text.push_str(&format!(" of {day} {}, the rate of {}", rate.exchange, rate.published));
        }
        _ => text.push_str(" as billed"),
    }
    if part.roundings > 1 {
        text.push_str(&format!(" ({} amounts, each rounded past its 24th decimal)", part.roundings));
    }
    text
}

/// `vitl-tune · compute · attempt 2`.
fn subject(selection: &Selection) -> String {
    let mut parts = vec![selection.experiment.clone()];
    parts.extend(selection.kind.map(|kind| kind.to_string()));
    parts.extend(selection.attempt.map(|attempt| format!("attempt {attempt}")));
    parts.join(" · ")
}

fn again(selection: &Selection) -> String {
    let kind = selection.kind.map(|kind| format!(" {kind}")).unwrap_or_default();
    let attempt = selection.attempt.map(|attempt| format!(" --attempt {attempt}")).unwrap_or_default();
    format!("why {}{kind}{attempt}", super::show::word(&selection.experiment))
}

fn formula(explanation: &Explanation) -> String {
    let cost = match explanation.meta.basis {
        CostBasis::Billed => "what each charge is invoiced at",
        CostBasis::List => "each charge at public rates",
        CostBasis::Effective => "what each charge cost, negotiated and amortised",
        CostBasis::Marginal => "what each charge added beyond sunk commitments",
    };
    let shared = explanation.lines.iter().any(|line| !line.overlaps.is_empty());
    let part = if shared {
        " × the part of its time and units that the run held; the parts of a charge sum to it"
    } else {
        ", whole where it names the run"
    };
    format!("= Σ {cost}{part}")
}

/// One part of a charge: amount and charge, how the part was made, and where the charge stands on the bill.
fn lines_of(sheet: &mut Sheet, line: &ExplainLine, currency: &str) {
    let charge = &line.charge;
    let of = match (line.charge_cost, &line.note) {
        (_, Some(note)) => note.clone(),
        (Some(cost), None) if cost == line.amount => "the whole charge".to_owned(),
        (Some(cost), None) => format!("of {cost}{currency}"),
        (None, None) => "the charge is unpriced".to_owned(),
    };
    let attempt =
        line.attempt.map_or_else(|| "whole experiment".to_owned(), |ordinal| format!("attempt {ordinal}"));
    sheet.line(format!("  {}{currency}  {of}  →  {attempt}", line.amount));
    let resource = charge.resource_id.as_deref().map(|id| format!(" · {id}")).unwrap_or_default();
    let (start, end) = (Timestamp(charge.interval.0), Timestamp(charge.interval.1));
    let usage = if charge.usage_type.is_empty() { &charge.line_type } else { &charge.usage_type };
    sheet.line(format!("    charge    {start} to {end} · {} {usage}{resource}", charge.service_name));
    for overlap in &line.overlaps {
        let (start, end) = (Timestamp(overlap.start), Timestamp(overlap.end));
        let share = match line.rule {
            Rule::SplitRows => parts(overlap.weight, overlap.of),
            Rule::None | Rule::Tag | Rule::ManagedJob | Rule::ResourceTime => {
                format!("{} of {} units", units(overlap.weight), units(overlap.of))
            }
        };
        sheet.line(format!("    held      {start} to {end} · {share}"));
    }
    let window = u64::try_from(charge.interval.1 - charge.interval.0).unwrap_or(0);
    if let Some(shared) = line.shared_micros.filter(|shared| *shared != window && !line.overlaps.is_empty()) {
        let seconds = shared / 1_000_000;
        sheet.line(format!(
            "    billed    {}m {:02}s of the charge's time, over which it is shared",
            seconds / 60,
            seconds % 60
        ));
    }
    sheet.line(format!("    rule      {} · {}", rule(line.rule), line.evidence));
    let place = if charge.file.is_empty() {
        "several rows of the delivery".to_owned()
    } else if charge.row == 0 {
        // An estimate stands in no file: what is named is where its prices stand.
        charge.file.clone()
    } else {
        format!("{}:{} · {}", charge.file, charge.row, charge.line_item_id)
    };
    sheet.line(format!(
        "    source    {} {} · delivery {} · {place}",
        line.source, line.period, line.delivery
    ));
}

/// A share in its lowest terms: the provider's weights have no unit of their own.
fn parts(weight: u64, of: u64) -> String {
    let (mut a, mut b) = (weight, of.max(1));
    while a != 0 {
        (a, b) = (b % a, a);
    }
    format!("{} of {} parts", weight / b, of / b)
}

/// Thousandths as units: `4`, `0.5`.
fn units(thousandths: u64) -> String {
    let fraction = format!("{:03}", thousandths % 1000);
    let fraction = fraction.trim_end_matches('0');
    let whole = thousandths / 1000;
    if fraction.is_empty() { whole.to_string() } else { format!("{whole}.{fraction}") }
}

fn rule(rule: Rule) -> &'static str {
    match rule {
        Rule::None => "no rule of attribution",
        Rule::Tag => "tag: a tag of the charge names the run",
        Rule::ManagedJob => "managed_job: the charge is on the run's own managed job",
        Rule::SplitRows => "split_rows: the provider's split rows name the run's pod",
        Rule::ResourceTime => "resource_time: the run held the resource at the time",
    }
}
