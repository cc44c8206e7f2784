//! A prefix of a bucket of an object store, whose objects are spooled to a temporary folder.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use super::client::Scheme;
use super::{Entry, Place, PlaceLimits};
use crate::SourceError;

/// A prefix of a bucket.
#[derive(Debug)]
pub(super) struct Bucket {
    scheme: Scheme,
    name: String,
    prefix: Path,
    store: Arc<dyn ObjectStore>,
    runtime: Runtime,
    spool: Arc<TempDir>,
    limits: PlaceLimits,
}

impl Bucket {
    /// The prefix of a bucket, by the client that the environment configures.
    pub(super) fn open(
        scheme: Scheme,
        (name, prefix): (&str, &str),
        limits: &PlaceLimits,
    ) -> Result<Self, SourceError> {
        let shown = format!("{}://{name}/{prefix}", scheme.word());
        let store = scheme.client(name).map_err(|fault| unreachable(scheme, &fault, &shown))?;
        Self::new(scheme, (name, prefix), store, limits)
    }

    fn new(
        scheme: Scheme,
        (name, prefix): (&str, &str),
        store: Arc<dyn ObjectStore>,
        limits: &PlaceLimits,
    ) -> Result<Self, SourceError> {
        let shown = format!("{}://{name}/{prefix}", scheme.word());
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|fault| unreachable(scheme, &fault, &shown))?;
        let spool = TempDir::with_prefix("trainbill-").map_err(|fault| not_spooled(&fault))?;
        let prefix = Path::from(prefix.trim_end_matches('/'));
        let (name, spool) = (name.to_owned(), Arc::new(spool));
        Ok(Self { scheme, name, prefix, store, runtime, spool, limits: *limits })
    }

    fn shown(&self, key: &str) -> String {
        format!("{}://{}/{key}", self.scheme.word(), self.name)
    }

    fn failed(&self, fault: &dyn std::error::Error, key: &str) -> SourceError {
        unreachable(self.scheme, fault, &self.shown(key))
    }

    async fn list_all(&self) -> Result<Vec<ObjectMeta>, SourceError> {
        let failed = |fault| self.failed(&fault, self.prefix.as_ref());
        let mut found = Vec::new();
        let mut listing = self.store.list(Some(&self.prefix));
        while let Some(object) = listing.try_next().await.map_err(failed)? {
            found.push(object);
            if found.len() > self.limits.entries {
                let message = format!("the prefix holds more than {} objects", self.limits.entries);
                return Err(SourceError::new("bill::too_large", message).help("name a longer prefix"));
            }
        }
        // A prefix that is itself an object is not listed below itself.
        if found.is_empty() && !self.prefix.as_ref().is_empty() {
            found.extend(self.store.head(&self.prefix).await.ok());
        }
        Ok(found)
    }

    async fn spool_one(&self, entry: &Entry, position: usize) -> Result<PathBuf, SourceError> {
        let failed = |fault| self.failed(&fault, &entry.key);
        let path = self.spool.path().join(format!("{position:06}"));
        let mut file = File::create(&path).map_err(|fault| not_spooled(&fault))?;
        let mut left = entry.bytes;
        let object = self.store.get(&Path::from(entry.key.as_str())).await.map_err(failed)?;
        let found = object.meta.e_tag.as_deref().and_then(plain_tag);
        if found.is_some_and(|found| entry.version.as_deref().is_some_and(|listed| listed != found)) {
            return Err(changed(&self.shown(&entry.key)));
        }
        let mut stream = object.into_stream();
        while let Some(chunk) = stream.try_next().await.map_err(failed)? {
            left = left.checked_sub(chunk.len() as u64).ok_or_else(|| changed(&self.shown(&entry.key)))?;
            file.write_all(&chunk).map_err(|fault| not_spooled(&fault))?;
        }
        if left > 0 {
            return Err(changed(&self.shown(&entry.key)));
        }
        Ok(path)
    }

    async fn small(&self, entry: &Entry) -> Result<String, SourceError> {
        let failed = |fault| self.failed(&fault, &entry.key);
        let object = self.store.get(&Path::from(entry.key.as_str())).await.map_err(failed)?;
        if object.meta.size > self.limits.manifest_bytes {
            return Err(SourceError::new("bill::too_large", "the manifest is too large").at(&entry.key));
        }
        let bytes = object.bytes().await.map_err(failed)?;
        String::from_utf8(bytes.to_vec())
            .map_err(|_| SourceError::new("bill::bad_manifest", "the manifest is not UTF-8").at(&entry.key))
    }
}

