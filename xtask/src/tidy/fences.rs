//! Which crate may name a heavy or telling dependency: each stands behind a fence with few gates.

use super::{Member, Problem};

/// A family of crates and the members that may name it.
struct Fence {
    /// `arrow` stands for `arrow` and every `arrow-…` or `arrow_…`.
    family: &'static str,
    allowed: &'static [&'static str],
}

const COLUMNAR: &[&str] = &["sources", "store", "engine", "demo", "testkit", "xtask"];
const TEXT_FORMATS: &[&str] = &["wire", "store", "sources", "http", "cli", "demo", "launch", "xtask"];

const FENCES: &[Fence] = &[
    Fence { family: "datafusion", allowed: &["engine"] },
    Fence { family: "arrow", allowed: COLUMNAR },
    Fence { family: "parquet", allowed: COLUMNAR },
    Fence { family: "sqlx", allowed: &["store"] },
    Fence { family: "object_store", allowed: &["sources", "store", "engine"] },
    Fence { family: "aws", allowed: &["aws"] },
    Fence { family: "axum", allowed: &["http"] },
    Fence { family: "hyper", allowed: &["http"] },
    Fence { family: "clap", allowed: &["cli", "xtask"] },
    Fence { family: "serde", allowed: TEXT_FORMATS },
];

pub(super) fn check(members: &[Member]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for member in members {
        for dependency in &member.dependencies {
            if members.iter().any(|other| other.name == dependency.name) {
                continue;
            }
            let fence = FENCES.iter().find(|fence| is_of(&dependency.name, fence.family));
            if let Some(fence) = fence.filter(|fence| !fence.allowed.contains(&member.name.as_str())) {
                let message = format!("only {} may name `{}`", fence.allowed.join(", "), fence.family);
                problems.push(Problem::new(format!("{} -> {}", member.name, dependency.name), message));
            }
        }
    }
    problems
}

fn is_of(name: &str, family: &str) -> bool {
    name.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_']))
}

#[cfg(test)]
mod tests {
    use super::super::workspace::planted;
    use super::*;

    fn problems(members: &[Member]) -> Vec<String> {
        check(members).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_gate_is_open_to_its_own() {
        let tree = [
            planted("engine", &["datafusion", "arrow", "parquet", "object_store"], &[]),
            planted("store", &["sqlx", "serde", "serde_json", "parquet"], &[]),
            planted("cli", &["clap", "clap_complete", "aws"], &[]),
            planted("aws", &["aws-config"], &[]),
            planted("costing", &["thiserror", "serenity", "arrows"], &["proptest"]),
        ];
        assert_eq!(problems(&tree), Vec::<String>::new());
    }

    #[test]
    fn a_crate_that_reaches_over_a_fence_is_named() {
        let check = |member: &str, dependency: &str, expect: &str| {
            assert_eq!(problems(&[planted(member, &[dependency], &[])]), [expect]);
        };
        check("costing", "datafusion-expr", "costing -> datafusion-expr: only engine may name `datafusion`");
        check("cli", "sqlx", "cli -> sqlx: only store may name `sqlx`");
        check("app", "aws-sdk-ec2", "app -> aws-sdk-ec2: only aws may name `aws`");
        check("app", "hyper-util", "app -> hyper-util: only http may name `hyper`");
        check("wire", "clap", "wire -> clap: only cli, xtask may name `clap`");
    }

    #[test]
    fn a_test_may_not_reach_over_a_fence_either() {
        for dependency in ["arrow-array", "parquet", "serde_json", "object_store", "axum"] {
            assert_eq!(problems(&[planted("ledger", &[], &[dependency])]).len(), 1, "{dependency}");
        }
    }
}
