//! Holds the tree to its own rules: one test a rule, so that a failure says which.

use std::error::Error;
use std::path::Path;

use xtask::tidy::{CHECKS, Workspace};

macro_rules! rules {
    ($($test:ident: $rule:literal,)*) => {
        $(
            #[test]
            fn $test() -> Result<(), Box<dyn Error>> {
                let problems = problems($rule)?;
                assert!(problems.is_empty(), "\n{}", problems.join("\n"));
                Ok(())
            }
        )*

        #[test]
        fn every_rule_is_tested_here() {
            let known: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
            assert_eq!(known, [$($rule),*]);
        }
    };
}

rules! {
    dependencies_point_down_the_levels: "layers",
    heavy_dependencies_stay_behind_their_fences: "fences",
    files_and_functions_are_short: "limits",
    every_file_opens_with_a_sentence: "opening",
    every_reader_is_listed_and_has_fixtures: "kinds",
    no_float_touches_money_and_no_test_is_skipped: "words",
    the_architecture_names_every_crate: "documents",
    generated_pages_are_fresh: "generated",
    every_crate_takes_the_lints: "lints",
}

fn problems(rule: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workspace = Workspace::read(package.parent().ok_or("the package has no parent folder")?)?;
    let check = CHECKS.iter().find(|check| check.name == rule).ok_or("no such rule")?;
    Ok((check.run)(&workspace).iter().map(ToString::to_string).collect())
}
