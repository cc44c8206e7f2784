//! Samples of other people's files, where they are at hand.

use super::*;

fn price(list: &PriceList, item: &str, option: PurchaseOption) -> Vec<String> {
    let rows = list.prices.iter().filter(|row| row.key.item == item && row.key.option == option);
    rows.map(|row| format!("{} {} {}", row.price, row.key.currency, row.key.region)).collect()
}

#[test]
fn fragments_of_offer_files_are_read() {
    let Some(bytes) = sample("aws_offer_fragment_2_repaired.json") else { return };
    let list = whole(aws_offer::read(bytes.as_slice(), &options()));
    assert_eq!(price(&list, "p4d.24xlarge", PurchaseOption::OnDemand), ["32.7726 USD us-east-1"]);
    assert_eq!(list.quarantined[0].doubt, Doubt::PaidByFee);
    assert_eq!((list.rows, list.rejected), (2, 0));
    let Some(bytes) = sample("aws_offer_fragment_1_repaired.json") else { return };
    let list = whole(aws_offer::read(bytes.as_slice(), &options()));
    assert_eq!(price(&list, "gp3", PurchaseOption::OnDemand), ["0.08 USD us-east-2"]);
    assert_eq!(price(&list, "p3.8xlarge", PurchaseOption::OnDemand), ["12.24 USD us-east-2"]);
    assert_eq!(
        list.prices.iter().find(|row| row.key.item == "p3.8xlarge").unwrap().key.operating_system,
        "windows-byol"
    );
    assert_eq!(list.rejections[0].code, "row::unknown_unit", "an upfront fee is no price of an hour");
}

#[test]
fn samples_of_get_products_are_read() {
    let Some(bytes) = sample("aws_getproducts_pricelist_samples.ndjson") else { return };
    let list = whole(aws_offer::read(bytes.as_slice(), &options()));
    assert_eq!(price(&list, "c5ad.2xlarge", PurchaseOption::CapacityReservation), ["0.468 USD af-south-1"]);
    assert_eq!(price(&list, "gp3", PurchaseOption::OnDemand), ["0.1047 USD af-south-1"]);
}

#[test]
fn a_page_of_the_google_catalogue_is_read() {
    let Some(bytes) = sample("opencost_gcp_skus.json") else { return };
    let list = whole(gcp_catalogue::read(bytes.as_slice(), &options()));
    let a100 = price(&list, "a100", PurchaseOption::OnDemand);
    assert_eq!(a100, ["2.933908 USD us-central1", "2.933908 USD us-east1", "2.933908 USD us-west1"]);
    assert_eq!(price(&list, "t2d-core", PurchaseOption::OnDemand), ["508.934997455 IDR asia-southeast1"]);
    assert_eq!(price(&list, "t2d-ram", PurchaseOption::OnDemand), ["68.204999658 IDR asia-southeast1"]);
    assert_eq!((list.rows, list.rejected, list.quarantined.len()), (17, 0, 0));
    assert_eq!(list.warnings[0].code, "prices::more_pages");
}

#[test]
fn placeholders_of_a_skypilot_catalogue_are_kept_apart() {
    let Some(bytes) = sample("skypilot_v7_gcp_extract.csv") else { return };
    let list = whole(skypilot::read(bytes.as_slice(), &sky("gcp")));
    assert_eq!(price(&list, "a2-highgpu-1g", PurchaseOption::OnDemand), ["0.73948 USD us-central1"]);
    let hosts = list.prices.iter().filter(|row| row.key.kind == PriceKind::HostOnly).count();
    assert_eq!(hosts, 6);
    let apart: Vec<_> = list.quarantined.iter().map(|one| (one.row.price.to_string(), one.doubt)).collect();
    assert_eq!(apart, [("700".to_owned(), Doubt::AboveBound), ("700".to_owned(), Doubt::AboveBound)]);
}
