//! Tag keys as providers mangle them, brought to one form on both sides of a match.

/// A tag key in lower-case words joined by `_`, without the provider's prefix.
///
/// `resourceTags/user:Team`, `resource_tags_user_team`, `user:team` and `user_team` all give `team`;
/// `app.kubernetes.io/name` gives `app_kubernetes_io_name`, as CUR 2.0 and Athena write it. The loss is accepted
/// because both sides of every match go through here.
pub fn normalised_key(key: &str) -> String {
    let mut words = String::with_capacity(key.len());
    let mut previous_lower = false;
    for c in key.trim().chars() {
        if c.is_alphanumeric() {
            if c.is_uppercase() && previous_lower {
                words.push('_');
            }
            previous_lower = c.is_lowercase() || c.is_numeric();
            words.extend(c.to_lowercase());
        } else {
            previous_lower = false;
            if !words.is_empty() && !words.ends_with('_') {
                words.push('_');
            }
        }
    }
    let mut rest = words.trim_end_matches('_');
    for prefix in ["resource_tags_", "user_"] {
        rest = rest.strip_prefix(prefix).unwrap_or(rest);
    }
    rest.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_tag_is_one_key() {
        for spelling in [
            "resourceTags/user:experiment_id",
            "resource_tags_user_experiment_id",
            "user_experiment_id",
            "user:experiment-id",
            "ExperimentId",
            "experiment.id",
        ] {
            assert_eq!(normalised_key(spelling), "experiment_id", "for {spelling}");
        }
        assert_eq!(normalised_key("app.kubernetes.io/name"), "app_kubernetes_io_name");
        assert_eq!(normalised_key("aws:createdBy"), "aws_created_by");
    }
}
