//! How a site names experiments in its jobs: the keys of labels and comments, and the form of job names.

use ledger::normalised_key;

/// What a site's jobs say of their experiments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conventions {
    /// Normalised keys whose value names an experiment, the strongest first.
    pub experiment_keys: Vec<String>,
    /// The form of job names that name one.
    pub naming: NamingRule,
}

/// `experiment_id` and `experiment`, and job names such as `vitl.a2`.
impl Default for Conventions {
    fn default() -> Self {
        let experiment_keys = vec!["experiment_id".to_owned(), "experiment".to_owned()];
        Self { experiment_keys, naming: NamingRule::default() }
    }
}

impl Conventions {
    /// How strongly a key names an experiment, 0 the strongest; `None` if it does not.
    pub(in crate::telemetry) fn rank(&self, key: &str) -> Option<usize> {
        let key = normalised_key(key);
        self.experiment_keys.iter().position(|known| *known == key)
    }
}

/// The form of a job's name: what stands before, between and behind the experiment and the number of the attempt.
///
/// Written as text with `{experiment}` once and, if the names count attempts, `{attempt}` behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamingRule {
    before: String,
    /// What stands between experiment and number, and behind the number; `None` if there is no number.
    counted: Option<(String, String)>,
    behind: String,
}

/// `{experiment}.a{attempt}`
impl Default for NamingRule {
    fn default() -> Self {
        Self { before: String::new(), counted: Some((".a".to_owned(), String::new())), behind: String::new() }
    }
}

impl NamingRule {
    /// The rule that a text writes down; `None` if it is no rule: it names no experiment or more than one, or nothing but
    /// one (so that every name would match), or nothing parts the experiment from the number.
    pub fn read(text: &str) -> Option<Self> {
        const EXPERIMENT: &str = "{experiment}";
        const ATTEMPT: &str = "{attempt}";
        let (before, rest) = text.split_once(EXPERIMENT)?;
        if before.contains(ATTEMPT) || rest.contains(EXPERIMENT) {
            return None;
        }
        let Some((between, behind)) = rest.split_once(ATTEMPT) else {
            let says_something = !before.is_empty() || !rest.is_empty();
            let rule = Self { before: before.to_owned(), counted: None, behind: rest.to_owned() };
            return says_something.then_some(rule);
        };
        let counted = Some((between.to_owned(), behind.to_owned()));
        let is_rule = !between.is_empty() && !behind.contains(ATTEMPT);
        is_rule.then(|| Self { before: before.to_owned(), counted, behind: String::new() })
    }

    /// The experiment of a job's name, if the name has this form.
    pub fn experiment_of<'a>(&self, name: &'a str) -> Option<&'a str> {
        let rest = name.strip_prefix(self.before.as_str())?.strip_suffix(self.behind.as_str())?;
        let experiment = match &self.counted {
            None => rest,
            Some((between, behind)) => {
                let (experiment, number) =
                    rest.strip_suffix(behind.as_str())?.rsplit_once(between.as_str())?;
                let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
                is_number.then_some(experiment)?
            }
        };
        (!experiment.is_empty()).then_some(experiment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_name_names_an_experiment_by_the_rule_of_the_site() {
        for (rule, name, experiment) in [
            ("{experiment}.a{attempt}", "exp-43.a12", Some("exp-43")),
            ("{experiment}.a{attempt}", "a.a1.a2", Some("a.a1")),
            ("{experiment}.a{attempt}", "exp.alpha", None),
            ("{experiment}.a{attempt}", ".a1", None),
            ("train_{experiment}_run{attempt}", "train_vitl_large_run3", Some("vitl_large")),
            ("train_{experiment}_run{attempt}", "vitl_run3", None),
            ("{experiment}-try{attempt}-gpu", "vitl-try1-gpu", Some("vitl")),
            ("{experiment}-try{attempt}-gpu", "vitl-try1", None),
            ("exp-{experiment}", "exp-vitl", Some("vitl")),
            ("exp-{experiment}", "vitl", None),
            ("{experiment}.train", "vitl.train", Some("vitl")),
        ] {
            assert_eq!(NamingRule::read(rule).unwrap().experiment_of(name), experiment, "{rule} on {name}");
        }
        assert_eq!(NamingRule::read("{experiment}.a{attempt}"), Some(NamingRule::default()));
    }

    #[test]
    fn a_text_that_would_match_every_name_or_none_is_no_rule() {
        for text in [
            "",
            "train",
            "{experiment}",
            "{attempt}.{experiment}",
            "{experiment}{attempt}",
            "{experiment}-{experiment}",
            "{experiment}.a{attempt}.b{attempt}",
        ] {
            assert_eq!(NamingRule::read(text), None, "{text}");
        }
    }
}