impl Place for Bucket {
    fn list(&self) -> Result<Vec<Entry>, SourceError> {
        let objects = self.runtime.block_on(self.list_all())?;
        let entry = |object: ObjectMeta| Entry {
            key: object.location.to_string(),
            bytes: object.size,
            modified: object.last_modified.timestamp(),
            version: object.e_tag.as_deref().and_then(plain_tag).map(str::to_owned),
        };
        let mut entries: Vec<Entry> = objects.into_iter().map(entry).collect();
        entries.sort();
        Ok(entries)
    }

    fn text(&self, entry: &Entry) -> Result<String, SourceError> {
        self.runtime.block_on(self.small(entry))
    }

    fn bring(&self, entries: &[Entry]) -> Result<Vec<PathBuf>, SourceError> {
        let total = entries.iter().fold(0_u64, |sum, entry| sum.saturating_add(entry.bytes));
        if total > self.limits.spool_bytes {
            let message =
                format!("the delivery has {total} bytes, more than the {} allowed", self.limits.spool_bytes);
            return Err(
                SourceError::new("bill::too_large", message).help("name the prefix of one billing period")
            );
        }
        let each = entries.iter().enumerate();
        each.map(|(position, entry)| self.runtime.block_on(self.spool_one(entry, position))).collect()
    }

    fn bucket(&self) -> Option<(Scheme, &str)> {
        Some((self.scheme, &self.name))
    }

    fn spool(&self) -> Option<Arc<TempDir>> {
        Some(Arc::clone(&self.spool))
    }
}

/// A tag as both a listing and an answer tell it: quotes, and the mark of a weak one, are not part of it. An empty one
/// tells nothing.
fn plain_tag(tag: &str) -> Option<&str> {
    let plain = tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"');
    (!plain.is_empty()).then_some(plain)
}

fn unreachable(scheme: Scheme, fault: &dyn std::error::Error, shown: &str) -> SourceError {
    // The client's own chain names the cause last; credentials are in none of its texts.
    let mut message = fault.to_string();
    let mut source = fault.source();
    while let Some(inner) = source {
        let text = inner.to_string();
        if !message.contains(&text) {
            message.push_str(": ");
            message.push_str(&text);
        }
        source = inner.source();
    }
    let first_line: String = message.lines().next().unwrap_or("").chars().take(400).collect();
    let error = SourceError::new("place::unreachable", first_line).at(shown);
    match scheme {
        Scheme::S3 => error.help(
            "check AWS_REGION, the credentials and, for another endpoint, AWS_ENDPOINT_URL and AWS_ALLOW_HTTP",
        ),
        Scheme::Gs => error.help(
            "check GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_SERVICE_ACCOUNT; GOOGLE_SKIP_SIGNATURE=true reads a public bucket",
        ),
    }
}

fn not_spooled(fault: &std::io::Error) -> SourceError {
    SourceError::new("place::no_space", format!("an object cannot be kept on disk: {fault}"))
        .help("set TMPDIR to a folder with room for the delivery")
}

fn changed(shown: &str) -> SourceError {
    SourceError::new("bill::incomplete_delivery", "an object changed while it was fetched")
        .at(shown)
        .help("import again once the export has been written")
}

#[cfg(test)]
mod tests;
