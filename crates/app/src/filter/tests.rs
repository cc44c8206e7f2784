//! Tests of the filter language.

use super::*;

fn values(field: &str) -> Vec<String> {
    let values: &[&str] = match field {
        "experiment" => &["vitl-tune"],
        "team" => &["vision"],
        "status" => &["no attempts"],
        "capacity" => &["on_demand"],
        "outcome" => &["failed", "completed"],
        "cause" => &["oom_gpu"],
        "name" => &["train", "train-resumed"],
        "attempts" => &["10"],
        "started" => &["2026-11-01T23:59:59.999999Z"],
        _ => &[],
    };
    values.iter().map(|value| (*value).to_owned()).collect()
}

fn check(text: &str, expect: bool) {
    let filter = Filter::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(filter.matches(&values), expect, "for {text}");
    assert_eq!(filter.text(), text);
}

fn refuse(text: &str, code: &str, blamed: &str) -> AppError {
    let error = Filter::parse(text).unwrap_err();
    assert_eq!(error.code, code, "for {text}");
    let (whole, span) = error.span.clone().unwrap();
    assert_eq!((whole.as_str(), &whole[span]), (text, blamed));
    error
}

#[test]
fn conditions_hold_for_the_value_of_their_field() {
    check(r#"team = "vision""#, true);
    check("team = 'vision' AND attempts >= 10", true);
    check("team = Vision", false);
    check("team == vision", true);
    check("attempts < 9", false);
    check("attempts > 9", true);
    check("experiment < w", true);
}

#[test]
fn words_are_compared_without_case_and_dashes() {
    check("capacity = on-demand", true);
    check(r#"status = "No Attempts""#, true);
    check("status = no_attempts", true);
}

#[test]
fn one_of_several_values_is_enough_and_unequal_means_none() {
    check("outcome = failed", true);
    check("outcome = completed", true);
    check("outcome != failed", false);
    check("outcome != timeout", true);
    check("outcome in (timeout, failed)", true);
    check("outcome not in (timeout, failed)", false);
}

#[test]
fn an_absent_field_is_never_equal_nor_less() {
    check(r#"queue = """#, false);
    check("queue != gpu", true);
    check("queue < z", false);
    check("queue like '%'", false);
    check("not (queue = gpu)", true);
}

#[test]
fn and_binds_tighter_than_or() {
    check("team = vision or team = speech and attempts = 1", true);
    check("(team = vision or team = speech) and attempts = 1", false);
    check("not team = vision or attempts = 10", true);
    check("not (team = vision or attempts = 10)", false);
}

#[test]
fn patterns_ignore_case() {
    check("experiment like 'VIT%'", true);
    check("experiment like vitl_tune", true);
    check("experiment like '%t_n%'", true);
    check("experiment like 'vit'", false);
    check("name contains RESUMED", true);
    check("experiment not like '%tune'", false);
    check("experiment like '%a%a%a%a%a%a%a%a%a%a%b'", false);
}

#[test]
fn a_date_is_its_whole_day_in_utc() {
    check("started = 2026-11-01", true);
    check("started <= 2026-11-01", true);
    check("started > 2026-11-01", false);
    check("started >= 2026-11-02", false);
    check("started < 2026-11-02", true);
    check("started >= 2026-11-01T20:00:00-04:00", false);
    check("started = '2026-11-01T19:59:59.999999-04:00'", true);
}

#[test]
fn a_quote_inside_a_string_is_written_twice() {
    check("team = 'it''s'", false);
    let filter = Filter::parse(r#"team = "a ""b"" c""#).unwrap();
    assert!(filter.matches(&|_| vec![r#"a "b" c"#.to_owned()]));
}

#[test]
fn an_unknown_field_names_the_nearest_and_all_others() {
    let error = refuse("tema = vision", "filter::unknown_field", "tema");
    let help = error.help.unwrap();
    assert!(help.starts_with("did you mean `team`? fields: experiment, team, "), "{help}");
    let far = refuse("team = vision and colour = red", "filter::unknown_field", "colour");
    assert!(far.help.unwrap().starts_with("fields: "));
}

#[test]
fn an_unknown_word_names_the_known_ones() {
    let error = refuse("status = complete", "filter::unknown_word", "complete");
    assert!(error.help.unwrap().starts_with("did you mean `completed`? words of `status`: completed, "));
    refuse("capacity in (spot, cheap)", "filter::unknown_word", "cheap");
}

#[test]
fn a_filter_that_cannot_be_read_blames_its_part() {
    refuse("", "filter::unexpected_end", "");
    refuse("team", "filter::unexpected_end", "");
    refuse("team =", "filter::unexpected_end", "");
    refuse("team = = 1", "filter::expected_value", "=");
    refuse("team vision", "filter::unknown_operator", "vision");
    refuse("team not = vision", "filter::unknown_operator", "=");
    refuse("team = big vision", "filter::trailing_text", "vision");
    refuse("team = \"vision", "filter::unclosed_string", "\"vision");
    refuse("(team = vision", "filter::unclosed_parenthesis", "(");
    refuse("team in vision", "filter::expected_list", "vision");
    refuse("attempts > many", "filter::not_a_number", "many");
    refuse("started > yesterday", "filter::not_a_time", "yesterday");
    refuse("started > 2026-11-01T09:30:00", "filter::not_a_time", "2026-11-01T09:30:00");
    refuse("started > 2026-02-30", "filter::not_a_time", "2026-02-30");
    refuse("team = vision; drop", "filter::unexpected_character", ";");
    refuse("\"team\" = vision", "filter::expected_field", "\"team\"");
}

#[test]
fn depth_and_length_are_bounded() {
    let deep = format!("{}team = a{}", "(".repeat(65), ")".repeat(65));
    assert_eq!(Filter::parse(&deep).unwrap_err().code, "filter::too_deep");
    let negated = format!("{}team = a", "not ".repeat(1000));
    assert_eq!(Filter::parse(&negated).unwrap_err().code, "filter::too_deep");
    let beside = "(team = a) and ".repeat(500) + "team = a";
    assert!(Filter::parse(&beside).is_ok());
    assert_eq!(Filter::parse(&" ".repeat(20_000)).unwrap_err().code, "filter::too_long");
}

#[test]
fn every_word_field_has_words() {
    for field in FIELDS {
        assert_eq!(field.kind == FieldKind::Word, !field.words().is_empty(), "{}", field.name);
    }
}
