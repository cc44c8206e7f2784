//! Writes event files as TensorFlow and PyTorch do, by its own reading of the format.

use std::path::Path;

use crate::proto::{bytes, crc, key, varint, whole};

/// A folder of event files, gone after the test.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file that begins one second before its first event, at 99 if that is at 100.
    pub(crate) fn write(&self, name: &str, events: &[Vec<u8>]) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, file(events)).unwrap();
    }
}

/// A file: its version, one second before the first event, then the events.
pub(crate) fn file(written: &[Vec<u8>]) -> Vec<u8> {
    let first =
        written.first().map_or(100.0, |record| f64::from_le_bytes(record[13..21].try_into().unwrap()));
    let version = [time(first - 1.0), bytes(3, b"brain.Event:2")].concat();
    [record(&version), events(written)].concat()
}

pub(crate) fn events(events: &[Vec<u8>]) -> Vec<u8> {
    events.concat()
}

/// A scalar in the old form.
pub(crate) fn scalar(at: f64, step: u64, tag: &str, value: f32) -> Vec<u8> {
    let value = [bytes(1, tag.as_bytes()), key(2, 5), value.to_le_bytes().to_vec()].concat();
    event(at, step, &bytes(5, &bytes(1, &value)))
}

/// A session log that says that the process starts at a step.
pub(crate) fn start(at: f64, step: u64) -> Vec<u8> {
    event(at, step, &bytes(7, &whole(1, 1)))
}

/// Forms of a tensor.
#[derive(Debug)]
pub(crate) enum Tensor {
    FloatList(f32),
    FloatBytes(f32),
    DoubleList(f64),
    DoubleBytes(f64),
    Int64(i64),
    Half(u64),
    Vector,
    Text,
}

/// A value in the form of a tensor, with the plugin that it names.
pub(crate) fn tensor(at: f64, step: u64, tag: &str, form: &Tensor, plugin: Option<&str>) -> Vec<u8> {
    let shape = bytes(2, &[]);
    let content = match form {
        Tensor::FloatList(value) => [whole(1, 1), shape, bytes(5, &value.to_le_bytes())].concat(),
        Tensor::FloatBytes(value) => [whole(1, 1), shape, bytes(4, &value.to_le_bytes())].concat(),
        Tensor::DoubleList(value) => [whole(1, 2), shape, bytes(6, &value.to_le_bytes())].concat(),
        Tensor::DoubleBytes(value) => [whole(1, 2), bytes(4, &value.to_le_bytes())].concat(),
        Tensor::Int64(value) => [whole(1, 9), bytes(10, &varint(value.cast_unsigned()))].concat(),
        Tensor::Half(bits) => [whole(1, 19), whole(13, *bits)].concat(),
        Tensor::Vector => {
            let two = [1.0_f32.to_le_bytes(), 2.0_f32.to_le_bytes()].concat();
            [whole(1, 1), bytes(2, &bytes(2, &whole(1, 2))), bytes(5, &two)].concat()
        }
        Tensor::Text => [whole(1, 7), bytes(8, b"words")].concat(),
    };
    let metadata = plugin.map(|plugin| bytes(9, &bytes(1, &bytes(1, plugin.as_bytes()))));
    let value = [bytes(1, tag.as_bytes()), bytes(8, &content), metadata.unwrap_or_default()].concat();
    event(at, step, &bytes(5, &bytes(1, &value)))
}

fn event(at: f64, step: u64, content: &[u8]) -> Vec<u8> {
    record(&[time(at), whole(2, step), content.to_vec()].concat())
}

fn time(at: f64) -> Vec<u8> {
    [key(1, 1), at.to_le_bytes().to_vec()].concat()
}

/// A record with its checksums.
pub(crate) fn record(content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u64).to_le_bytes();
    let sums = [masked(&length), masked(content)].map(u32::to_le_bytes);
    [&length[..], &sums[0], content, &sums[1]].concat()
}

/// CRC-32C, masked.
fn masked(content: &[u8]) -> u32 {
    crc(0x82f6_3b78, content).rotate_right(15).wrapping_add(0xa282_ead8)
}
