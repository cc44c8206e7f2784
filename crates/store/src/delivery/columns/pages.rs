//! The finished pages of one column of a row group, and what the file's footer tells of them.

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, EncodingMask, PageType, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::metadata::{
    ColumnChunkMetaData, ColumnIndexBuilder, OffsetIndexBuilder, PageEncodingStats,
};
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

/// Room for the header of a page beside its bytes.
const HEADER_BYTES: usize = 64;

/// What columns share while their pages are made.
pub(super) struct Press {
    zstd: zstd::bulk::Compressor<'static>,
    /// The body of a page before it is compressed.
    pub(super) body: Vec<u8>,
    /// Levels while they are encoded.
    pub(super) levels: Vec<u32>,
}

impl Press {
    /// With Zstandard at its first level: on charges 63 bytes a row, against 109 with Snappy, written and read as fast;
    /// the third level gains nothing.
    pub(super) fn new() -> std::io::Result<Self> {
        let level = ZstdLevel::default().compression_level();
        Ok(Self { zstd: zstd::bulk::Compressor::new(level)?, body: Vec::new(), levels: Vec::new() })
    }
}

impl std::fmt::Debug for Press {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Press").finish_non_exhaustive()
    }
}

/// What is told of a data page beside its bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageFacts {
    pub(super) rows: usize,
    pub(super) nulls: usize,
    pub(super) encoding: Encoding,
    /// Least and greatest value, where they are kept and there is a value.
    pub(super) range: Option<(i64, i64)>,
}

/// The data pages of a column of a row group.
#[derive(Debug)]
pub(super) struct Pages {
    column: ColumnDescPtr,
    /// Pages with their headers, and what the index tells of each.
    pages: Vec<(Bytes, PageFacts)>,
    uncompressed: usize,
    /// Of the bytes before they are compressed: they follow from the rows alone, whatever version compresses them.
    hasher: blake3::Hasher,
}

/// A column of a row group, ready for a file.
pub(super) struct Closed {
    pub(super) bytes: Bytes,
    pub(super) facts: ColumnCloseResult,
    /// Of its rows.
    pub(super) hash: blake3::Hash,
}

impl Pages {
    pub(super) fn new(column: ColumnDescPtr) -> Self {
        Self { column, pages: Vec::new(), uncompressed: 0, hasher: blake3::Hasher::new() }
    }

    /// True if rows may lack a value, which the pages then tell of each row.
    pub(super) fn has_levels(&self) -> bool {
        self.column.max_def_level() > 0
    }

    /// Rows so far.
    pub(super) fn rows(&self) -> usize {
        self.pages.iter().map(|(_, facts)| facts.rows).sum()
    }

