//! Tables as Apache Parquet files.
//!
//! One row group, one data page a column, data page version 1, uncompressed. Texts are stored once, in a dictionary.
//! Every column is optional: a missing value has definition level 0.
//!
//! Source: Apache Parquet format 2.10 (`parquet.thrift`, Encodings.md), Thrift compact protocol.

mod thrift;

use std::collections::HashMap;
use thrift::{ThriftField, ThriftStruct};

/// First and last bytes of a file.
const MAGIC: &[u8] = b"PAR1";

/// Numbers of the format.
mod ids {
    pub(super) const INT64: i64 = 2;
    pub(super) const DOUBLE: i64 = 5;
    pub(super) const BYTE_ARRAY: i64 = 6;
    pub(super) const OPTIONAL: i64 = 1;
    pub(super) const UTF8: i64 = 0;
    pub(super) const PLAIN: i64 = 0;
    pub(super) const RLE: i64 = 3;
    pub(super) const RLE_DICTIONARY: i64 = 8;
    pub(super) const DATA_PAGE: i64 = 0;
    pub(super) const DICTIONARY_PAGE: i64 = 2;
    pub(super) const UNCOMPRESSED: i64 = 0;
}

/// Values of a column, one for each row.
pub(crate) enum ColumnValues {
    Texts(Vec<Option<String>>),
    Counts(Vec<Option<i64>>),
    Numbers(Vec<Option<f64>>),
}

/// A column with its name.
pub(crate) struct ParquetColumn {
    pub(crate) name: &'static str,
    pub(crate) values: ColumnValues,
}

/// Writes a table whose columns all have the same number of rows.
pub(crate) fn file(table: &str, columns: &[ParquetColumn]) -> Vec<u8> {
    let rows = columns.first().map_or(0, |column| column.values.len());
    let mut bytes = MAGIC.to_vec();
    let chunks: Vec<ThriftStruct> = columns
        .iter()
        .map(|column| {
            debug_assert_eq!(column.values.len(), rows);
            write_chunk(&mut bytes, column)
        })
        .collect();
    let data = bytes.len() - MAGIC.len();
    let group = ThriftStruct::new([
        (1, ThriftField::Structs(chunks)),
        (2, ThriftField::I64(data as i64)),
        (3, ThriftField::I64(rows as i64)),
    ]);
    let footer = ThriftStruct::new([
        (1, ThriftField::I32(1)),
        (2, ThriftField::Structs(schema(table, columns))),
        (3, ThriftField::I64(rows as i64)),
        (4, ThriftField::Structs(vec![group])),
        (6, ThriftField::Text("hakaru".to_owned())),
    ]);
    let footer = footer.encode();
    bytes.extend(&footer);
    bytes.extend((footer.len() as u32).to_le_bytes());
    bytes.extend(MAGIC);
    bytes
}

/// The schema as a list: the table, then its columns.
fn schema(table: &str, columns: &[ParquetColumn]) -> Vec<ThriftStruct> {
    let root = ThriftStruct::new([
        (4, ThriftField::Text(table.to_owned())),
        (5, ThriftField::I32(columns.len() as i64)),
    ]);
    let leaf = |column: &ParquetColumn| {
        let mut fields = vec![
            (1, ThriftField::I32(column.values.type_id())),
            (3, ThriftField::I32(ids::OPTIONAL)),
            (4, ThriftField::Text(column.name.to_owned())),
        ];
        if let ColumnValues::Texts(_) = column.values {
            let string = ThriftStruct::new([(1, ThriftField::Struct(ThriftStruct::new([])))]);
            fields.push((6, ThriftField::I32(ids::UTF8)));
            fields.push((10, ThriftField::Struct(string)));
        }
        ThriftStruct::new(fields)
    };
    std::iter::once(root)
        .chain(columns.iter().map(leaf))
        .collect()
}

