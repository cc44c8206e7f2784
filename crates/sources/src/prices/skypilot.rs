//! Reads catalogues in the CSV form of SkyPilot, one file a provider.
//!
//! # What it reads
//!
//! CSV with a header; columns are found by name. The provider is told beside the file, since the file does not tell it,
//! and so is the date since which its prices hold.
//!
//! | column | meaning |
//! |---|---|
//! | `InstanceType` | machine type; empty in a row for an accelerator alone |
//! | `AcceleratorName`, `AcceleratorCount` | model and number, which may be a fraction |
//! | `Region`, `AvailabilityZone` | where the price holds; without a zone, in the whole region |
//! | `Price`, `SpotPrice` | US dollars for an hour, each a price of its own |
//!
//! # How a row becomes a price
//!
//! A row gives a price on demand, a spot price or both. With provider `gcp` a machine without accelerator is `host_only`
//! even where its type always has GPUs (`a2-highgpu-1g`), and a row without machine is the price of the accelerator: an
//! A2 costs the sum of both. With any other provider a machine is `bundled_machine`. Rows for several accelerators
//! alone are passed over, since the row for one has the price. Amazon and Google bill by the second and at least a
//! minute; for other providers the increment is told beside the file, else it is a second without a minimum.
//!
//! # What it cannot tell
//!
//! Local SSDs of a machine are in no row. Placeholders, such as 700.0 for an hour of a TPU, are kept apart.
//!
//! # References
//!
//! * <https://docs.skypilot.co/en/latest/reference/yaml-spec.html>
//! * <https://github.com/skypilot-org/skypilot-catalog>

use std::io::Read;

use ledger::{
    GpuSpec, Increment, PriceKey, PriceKind, PriceRow, PriceUnit, PurchaseOption, ResourceKind, Tenancy,
    Timestamp,
};
use money::{Currency, Quantity};

use crate::SourceError;
use crate::price_list::{Fields, Gather, PriceList, PriceOptions, Refusal, Table, amount};

const TABLE: Table = Table {
    columns: &[
        "InstanceType",
        "AcceleratorName",
        "AcceleratorCount",
        "vCPUs",
        "MemoryGiB",
        "GpuInfo",
        "Price",
        "SpotPrice",
        "Region",
        "AvailabilityZone",
        "Arch",
    ],
    required: &["InstanceType", "AcceleratorName", "AcceleratorCount", "Price", "SpotPrice", "Region"],
};

/// Reads one file.
///
/// # Errors
/// `prices::no_provider`, `prices::no_effective_date`, `prices::missing_column`, `prices::column_twice`,
/// `prices::not_csv`, `prices::too_large`, `prices::unreadable`, `prices::too_many`, `prices::no_prices`.
pub fn read(input: impl Read, options: &PriceOptions) -> Result<PriceList, SourceError> {
    let provider = options.provider.as_deref().ok_or_else(|| {
        SourceError::new("prices::no_provider", "the list does not tell its provider")
            .at(&options.file)
            .help("tell the provider beside the file, such as `aws` or `gcp`")
    })?;
    let since = options.in_force_from.ok_or_else(|| {
        SourceError::new("prices::no_effective_date", "the list has no date")
            .at(&options.file)
            .help("tell since when its prices hold")
    })?;
    let dollars: Currency = "USD".parse().unwrap_or(Currency::NONE);
    let list = List { provider, since, dollars, increment: increment(provider, options) };
    let mut gather = Gather::new(options);
    TABLE.read(input, &mut gather, |gather, number, fields| list.take(gather, number, fields))?;
    gather.finish()
}

fn increment(provider: &str, options: &PriceOptions) -> Increment {
    match (options.increment, provider) {
        (Some(told), _) => told,
        (None, "aws" | "gcp") => Increment::SECOND,
        (None, _) => Increment { seconds: 1, minimum_seconds: 0 },
    }
}

/// What holds for every row of a list.
struct List<'o> {
    provider: &'o str,
    since: Timestamp,
    dollars: Currency,
    increment: Increment,
}

impl List<'_> {
    fn take(
        &self,
        gather: &mut Gather<'_>,
        number: u64,
        fields: Result<Fields, Refusal>,
    ) -> Result<(), SourceError> {
        let fields = match fields {
            Ok(fields) => fields,
            Err(refusal) => return gather.take(number, Err(refusal)),
        };
        if fields.get("InstanceType").is_none() && fields.get("AcceleratorCount").is_some_and(is_several) {
            gather.pass_over("several accelerators: the row for one has the price");
            return Ok(());
        }
        let bought = [("Price", PurchaseOption::OnDemand), ("SpotPrice", PurchaseOption::Spot)];
        let mut told = bought.into_iter().filter(|(column, _)| fields.get(column).is_some()).peekable();
        if told.peek().is_none() {
            let refusal = Refusal::new("row::missing_value", "Price", "", "`Price` or `SpotPrice`");
            return gather.take(number, Err(refusal));
        }
        for (column, option) in told {
            let price = self.row(gather, number, (&fields, column, option));
            gather.take(number, price)?;
        }
        Ok(())
    }

    fn row(
        &self,
        gather: &Gather<'_>,
        number: u64,
        (fields, column, option): (&Fields, &str, PurchaseOption),
    ) -> Result<PriceRow, Refusal> {
        let gpus = gpus(fields)?;
        let (item, kind) = match (fields.get("InstanceType"), &gpus) {
            (Some(machine), None) if self.provider == "gcp" => (machine.to_owned(), PriceKind::HostOnly),
            (Some(machine), _) => (machine.to_owned(), PriceKind::BundledMachine),
            (None, Some(gpus)) => (gpus.model.clone(), PriceKind::Accelerator),
            (None, None) => {
                let expected = "a machine type or an accelerator";
                return Err(Refusal::new("row::missing_value", "InstanceType", "", expected));
            }
        };
        Ok(PriceRow {
            key: PriceKey {
                provider: self.provider.to_owned(),
                region: fields.required("Region")?.to_owned(),
                zone: fields.get("AvailabilityZone").map(str::to_owned),
                item,
                kind,
                option,
                unit: PriceUnit::Hour,
                currency: self.dollars,
                tenancy: Tenancy::Shared,
                operating_system: "linux".to_owned(),
                software: None,
                effective_from: self.since,
            },
            effective_to: None,
            price: amount(fields.required(column)?, column)?,
            sku: None,
            resource_kind: ResourceKind::Compute,
            increment: self.increment,
            gpus,
            origin: gather.origin(number),
        })
    }
}

fn is_several(count: &str) -> bool {
    count.parse().is_ok_and(|count: Quantity| count != Quantity::from_thousandths(1_000))
}

fn gpus(fields: &Fields) -> Result<Option<GpuSpec>, Refusal> {
    let Some(model) = fields.get("AcceleratorName") else { return Ok(None) };
    let count = fields.required("AcceleratorCount")?;
    let not_a_count =
        || Refusal::new("row::not_a_count", "AcceleratorCount", count, "a number above 0, such as 8 or 0.5");
    let count: Quantity = count.parse().map_err(|_| not_a_count())?;
    if count.is_zero() || count.is_negative() {
        return Err(not_a_count());
    }
    Ok(Some(GpuSpec { model: model.to_lowercase(), count, memory_mib: None }))
}
