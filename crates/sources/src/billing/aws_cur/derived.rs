//! Texts of a charge that no single column of a report holds.

use ledger::LineClass;

use super::column::Column;
use super::cost::Judged;
use super::meter::instance_type_of_description;
use super::product::Product;
use super::row::Row;
use crate::billing::table::cell::Cells;
use crate::text::Text;

/// The commitment and its kind.
pub(super) fn commitment<'c, C: Cells>(row: &Row<'c, C>) -> (Option<Text<'c>>, Option<Text<'static>>) {
    match (row.named(Column::SpArn), row.named(Column::ReservationArn)) {
        (Some(plan), _) => (Some(plan), Some(Text::word("Savings Plan"))),
        (None, Some(reservation)) => (Some(reservation), Some(Text::word("Reserved Instance"))),
        (None, None) => (None, None),
    }
}

/// The capacity reservation: from its columns, else from a resource id that is one.
pub(super) fn capacity_reservation<'c, C: Cells>(
    row: &Row<'c, C>,
    judged: &Judged,
) -> (Option<Text<'c>>, Option<Text<'c>>) {
    let resource = || row.named(Column::ResourceId).filter(|id| is_reservation(id.as_str()));
    let id = row.named(Column::CapacityReservationArn).or_else(resource);
    let stated = row.named(Column::CapacityReservationStatus);
    let status = match stated.map(Text::as_str) {
        Some("used") => Some(Text::word("Used")),
        Some("unused") => Some(Text::word("Unused")),
        Some(_) => stated,
        None => unused(judged),
    };
    (id, status)
}

/// The status of a capacity reservation that the report does not state.
pub(super) fn unused(judged: &Judged) -> Option<Text<'static>> {
    (judged.class == LineClass::UnusedReservation).then(|| Text::word("Unused"))
}

/// True for a resource that is a capacity reservation.
pub(super) fn is_reservation(resource: &str) -> bool {
    resource.starts_with("cr-") || resource.contains("/cr-")
}

/// The region: from its columns, else from the map of product attributes.
pub(super) fn region<'r, C: Cells>(row: &Row<'r, C>, product: &'r Product) -> Option<Text<'r>> {
    row.named(Column::Region).or_else(|| row.named(Column::RegionName)).or_else(|| product.region())
}

/// The instance type: never from the description of a reserved instance, which names the reservation's own type.
pub(super) fn instance_type<'r, C: Cells>(
    row: &Row<'r, C>,
    judged: &Judged,
    product: &'r Product,
) -> Option<Text<'r>> {
    let words = &judged.line.words;
    let usage = || row.text(Column::UsageType)?.get(words.instance_type?..);
    let spot = || row.text(Column::Description).filter(|_| words.is_spot);
    row.named(Column::InstanceType)
        .or_else(|| product.instance_type())
        .or_else(|| usage().map(Text::from))
        .or_else(|| spot().and_then(instance_type_of_description).map(Text::from))
}
