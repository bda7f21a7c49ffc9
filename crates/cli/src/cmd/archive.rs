//! `hakaru archive`: moves old runs to another database, which every command accepts with `--db`.

use super::{CountedNoun, counted, print};
use crate::exit::Exit;
use crate::place;
use crate::select;
use anyhow::{Result, bail};
use hakaru_model::units::Bytes;
use hakaru_report::plain;
use hakaru_store::{OpenError, Store};
use std::path::{Path, PathBuf};

/// Arguments of `hakaru archive`.
#[derive(Debug, clap::Args)]
pub(crate) struct ArchiveArgs {
    /// Database to move the runs to; it is created if it does not exist
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Move the series whose last run started before DATE, such as 2026-11-05 or 2026-11
    #[arg(long, value_name = "DATE", required_unless_present = "keep")]
    before: Option<String>,
    /// Keep the N newest series, and move the others
    #[arg(long, value_name = "N", conflicts_with = "before")]
    keep: Option<usize>,
    /// Show what would be moved, and exit
    #[arg(long)]
    dry_run: bool,
}

/// Moves the series, and compresses what remains.
pub(crate) fn main(args: &ArchiveArgs, db: Option<&Path>) -> Result<Exit> {
    let path = place::database(db)?;
    if !path.exists() {
        return Err(OpenError::Absent { path }.into());
    }
    if is_same_file(&path, &args.file) {
        let file = plain(&args.file.display().to_string());
        bail!(both!(
            "{file} is the database itself; help: name another file",
            "{file}は元のデータベースです; help: 別のファイルを指定してください"
        ));
    }
    if args.dry_run {
        let series = chosen(args, &Store::read(&path)?)?;
        let series = counted(series.len(), CountedNoun::Series);
        print(&both!(
            "{series} would be moved; nothing was changed.\n",
            "{series}が移動の対象です。何も変更していません。\n"
        ))?;
        return Ok(Exit::Ok);
    }
    let mut store = place::open(db)?;
    let series = chosen(args, &store)?;
    let before = size(&path);
    let mut runs = 0;
    if !series.is_empty() {
        let mut archive = Store::open(&args.file)?;
        for one in &series {
            runs += store.move_series(one, &mut archive)?;
        }
    }
    store.compact()?;
    let runs = counted(
        usize::try_from(runs).unwrap_or(usize::MAX),
        CountedNoun::Run,
    );
    let series = counted(series.len(), CountedNoun::Series);
    let file = plain(&args.file.display().to_string());
    let after = size(&path);
    print(&both!(
        "{runs} of {series} moved to {file}. The database takes {after}, {before} before.\n\
         Next: `hakaru list --db {file}`, or `hakaru import {file}` to move them back\n",
        "{series}の{runs}を{file}へ移動しました。データベースの大きさは{before}から{after}になりました。\n\
         次: hakaru list --db {file}、戻すには hakaru import {file}\n"
    ))?;
    Ok(Exit::Ok)
}

/// Size of the database on disk.
fn size(path: &Path) -> Bytes {
    Bytes(path.metadata().map_or(0, |file| file.len()))
}

/// Whether two names are of one existing file.
fn is_same_file(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |path: &Path| path.metadata().map(|file| (file.dev(), file.ino()));
    matches!((id(a), id(b)), (Ok(a), Ok(b)) if a == b)
}

fn chosen(args: &ArchiveArgs, store: &Store) -> Result<Vec<String>> {
    Ok(match (&args.before, args.keep) {
        (Some(date), _) => store.series_before(select::day_start(date)?)?,
        (None, keep) => store.series_except_newest(keep.unwrap_or(usize::MAX))?,
    })
}
