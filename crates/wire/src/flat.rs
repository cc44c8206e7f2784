//! Rows as flat columns: an object inside a row becomes columns named `outer_inner`.

use std::fmt;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// Columns and rows; a cell is `None` where the value is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flat {
    /// Column names.
    pub columns: Vec<String>,
    /// Rows, each as long as the columns.
    pub rows: Vec<Vec<Option<String>>>,
}

/// Makes rows flat. A list becomes one cell, its items joined by `; `.
///
/// # Errors
/// Of the serialiser.
pub fn flat<R: Serialize + Default>(rows: &[R]) -> Result<Flat, serde_json::Error> {
    let mut columns = Vec::new();
    read(&R::default())?.spread("", &mut |name, _| columns.push(name));
    let mut cells = Vec::with_capacity(rows.len());
    for row in rows {
        let mut line = Vec::with_capacity(columns.len());
        read(row)?.spread("", &mut |_, cell| line.push(cell));
        cells.push(line);
    }
    Ok(Flat { columns, rows: cells })
}

fn read<R: Serialize>(row: &R) -> Result<Node, serde_json::Error> {
    serde_json::from_str(&serde_json::to_string(row)?)
}

/// A JSON value whose fields keep their order.
enum Node {
    Null,
    Plain(String),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl Node {
    fn spread(self, name: &str, sink: &mut dyn FnMut(String, Option<String>)) {
        match self {
            Self::Object(fields) => {
                for (field, node) in fields {
                    let name = if name.is_empty() { field } else { format!("{name}_{field}") };
                    node.spread(&name, sink);
                }
            }
            Self::Null => sink(name.to_owned(), None),
            Self::Plain(text) => sink(name.to_owned(), Some(text)),
            Self::List(items) => {
                let items: Vec<String> = items.into_iter().map(Self::item).collect();
                sink(name.to_owned(), Some(items.join("; ")));
            }
        }
    }

    /// An item of a list: `start=2026-11-01T00:00:00Z end=… weight=4 of=8`.
    fn item(self) -> String {
        match self {
            Self::Null => String::new(),
            Self::Plain(text) => text,
            Self::List(items) => items.into_iter().map(Self::item).collect::<Vec<_>>().join(" "),
            Self::Object(fields) => {
                let fields = fields.into_iter().map(|(name, node)| format!("{name}={}", node.item()));
                fields.collect::<Vec<_>>().join(" ")
            }
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Node, E> {
        Ok(Node::Plain(truth.to_string()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Node, E> {
        Ok(Node::Plain(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Node, E> {
        Ok(Node::Plain(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Node, E> {
        Ok(Node::Plain(number.to_string()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Plain(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Node, A::Error> {
        let mut object = Vec::new();
        while let Some(field) = fields.next_entry()? {
            object.push(field);
        }
        Ok(Node::Object(object))
    }
}
