//! Tests of the settings.

use super::*;

fn sources(file: &str) -> Sources {
    let file = SettingsFile { path: PathBuf::from("conf/trainbill.toml"), text: file.to_owned() };
    Sources { file: Some(file), ..Sources::default() }
}

fn refused(file: &str) -> AppError {
    Settings::resolve(&sources(file)).unwrap_err()
}

fn origin_of(settings: &Settings, name: &str) -> String {
    let entry = settings.entries.iter().find(|entry| entry.key.name == name).unwrap();
    format!("{} ({})", entry.value.as_deref().unwrap_or("-"), entry.origin)
}

#[test]
fn defaults_stand_where_nothing_is_said() {
    let settings = Settings::resolve(&Sources::default()).unwrap();
    assert_eq!(settings.store, PathBuf::from("./.trainbill"));
    assert_eq!(settings.basis, CostBasis::Effective);
    assert_eq!(settings.memory_bytes, 1 << 30);
    assert_eq!(settings.keys(), TagKeys::documented());
    assert_eq!(settings.entries.len(), KEYS.len());
    assert_eq!(origin_of(&settings, "store"), "./.trainbill (default)");
    assert_eq!(origin_of(&settings, "currency"), "- (default)");
}

#[test]
fn the_shown_defaults_are_the_real_ones() {
    let shown = Settings::resolve(&Sources {
        flags: KEYS.iter().filter_map(|key| Some((key.name, key.default?.to_owned()))).collect(),
        ..Sources::default()
    });
    let blank = |settings: Settings| Settings { entries: Vec::new(), ..settings };
    assert_eq!(blank(shown.unwrap()), blank(Settings::resolve(&Sources::default()).unwrap()));
}

#[test]
fn a_flag_stands_before_the_environment_before_the_file() {
    let mut sources = sources(
        "basis = \"list\"\nstore = \"data\"\nthreads = 3\n\n[keys]\nexperiment = [\"exp\", \"trial\"]\n",
    );
    sources.environment.insert("TRAINBILL_BASIS".to_owned(), "marginal".to_owned());
    sources.environment.insert("TRAINBILL_KEYS_ATTEMPT".to_owned(), "try, run".to_owned());
    let settings = Settings::resolve(&sources).unwrap();
    assert_eq!(origin_of(&settings, "basis"), "marginal (environment TRAINBILL_BASIS)");
    assert_eq!(origin_of(&settings, "store"), "data (file conf/trainbill.toml:2)");
    assert_eq!(settings.store, PathBuf::from("conf/data"));
    assert_eq!(settings.limits().threads, 3);
    assert_eq!(settings.experiment_keys, ["exp", "trial"]);
    assert_eq!(settings.attempt_keys, ["try", "run"]);
    sources.flags.insert("basis", "effective".to_owned());
    let settings = Settings::resolve(&sources).unwrap();
    assert_eq!(origin_of(&settings, "basis"), "effective (flag --basis)");
}

#[test]
fn an_unknown_key_is_blamed_and_the_near_one_named() {
    let error = refused("store = \"x\"\nbassis = \"list\"\n");
    assert_eq!(
        (error.code.as_str(), error.place.as_deref()),
        ("config::unknown_key", Some("conf/trainbill.toml:2"))
    );
    let (text, span) = error.span.unwrap();
    assert_eq!(&text[span], "bassis");
    assert!(error.help.unwrap().starts_with("did you mean `basis`? settings: store, "));
    assert_eq!(refused("[keys]\nexperiments = []\n").code, "config::unknown_key");
    assert_eq!(refused("[other]\n").code, "config::unknown_key");
}

#[test]
fn a_bad_value_is_blamed_with_what_was_expected() {
    for (file, blamed) in [
        ("basis = \"billed\"", "\"billed\""),
        ("basis = 3", "3"),
        ("basis = 1.5", "1.5"),
        ("net_of_credits = \"yes\"", "\"yes\""),
        ("currency = \"dollars\"", "\"dollars\""),
        ("time_zone = \"America/Gotham\"", "\"America/Gotham\""),
        ("threads = 0", "0"),
        ("memory = \"1KiB\"", "\"1KiB\""),
        ("memory = \"99999999999999999999GiB\"", "\"99999999999999999999GiB\""),
        ("store = \"\"", "\"\""),
        ("keys = 3", "3"),
        ("[keys]\nattempt = [1]", "[1]"),
        ("[keys]\nattempt = []", "[]"),
    ] {
        let error = refused(file);
        assert_eq!(error.code, "config::bad_value", "{file}");
        let (text, span) = error.span.unwrap();
        assert_eq!(&text[span], blamed, "{file}");
    }
    assert_eq!(refused("format = \"parquet\"").code, "config::parquet_unavailable");
}

#[test]
fn a_wrong_value_in_the_file_is_an_error_even_under_a_flag() {
    let mut sources = sources("basis = \"cheap\"");
    sources.flags.insert("basis", "list".to_owned());
    assert_eq!(Settings::resolve(&sources).unwrap_err().code, "config::bad_value");
}

#[test]
fn what_is_not_toml_is_blamed_by_line() {
    let error = refused("store = \"x\"\nbasis list\n");
    assert_eq!(
        (error.code.as_str(), error.place.as_deref()),
        ("config::not_toml", Some("conf/trainbill.toml:2"))
    );
}

#[test]
fn memory_is_read_with_its_unit() {
    let memory = |text: &str| Settings::resolve(&sources(&format!("memory = {text}"))).unwrap().memory_bytes;
    assert_eq!(memory("\"512MiB\""), 512 << 20);
    assert_eq!(memory("\"2 GB\""), 2_000_000_000);
    assert_eq!(memory("100000000"), 100_000_000);
}

#[test]
fn an_option_of_time_needs_a_day_or_a_zone() {
    let read = |text: &str| instant_of("--since", text).map(|stamp| stamp.to_string());
    assert_eq!(read("2026-11-01").unwrap(), "2026-11-01T00:00:00Z");
    assert_eq!(read("2026-11-01T09:00:00+09:00").unwrap(), "2026-11-01T00:00:00Z");
    assert_eq!(read("2026-11-01T09:00:00").unwrap_err().code, "query::not_a_time");
}
