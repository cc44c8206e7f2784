//! Both object stores behind one small server: what is fetched, what is refused, and what is not asked for again.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;

use object_store::aws::AmazonS3Builder;
use object_store::gcp::GoogleCloudStorageBuilder;

use super::super::client::emulated;
use super::super::{Known, Opened, open_place};
use super::*;

/// A server of one bucket; both object stores list and read objects by the same calls.
#[derive(Default)]
struct Served {
    /// Text and tag of each object.
    objects: BTreeMap<String, (String, String)>,
    /// The tag of every object that is read, if it is another than the listed one.
    tag_when_read: Option<String>,
    /// What was asked for, as the path of a call.
    asked: Vec<String>,
}

struct Cloud {
    endpoint: String,
    served: Arc<Mutex<Served>>,
}

impl Cloud {
    fn with(objects: &[(&str, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let cloud = Self { endpoint, served: Arc::default() };
        objects.iter().for_each(|(key, text)| cloud.put(key, text, "first"));
        let served = Arc::clone(&cloud.served);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                answer(&mut served.lock().unwrap(), stream.unwrap());
            }
        });
        cloud
    }

    fn put(&self, key: &str, text: &str, tag: &str) {
        self.served.lock().unwrap().objects.insert(key.to_owned(), (text.to_owned(), tag.to_owned()));
    }

    fn bucket(&self, scheme: Scheme, limits: &PlaceLimits) -> Bucket {
        let store: Arc<dyn ObjectStore> = match scheme {
            Scheme::S3 => {
                let client = AmazonS3Builder::new().with_bucket_name("bucket").with_region("us-east-1");
                let client = client.with_endpoint(&self.endpoint).with_allow_http(true);
                let client = client.with_access_key_id("test").with_secret_access_key("test");
                Arc::new(client.build().unwrap())
            }
            Scheme::Gs => {
                let client = GoogleCloudStorageBuilder::new().with_bucket_name("bucket");
                let host = self.endpoint.trim_start_matches("http://");
                Arc::new(emulated(client, host).build().unwrap())
            }
        };
        Bucket::new(scheme, ("bucket", "p/cur/"), store, limits).unwrap()
    }

    fn open(&self, scheme: Scheme, known: &Known) -> Result<Opened, SourceError> {
        let limits = PlaceLimits::default();
        open_place(&self.bucket(scheme, &limits), &limits, known)
    }

    /// What was asked for since the last time.
    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.served.lock().unwrap().asked)
    }
}

fn answer(served: &mut Served, mut stream: TcpStream) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
    // Google's client writes every sign of a key that is no letter or digit as a code.
    let path = [("%2F", "/"), ("%2D", "-"), ("%2E", ".")]
        .iter()
        .fold(first.split(' ').nth(1).unwrap().to_owned(), |path, (code, sign)| path.replace(code, sign));
    served.asked.push(path.split('?').next().unwrap().trim_start_matches('/').to_owned());
    let (status, tag, body) = match path.strip_prefix("/bucket?") {
        Some(_) => ("200 OK", String::new(), listing(&served.objects)),
        None => match served.objects.get(path.strip_prefix("/bucket/").unwrap()) {
            Some((text, tag)) => {
                ("200 OK", served.tag_when_read.clone().unwrap_or_else(|| tag.clone()), text.clone())
            }
            None => ("404 Not Found", String::new(), String::new()),
        },
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nETag: \"{tag}\"\r\nConnection: close\r\n\
         Last-Modified: Thu, 02 Jul 2026 00:00:00 GMT\r\n\r\n{body}",
        body.len()
    );
    let _ = stream.write_all(head.as_bytes());
}

/// Tags are listed with quotes or without, by the kind of server.
fn listing(objects: &BTreeMap<String, (String, String)>) -> String {
    let entry = |(key, (text, tag)): (&String, &(String, String))| {
        format!(
            "<Contents><Key>{key}</Key><LastModified>2026-07-02T00:00:00.000Z</LastModified><ETag>{tag}</ETag>\
             <Size>{}</Size></Contents>",
            text.len()
        )
    };
    let contents: String = objects.iter().map(entry).collect();
    format!("<ListBucketResult><IsTruncated>false</IsTruncated>{contents}</ListBucketResult>")
}

