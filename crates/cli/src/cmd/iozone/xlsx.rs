//! A workbook with one sheet in the format of Excel 2007 (Office Open XML, ECMA-376).

use super::workbook::{Cell, SheetCell};
use std::fmt::Write as _;

const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";

/// The files of a workbook besides its sheet. All are required.
const PARTS: [(&str, &str); 4] = [
    (
        "[Content_Types].xml",
        "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
         <Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
         <Override PartName=\"/xl/workbook.xml\" \
         ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml\"/>\
         <Override PartName=\"/xl/worksheets/sheet1.xml\" \
         ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml\"/></Types>",
    ),
    (
        "_rels/.rels",
        "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
         <Relationship Id=\"rId1\" \
         Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\" \
         Target=\"xl/workbook.xml\"/></Relationships>",
    ),
    (
        "xl/workbook.xml",
        "<workbook xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" \
         xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\">\
         <sheets><sheet name=\"iozone\" sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>",
    ),
    (
        "xl/_rels/workbook.xml.rels",
        "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
         <Relationship Id=\"rId1\" \
         Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet\" \
         Target=\"worksheets/sheet1.xml\"/></Relationships>",
    ),
];

/// Returns the workbook. Cells are in the order of their rows and columns.
pub(super) fn xlsx(cells: &[SheetCell<'_>]) -> Vec<u8> {
    let mut archive = Archive::default();
    for (name, content) in PARTS {
        archive.add(name, &format!("{DECLARATION}{content}"));
    }
    archive.add("xl/worksheets/sheet1.xml", &sheet(cells));
    archive.finish()
}

fn sheet(cells: &[SheetCell<'_>]) -> String {
    let mut xml = format!(
        "{DECLARATION}<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><sheetData>"
    );
    for row in cells.chunk_by(|a, b| a.row == b.row) {
        let number = u32::from(row[0].row) + 1;
        let _ = write!(xml, "<row r=\"{number}\">");
        for cell in row {
            let place = format!("{}{number}", column_name(cell.column));
            let _ = match &cell.content {
                Cell::Number(value) => write!(xml, "<c r=\"{place}\"><v>{value}</v></c>"),
                Cell::Text(text) => write!(
                    xml,
                    "<c r=\"{place}\" t=\"inlineStr\"><is><t xml:space=\"preserve\">{}</t></is></c>",
                    escaped(text)
                ),
            };
        }
        xml.push_str("</row>");
    }
    xml.push_str("</sheetData></worksheet>");
    xml
}

/// Name of a column, counted from 0: A to Z, AA to ZZ, and so on.
fn column_name(column: u16) -> String {
    let (mut name, mut left) = (String::new(), u32::from(column) + 1);
    while left > 0 {
        left -= 1;
        name.insert(0, char::from(b'A' + (left % 26) as u8));
        left /= 26;
    }
    name
}

/// Replaces the characters that XML reserves, and removes control characters, which it does not allow.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\t' | '\n' => out.push(c),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// A zip archive of uncompressed files, all of 1980-01-01, so that the same results give the same bytes.
#[derive(Default)]
struct Archive {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    files: u16,
}

impl Archive {
    fn add(&mut self, name: &str, content: &str) {
        let start = (self.bytes.len() as u32).to_le_bytes();
        let size = (content.len() as u32).to_le_bytes();
        let mut head = Vec::new();
        // Version 2.0 to extract, names in UTF-8, stored, time and date.
        for field in [20u16, 0x0800, 0, 0, 0x0021] {
            head.extend(field.to_le_bytes());
        }
        head.extend(crc32fast::hash(content.as_bytes()).to_le_bytes());
        head.extend(size);
        head.extend(size);
        head.extend((name.len() as u16).to_le_bytes());
        head.extend([0; 2]);
        self.bytes.extend(b"PK\x03\x04");
        self.bytes.extend(&head);
        self.bytes.extend(name.bytes());
        self.bytes.extend(content.bytes());
        self.directory.extend(b"PK\x01\x02\x14\0");
        self.directory.extend(&head);
        // Comment, disk and attributes.
        self.directory.extend([0; 10]);
        self.directory.extend(start);
        self.directory.extend(name.bytes());
        self.files += 1;
    }

    fn finish(mut self) -> Vec<u8> {
        let (start, size) = (self.bytes.len() as u32, self.directory.len() as u32);
        self.bytes.extend(&self.directory);
        self.bytes.extend(b"PK\x05\x06\0\0\0\0");
        for count in [self.files; 2] {
            self.bytes.extend(count.to_le_bytes());
        }
        self.bytes.extend(size.to_le_bytes());
        self.bytes.extend(start.to_le_bytes());
        self.bytes.extend([0; 2]);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_named_by_letters() {
        let names = [0, 25, 26, 51, 701, 702, 16_383].map(column_name);
        assert_eq!(names, ["A", "Z", "AA", "AZ", "ZZ", "AAA", "XFD"]);
    }

    #[test]
    fn the_sheet_has_numbers_texts_and_gaps() {
        let cell = |row, column, content| SheetCell {
            row,
            column,
            content,
        };
        let xml = sheet(&[
            cell(0, 0, Cell::Text("a<b & \"c\"\u{1}")),
            cell(2, 1, Cell::Number(173_944.5)),
        ]);
        let rows = xml.split_once("<sheetData>").unwrap().1;
        assert_eq!(
            rows,
            "<row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t xml:space=\"preserve\">a&lt;b &amp; \"c\"</t></is></c></row>\
             <row r=\"3\"><c r=\"B3\"><v>173944.5</v></c></row></sheetData></worksheet>"
        );
    }

    /// Reads the archive as its format says: from the end, through the directory, to each file.
    #[test]
    fn every_file_of_the_archive_is_found_through_its_directory() {
        let bytes = xlsx(&[]);
        let short = |at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
        let long = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let end = bytes.len() - 22;
        assert_eq!(&bytes[end..end + 4], b"PK\x05\x06");
        let (files, mut at) = (short(end + 10), long(end + 16));
        assert_eq!(at + long(end + 12), end, "the directory reaches to the end");
        let mut names = Vec::new();
        for _ in 0..files {
            assert_eq!(&bytes[at..at + 4], b"PK\x01\x02");
            let (name_len, start) = (short(at + 28), long(at + 42));
            let name = &bytes[at + 46..at + 46 + name_len];
            assert_eq!(&bytes[start..start + 4], b"PK\x03\x04");
            assert_eq!(&bytes[start + 30..start + 30 + name_len], name);
            let content = start + 30 + name_len;
            let content = &bytes[content..content + long(start + 22)];
            assert_eq!(crc32fast::hash(content) as usize, long(start + 14));
            assert!(content.starts_with(DECLARATION.as_bytes()));
            names.push(String::from_utf8_lossy(name).into_owned());
            at += 46 + name_len;
        }
        assert_eq!(at, end);
        assert_eq!(names.len(), PARTS.len() + 1);
        assert_eq!(names[4], "xl/worksheets/sheet1.xml");
    }
}
