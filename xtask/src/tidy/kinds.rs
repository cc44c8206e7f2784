//! No forgotten kind: every format reader stands in the list of readers and has its fixture folder; one of bills has
//! formulae by which an engine of others sums it.

use std::collections::BTreeSet;

use super::{Problem, SourceFile};

/// The modules of `sources` whose every file, or folder, is one kind.
const MODULES: &[&str] = &["billing", "prices", "telemetry"];
/// What the readers of a module share; it is no kind.
const SHARED: &[(&str, &str)] =
    &[("billing", "quality"), ("billing", "table"), ("billing", "tally"), ("telemetry", "shared")];
const REGISTRY: &str = "crates/sources/src/registry.rs";

pub(super) fn check(paths: &[String], sources: &[SourceFile]) -> Vec<Problem> {
    let registry = sources.iter().find(|source| source.path == REGISTRY);
    let mut problems = Vec::new();
    for (module, kind) in kinds(paths) {
        let place = format!("crates/sources/src/{module}/{kind}");
        if !registry.is_some_and(|registry| is_listed(registry, module, kind)) {
            let message = format!("is not in the list of {REGISTRY}, which includes the text of each kind");
            problems.push(Problem::new(&place, message));
        }
        let fixtures = format!("crates/sources/testdata/{kind}/");
        if !paths.iter().any(|path| path.starts_with(&fixtures)) {
            problems.push(Problem::new(&place, format!("has no fixtures in {fixtures}")));
        }
        let formulae = format!("xtask/totals/{kind}.sql");
        if module == "billing" && !paths.contains(&formulae) {
            problems.push(Problem::new(
                &place,
                format!("has no formulae for `cargo xtask totals` in {formulae}"),
            ));
        }
    }
    problems
}

/// The list includes the text of a kind's file, on a line that is no comment.
fn is_listed(registry: &SourceFile, module: &str, kind: &str) -> bool {
    let included = [
        format!("include_str!(\"{module}/{kind}.rs\")"),
        format!("include_str!(\"{module}/{kind}/mod.rs\")"),
    ];
    let lines = registry.text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.into_iter().any(|line| included.iter().any(|text| line.contains(text)))
}

/// Module and name of every kind that has a file; a folder of files is one kind.
fn kinds(paths: &[String]) -> BTreeSet<(&'static str, &str)> {
    let mut kinds = BTreeSet::new();
    for module in MODULES {
        let folder = format!("crates/sources/src/{module}/");
        for path in paths.iter().filter_map(|path| path.strip_prefix(&folder)) {
            if path != "mod.rs" {
                let name = path.split('/').next().unwrap_or(path);
                kinds.insert((*module, name.split('.').next().unwrap_or(name)));
            }
        }
    }
    kinds.retain(|kind| !SHARED.contains(kind));
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(paths: &[&str], registry: &str) -> Vec<String> {
        let paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
        check(&paths, &[SourceFile::new(REGISTRY, registry)]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_tree_without_kinds_is_fine() {
        let shared = ["crates/sources/src/billing/mod.rs", "crates/sources/src/billing/table/csv.rs"];
        assert_eq!(problems(&shared, ""), Vec::<String>::new());
    }

    #[test]
    fn a_file_or_a_folder_is_one_kind() {
        let paths = [
            "crates/sources/src/billing/aws_cur.rs",
            "crates/sources/src/telemetry/slurm.rs",
            "crates/sources/src/telemetry/slurm/text.rs",
            "crates/sources/testdata/aws_cur/tiny.csv",
            "crates/sources/testdata/slurm/tiny.txt",
            "xtask/totals/aws_cur.sql",
        ];
        let registry =
            "text: include_str!(\"billing/aws_cur.rs\"),\ntext: include_str!(\"telemetry/slurm.rs\")";
        assert_eq!(problems(&paths, registry), Vec::<String>::new());
    }

    #[test]
    fn an_unlisted_kind_is_named_once_for_each_thing_that_it_lacks() {
        let unlisted = [
            "crates/sources/src/billing/aws_cur.rs",
            "crates/sources/testdata/aws_cur/tiny.csv",
            "xtask/totals/aws_cur.sql",
        ];
        let expect = "crates/sources/src/billing/aws_cur: is not in the list of crates/sources/src/registry.rs, \
            which includes the text of each kind";
        let other = "// include_str!(\"billing/aws_cur.rs\")\ninclude_str!(\"billing/aws_cur2.rs\")";
        assert_eq!(problems(&unlisted, other), [expect]);
        let expect = "crates/sources/src/billing/aws_cur: has no formulae for `cargo xtask totals` in xtask/totals/aws_cur.sql";
        assert_eq!(problems(&unlisted[..2], "include_str!(\"billing/aws_cur.rs\")"), [expect]);
        let bare =
            ["crates/sources/src/telemetry/slurm/mod.rs", "crates/sources/src/telemetry/slurm/text.rs"];
        let expect = "crates/sources/src/telemetry/slurm: has no fixtures in crates/sources/testdata/slurm/";
        assert_eq!(problems(&bare, "include_str!(\"telemetry/slurm/mod.rs\")"), [expect]);
    }
}
