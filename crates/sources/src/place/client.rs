//! Clients of object stores, configured by the variables that the providers' own tools take.

use std::sync::Arc;

use object_store::aws::AmazonS3Builder;
use object_store::gcp::{GcpCredential, GoogleCloudStorageBuilder};
use object_store::{ObjectStore, StaticCredentialProvider};

/// Whose object store a URL names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    /// Amazon S3, and what speaks as it does.
    S3,
    /// Google Cloud Storage.
    Gs,
}

impl Scheme {
    /// Its word in URLs.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::S3 => "s3",
            Self::Gs => "gs",
        }
    }

    /// The scheme of a URL, and what follows it: the bucket and the key.
    pub(super) fn of_url(url: &str) -> Option<(Self, &str)> {
        let (word, rest) = url.split_once("://")?;
        match word {
            "s3" | "s3a" => Some((Self::S3, rest)),
            "gs" => Some((Self::Gs, rest)),
            _ => None,
        }
    }

    /// A client of a bucket; endpoint, region and credentials come from the environment.
    pub(super) fn client(self, bucket: &str) -> Result<Arc<dyn ObjectStore>, object_store::Error> {
        Ok(match self {
            Self::S3 => Arc::new(AmazonS3Builder::from_env().with_bucket_name(bucket).build()?),
            Self::Gs => {
                let client = GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket);
                let client = match emulator() {
                    Some(host) => emulated(client, &host),
                    None => client,
                };
                Arc::new(client.build()?)
            }
        })
    }
}

/// The stand-in for Google Cloud Storage that its own clients use where the variable is set.
#[expect(
    clippy::disallowed_methods,
    reason = "it belongs to the client, which reads its other variables itself"
)]
fn emulator() -> Option<String> {
    std::env::var("STORAGE_EMULATOR_HOST").ok().filter(|host| !host.is_empty())
}

/// A client of a stand-in: it gets no credentials, and none are looked for.
pub(super) fn emulated(client: GoogleCloudStorageBuilder, host: &str) -> GoogleCloudStorageBuilder {
    let host = host.trim_end_matches('/');
    let url = if host.contains("://") { host.to_owned() } else { format!("http://{host}") };
    let nobody = StaticCredentialProvider::new(GcpCredential { bearer: String::new() });
    client.with_base_url(&url).with_skip_signature(true).with_credentials(Arc::new(nobody))
}
