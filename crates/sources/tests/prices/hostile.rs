//! Inputs that are damaged, endless or made to hurt: an error with a code, never a panic, never without bound.

use std::io::Read;

use sources::prices::PriceLimits;

use super::*;

fn small() -> PriceOptions {
    let limits =
        PriceLimits { file_bytes: 4 << 20, record_bytes: 1 << 16, products: 3, prices: 3, rejections: 2 };
    PriceOptions { limits, ..sky("aws") }
}

type Reader = fn(&[u8], &PriceOptions) -> Result<PriceList, SourceError>;

const READERS: [Reader; 5] = [
    |bytes, options| aws_offer::read(bytes, options),
    |bytes, options| gcp_catalogue::read(bytes, options),
    |bytes, options| skypilot::read(bytes, options),
    |bytes, options| price_table::read(bytes, options),
    |bytes, options| aws_spot_history::read(bytes, options),
];

#[test]
fn nothing_and_nonsense_are_refused() {
    for reader in READERS {
        for text in [
            "",
            "\n",
            "nonsense",
            "{",
            "[]",
            "\u{0}",
            "{\"skus\":{}}",
            "{\"terms\":[1]}",
            "a,b\n1,2\n",
            "[[price",
        ] {
            let error = reader(text.as_bytes(), &small()).unwrap_err();
            assert!(error.code.starts_with("prices::"), "{text:?}: {error}");
            assert!(error.place.is_some_and(|place| place.starts_with("list")), "{text:?}");
        }
    }
}

#[test]
fn a_list_that_is_cut_off_is_an_error() {
    let offer = testdata("aws_offer/offer.json");
    let pages = testdata("gcp_catalogue/pages.json");
    let history = testdata("aws_spot_history/history.json");
    for cut in [1, 2, 3, 5, 9] {
        let part = |bytes: &[u8]| bytes[..bytes.len() * (10 - cut) / 10].to_vec();
        let error = aws_offer::read(part(&offer).as_slice(), &options()).unwrap_err();
        assert_eq!(error.code, "prices::not_json", "{error}");
        let error = gcp_catalogue::read(part(&pages).as_slice(), &options()).unwrap_err();
        assert_eq!(error.code, "prices::not_json", "{error}");
        let error = aws_spot_history::read(part(&history).as_slice(), &options()).unwrap_err();
        assert_eq!(error.code, "prices::not_json", "{error}");
    }
}

#[test]
fn an_endless_record_is_stopped_at_its_limit() {
    let endless = |start: &'static str, byte: u8| start.as_bytes().chain(std::io::repeat(byte));
    let starts = [
        ("{\"disclaimer\":\"", b'x'),
        ("{\"a\":", b'['),
        ("{\"a\":", b'1'),
        ("{\"skus\":[{\"description\":\"", b'x'),
    ];
    for (start, byte) in starts {
        for error in [
            aws_offer::read(endless(start, byte), &small()).unwrap_err(),
            gcp_catalogue::read(endless(start, byte), &small()).unwrap_err(),
            aws_spot_history::read(endless(start, byte), &small()).unwrap_err(),
        ] {
            assert!(["prices::too_large", "prices::not_json"].contains(&error.code), "{start}: {error}");
        }
    }
    let header = "InstanceType,AcceleratorName,AcceleratorCount,Price,SpotPrice,Region\n\"";
    let error = skypilot::read(endless(header, b'x'), &small()).unwrap_err();
    assert_eq!(error.code, "prices::too_large");
    let table = std::io::BufReader::new(endless("[[price]]\nitem = '", b'x'));
    assert_eq!(price_table::read(table, &small()).unwrap_err().code, "prices::too_large");
    let line = std::io::BufReader::new(std::io::repeat(b'x'));
    assert_eq!(price_table::read(line, &small()).unwrap_err().code, "prices::too_large");
}

#[test]
fn an_endless_list_of_small_records_is_stopped_too() {
    let row = "g5.xlarge,A10G,1,1.006,,us-east-1\n";
    let header = "InstanceType,AcceleratorName,AcceleratorCount,Price,SpotPrice,Region\n";
    let rows = row.repeat((5 << 20) / row.len());
    let error = skypilot::read(format!("{header}{rows}").as_bytes(), &small()).unwrap_err();
    assert_eq!(error.message, "the file is larger than 4194304 bytes");
    let offer = testdata("aws_offer/offer.json");
    let error = aws_offer::read(offer.as_slice(), &small()).unwrap_err();
    assert_eq!(
        (error.code, error.message.as_str()),
        ("prices::too_many", "the file holds more than 3 products")
    );
    let many: String = (0..9).fold(header.to_owned(), |text, n| format!("{text}m{n}.large,,,1,,r\n"));
    let error = skypilot::read(many.as_bytes(), &small()).unwrap_err();
    assert_eq!(
        (error.code, error.message.as_str()),
        ("prices::too_many", "the file holds more than 3 prices")
    );
}

#[test]
fn all_rejections_are_counted_and_the_first_are_kept() {
    let header = "InstanceType,AcceleratorName,AcceleratorCount,Price,SpotPrice,Region\n";
    let rows = "g5.xlarge,A10G,1,cheap,,us-east-1\n".repeat(50);
    let list = whole(skypilot::read(format!("{header}{rows}").as_bytes(), &small()));
    assert_eq!((list.rejected, list.rejections.len()), (50, 2));
}

#[test]
fn terms_before_products_are_refused() {
    let text = r#"{"terms":{"OnDemand":{"a":{}}},"products":{}}"#;
    let error = aws_offer::read(text.as_bytes(), &options()).unwrap_err();
    assert_eq!(error.code, "prices::terms_before_products");
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for reader in READERS {
            let _ = reader(&bytes, &small());
        }
    }

    #[test]
    fn a_sound_list_with_a_byte_changed_is_read_or_refused_without_panic(
        file in 0_usize..6, at in 0_usize..20_000, byte in any::<u8>(),
    ) {
        let names = [
            ("aws_offer/offer.json", 0), ("gcp_catalogue/pages.json", 1), ("skypilot/aws.csv", 2),
            ("price_table/prices.csv", 3), ("price_table/prices.toml", 3),
            ("aws_spot_history/history.json", 4),
        ];
        let (name, reader) = names[file];
        let mut bytes = testdata(name);
        let at = at % bytes.len();
        bytes[at] = byte;
        if let Ok(list) = READERS[reader](&bytes, &sky("aws")) {
            whole(Ok(list));
        }
    }
}
