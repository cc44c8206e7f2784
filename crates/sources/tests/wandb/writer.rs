//! Writes `.wandb` files as W&B does, by its own reading of the format.

use crate::proto::crc;

/// A file of records.
pub(crate) fn file(records: &[Vec<u8>]) -> Vec<u8> {
    let mut file = b":W&B\xe1\xbe\x00".to_vec();
    for record in records {
        let mut rest = record.as_slice();
        let mut first = true;
        loop {
            let left = 32_768 - file.len() % 32_768;
            if left < 7 {
                file.extend(vec![0; left]);
                continue;
            }
            let (piece, after) = rest.split_at(rest.len().min(left - 7));
            let kind = match (first, after.is_empty()) {
                (true, true) => 1,
                (true, false) => 2,
                (false, false) => 3,
                (false, true) => 4,
            };
            let sum = crc(0xedb8_8320, &[&[kind], piece].concat());
            file.extend(sum.to_le_bytes());
            file.extend(u16::try_from(piece.len()).unwrap().to_le_bytes());
            file.push(kind);
            file.extend(piece);
            (rest, first) = (after, false);
            if rest.is_empty() {
                break;
            }
        }
    }
    file
}