const SCHEMES: [Scheme; 2] = [Scheme::S3, Scheme::Gs];

const JULY: &str = "p/cur/20260701-20260801";
const AUGUST: &str = "p/cur/20260801-20260901";

fn manifest(month: &str, start: &str) -> String {
    format!(
        r#"{{"assemblyId":"a1","account":"1","reportName":"cur","bucket":"bucket",
            "billingPeriod":{{"start":"{start}T000000.000Z"}},"reportKeys":["{month}/a1/cur-1.csv"]}}"#
    )
}

/// Two months of a report, and an assembly of July that was replaced.
fn report() -> Cloud {
    let (july, august) = (manifest(JULY, "20260701"), manifest(AUGUST, "20260801"));
    Cloud::with(&[
        (&format!("{JULY}/cur-Manifest.json"), &july),
        (&format!("{JULY}/a1/cur-1.csv"), "a,b"),
        (&format!("{AUGUST}/cur-Manifest.json"), &august),
        (&format!("{AUGUST}/a1/cur-1.csv"), "c,d"),
    ])
}

fn names(opened: &Opened) -> Vec<&str> {
    opened.input.files.iter().map(|file| file.name.as_str()).collect()
}

/// What an import that read all of it would remember.
fn read_whole(opened: &Opened) -> Known {
    let part = |part: &super::super::Part| Some((part.period, part.fingerprint.clone()?));
    Known {
        reader: "r 1".to_owned(),
        listing: opened.listing.clone(),
        parts: opened.parts.iter().filter_map(part).collect(),
        apart: true,
        ..Known::default()
    }
}

fn nothing() -> Known {
    Known { reader: "r 1".to_owned(), ..Known::default() }
}

#[test]
fn the_objects_of_a_manifest_are_spooled() {
    for scheme in SCHEMES {
        let cloud = report();
        cloud.put(&format!("{JULY}/a0/cur-1.csv"), "old", "first");
        let opened = cloud.open(scheme, &nothing()).unwrap();
        assert_eq!(names(&opened), [format!("{JULY}/a1/cur-1.csv"), format!("{AUGUST}/a1/cur-1.csv")]);
        assert_eq!(opened.warnings.len(), 1, "the old assembly is told");
        let spooled = opened.input.files[0].path.clone();
        assert_eq!(std::fs::read_to_string(&spooled).unwrap(), "a,b");
        drop(opened);
        assert!(!spooled.exists());
    }
}

#[test]
fn a_bucket_that_lists_the_same_is_not_read_at_all() {
    for scheme in SCHEMES {
        let cloud = report();
        let known = read_whole(&cloud.open(scheme, &nothing()).unwrap());
        assert_eq!(cloud.asked().len(), 5, "a listing, two manifests, two data files");
        let again = cloud.open(scheme, &known).unwrap();
        assert_eq!(cloud.asked(), ["bucket"]);
        assert_eq!((names(&again).len(), again.parts.len()), (0, 2));
        assert!(again.parts.iter().all(|part| !part.changed));
        let other_reader = Known { reader: "r 2".to_owned(), ..known };
        assert_eq!(names(&cloud.open(scheme, &other_reader).unwrap()).len(), 2);
    }
}

#[test]
fn only_the_billing_period_that_changed_is_fetched() {
    for scheme in SCHEMES {
        let cloud = report();
        let known = read_whole(&cloud.open(scheme, &nothing()).unwrap());
        cloud.asked();
        // As long as before: only the tag tells.
        cloud.put(&format!("{AUGUST}/a1/cur-1.csv"), "e,f", "second");
        let opened = cloud.open(scheme, &known).unwrap();
        assert_eq!(names(&opened), [format!("{AUGUST}/a1/cur-1.csv")]);
        assert!(!cloud.asked().contains(&format!("bucket/{JULY}/a1/cur-1.csv")));
        assert_eq!(opened.parts.iter().map(|part| part.changed).collect::<Vec<_>>(), [false, true]);
        let together = Known { apart: false, ..known };
        assert_eq!(names(&cloud.open(scheme, &together).unwrap()).len(), 2);
    }
}

