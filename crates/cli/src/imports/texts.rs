//! Reads input texts: files, directories, standard input, with size limits, and in batches of a limited size.

use crate::exit::NamedPath;
use anyhow::{Context, Result, bail};
use hakaru_dialects::import::csv::{ColumnMapping, mapping_of_header};
use hakaru_model::units::Bytes;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Maximum file size to read; the longest fio logs have a few hundred megabytes.
const LARGEST: Bytes = Bytes(1 << 30);

/// Maximum size to read from sources of unknown length: a pipe, a device.
const LONGEST: Bytes = Bytes(256 << 20);

/// Length of the texts after which a batch ends.
const BATCH: u64 = 4 << 20;

/// Length that every record counts as besides that of its text: what is made of a short one takes much more memory.
const PER_RECORD: u64 = 8 << 10;

/// Length of a part of a table.
const PART: u64 = 64 << 10;

/// Lines of a part of a table: each becomes a record.
const PART_LINES: usize = (BATCH / PER_RECORD) as usize;

/// Maximum length of a file that is read whole even if it is a table.
const SHORT: u64 = 16 << 10;

/// Maximum length of a line of a table.
const LONGEST_LINE: u64 = 1 << 20;

/// A text with its name and modification time.
pub(crate) struct ImportText {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) changed_unix_ms: i64,
    /// Whether the text is from a file, whose name can describe the measurement.
    pub(crate) is_file: bool,
    /// Number of lines of the file that are missing after the header: of a part of a table.
    pub(crate) lines_before: usize,
}

/// Reads files in batches, so that many files or a long table need little memory. Files that are not tables are read
/// whole.
pub(crate) struct TextBatches {
    paths: VecDeque<PathBuf>,
    table: Option<TableReader>,
    has_mapping: bool,
}

/// The rest of a long table.
struct TableReader {
    lines: Box<dyn BufRead>,
    /// The first lines: comments, and the names of columns.
    header: String,
    name: String,
    changed_unix_ms: i64,
    is_file: bool,
    /// Lines read so far, without the header.
    read: usize,
    has_begun: bool,
}

impl TextBatches {
    /// Prepares to read files, which may be tables whose columns are mapped.
    pub(crate) fn of(paths: Vec<PathBuf>, mapping: Option<&ColumnMapping>) -> TextBatches {
        TextBatches {
            paths: paths.into(),
            table: None,
            has_mapping: mapping.is_some(),
        }
    }

    /// Whether everything has been read.
    pub(crate) fn is_at_end(&self) -> bool {
        self.paths.is_empty() && self.table.is_none()
    }

    /// Whether the next batch continues a table.
    pub(crate) fn is_within_table(&self) -> bool {
        self.table.as_ref().is_some_and(|table| table.has_begun)
    }

    /// Number of records that a text may become: one per line of a table, otherwise few.
    fn records_of(&self, ImportText { name, text, .. }: &ImportText) -> u64 {
        let is_mapped = self.has_mapping && name.ends_with(".csv");
        let header = text.lines().next().unwrap_or_default();
        match is_mapped || mapping_of_header(header).is_some() {
            true => text.lines().count() as u64,
            false => 1,
        }
    }

    /// Reads the next texts: whole files, or a part of a table with its header.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub(crate) fn next(&mut self) -> Result<Vec<ImportText>> {
        let mut texts = Vec::new();
        let mut length = 0;
        while self.table.is_none()
            && length < BATCH
            && let Some(path) = self.paths.pop_front()
        {
            match open(&path, self.has_mapping)? {
                Opened::Table(table) => self.table = Some(table),
                Opened::Text(text) => {
                    length += text.text.len() as u64 + PER_RECORD * self.records_of(&text);
                    texts.push(text);
                }
            }
        }
        // A table gets batches of its own.
        if let Some(table) = self.table.as_mut().filter(|_| texts.is_empty()) {
            let (text, is_last) = table.part()?;
            texts.push(text);
            if is_last {
                self.table = None;
            }
        }
        Ok(texts)
    }
}

/// A source after its first line was read.
enum Opened {
    /// A table that may be long.
    Table(TableReader),
    /// Any other text, whole.
    Text(ImportText),
}

/// Opens a file or pipe. Tables are recognized by their first line, unless they are short files.
fn open(path: &Path, has_mapping: bool) -> Result<Opened> {
    let is_short = |file: &std::fs::Metadata| file.is_file() && file.len() <= SHORT;
    let is_input = path == Path::new("-");
    if !is_input && path.metadata().is_ok_and(|file| is_short(&file)) {
        return Ok(Opened::Text(read_one(path)?));
    }
    let Source {
        mut lines,
        name,
        changed_unix_ms,
        is_file,
    } = source(path)?;
    let mut header = Vec::new();
    next_line(&mut *lines, &mut header, &name)?;
    let first = String::from_utf8_lossy(&header).into_owned();
    let mapped = has_mapping && (name.ends_with(".csv") || !is_file);
    if !mapped && mapping_of_header(first.trim_end_matches(['\r', '\n'])).is_none() {
        let most = if is_file { LARGEST } else { LONGEST };
        let whole = header.as_slice().chain(lines);
        return Ok(Opened::Text(ImportText {
            text: bounded(whole, &name, most)?,
            name,
            changed_unix_ms,
            is_file,
            lines_before: 0,
        }));
    }
    let mut line = header.clone();
    while header.len() < PART as usize && (line.starts_with(b"#") || line.trim_ascii().is_empty()) {
        line.clear();
        if next_line(&mut *lines, &mut line, &name)? == 0 {
            break;
        }
        header.extend(&line);
    }
    Ok(Opened::Table(TableReader {
        lines,
        header: String::from_utf8_lossy(&header).into_owned(),
        name,
        changed_unix_ms,
        is_file,
        read: 0,
        has_begun: false,
    }))
}

