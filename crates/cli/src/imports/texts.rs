//! Reads input texts: files, directories, standard input, with size limits.

use crate::exit::NamedPath;
use anyhow::{Context, Result, bail};
use hakaru_model::units::Bytes;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Maximum file size to read; the longest fio logs have a few hundred megabytes.
const LARGEST: Bytes = Bytes(1 << 30);

/// Maximum size to read from sources of unknown length: a pipe, a device.
const LONGEST: Bytes = Bytes(256 << 20);

/// A text with its name and modification time.
pub(crate) struct ImportText {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) changed_unix_ms: i64,
    /// Whether the text is from a file, whose name can describe the measurement.
    pub(crate) is_file: bool,
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
    let mut texts = Vec::new();
    for path in &files_of(paths)? {
        if path == Path::new("-") {
            let name = both!("standard input", "標準入力");
            texts.push(ImportText {
                text: bounded(std::io::stdin().lock(), &name, LONGEST)?,
                name,
                changed_unix_ms: hakaru_campaign::now_unix_ms(),
                is_file: false,
            });
        } else {
            texts.push(read(path)?);
        }
    }
    Ok(texts)
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

fn read(path: &Path) -> Result<ImportText> {
    let name = path.display().to_string();
    let file = File::open(path).named(|| both!("cannot read {name}", "{name}を読み込めません"))?;
    let meta = file
        .metadata()
        .with_context(|| both!("cannot read {name}", "{name}を読み込めません"))?;
    let since = meta
        .modified()
        .ok()
        .and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    Ok(ImportText {
        text: bounded(file, &name, if meta.is_file() { LARGEST } else { LONGEST })?,
        name,
        changed_unix_ms: since.map_or_else(hakaru_campaign::now_unix_ms, |t| t.as_millis() as i64),
        is_file: meta.is_file(),
    })
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
