//! FOCUS's words for what a charge is, from the provider's names and the form of its ids.

use std::borrow::Cow;

/// Words that FOCUS allows for a column.
pub(super) const FREQUENCIES: &[&str] = &["One-Time", "Recurring", "Usage-Based"];
pub(super) const PRICINGS: &[&str] = &["Standard", "Dynamic", "Committed", "Other"];
pub(super) const COMMITMENTS: &[&str] = &["Spend", "Usage"];
pub(super) const STATUSES: &[&str] = &["Used", "Unused"];

/// Categories of services that FOCUS allows.
const SERVICE_CATEGORIES: &[&str] = &[
    "AI and Machine Learning",
    "Analytics",
    "Business Applications",
    "Compute",
    "Databases",
    "Developer Tools",
    "Multicloud",
    "Identity",
    "Integration",
    "Internet of Things",
    "Management and Governance",
    "Media",
    "Migration",
    "Mobile",
    "Networking",
    "Security",
    "Storage",
    "Web",
    "Other",
];

/// The word among those allowed that a text is, in whatever case.
pub(super) fn allowed(text: Option<&str>, words: &[&'static str]) -> Option<&'static str> {
    let text = text?;
    words.iter().find(|word| word.eq_ignore_ascii_case(text)).copied()
}

/// Categories and sub-categories of services by words in their names; the first line with such a word decides. FOCUS
/// gives a service one category, whatever is metered: disks of a compute service are compute.
const SERVICES: &[(&str, &str, &[&str])] = &[
    ("Management and Governance", "Support", &["support"]),
    ("AI and Machine Learning", "Generative AI", &["bedrock", "openai", "generative ai", "gemini"]),
    (
        "AI and Machine Learning",
        "Machine Learning",
        &["sagemaker", "vertex", "machine learning", "machinelearning", "cognitive services"],
    ),
    ("Compute", "Containers", &["amazoneks", "amazonecs", "amazonecr", "kubernetes", "container"]),
    ("Compute", "Serverless Compute", &["lambda", "cloud functions", "cloud run", "azure functions"]),
    ("Storage", "File Storage", &["efs", "fsx", "file system", "filestore", "netapp", "azure files"]),
    ("Storage", "Backup Storage", &["backup", "glacier"]),
    ("Storage", "Object Storage", &["amazons3", "simple storage", "cloud storage", "blob", "storage"]),
    ("Management and Governance", "Observability", &["cloudwatch", "monitor", "logging", "log analytics"]),
    ("Networking", "Content Delivery", &["cloudfront", "content delivery", "cdn"]),
    (
        "Networking",
        "Other (Networking)",
        &[
            "vpc",
            "load balanc",
            "elasticloadbalancing",
            "route53",
            "dns",
            "bandwidth",
            "datatransfer",
            "network",
        ],
    ),
    ("Security", "Other (Security)", &["awskms", "key vault", "guardduty", "secret", "security"]),
    ("Integration", "Messaging", &["queue", "amazonsns", "pub/sub", "service bus", "event hub"]),
    ("Databases", "Other (Databases)", &["amazonrds", "dynamodb", "database", "sql", "cosmos", "redshift"]),
    ("Analytics", "Other (Analytics)", &["bigquery", "athena", "glue", "mapreduce", "kinesis", "databricks"]),
    ("Compute", "Virtual Machines", &["ec2", "compute", "virtual machine"]),
];

/// Category and sub-category of a service by its name.
pub(super) fn service(name: &str) -> (&'static str, &'static str) {
    let name = name.to_lowercase();
    let named = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let found = SERVICES.iter().find(|(.., words)| named(words));
    found.map_or(("Other", "Other (Other)"), |(category, sub, _)| (*category, *sub))
}

/// A unit with its time in the words of FOCUS, as `GB-Months` for `GB-Mo`; all else is as the provider writes it.
pub(super) fn unit(text: &str) -> Cow<'_, str> {
    let (head, time) = text.rsplit_once('-').map_or(("", text), |(head, time)| (head, time));
    let time = match time.to_lowercase().as_str() {
        "hrs" | "hr" | "hour" | "hours" => "Hours",
        "mo" | "month" | "months" => "Months",
        "day" | "days" => "Days",
        "minute" | "minutes" => "Minutes",
        "sec" | "second" | "seconds" => "Seconds",
        _ => return Cow::from(text),
    };
    Cow::from(if head.is_empty() { time.to_owned() } else { format!("{head}-{time}") })
}

/// The category that a bill told, if it is one of FOCUS's.
pub(super) fn service_category(told: Option<&str>) -> Option<&'static str> {
    allowed(told, SERVICE_CATEGORIES)
}