/// Appends the pages of a column, and returns its metadata.
fn write_chunk(bytes: &mut Vec<u8>, column: &ParquetColumn) -> ThriftStruct {
    let begin = bytes.len();
    let rows = column.values.len() as i64;
    let (dictionary, values, encoding) = match &column.values {
        ColumnValues::Texts(texts) => {
            let (dictionary, indices) = with_dictionary(texts);
            (Some(dictionary), indices, ids::RLE_DICTIONARY)
        }
        ColumnValues::Counts(counts) => (None, plain(counts, |n| n.to_le_bytes()), ids::PLAIN),
        ColumnValues::Numbers(numbers) => (None, plain(numbers, |n| n.to_le_bytes()), ids::PLAIN),
    };
    let has_dictionary = dictionary.is_some();
    if let Some((count, content)) = dictionary {
        let header = ThriftStruct::new([
            (1, ThriftField::I32(count as i64)),
            (2, ThriftField::I32(ids::PLAIN)),
        ]);
        write_page(bytes, ids::DICTIONARY_PAGE, (7, header), &content);
    }
    let data_page = bytes.len();
    let levels = bit_packed(column.values.presence(), 1);
    let mut content = (levels.len() as u32).to_le_bytes().to_vec();
    content.extend(levels);
    content.extend(values);
    let header = ThriftStruct::new([
        (1, ThriftField::I32(rows)),
        (2, ThriftField::I32(encoding)),
        (3, ThriftField::I32(ids::RLE)),
        (4, ThriftField::I32(ids::RLE)),
    ]);
    write_page(bytes, ids::DATA_PAGE, (5, header), &content);
    let mut encodings = vec![ids::PLAIN, ids::RLE];
    if has_dictionary {
        encodings.push(ids::RLE_DICTIONARY);
    }
    let size = (bytes.len() - begin) as i64;
    let mut metadata = vec![
        (1, ThriftField::I32(column.values.type_id())),
        (2, ThriftField::I32s(encodings)),
        (3, ThriftField::Texts(vec![column.name.to_owned()])),
        (4, ThriftField::I32(ids::UNCOMPRESSED)),
        (5, ThriftField::I64(rows)),
        (6, ThriftField::I64(size)),
        (7, ThriftField::I64(size)),
        (9, ThriftField::I64(data_page as i64)),
    ];
    if has_dictionary {
        metadata.push((11, ThriftField::I64(begin as i64)));
    }
    ThriftStruct::new([
        (2, ThriftField::I64(begin as i64)),
        (3, ThriftField::Struct(ThriftStruct::new(metadata))),
    ])
}

/// Appends a page: its header, which `own` completes, and its content.
fn write_page(bytes: &mut Vec<u8>, kind: i64, own: (i16, ThriftStruct), content: &[u8]) {
    let size = content.len() as i64;
    let header = ThriftStruct::new([
        (1, ThriftField::I32(kind)),
        (2, ThriftField::I32(size)),
        (3, ThriftField::I32(size)),
        (own.0, ThriftField::Struct(own.1)),
    ]);
    bytes.extend(header.encode());
    bytes.extend(content);
}

/// Encodes the existing values one after another.
fn plain<T: Copy>(values: &[Option<T>], encode: impl Fn(T) -> [u8; 8]) -> Vec<u8> {
    values
        .iter()
        .flatten()
        .flat_map(|&value| encode(value))
        .collect()
}

/// Returns the distinct texts in the order of their first row (their number and encoding), and the index of each
/// existing text.
fn with_dictionary(texts: &[Option<String>]) -> ((usize, Vec<u8>), Vec<u8>) {
    let mut known: HashMap<&str, u32> = HashMap::new();
    let mut content = Vec::new();
    let mut indices = Vec::new();
    for text in texts.iter().flatten() {
        let next = known.len() as u32;
        let index = *known.entry(text).or_insert_with(|| {
            content.extend((text.len() as u32).to_le_bytes());
            content.extend(text.as_bytes());
            next
        });
        indices.push(index);
    }
    let width = u32::BITS - (known.len() as u32).saturating_sub(1).leading_zeros();
    let width = width.max(1);
    let mut encoded = vec![width as u8];
    encoded.extend(bit_packed(indices.into_iter(), width));
    ((known.len(), content), encoded)
}

