//! The form of the input: lists, single objects and watch events, one object at a time in memory.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::fact::Fact;
use crate::telemetry::attempts::Refusal;

/// What one object says.
pub(super) type Said = Result<Fact, Refusal>;

/// A JSON document of the input.
#[derive(Debug)]
pub(super) enum Document {
    /// What was there at one time.
    List(Vec<Said>),
    /// One object, or one event of a watch.
    One(Box<Said>),
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Shape)
    }
}

/// A value that stands where an object should rejects only itself.
fn not_an_object(found: &str) -> Document {
    let refusal = Refusal::of_record("row::not_an_object", found, "an object with `kind`");
    Document::One(Box::new(Err(refusal)))
}

struct Shape;

impl<'de> Visitor<'de> for Shape {
    type Value = Document;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of objects, an object, or an event of a watch")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Document, A::Error> {
        let (mut rest, mut items) = (Map::new(), None);
        while let Some(key) = map.next_key::<String>()? {
            if key == "items" {
                items = Some(map.next_value::<Option<Items>>()?.unwrap_or_default());
            } else {
                rest.insert(key, map.next_value()?);
            }
        }
        Ok(match items {
            Some(Items(items)) => Document::List(items),
            None => Document::One(Box::new(Fact::of(&Value::Object(rest)))),
        })
    }

    fn visit_bool<E>(self, found: bool) -> Result<Document, E> {
        Ok(not_an_object(&found.to_string()))
    }

    fn visit_i64<E>(self, found: i64) -> Result<Document, E> {
        Ok(not_an_object(&found.to_string()))
    }

    fn visit_u64<E>(self, found: u64) -> Result<Document, E> {
        Ok(not_an_object(&found.to_string()))
    }

    fn visit_f64<E>(self, found: f64) -> Result<Document, E> {
        Ok(not_an_object(&found.to_string()))
    }

    fn visit_str<E>(self, found: &str) -> Result<Document, E> {
        Ok(not_an_object(found))
    }

    fn visit_unit<E>(self) -> Result<Document, E> {
        Ok(not_an_object("null"))
    }

    /// Objects in brackets, as `jq -s` makes of several.
    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Document, A::Error> {
        Items::gather(seq).map(|Items(items)| Document::List(items))
    }
}

#[derive(Debug, Default)]
struct Items(Vec<Said>);

impl Items {
    fn gather<'de, A: SeqAccess<'de>>(mut seq: A) -> Result<Self, A::Error> {
        let mut items = Vec::new();
        while let Some(document) = seq.next_element::<Document>()? {
            match document {
                Document::List(inner) => items.extend(inner),
                Document::One(said) => items.push(*said),
            }
        }
        Ok(Self(items))
    }
}

impl<'de> Deserialize<'de> for Items {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Items;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of objects")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Items, A::Error> {
                Items::gather(seq)
            }
        }
        deserializer.deserialize_seq(List)
    }
}
