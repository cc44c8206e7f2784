//! Each format, on a list of its own.

use super::*;

#[test]
fn an_offer_file_is_read_whole() {
    let list = whole(aws_offer::read(testdata("aws_offer/offer.json").as_slice(), &options()));
    check("aws_offer/offer.expected.txt", &list);
    assert_eq!(list.published_at.unwrap().to_string(), "2024-05-28T20:35:22Z");
    assert!(list.prices.iter().all(|row| row.origin.published_at == list.published_at));
    let hour = list.prices.iter().find(|row| row.key.option == PurchaseOption::OnDemand).unwrap();
    assert_eq!(hour.sku.as_deref(), Some("SKUOD"));
}

#[test]
fn documents_of_get_products_each_have_their_date() {
    let list = whole(aws_offer::read(testdata("aws_offer/get_products.ndjson").as_slice(), &options()));
    let dates: Vec<_> = list
        .prices
        .iter()
        .map(|row| (row.price.to_string(), row.origin.published_at.unwrap().to_string()))
        .collect();
    assert_eq!(
        dates,
        [
            ("21.957642".to_owned(), "2026-07-20T13:44:30Z".to_owned()),
            ("0.08".to_owned(), "2026-07-05T01:34:54Z".to_owned())
        ]
    );
    assert_eq!(list.published_at.unwrap().to_string(), "2026-07-20T13:44:30Z");
}

#[test]
fn a_catalogue_of_google_cloud_is_read_page_by_page() {
    let list = whole(gcp_catalogue::read(testdata("gcp_catalogue/pages.json").as_slice(), &options()));
    check("gcp_catalogue/pages.expected.txt", &list);
    assert!(list.warnings.is_empty(), "the last page is the last");
}

#[test]
fn a_catalogue_that_goes_on_says_so() {
    let page =
        br#"{"skus":[],"nextPageToken":"x"}{"skus":[{"skuId":"a","description":"b"}],"nextPageToken":"y"}"#;
    let list = whole(gcp_catalogue::read(page.as_slice(), &options()));
    assert_eq!(list.warnings[0].code, "prices::more_pages");
}

/// T51: a history of spot prices is dated, so that each hour has the price of its time.
#[test]
fn a_history_of_spot_prices_is_a_price_for_each_change() {
    let list =
        whole(aws_spot_history::read(testdata("aws_spot_history/history.json").as_slice(), &options()));
    check("aws_spot_history/history.expected.txt", &list);
    assert_eq!(list.published_at.unwrap().to_string(), "2026-07-01T12:00:00Z");
}

#[test]
fn machines_of_google_cloud_are_hosts_and_those_of_amazon_are_bundles() {
    let list = whole(skypilot::read(testdata("skypilot/gcp.csv").as_slice(), &sky("gcp")));
    check("skypilot/gcp.expected.txt", &list);
    let list = whole(skypilot::read(testdata("skypilot/aws.csv").as_slice(), &sky("aws")));
    check("skypilot/aws.expected.txt", &list);
}

#[test]
fn a_list_without_provider_or_date_needs_both_told() {
    let code = |options: &PriceOptions| {
        skypilot::read(testdata("skypilot/gcp.csv").as_slice(), options).unwrap_err().code
    };
    assert_eq!(code(&options()), "prices::no_provider");
    assert_eq!(code(&PriceOptions { in_force_from: None, ..sky("gcp") }), "prices::no_effective_date");
}

#[test]
fn csv_and_toml_tell_the_same_prices() {
    let csv = whole(price_table::read(testdata("price_table/prices.csv").as_slice(), &options()));
    check("price_table/prices.expected.txt", &csv);
    let toml = whole(price_table::read(testdata("price_table/prices.toml").as_slice(), &options()));
    assert_eq!(toml.prices, csv.prices);
    assert_eq!(csv.prices[1].price.to_string(), "41.5000000000000000001", "a number is read from its text");
    assert_eq!(csv.warnings[0].code, "prices::unknown_column");
}

/// T04, T42, T56: a price a thousand times its peers, a price without a unit, one thing at two prices.
#[test]
fn every_broken_or_doubtful_price_has_its_place_and_reason() {
    let list = whole(price_table::read(testdata("price_table/broken.csv").as_slice(), &options()));
    check("price_table/broken.expected.txt", &list);
    let doubts: Vec<Doubt> = list.quarantined.iter().map(|one| one.doubt).collect();
    assert!(doubts.contains(&Doubt::Outlier) && doubts.contains(&Doubt::AboveBound), "{doubts:?}");
    let twice: Vec<&str> = list
        .rejections
        .iter()
        .filter(|one| one.code == "row::contradicting_price")
        .map(|one| one.expected.as_str())
        .collect();
    assert_eq!(twice.len(), 3, "all three are refused: {twice:?}");
    assert!(twice[0].contains("list:16") && twice[1].contains("list:15") && twice[2].contains("list:15"));
    let without_unit = "provider,region,item,kind,price,currency\nx,r,a,bundled_machine,1,USD\n";
    let error = price_table::read(without_unit.as_bytes(), &options()).unwrap_err();
    assert_eq!(error.code, "prices::missing_column");
    assert!(error.message.contains("`unit`"));
}

#[test]
fn a_toml_list_is_refused_by_line_and_its_prices_by_number() {
    let error = |text: &str| price_table::read(text.as_bytes(), &options()).unwrap_err();
    let place = |text: &str| {
        let error = error(text);
        (error.code, error.place.unwrap())
    };
    assert_eq!(place("[[price]]\nitem = \n"), ("prices::not_toml", "list:2".to_owned()));
    assert_eq!(place("[defaults]\nzone = 'a'\n[prices]\n"), ("prices::not_toml", "list:3".to_owned()));
    assert_eq!(error("# nothing\n").code, "prices::no_prices");
    let text = "[[price]]\nitem = \"a\"\nprize = 1\n[[price]]\nitem = true\n[[price]]\nprice = 0x10\n";
    let list = whole(price_table::read(text.as_bytes(), &options()));
    let codes: Vec<_> = list.rejections.iter().map(|one| (one.row, one.code)).collect();
    assert_eq!(codes, [(1, "row::unknown_column"), (2, "row::not_a_text"), (3, "row::not_a_text")]);
}

/// T55: the price is that of the machine, and a machine has a fraction of a GPU where one is sold.
#[test]
fn counts_of_gpus_may_be_fractions() {
    let list = whole(skypilot::read(testdata("skypilot/aws.csv").as_slice(), &sky("aws")));
    let g6f = list.prices.iter().find(|row| row.key.item == "g6f.2xlarge").unwrap();
    assert_eq!(g6f.gpus.as_ref().unwrap().count.to_string(), "0.25");
    assert_eq!((g6f.price.to_string().as_str(), g6f.key.kind), ("0.475", PriceKind::BundledMachine));
}
