//! Which crate may name which: dependencies point down the levels, never up or sideways.

use super::{DependencyKind, Member, Problem};

/// The level of each crate that ships.
const LEVELS: &[(&str, u8)] = &[
    ("money", 0),
    ("ledger", 1),
    ("costing", 2),
    ("sources", 2),
    ("demo", 2),
    ("launch", 2),
    ("engine", 3),
    ("store", 3),
    ("comparison", 3),
    ("findings", 3),
    ("actions", 4),
    ("app", 5),
    ("aws", 5),
    ("wire", 6),
    ("http", 7),
    ("cli", 7),
];
/// Serves the tests of every level.
const TEST_CRATE: &str = "testkit";
/// Serves the people who work on the code; no crate needs it.
const TOOL_CRATE: &str = "xtask";

pub(super) fn check(members: &[Member]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for member in members {
        if level(&member.name).is_none() && ![TEST_CRATE, TOOL_CRATE].contains(&member.name.as_str()) {
            let message = "has no level; give it one in `LEVELS` (xtask/src/tidy/layers.rs)";
            problems.push(Problem::new(&member.name, message));
        }
        for dependency in &member.dependencies {
            let Some(named) = members.iter().find(|other| other.name == dependency.name) else { continue };
            let place = format!("{} -> {}", member.name, named.name);
            if let Some(message) = edge_fault(&member.name, &named.name, dependency.kind) {
                problems.push(Problem::new(&place, message));
            }
            if member.is_default && !named.is_default {
                let message =
                    "a default member may name only default members, or a plain test run builds DataFusion";
                problems.push(Problem::new(&place, message));
            }
        }
    }
    problems
}

fn level(name: &str) -> Option<u8> {
    LEVELS.iter().find(|(member, _)| *member == name).map(|(_, level)| *level)
}

/// What is wrong with `from` naming `to`, both of the workspace.
fn edge_fault(from: &str, to: &str, kind: DependencyKind) -> Option<String> {
    if to == TOOL_CRATE {
        return Some(format!("no crate may name `{TOOL_CRATE}`"));
    }
    if from == TOOL_CRATE || from == TEST_CRATE {
        return None;
    }
    if to == TEST_CRATE {
        let fault = format!("`{TEST_CRATE}` may be named only in [dev-dependencies]");
        return (kind != DependencyKind::Dev).then_some(fault);
    }
    if [("engine", "store"), ("store", "engine")].contains(&(from, to)) {
        return Some("`store` and `engine` may not name each other; `app` brings them together".to_owned());
    }
    let (from_level, to_level) = (level(from)?, level(to)?);
    let points_down = match kind {
        DependencyKind::Shipped => to_level < from_level,
        // A test may stand on a neighbour: what `demo` writes is what `sources` reads.
        DependencyKind::Dev => to_level <= from_level,
    };
    (!points_down).then(|| format!("points up or sideways (level {from_level} to level {to_level})"))
}

#[cfg(test)]
mod tests {
    use super::super::workspace::planted;
    use super::*;

    fn problems(members: &[Member]) -> Vec<String> {
        check(members).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn edges_that_point_down_are_fine() {
        let tree = [
            planted("money", &["thiserror"], &["testkit"]),
            planted("ledger", &["money"], &[]),
            planted("sources", &["ledger", "money"], &["testkit", "demo"]),
            planted("demo", &["ledger"], &[]),
            planted("engine", &["sources"], &["testkit"]),
            planted("store", &["sources"], &[]),
            planted("testkit", &["ledger"], &[]),
            planted("xtask", &["testkit"], &[]),
        ];
        assert_eq!(problems(&tree), Vec::<String>::new());
    }

    #[test]
    fn an_edge_up_or_sideways_is_named() {
        let up = [planted("money", &["ledger"], &[]), planted("ledger", &[], &[])];
        assert_eq!(problems(&up), ["money -> ledger: points up or sideways (level 0 to level 1)"]);
        let sideways = [planted("costing", &["sources"], &[]), planted("sources", &[], &[])];
        assert_eq!(problems(&sideways), ["costing -> sources: points up or sideways (level 2 to level 2)"]);
        let in_tests = [planted("costing", &[], &["engine"]), planted("engine", &[], &[])];
        assert_eq!(problems(&in_tests), ["costing -> engine: points up or sideways (level 2 to level 3)"]);
    }

    #[test]
    fn store_and_engine_stay_apart_even_in_tests() {
        let tree = [planted("store", &["engine"], &[]), planted("engine", &[], &["store"])];
        let named = problems(&tree);
        assert!(named[0].starts_with("store -> engine: "), "{named:?}");
        assert!(named[1].starts_with("engine -> store: "), "{named:?}");
    }

    #[test]
    fn testkit_and_xtask_do_not_ship() {
        let tree = [
            planted("app", &["testkit"], &["xtask"]),
            planted("testkit", &[], &[]),
            planted("xtask", &[], &[]),
        ];
        let named = problems(&tree);
        assert_eq!(named[0], "app -> testkit: `testkit` may be named only in [dev-dependencies]");
        assert_eq!(named[1], "app -> xtask: no crate may name `xtask`");
    }

    #[test]
    fn a_crate_without_a_level_is_named() {
        assert!(problems(&[planted("helpers", &[], &[])])[0].starts_with("helpers: has no level"));
    }

    #[test]
    fn a_default_member_does_not_pull_in_a_heavy_one() {
        let heavy = Member { is_default: false, ..planted("engine", &[], &[]) };
        let named = problems(&[planted("testkit", &["engine"], &[]), heavy]);
        assert!(named[0].starts_with("testkit -> engine: a default member"), "{named:?}");
    }
}