/// Encodes values of a few bits as one bit-packed run, in groups of eight; the last group is filled with zeros.
fn bit_packed(values: impl ExactSizeIterator<Item = u32>, width: u32) -> Vec<u8> {
    let groups = values.len().div_ceil(8);
    let mut bytes = Vec::new();
    thrift::varint(&mut bytes, (groups as u64) << 1 | 1);
    let begin = bytes.len();
    let (mut pending, mut bits) = (0u64, 0);
    for value in values {
        pending |= u64::from(value) << bits;
        bits += width;
        while bits >= 8 {
            bytes.push(pending as u8);
            pending >>= 8;
            bits -= 8;
        }
    }
    if bits > 0 {
        bytes.push(pending as u8);
    }
    bytes.resize(begin + groups * width as usize, 0);
    bytes
}

impl ColumnValues {
    fn len(&self) -> usize {
        match self {
            ColumnValues::Texts(values) => values.len(),
            ColumnValues::Counts(values) => values.len(),
            ColumnValues::Numbers(values) => values.len(),
        }
    }

    fn type_id(&self) -> i64 {
        match self {
            ColumnValues::Texts(_) => ids::BYTE_ARRAY,
            ColumnValues::Counts(_) => ids::INT64,
            ColumnValues::Numbers(_) => ids::DOUBLE,
        }
    }

    /// The definition level of each row.
    fn presence(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
        (0..self.len()).map(|row| {
            u32::from(match self {
                ColumnValues::Texts(values) => values[row].is_some(),
                ColumnValues::Counts(values) => values[row].is_some(),
                ColumnValues::Numbers(values) => values[row].is_some(),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field as Cell;
    use proptest::prelude::*;
    use std::io::Write;

    fn read(bytes: &[u8]) -> Vec<Vec<Cell>> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let row =
            |row: parquet::record::Row| row.get_column_iter().map(|(_, c)| c.clone()).collect();
        let rows = reader.get_row_iter(None).unwrap();
        rows.map(|read| row(read.unwrap())).collect()
    }

    proptest! {
        #[test]
        fn another_reader_finds_the_values(
            rows in prop::collection::vec(
                (prop::option::of("[a-c]{0,2}"), prop::option::of(any::<i64>()), prop::option::of(-1e9f64..1e9)),
                0..70,
            ),
        ) {
            let columns = [
                ParquetColumn { name: "a", values: ColumnValues::Texts(rows.iter().map(|r| r.0.clone()).collect()) },
                ParquetColumn { name: "b", values: ColumnValues::Counts(rows.iter().map(|r| r.1).collect()) },
                ParquetColumn { name: "c", values: ColumnValues::Numbers(rows.iter().map(|r| r.2).collect()) },
            ];
            let cell = |cell: Option<Cell>| cell.unwrap_or(Cell::Null);
            let expected: Vec<Vec<Cell>> = rows
                .iter()
                .map(|(a, b, c)| vec![
                    cell(a.clone().map(Cell::Str)),
                    cell(b.map(Cell::Long)),
                    cell(c.map(Cell::Double)),
                ])
                .collect();
            prop_assert_eq!(read(&file("table", &columns)), expected);
        }
    }

    #[test]
    fn many_distinct_texts_are_found_again() {
        let texts: Vec<Option<String>> = (0..3000).map(|n| Some(format!("text {n}"))).collect();
        let columns = [ParquetColumn {
            name: "a",
            values: ColumnValues::Texts(texts.clone()),
        }];
        let found = read(&file("table", &columns));
        let expected = texts
            .into_iter()
            .flatten()
            .map(|text| vec![Cell::Str(text)]);
        assert_eq!(found, expected.collect::<Vec<_>>());
    }
}