/// An open file or pipe.
struct Source {
    lines: Box<dyn BufRead>,
    name: String,
    changed_unix_ms: i64,
    /// Whether it is a regular file.
    is_file: bool,
}

fn source(path: &Path) -> Result<Source> {
    if path == Path::new("-") {
        return Ok(Source {
            lines: Box::new(std::io::stdin().lock()),
            name: both!("standard input", "標準入力"),
            changed_unix_ms: hakaru_campaign::now_unix_ms(),
            is_file: false,
        });
    }
    let name = path.display().to_string();
    let failed = || both!("cannot read {name}", "{name}を読み込めません");
    let file = File::open(path).named(failed)?;
    let meta = file.metadata().with_context(failed)?;
    let since = meta
        .modified()
        .ok()
        .and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    Ok(Source {
        lines: Box::new(BufReader::new(file)),
        changed_unix_ms: since.map_or_else(hakaru_campaign::now_unix_ms, |t| t.as_millis() as i64),
        is_file: meta.is_file(),
        name,
    })
}

/// Appends a line; returns its length. The rest of a longer line is another line, and no row either.
fn next_line(lines: &mut dyn BufRead, to: &mut Vec<u8>, name: &str) -> Result<usize> {
    let mut limited = lines.take(LONGEST_LINE);
    let read = limited.read_until(b'\n', to);
    read.with_context(|| both!("cannot read {name}", "{name}を読み込めません"))
}

impl TableReader {
    /// Reads the next lines, and returns whether they are the last.
    fn part(&mut self) -> Result<(ImportText, bool)> {
        let (mut lines, mut count) = (Vec::new(), 0);
        let is_last = loop {
            if next_line(&mut *self.lines, &mut lines, &self.name)? == 0 {
                break true;
            }
            count += 1;
            if lines.len() as u64 >= PART || count >= PART_LINES {
                break false;
            }
        };
        let text = ImportText {
            name: self.name.clone(),
            text: self.header.clone() + &String::from_utf8_lossy(&lines),
            changed_unix_ms: self.changed_unix_ms,
            is_file: self.is_file,
            lines_before: self.read,
        };
        self.read += count;
        self.has_begun = true;
        Ok((text, is_last))
    }
}

/// Returns the paths of files; in place of directories, all files in them, sorted.
pub(super) fn files_of(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for path in paths {
        if path.is_dir() {
            let mut files = Vec::new();
            files_below(path, 0, &mut files)?;
            files.sort();
            all.append(&mut files);
        } else {
            all.push(path.clone());
        }
    }
    Ok(all)
}

/// Reads the texts of paths; for directories, of all files in them, sorted.
pub(crate) fn read_all(paths: &[PathBuf]) -> Result<Vec<ImportText>> {
    files_of(paths)?.iter().map(|path| read_one(path)).collect()
}

/// Reads a file or pipe whole.
fn read_one(path: &Path) -> Result<ImportText> {
    let Source {
        lines,
        name,
        changed_unix_ms,
        is_file,
    } = source(path)?;
    let most = if is_file { LARGEST } else { LONGEST };
    Ok(ImportText {
        text: bounded(lines, &name, most)?,
        name,
        changed_unix_ms,
        is_file,
        lines_before: 0,
    })
}

/// Adds the regular files in a directory and its subdirectories. Links are not followed, because they could form a
/// loop.
fn files_below(directory: &Path, depth: u32, files: &mut Vec<PathBuf>) -> Result<()> {
    let failed = || both!("cannot read the directory {}", "ディレクトリ{}を読み込めません"; directory.display());
    for entry in std::fs::read_dir(directory).with_context(failed)? {
        let entry = entry.with_context(failed)?;
        let kind = entry.file_type().with_context(failed)?;
        if kind.is_file() {
            files.push(entry.path());
        } else if kind.is_dir() && depth < 16 {
            files_below(&entry.path(), depth + 1, files)?;
        }
    }
    Ok(())
}

/// Reads a source completely, or returns an error if it has more than `most` bytes.
fn bounded(from: impl Read, name: &str, most: Bytes) -> Result<String> {
    let mut bytes = Vec::new();
    from.take(most.0 + 1)
        .read_to_end(&mut bytes)
        .with_context(|| both!("cannot read {name}", "{name}を読み込めません"))?;
    if bytes.len() as u64 > most.0 {
        bail!(both!(
            "cannot read {name}: it is longer than {most}; help: split it into smaller files",
            "{name}を読み込めません（上限{most}を超過）; help: 小さいファイルに分割してください"
        ));
    }
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_read_without_bound() {
        let error = bounded(std::io::repeat(0), "/dev/zero", Bytes(1 << 20))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("/dev/zero: it is longer than 1 MiB"),
            "{error}"
        );
        assert_eq!(
            bounded(&b"a\xffb"[..], "x", Bytes(3)).unwrap(),
            "a\u{fffd}b"
        );
    }
}