#[test]
fn an_object_that_changes_after_it_was_listed_is_refused() {
    for scheme in SCHEMES {
        let cloud = report();
        cloud.served.lock().unwrap().tag_when_read = Some("second".to_owned());
        let fault = cloud.open(scheme, &nothing()).unwrap_err();
        assert_eq!(fault.code, "bill::incomplete_delivery");
        assert_eq!(fault.place.unwrap(), format!("{}://bucket/{JULY}/a1/cur-1.csv", scheme.word()));
    }
}

#[test]
fn a_bucket_is_refused_by_size_and_by_what_its_manifest_names() {
    let start = r#""billingPeriod":{"start":"20260701T000000.000Z"}"#;
    let key = format!("{JULY}/a1/cur-1.csv");
    let plain =
        |bucket: &str, key: &str| format!(r#"{{"bucket":"{bucket}",{start},"reportKeys":["{key}"]}}"#);
    let url = |url: &str| format!(r#"{{{start},"dataFiles":["{url}"]}}"#);
    for (scheme, other) in [(Scheme::S3, Scheme::Gs), (Scheme::Gs, Scheme::S3)] {
        let code = |manifest: &str, limits: PlaceLimits| {
            let objects = [(key.as_str(), "a,b"), ("p/cur/cur-Manifest.json", manifest)];
            let opened = open_place(&Cloud::with(&objects).bucket(scheme, &limits), &limits, &nothing());
            opened.map_or_else(
                |fault| fault.code,
                |opened| if names(&opened).is_empty() { "none" } else { "ok" },
            )
        };
        let limits = PlaceLimits::default();
        assert_eq!(code(&plain("bucket", &key), limits), "ok");
        assert_eq!(code(&url(&format!("{}://bucket/{key}", scheme.word())), limits), "ok");
        assert_eq!(code(&plain("bucket", &key), PlaceLimits { spool_bytes: 2, ..limits }), "bill::too_large");
        assert_eq!(code(&plain("bucket", "p/cur/x.csv"), limits), "bill::incomplete_delivery");
        for hostile in [
            plain("other", &key),
            plain("bucket", "q/x.csv"),
            url(&format!("{}://other/{key}", scheme.word())),
            // The same name in the other cloud is another bucket.
            url(&format!("{}://bucket/{key}", other.word())),
            url(&format!("{}://bucket/p/cur/../../q/x.csv", scheme.word())),
            url(&format!("{}://bucket/q/x.csv", scheme.word())),
        ] {
            assert_eq!(code(&hostile, limits), "bill::hostile_manifest", "for {hostile}");
        }
    }
}

#[test]
fn a_bucket_without_tags_is_always_read() {
    for scheme in SCHEMES {
        let cloud = report();
        let bare = |objects: &mut BTreeMap<String, (String, String)>| {
            objects.values_mut().for_each(|(_, tag)| tag.clear());
        };
        bare(&mut cloud.served.lock().unwrap().objects);
        let opened = cloud.open(scheme, &nothing()).unwrap();
        assert_eq!(opened.listing, None);
        assert!(opened.parts.iter().all(|part| part.fingerprint.is_none()));
        assert_eq!(names(&cloud.open(scheme, &read_whole(&opened)).unwrap()).len(), 2);
    }
}

#[test]
fn a_url_without_a_bucket_is_refused() {
    for url in ["s3://", "gs:///bills"] {
        let fault = super::super::open(url, &PlaceLimits::default()).unwrap_err();
        assert_eq!((fault.code, fault.message), ("place::not_found", format!("`{url}` names no bucket")));
    }
}