    /// Adds a data page of which the press holds the body.
    pub(super) fn add(&mut self, press: &mut Press, facts: PageFacts) -> Result<()> {
        self.hasher.update(&press.body);
        let page = Page::DataPage {
            buf: Bytes::from(press.zstd.compress(&press.body)?),
            num_values: count(facts.rows),
            encoding: facts.encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let page = self.serialized(page, press.body.len())?;
        self.pages.push((page, facts));
        Ok(())
    }

    /// Ends the column of this row group; the next one begins without pages. The body of a dictionary that the press
    /// holds goes before the pages.
    pub(super) fn close(&mut self, press: &mut Press, dictionary: Option<usize>) -> Result<Closed> {
        let first = dictionary.map(|values| self.dictionary(press, values)).transpose()?;
        let offset = first.as_ref().map_or(0, Bytes::len);
        let hash = std::mem::take(&mut self.hasher).finalize();
        let length = offset + self.pages.iter().map(|(page, _)| page.len()).sum::<usize>();
        let facts = self.facts(first.is_some().then_some(offset), length)?;
        let mut bytes = Vec::with_capacity(length);
        for page in first.into_iter().chain(self.pages.drain(..).map(|(page, _)| page)) {
            bytes.extend_from_slice(&page);
        }
        self.uncompressed = 0;
        Ok(Closed { bytes: Bytes::from(bytes), facts, hash })
    }

    fn dictionary(&mut self, press: &mut Press, values: usize) -> Result<Bytes> {
        self.hasher.update(&press.body);
        let page = Page::DictionaryPage {
            buf: Bytes::from(press.zstd.compress(&press.body)?),
            num_values: count(values),
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        self.serialized(page, press.body.len())
    }

    fn serialized(&mut self, page: Page, body: usize) -> Result<Bytes> {
        let mut out = TrackedWrite::new(Vec::with_capacity(page.buffer().len() + HEADER_BYTES));
        let mut writer = SerializedPageWriter::new(&mut out);
        let written = writer.write_page(CompressedPage::new(page, body))?;
        writer.close()?;
        self.uncompressed += written.uncompressed_size;
        Ok(Bytes::from(out.into_inner()?))
    }

    /// What the footer tells of the chunk of this length; the first page's offset if it is a dictionary's.
    fn facts(&self, dictionary: Option<usize>, length: usize) -> Result<ColumnCloseResult> {
        let rows = self.rows();
        let mut offsets = OffsetIndexBuilder::new();
        let mut at = dictionary.unwrap_or(0);
        for (page, facts) in &self.pages {
            offsets.append_row_count(signed(facts.rows));
            offsets.append_offset_and_size(signed(at), i32::try_from(page.len()).unwrap_or(i32::MAX));
            at += page.len();
        }
        let encodings = self.encodings(dictionary.is_some());
        let metadata = ColumnChunkMetaData::builder(self.column.clone())
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_encodings_mask(EncodingMask::new_from_encodings(
                encodings.iter().map(|stats| &stats.encoding).chain([&Encoding::RLE]),
            ))
            .set_page_encoding_stats(encodings.clone())
            .set_total_compressed_size(signed(length))
            .set_total_uncompressed_size(signed(self.uncompressed))
            .set_num_values(signed(rows))
            .set_data_page_offset(signed(dictionary.unwrap_or(0)))
            .set_dictionary_page_offset(dictionary.map(|_| 0))
            .set_statistics(self.statistics())
            .build()?;
        Ok(ColumnCloseResult {
            bytes_written: length as u64,
            rows_written: rows as u64,
            metadata,
            bloom_filter: None,
            column_index: self.column_index()?,
            offset_index: Some(offsets.build()),
        })
    }

    fn encodings(&self, dictionary: bool) -> Vec<PageEncodingStats> {
        let first =
            PageEncodingStats { page_type: PageType::DICTIONARY_PAGE, encoding: Encoding::PLAIN, count: 1 };
        let mut all: Vec<PageEncodingStats> = dictionary.then_some(first).into_iter().collect();
        for (_, PageFacts { encoding, .. }) in &self.pages {
            match all.last_mut() {
                Some(last) if last.page_type == PageType::DATA_PAGE && last.encoding == *encoding => {
                    last.count += 1;
                }
                _ => all.push(PageEncodingStats {
                    page_type: PageType::DATA_PAGE,
                    encoding: *encoding,
                    count: 1,
                }),
            }
        }
        all
    }

    /// Nulls are counted for every column; least and greatest are kept only where a query by time or row skips by them.
    fn statistics(&self) -> Statistics {
        use parquet::basic::Type;
        let nulls = Some(self.pages.iter().map(|(_, facts)| facts.nulls as u64).sum());
        let ranges = self.pages.iter().filter_map(|(_, facts)| facts.range);
        let range = ranges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        match self.column.physical_type() {
            Type::INT64 => {
                Statistics::int64(range.map(|range| range.0), range.map(|range| range.1), None, nulls, false)
            }
            Type::DOUBLE => Statistics::double(None, None, None, nulls, false),
            Type::FIXED_LEN_BYTE_ARRAY => Statistics::fixed_len_byte_array(None, None, None, nulls, false),
            _ => Statistics::byte_array(None, None, None, nulls, false),
        }
    }

    fn column_index(&self) -> Result<Option<parquet::file::page_index::column_index::ColumnIndexMetaData>> {
        if self.column.physical_type() != parquet::basic::Type::INT64 {
            return Ok(None);
        }
        let mut index = ColumnIndexBuilder::new(self.column.physical_type());
        for (_, facts) in &self.pages {
            let bytes = |value: i64| value.to_le_bytes().to_vec();
            let (least, greatest) =
                facts.range.map_or_else(Default::default, |range| (bytes(range.0), bytes(range.1)));
            index.append(facts.range.is_none(), least, greatest, signed(facts.nulls));
        }
        index.build().map(Some)
    }
}

fn count(values: usize) -> u32 {
    u32::try_from(values).unwrap_or(u32::MAX)
}

fn signed(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
