//! `hakaru archive`: moves old runs to another database, which every command accepts with `--db`.

use super::{CountedNoun, counted, print};
use crate::exit::{Exit, complain};
use crate::place;
use anyhow::{Result, bail};
use hakaru_model::units::Bytes;
use hakaru_report::plain;
use hakaru_results::select;
use hakaru_store::{ArchiveError, OpenError, Store};
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
    /// Move runs of campaigns too; a campaign that is continued then measures them again, and does not count what they wrote
    #[arg(long)]
    campaigns: bool,
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
        return dry_run(args, &Store::read(&path)?);
    }
    let mut store = place::open(db)?;
    let chosen = ArchivedSeries::of(args, &store)?;
    let before = size(&path);
    let (mut runs, mut series, mut exit) = (0, 0, Exit::Ok);
    if !chosen.moved.is_empty() {
        let mut archive = Store::open(&args.file)?;
        store.copy_definitions(&mut archive)?;
        for one in &chosen.moved {
            match moved(one, store.move_series(one, &mut archive))? {
                Some(moved) => {
                    runs += moved;
                    series += 1;
                }
                None => exit = Exit::Failed,
            }
        }
    }
    store.compact()?;
    let needed = chosen.needed_note();
    let after = size(&path);
    if runs == 0 {
        print(&both!(
            "{needed}No runs were moved. The database takes {after}, {before} before.\n",
            "{needed}移動した測定はありません。データベースの大きさは{before}から{after}になりました。\n"
        ))?;
        return Ok(exit);
    }
    let runs = counted(
        usize::try_from(runs).unwrap_or(usize::MAX),
        CountedNoun::Run,
    );
    let series = counted(series, CountedNoun::Series);
    let file = plain(&args.file.display().to_string());
    print(&both!(
        "{needed}{runs} of {series} moved to {file}. The database takes {after}, {before} before.\n\
         Next: `hakaru list --db {file}`, or `hakaru import {file}` to move them back\n",
        "{needed}{series}の{runs}を{file}へ移動しました。データベースの大きさは{before}から{after}になりました。\n\
         次: hakaru list --db {file}、戻すには hakaru import {file}\n"
    ))?;
    Ok(exit)
}

/// Prints how many series would be moved. Each is read, because one with a damaged record would stay.
fn dry_run(args: &ArchiveArgs, store: &Store) -> Result<Exit> {
    let chosen = ArchivedSeries::of(args, store)?;
    let (mut series, mut exit) = (0, Exit::Ok);
    for one in &chosen.moved {
        match moved(one, store.check_series(one))? {
            Some(_) => series += 1,
            None => exit = Exit::Failed,
        }
    }
    let series = counted(series, CountedNoun::Series);
    let needed = chosen.needed_note();
    print(&both!(
        "{needed}{series} would be moved; nothing was changed.\n",
        "{needed}{series}が移動の対象です。何も変更していません。\n"
    ))?;
    Ok(exit)
}

/// Returns the number of moved runs; `None` after printing why only this series cannot be moved.
fn moved(series: &str, result: Result<u64, ArchiveError>) -> Result<Option<u64>> {
    match result {
        Err(error) if error.is_of_series() => {
            complain(&anyhow::Error::from(error).context(both!(
                "series {series} was not moved",
                "測定シリーズ{series}は移動していません"
            )));
            Ok(None)
        }
        result => Ok(Some(result?)),
    }
}

/// Size of the database on disk.
fn size(path: &Path) -> Bytes {
    Bytes(path.metadata().map_or(0, |file| file.len()))
}

/// Whether two names are of one existing file.
pub(super) fn is_same_file(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |path: &Path| path.metadata().map(|file| (file.dev(), file.ino()));
    matches!((id(a), id(b)), (Ok(a), Ok(b)) if a == b)
}

/// The old series.
struct ArchivedSeries {
    moved: Vec<String>,
    /// Number of series that a campaign needs, and which stay for that reason.
    needed: usize,
}

impl ArchivedSeries {
    fn of(args: &ArchiveArgs, store: &Store) -> Result<ArchivedSeries> {
        let old = match (&args.before, args.keep) {
            (Some(date), _) => store.series_before(select::day_start(date)?)?,
            (None, keep) => store.series_except_newest(keep.unwrap_or(usize::MAX))?,
        };
        let mut series = ArchivedSeries {
            moved: Vec::new(),
            needed: 0,
        };
        for one in old {
            match !args.campaigns && store.is_of_campaign(&one)? {
                true => series.needed += 1,
                false => series.moved.push(one),
            }
        }
        Ok(series)
    }

    /// A line about the series that stay; empty if there are none.
    fn needed_note(&self) -> String {
        if self.needed == 0 {
            return String::new();
        }
        let needed = counted(self.needed, CountedNoun::Series);
        both!(
            "{needed} of campaigns are kept: a campaign that is continued counts its runs and what they wrote; \
             move them with --campaigns\n",
            "キャンペーンの{needed}は残します（再開したキャンペーンが測定数と書き込み量の集計に使います）。移動するには--campaignsを指定してください\n"
        )
    }
}
