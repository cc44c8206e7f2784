//! A prefix of an S3 bucket, whose objects are spooled to a temporary folder.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use futures::TryStreamExt;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use super::{Entry, Place, PlaceLimits};
use crate::SourceError;

/// A prefix of a bucket.
#[derive(Debug)]
pub(super) struct Bucket {
    name: String,
    prefix: Path,
    store: AmazonS3,
    runtime: Runtime,
    spool: Arc<TempDir>,
    limits: PlaceLimits,
}

impl Bucket {
    /// The prefix of a bucket, by a client with the given configuration.
    pub(super) fn new(
        client: AmazonS3Builder,
        name: &str,
        prefix: &str,
        limits: &PlaceLimits,
    ) -> Result<Self, SourceError> {
        let shown = format!("s3://{name}/{prefix}");
        let store = client.with_bucket_name(name).build().map_err(|fault| unreachable(&fault, &shown))?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|fault| unreachable(&fault, &shown))?;
        let spool = TempDir::with_prefix("trainbill-").map_err(|fault| not_spooled(&fault))?;
        let prefix = Path::from(prefix.trim_end_matches('/'));
        Ok(Self { name: name.to_owned(), prefix, store, runtime, spool: Arc::new(spool), limits: *limits })
    }

    fn shown(&self, key: &str) -> String {
        format!("s3://{}/{key}", self.name)
    }

    async fn list_all(&self) -> Result<Vec<ObjectMeta>, SourceError> {
        let failed = |fault| unreachable(&fault, &self.shown(self.prefix.as_ref()));
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
        let failed = |fault| unreachable(&fault, &self.shown(&entry.key));
        let path = self.spool.path().join(format!("{position:06}"));
        let mut file = File::create(&path).map_err(|fault| not_spooled(&fault))?;
        let mut left = entry.bytes;
        let mut stream = self.store.get(&Path::from(entry.key.as_str())).await.map_err(failed)?.into_stream();
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
        let failed = |fault| unreachable(&fault, &self.shown(&entry.key));
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

    fn bucket(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn spool(&self) -> Option<Arc<TempDir>> {
        Some(Arc::clone(&self.spool))
    }
}

fn unreachable(fault: &dyn std::error::Error, shown: &str) -> SourceError {
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
    let first_line = message.lines().next().unwrap_or("").to_owned();
    SourceError::new("place::unreachable", first_line.chars().take(400).collect::<String>()).at(shown).help(
        "check AWS_REGION, the credentials and, for another endpoint, AWS_ENDPOINT_URL and AWS_ALLOW_HTTP",
    )
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
mod tests {
    use std::collections::BTreeMap;
    use std::io::{BufRead, BufReader};
    use std::net::{TcpListener, TcpStream};

    use super::*;

    /// A bucket of two objects behind the listing and the reading calls of the S3 protocol.
    fn serve(objects: BTreeMap<&'static str, &'static str>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                answer(&objects, stream.unwrap());
            }
        });
        endpoint
    }

    fn answer(objects: &BTreeMap<&str, &str>, mut stream: TcpStream) {
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
        let path = first.split(' ').nth(1).unwrap();
        let (status, body) = match path.strip_prefix("/bucket?") {
            Some(_) => ("200 OK", listing(objects)),
            None => match objects.get(path.strip_prefix("/bucket/").unwrap()) {
                Some(text) => ("200 OK", (*text).to_owned()),
                None => ("404 Not Found", String::new()),
            },
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Length: {}\r\nETag: \"1\"\r\nConnection: close\r\n\
             Last-Modified: Thu, 02 Jul 2026 00:00:00 GMT\r\n\r\n{body}",
            body.len()
        );
        let _ = stream.write_all(head.as_bytes());
    }

    fn listing(objects: &BTreeMap<&str, &str>) -> String {
        let entry = |(key, text): (&&str, &&str)| {
            format!(
                "<Contents><Key>{key}</Key><LastModified>2026-07-02T00:00:00.000Z</LastModified><ETag>1</ETag>\
                 <Size>{}</Size></Contents>",
                text.len()
            )
        };
        let contents: String = objects.iter().map(entry).collect();
        format!("<ListBucketResult><IsTruncated>false</IsTruncated>{contents}</ListBucketResult>")
    }

    fn bucket(objects: BTreeMap<&'static str, &'static str>, limits: &PlaceLimits) -> Bucket {
        let client = AmazonS3Builder::new()
            .with_endpoint(serve(objects))
            .with_allow_http(true)
            .with_region("us-east-1")
            .with_access_key_id("test")
            .with_secret_access_key("test");
        Bucket::new(client, "bucket", "p/cur/", limits).unwrap()
    }

    const MANIFEST: &str = r#"{"assemblyId":"a1","account":"1","reportName":"cur","bucket":"bucket",
        "billingPeriod":{"start":"20260701T000000.000Z"},"reportKeys":["p/cur/20260701-20260801/a1/cur-1.csv"]}"#;

    fn objects(manifest: &'static str) -> BTreeMap<&'static str, &'static str> {
        BTreeMap::from([
            ("p/cur/20260701-20260801/cur-Manifest.json", manifest),
            ("p/cur/20260701-20260801/a1/cur-1.csv", "a,b"),
            ("p/cur/20260701-20260801/a0/cur-1.csv", "old"),
        ])
    }

    #[test]
    fn the_objects_of_a_manifest_are_spooled() {
        let limits = PlaceLimits::default();
        let input = super::super::open_place(&bucket(objects(MANIFEST), &limits), &limits).unwrap();
        assert_eq!(input.files.len(), 1);
        assert_eq!(input.files[0].name, "p/cur/20260701-20260801/a1/cur-1.csv");
        assert_eq!(std::fs::read_to_string(&input.files[0].path).unwrap(), "a,b");
        let spooled = input.files[0].path.clone();
        drop(input);
        assert!(!spooled.exists());
    }

    #[test]
    fn a_bucket_is_refused_by_size_and_by_what_its_manifest_names() {
        let limits = PlaceLimits { spool_bytes: 2, ..PlaceLimits::default() };
        let code = |manifest, limits: &PlaceLimits| {
            super::super::open_place(&bucket(objects(manifest), limits), limits).map(|_| ()).unwrap_err().code
        };
        assert_eq!(code(MANIFEST, &limits), "bill::too_large");
        let other = r#"{"bucket":"other","billingPeriod":{"start":"20260701T000000.000Z"},"reportKeys":["p/cur/x.csv"]}"#;
        assert_eq!(code(other, &PlaceLimits::default()), "bill::hostile_manifest");
        let outside = r#"{"bucket":"bucket","billingPeriod":{"start":"20260701T000000.000Z"},"reportKeys":["q/x.csv"]}"#;
        assert_eq!(code(outside, &PlaceLimits::default()), "bill::hostile_manifest");
        let missing = r#"{"bucket":"bucket","billingPeriod":{"start":"20260701T000000.000Z"},"reportKeys":["p/cur/x.csv"]}"#;
        assert_eq!(code(missing, &PlaceLimits::default()), "bill::incomplete_delivery");
    }
}
