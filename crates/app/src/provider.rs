//! Whose bill a delivery is.

use store::DeliveryRecord;

/// A provider whose own export tells that every row is its.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Provider {
    /// Its reader.
    reader: &'static str,
    /// Its name in price lists.
    pub(crate) id: &'static str,
    /// Its name in FOCUS.
    pub(crate) focus_name: &'static str,
}

const PROVIDERS: [Provider; 3] = [
    Provider { reader: "aws-cur", id: "aws", focus_name: "AWS" },
    Provider { reader: "azure-cost", id: "azure", focus_name: "Microsoft" },
    Provider { reader: "gcp-billing", id: "gcp", focus_name: "Google Cloud" },
];

/// The provider of a delivery; `None` for a FOCUS bill, which may be anybody's.
pub(crate) fn provider_of(delivery: &DeliveryRecord) -> Option<Provider> {
    let reader = delivery.reader_version.split(' ').next();
    PROVIDERS.into_iter().find(|provider| Some(provider.reader) == reader)
}

/// The name in price lists of a provider as a bill's rows name it.
pub(crate) fn of_name(name: &str) -> String {
    let known = PROVIDERS.into_iter().find(|provider| provider.focus_name == name);
    known.map_or_else(|| name.to_lowercase(), |provider| provider.id.to_owned())
}

/// True if a delivery may hold charges of the provider of this name in price lists.
pub(crate) fn speaks_of(delivery: &DeliveryRecord, id: &str) -> bool {
    provider_of(delivery).is_none_or(|provider| provider.id == id)
}
