//! The map of the code names every crate.

use super::{Member, Problem};

pub(super) fn check(members: &[Member], architecture: &str) -> Vec<Problem> {
    let absent = members.iter().filter(|member| !architecture.contains(&format!("`{}`", member.name)));
    absent.map(|member| Problem::new("ARCHITECTURE.md", format!("does not name `{}`", member.name))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::workspace::planted;
    use super::*;

    #[test]
    fn a_crate_that_the_map_lacks_is_named() {
        let members = [planted("money", &[], &[]), planted("ledger", &[], &[])];
        assert_eq!(check(&members, "`money` and `ledger`"), []);
        assert_eq!(
            check(&members, "`money`, ledger")[0].to_string(),
            "ARCHITECTURE.md: does not name `ledger`"
        );
    }
}
