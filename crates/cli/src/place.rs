//! Locations of the database and of reports beside it.

use crate::cmd::unreadable::Unreadable;
use crate::exit::NamedPath;
use anyhow::Result;
use clap::builder::{PathBufValueParser, TypedValueParser};
use hakaru_model::record::RunRecord;
use hakaru_report::text::{self, FailedAction, MessagePrefix};
pub(crate) use hakaru_results::lookup::{readable_runs, readable_verification, verification};
use hakaru_store::{JournalMode, OpenError, OrphanedRun, Store};
use std::path::{Path, PathBuf};

/// Returns the path of the given database, or of the user's default one.
pub(crate) fn database(db: Option<&Path>) -> Result<PathBuf> {
    Ok(match db {
        Some(path) => path.to_owned(),
        None => hakaru_store::default_path()?,
    })
}

/// Opens the given database, or the user's default one, creating it if needed.
pub(crate) fn open(db: Option<&Path>) -> Result<Store> {
    let store = Store::open(database(db)?)?;
    if store.journal() == JournalMode::Rollback {
        anstream::eprintln!(
            "{}",
            both!("note: the file system of {} does not support shared memory (as 9p and network file \
            systems), so the database uses a rollback journal: equally safe, but concurrent \
            commands wait for each other", "参考: {}のファイルシステムは共有メモリに対応していないため（9pやネットワークファイルシステムなど）、データベースはロールバックジャーナルを使います。安全性は同じですが、同時に実行したコマンドは互いに待ちます"; store.path().display())
        );
    }
    note_interrupted(&store);
    Ok(store)
}

/// Returns whether `HAKARU_STORE` requests that runs of the front ends are stored (`1`), or not (`0`).
pub(crate) fn is_store_asked() -> Option<bool> {
    set("HAKARU_STORE").map(|value| value != "0")
}

/// Returns the database that the environment names.
pub(crate) fn from_environment() -> Option<PathBuf> {
    set("HAKARU_DB").map(PathBuf::from)
}

/// Returns an environment variable that is not empty.
fn set(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Opens the given database read-only, or the user's default one, which is empty as long as it does not exist.
pub(crate) fn read(db: Option<&Path>) -> Result<Store> {
    match db {
        Some(path) => Ok(with_note(Store::read(path)?)),
        None => read_or_empty(None),
    }
}

/// Like [`read`], but a given database that does not exist is also empty, because the first run creates it.
pub(crate) fn read_or_empty(db: Option<&Path>) -> Result<Store> {
    match Store::read(database(db)?) {
        Err(OpenError::Absent { path }) => Ok(Store::empty(path)?),
        opened => Ok(with_note(opened?)),
    }
}

fn with_note(store: Store) -> Store {
    if store.is_costly_copy() {
        let note = text::prefix(MessagePrefix::Note);
        let database = hakaru_report::plain(&store.path().display().to_string());
        anstream::eprintln!(
            "{}",
            both!(
                "{note}: {database} has an older schema, so this command reads a temporary upgraded copy; the next \
                 command that writes to it, such as `hakaru import` or `hakaru relabel`, upgrades it",
                "{note}: {database}は旧形式のため、一時的に変換したコピーを読み込みます。hakaru importやhakaru relabelなど、書き込むコマンドを次に実行すると変換されます"
            )
        );
    }
    note_interrupted(&store);
    store
}

fn note_interrupted(store: &Store) {
    let cut_short = hakaru_store::left(store.path())
        .iter()
        .filter(|spool| was_cut_short(store, spool))
        .count();
    if cut_short > 0 {
        let note = text::prefix(MessagePrefix::Note);
        anstream::eprintln!("{note}: {}", text::runs_interrupted(cut_short as u64));
    }
}

fn was_cut_short(store: &Store, spool: &Path) -> bool {
    matches!(store.look_into(spool), Ok(OrphanedRun::Run(_)))
}

/// Like [`readable_runs`], but prints unreadable records.
pub(crate) fn runs(store: &Store, name: &str, series: bool) -> Result<Vec<RunRecord>> {
    Unreadable::default().skip_some("run", readable_runs(store, name, series)?)
}

/// Parses the path of a report. PDF is refused before anything is measured.
pub(crate) fn page_path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        match ending.is_some_and(|ending| ending == "pdf") {
            true => Err(both!("PDF is not supported: write a .html file, open it in a browser and print it to PDF", "PDFには対応していません。.htmlに書き出し、ブラウザで開いてPDFに印刷してください")),
            false => Ok(path),
        }
    })
}

/// Whether output goes to standard output, given as `-`.
pub(crate) fn is_stdout(output: Option<&Path>) -> bool {
    output == Some(Path::new("-"))
}

/// Writes a report to the given file, or beside the database.
pub(crate) fn write_report(
    store: &Store,
    named: Option<&Path>,
    series: &str,
    text: &str,
) -> Result<PathBuf> {
    let path = report_path(store, named, series, "html")?;
    write_page(&path, text.as_bytes())?;
    Ok(path)
}

/// Returns the given file, or the default one beside the database, whose directory is created.
pub(crate) fn report_path(
    store: &Store,
    named: Option<&Path>,
    series: &str,
    extension: &str,
) -> Result<PathBuf> {
    if let Some(path) = named {
        return Ok(path.to_owned());
    }
    let directory = store.path().parent().unwrap_or(Path::new("."));
    let directory = directory.join("reports");
    std::fs::create_dir_all(&directory).named(|| {
        let directory = directory.display().to_string();
        text::cannot(&FailedAction::CreateReportDirectory(&directory))
    })?;
    Ok(directory.join(format!("{series}.{extension}")))
}

/// Writes a report of any format to the given file.
pub(crate) fn write_page(path: &Path, content: &[u8]) -> Result<()> {
    crate::output::write(path, content)
        .named(|| text::cannot(&FailedAction::WriteReport(&path.display().to_string())))
}