/// What a commitment commits to, by the word for its type: an amount of money or an amount of usage.
pub(super) fn commitment_category(kind: Option<&str>) -> Option<&'static str> {
    let kind = kind?.to_ascii_lowercase();
    let is = |words: &[&str]| words.iter().any(|word| kind.contains(word));
    if is(&["savings plan", "savingsplan", "spend"]) {
        Some("Spend")
    } else if is(&["reserv", "resource", "usage"]) {
        Some("Usage")
    } else {
        None
    }
}

/// The provider's word for an account that uses resources under another that pays.
pub(super) fn sub_account_type(provider: &str) -> &'static str {
    let provider = provider.to_ascii_lowercase();
    let is = |words: &[&str]| words.iter().any(|word| provider.contains(word));
    if is(&["aws", "amazon"]) {
        "Account"
    } else if is(&["google", "gcp"]) {
        "Project"
    } else if is(&["azure", "microsoft"]) {
        "Subscription"
    } else {
        "Sub Account"
    }
}

/// The type of a resource by the form of its id: what stands before the name in an ARN or a path, else the word that
/// the prefix of an id stands for, else `resource`.
pub(super) fn resource_type(id: &str) -> &str {
    if let Some(arn) = id.strip_prefix("arn:") {
        let mut parts = arn.splitn(5, ':').skip(1);
        let (service, resource) = (parts.next().unwrap_or(""), parts.nth(2).unwrap_or(""));
        let kind = resource.split_once(['/', ':']).map_or("", |(kind, _)| kind);
        return match (service, kind) {
            ("s3", _) => "bucket",
            (_, "") if service.is_empty() => "resource",
            (_, "") => service,
            (_, kind) => kind,
        };
    }
    if id.contains('/') {
        return id.rsplit('/').nth(1).filter(|kind| !kind.is_empty()).unwrap_or("resource");
    }
    let prefixes =
        [("i-", "instance"), ("vol-", "volume"), ("snap-", "snapshot"), ("cr-", "capacity-reservation")];
    prefixes.iter().find(|(prefix, _)| id.starts_with(prefix)).map_or("resource", |(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_tells_the_type_of_its_resource() {
        for (id, expect) in [
            ("arn:aws:ec2:us-east-1:222222222222:snapshot/snap-0a", "snapshot"),
            ("arn:aws:sagemaker:us-east-1:222222222222:training-job/exp-001-a3", "training-job"),
            ("arn:aws:s3:::bucket-a", "bucket"),
            ("arn:aws:sqs:us-east-1:2:queue-a", "sqs"),
            ("arn:", "resource"),
            ("i-0a", "instance"),
            ("vol-0a", "volume"),
            (
                "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/vm",
                "virtualMachines",
            ),
            ("projects/p/zones/z/instances/node-1", "instances"),
            ("/", "resource"),
            ("ckpt-bucket", "resource"),
        ] {
            assert_eq!(resource_type(id), expect, "for {id}");
        }
    }

    #[test]
    fn a_service_has_one_category() {
        for (name, expect) in [
            ("AmazonEC2", "Compute / Virtual Machines"),
            ("Amazon Elastic Compute Cloud", "Compute / Virtual Machines"),
            ("AmazonS3", "Storage / Object Storage"),
            ("AmazonEKS", "Compute / Containers"),
            ("AmazonSageMaker", "AI and Machine Learning / Machine Learning"),
            ("Compute Engine", "Compute / Virtual Machines"),
            ("AWSSupportEnterprise", "Management and Governance / Support"),
            ("AmazonEFS", "Storage / File Storage"),
            ("OCBMystery", "Other / Other (Other)"),
        ] {
            let (category, sub) = service(name);
            assert_eq!(format!("{category} / {sub}"), expect, "for {name}");
        }
        assert!(SERVICES.iter().all(|(category, ..)| SERVICE_CATEGORIES.contains(category)));
    }

    #[test]
    fn times_in_units_are_spelled_out() {
        for (text, expect) in [
            ("Hrs", "Hours"),
            ("GB-Mo", "GB-Months"),
            ("Accelerator-Hours", "Accelerator-Hours"),
            ("Requests", "Requests"),
            ("10K", "10K"),
            ("-", "-"),
        ] {
            assert_eq!(unit(text), expect);
        }
    }

    #[test]
    fn a_word_is_taken_only_if_focus_allows_it() {
        assert_eq!(allowed(Some("usage-based"), FREQUENCIES), Some("Usage-Based"));
        assert_eq!(service_category(Some("Networking, Other")), None);
        assert_eq!(commitment_category(Some("Compute Savings Plan")), Some("Spend"));
        assert_eq!(commitment_category(Some("Reserved Instance")), Some("Usage"));
        assert_eq!(commitment_category(Some("mystery")), None);
    }
}
