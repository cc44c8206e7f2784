//! What the names of event files and their folders say.

/// Folders in which a program writes the splits of one run.
const SPLITS: [&str; 8] = ["train", "training", "validation", "valid", "val", "eval", "evaluation", "test"];

/// The process that wrote a file, as far as its name tells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct FileName {
    /// The host; empty if the name has none.
    pub(super) host: String,
    /// Number of the process.
    pub(super) pid: Option<String>,
}

impl FileName {
    /// `events.out.tfevents.{time}.{host}[.{pid}.{number}][.v2]`.
    pub(super) fn of(name: &str) -> Self {
        let Some((_, rest)) = name.split_once("tfevents.") else { return Self::default() };
        let Some((_, rest)) = rest.split_once('.') else { return Self::default() };
        let rest = rest.strip_suffix(".v2").unwrap_or(rest);
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let mut parts = rest.rsplitn(3, '.');
        if let (Some(number), Some(pid), Some(host)) = (parts.next(), parts.next(), parts.next())
            && digits(number)
            && digits(pid)
        {
            return Self { host: host.to_owned(), pid: Some(pid.to_owned()) };
        }
        Self { host: rest.to_owned(), pid: None }
    }
}

/// The folder of a run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RunFolder(pub(super) String);

impl RunFolder {
    /// The run of a folder, and the split if the folder is one of the run above it.
    pub(super) fn of(folder: &str) -> (Self, Option<&str>) {
        match folder.rsplit_once('/') {
            Some((above, last)) if SPLITS.contains(&last) => (Self(above.to_owned()), Some(last)),
            _ => (Self(folder.to_owned()), None),
        }
    }

    /// The folder's own name.
    pub(super) fn last(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_tells_host_and_process() {
        for (name, host, pid) in [
            ("events.out.tfevents.1795997436.vm", "vm", None),
            (
                "events.out.tfevents.1795997436.node-1.cluster.local.4711.0",
                "node-1.cluster.local",
                Some("4711"),
            ),
            ("events.out.tfevents.1795997436.vm.4711.12.v2", "vm", Some("4711")),
            ("events.out.tfevents.1795997436", "", None),
            ("tfevents", "", None),
        ] {
            let told = FileName::of(name);
            assert_eq!((told.host.as_str(), told.pid.as_deref()), (host, pid), "for {name}");
        }
    }

    #[test]
    fn splits_belong_to_the_run_above_them() {
        assert_eq!(RunFolder::of("logs/a/validation"), (RunFolder("logs/a".to_owned()), Some("validation")));
        assert_eq!(RunFolder::of("logs/a"), (RunFolder("logs/a".to_owned()), None));
        assert_eq!(RunFolder::of("train"), (RunFolder("train".to_owned()), None));
    }
}
