//! The filter language under any input.

use app::filter::{FIELDS, Filter};
use proptest::prelude::*;

fn values(_: &str) -> Vec<String> {
    vec!["7".to_owned(), "2026-11-01T00:00:00Z".to_owned(), String::new()]
}

fn word() -> impl Strategy<Value = String> {
    let words = [
        "and", "or", "not", "in", "like", "contains", "(", ")", ",", "=", "!=", "<=", ">", "'a b'", "\"",
        "7", "%_",
    ];
    let fields: Vec<String> = FIELDS.iter().map(|field| field.name.to_owned()).collect();
    prop_oneof![
        prop::sample::select(words.map(str::to_owned).to_vec()),
        prop::sample::select(fields),
        "[a-zäß0-9:%-]{0,6}",
    ]
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_without_panic(text in any::<String>()) {
        if let Ok(filter) = Filter::parse(&text) {
            filter.matches(&values);
        }
    }

    #[test]
    fn any_words_are_read_or_refused_with_a_span_inside(words in prop::collection::vec(word(), 0..12)) {
        let text = words.join(" ");
        match Filter::parse(&text) {
            Ok(filter) => {
                let negated = Filter::parse(&format!("not ({text})")).unwrap();
                prop_assert_ne!(filter.matches(&values), negated.matches(&values));
            }
            Err(error) => {
                let (blamed, span) = error.span.unwrap();
                prop_assert!(error.code.starts_with("filter::"));
                prop_assert!(blamed.get(span).is_some());
            }
        }
    }
}
