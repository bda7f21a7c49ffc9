//! Locations of the database and of reports beside it.

use crate::cmd::unreadable::{self, Unreadable};
use crate::exit::{NamedPath, not_there};
use crate::names;
use anyhow::Result;
use clap::builder::{PathBufValueParser, TypedValueParser};
use hakaru_model::integrity::Verification;
use hakaru_model::record::RunRecord;
use hakaru_report::text::{self, FailedAction, MessagePrefix};
use hakaru_store::{FindError, JournalMode, OpenError, OrphanedRun, Readable, Store};
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

/// Returns the verification with this ID or label if no run has it; `latest` is a verification only if there are no
/// runs.
pub(crate) fn verification(store: &Store, name: &str) -> Result<Option<Verification>> {
    if names::position(name).is_some() {
        return match name {
            "latest" if store.is_empty()? => Ok(store.latest_verification()?),
            _ => Ok(None),
        };
    }
    let is_run = || !matches!(store.run(name), Err(FindError::NotFound { .. }));
    if !store.series_called(name)?.is_empty() || is_run() {
        return Ok(None);
    }
    match store.verification(name) {
        Err(FindError::NotFound { .. }) => verification_called(store, name),
        found => Ok(Some(found?)),
    }
}

/// Returns the verification with a label, a further label or a target name.
///
/// # Errors
/// If several have it; the error lists them.
fn verification_called(store: &Store, name: &str) -> Result<Option<Verification>> {
    let mut found = Vec::new();
    for of in store.verifications(u32::MAX)?.records {
        let aliases = store.annotations(&of.id)?.aliases;
        let mut names = std::iter::once(of.target.display_name()).chain(aliases);
        if names.any(|known| known.eq_ignore_ascii_case(name)) {
            found.push(of);
        }
    }
    if found.len() < 2 {
        return Ok(found.pop());
    }
    let line = |of: &Verification| {
        let started = hakaru_report::time::utc(of.started_unix_ms);
        format!("  {}  {started}", of.id)
    };
    let lines: Vec<String> = found.iter().map(line).collect();
    Err(not_there(
        both!("`{name}` is the label of {} verifications; use one of these IDs:\n{}", "「{name}」は{}件の検証のラベルです。次のIDのいずれかを指定してください:\n{}"; found.len(),
        lines.join("\n")),
    ))
}

/// Like [`verification`], with an unreadable record listed separately.
pub(crate) fn readable_verification(
    store: &Store,
    name: &str,
) -> Result<Option<Readable<Verification>>> {
    match verification(store, name) {
        Ok(found) => Ok(found.map(|found| Readable {
            records: vec![found],
            unreadable: Vec::new(),
        })),
        Err(error) => match error.downcast::<FindError>() {
            Ok(error) if error.is_unreadable() => Ok(Some(Readable {
                records: Vec::new(),
                unreadable: vec![(name.to_owned(), error)],
            })),
            Ok(error) => Err(error.into()),
            Err(error) => Err(error),
        },
    }
}

/// Returns the run with this ID, or its whole series; a label stands for the whole series, `latest` for the newest run.
pub(crate) fn runs(store: &Store, name: &str, series: bool) -> Result<Vec<RunRecord>> {
    Unreadable::default().skip_some("run", readable_runs(store, name, series)?)
}

/// Like [`runs`], with unreadable records listed separately.
pub(crate) fn readable_runs(
    store: &Store,
    name: &str,
    series: bool,
) -> Result<Readable<RunRecord>> {
    if let Some(found) = names::series_of_name(store, name)? {
        let found = names::only_series(store, name, found)?;
        if series || names::position(name).is_none() {
            return Ok(store.readable_series(&found)?);
        }
        let rows = names::rows_of(store, &found)?;
        let newest = rows.into_iter().max_by_key(|row| row.stored);
        let id = newest.map_or(found, |row| row.id);
        return Ok(unreadable::one(&id, store.run(&id))?);
    }
    match series {
        true => Ok(store.readable_series(&store.series_id(name)?)?),
        false => Ok(unreadable::one(name, store.run(name))?),
    }
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
