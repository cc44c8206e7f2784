//! The GPU cloud: its bill in euros as FOCUS 1.2, and its price list.

use money::Amount;

use super::{Landlord, RentedAttempt, at};
use crate::exact::{amount, share, sum, times};
use crate::random::Stream;
use crate::span::{LAST, PERIODS, Span, moment, rfc3339};
use crate::{DemoError, ExpectedBill};

/// Its name in price lists and in settings.
pub(crate) const PROVIDER: &str = "fjordlys";
/// Its one region.
pub(crate) const REGION: &str = "eu-north";
/// Type of its machines: eight H100.
pub(crate) const MACHINE: &str = "fl-h100x8";
const ACCOUNT: &str = "larkspur-eu";
const CURRENCY: &str = "EUR";
/// The last two days are not billed yet.
const BILLED_TO: i64 = LAST - 2 * crate::span::DAY;
/// A network volume of 4 TB, from the first machine on.
const VOLUME_A_DAY: &str = "8.64";
const VOLUME_FROM: i64 = moment(33, 0);
const WELCOME_CREDIT: &str = "-250";
/// Value-added tax on what is not reverse-charged, in hundredths of a euro.
const TAX: &str = "61.37";

const HEADER: &str = "BillingAccountId,BillingAccountName,BillingCurrency,BillingPeriodStart,BillingPeriodEnd,\
    ChargePeriodStart,ChargePeriodEnd,ChargeCategory,ChargeDescription,ProviderName,PublisherName,InvoiceIssuerName,\
    ServiceCategory,ServiceName,ResourceId,ResourceType,RegionId,SkuId,PricingQuantity,PricingUnit,ListUnitPrice,\
    BilledCost,EffectiveCost,ListCost,ContractedCost,Tags\n";

/// An id of a machine: nothing in its shape tells whose it is.
pub(crate) fn machine_id(stream: &mut Stream) -> String {
    format!("i-fl-{}", stream.letters(12, b"0123456789abcdef"))
}

/// What an hour of a machine costs, agreed anew with every company.
fn rate(seed: u64) -> Result<Amount, DemoError> {
    let cents = Stream::new(seed, "neocloud rate").between(1_920, 2_080);
    amount(&format!("{}.{:02}", cents / 100, cents % 100))
}

/// A line of the bill.
struct Line<'a> {
    span: Span,
    category: &'static str,
    description: &'static str,
    service: [&'static str; 2],
    resource: &'a str,
    /// Quantity and price of one unit, where there are any.
    price: Option<(String, Amount)>,
    cost: Amount,
    team: &'a str,
}

/// The bill of October, and what it comes to.
pub(crate) fn bill(attempts: &[RentedAttempt], seed: u64) -> Result<(String, ExpectedBill), DemoError> {
    let rate = rate(seed)?;
    let [_, october] = PERIODS;
    let month = Span::of_period(october);
    let mut lines = Vec::new();
    for attempt in at(attempts, Landlord::Neocloud) {
        let billed = attempt.machine.up.within(Span::new(month.start, BILLED_TO));
        let [_, team, _] = attempt.sheet.owner;
        for hour in billed.hours() {
            lines.push(Line {
                span: hour,
                category: "Usage",
                description: "8x H100 80GB SXM, by the second",
                service: ["Compute", "GPU instances"],
                resource: &attempt.machine.id,
                price: Some((crate::exact::Used::part(1, hour.seconds(), 3600).to_string(), rate)),
                cost: share(rate, hour.seconds(), 3600)?,
                team,
            });
        }
    }
    let volume = amount(VOLUME_A_DAY)?;
    for day in Span::new(VOLUME_FROM, BILLED_TO).days() {
        lines.push(Line {
            span: day,
            category: "Usage",
            description: "Network volume, 4 TB",
            service: ["Storage", "Block storage"],
            resource: "vol-fl-datasets",
            price: Some(("1".to_owned(), volume)),
            cost: times(volume, 1)?,
            team: "nlp",
        });
    }
    lines.push(whole_month(month, "Credit", ("Welcome credit", amount(WELCOME_CREDIT)?)));
    lines.push(whole_month(month, "Tax", ("Value-added tax", amount(TAX)?)));
    let billed = sum(lines.iter().map(|line| line.cost))?;
    let expected = ExpectedBill {
        payer: ACCOUNT.to_owned(),
        period: october,
        rows: u64::try_from(lines.len()).unwrap_or(u64::MAX),
        billed,
        effective: billed,
    };
    let text = lines.iter().fold(HEADER.to_owned(), |text, line| text + &row(line, month));
    Ok((text, expected))
}

fn whole_month(
    month: Span,
    category: &'static str,
    (description, cost): (&'static str, Amount),
) -> Line<'static> {
    let service = ["Other", "Account"];
    Line { span: month, category, description, service, resource: "", price: None, cost, team: "" }
}

fn row(line: &Line<'_>, month: Span) -> String {
    let [category, service] = line.service;
    let (unit, sku) = match service {
        "GPU instances" => ("Hours", MACHINE),
        "Block storage" => ("Days", "fl-volume"),
        _ => ("", ""),
    };
    let (quantity, price) = match &line.price {
        Some((quantity, price)) => (quantity.clone(), price.to_string()),
        None => (String::new(), String::new()),
    };
    let tags = if line.team.is_empty() {
        String::new()
    } else {
        format!("\"{{\"\"team\"\":\"\"{}\"\"}}\"", line.team)
    };
    let kind = if line.resource.is_empty() { "" } else { service };
    let list = if line.category == "Usage" { line.cost } else { Amount::ZERO };
    let (start, end) = (rfc3339(line.span.start), rfc3339(line.span.end));
    let (month_start, month_end) = (rfc3339(month.start), rfc3339(month.end));
    let cost = line.cost.to_string();
    let name = "Fjordlys GPU Cloud";
    let fields = [
        ACCOUNT,
        "Larkspur Europe",
        CURRENCY,
        &month_start,
        &month_end,
        &start,
        &end,
        line.category,
        line.description,
        name,
        name,
        name,
        category,
        service,
        line.resource,
        kind,
        REGION,
        sku,
        &quantity,
        unit,
        &price,
        &cost,
        &cost,
        &list.to_string(),
        &cost,
        &tags,
    ];
    let quoted = fields.iter().map(|field| {
        if field.contains(',') && !field.starts_with('"') {
            format!("\"{field}\"")
        } else {
            (*field).to_owned()
        }
    });
    quoted.collect::<Vec<_>>().join(",") + "\n"
}

/// The price of its machines as a table of one's own: what was agreed, since before the demo.
pub(crate) fn price_list(seed: u64) -> Result<String, DemoError> {
    let rate = rate(seed)?;
    Ok(format!(
        "provider,region,item,kind,option,unit,price,currency,effective_from,gpu_model,gpu_count\n\
         {PROVIDER},{REGION},{MACHINE},bundled_machine,on_demand,hour,{rate},{CURRENCY},2026-09-01,h100,8\n"
    ))
}
