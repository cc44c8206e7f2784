//! Tests of the command line's definition and of how errors look.

use app::AppError;
use clap::CommandFactory;

use crate::arguments::Arguments;
use crate::display::clean;
use crate::failure::text;

#[test]
fn the_command_line_is_well_formed() {
    Arguments::command().debug_assert();
}

#[test]
fn an_error_shows_code_place_part_and_help() {
    let error = AppError::new("filter::unknown_field", "there is no field `tema`")
        .at("--where")
        .span("status = failed and tema = vision", 20..24)
        .help("did you mean `team`?");
    assert_eq!(
        text(&error, false),
        "error[filter::unknown_field]: there is no field `tema`\n \
         --> --where\n  |\n1 | status = failed and tema = vision\n  |                     ^^^^\nhelp: did you mean `team`?\n"
    );
}

#[test]
fn an_excerpt_of_a_file_shows_the_line_to_blame() {
    let file = "store = \"x\"\nbasis = \"cheap\"\nscope = \"direct\"\n";
    let mut error = AppError::new("config::bad_value", "`cheap` is no value of `basis`")
        .at("t.toml:2")
        .span(file, 20..27);
    error.expected = Some("list, effective or marginal".to_owned());
    let text = text(&error, false);
    assert!(
        text.contains(" --> t.toml:2\n  |\n2 | basis = \"cheap\"\n  |         ^^^^^^^\n  expected   list, "),
        "{text}"
    );
}

#[test]
fn a_span_at_the_end_or_inside_a_character_is_shown() {
    for span in [4..4, 100..200, 1..2, 0..100] {
        let error = AppError::new("a::b", "c").span("äöü\u{7}", span);
        assert!(text(&error, false).contains('^'));
    }
}

#[test]
fn colours_are_only_painted_when_asked_for() {
    let error = AppError::new("a::b", "message with \u{1b}[2J inside");
    assert!(!text(&error, false).contains('\u{1b}'));
    assert!(text(&error, true).starts_with("\u{1b}[1;31merror[a::b]\u{1b}[0m: "));
}

#[test]
fn control_characters_are_shown_and_not_sent() {
    assert_eq!(clean("plain ✕ text"), "plain ✕ text");
    assert_eq!(clean("a\u{1b}[31mb\nc\u{202e}"), "a\\u{1b}[31mb\\nc\\u{202e}");
}
