//! `hakaru recover`: stores the partial results of interrupted runs, undoes leftover preparation steps, and reports
//! steps that cannot be undone.

use super::{json, print};
use crate::exit::{Exit, complain};
use crate::place;
use anyhow::{Context, Result};
use hakaru_device::Roots;
use hakaru_device::prepare::{self, JournalError};
use hakaru_model::record::{Outcome, RunRecord};
use hakaru_report::{plain, workload_words};
use hakaru_store::{LeftError, OpenError, OrphanedRun, Store};
use serde::Serialize;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Arguments of `hakaru recover`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A run saves partial results beside the database, in DATABASE.spool; if it is interrupted by a power loss, crash or kill, they are stored from there. Preparation journals are in $XDG_STATE_HOME/hakaru (~/.local/state/hakaru); each is removed once its steps are undone. Journals of running programs are left alone."
)]
pub(crate) struct RecoverArgs {
    /// List what was left behind, and change nothing
    #[arg(long)]
    list: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Output of `hakaru recover --json`.
#[derive(Serialize)]
struct RecoverJson<'a> {
    items: &'a [RecoveredItem],
}

/// An interrupted run or a journal of a preparation.
#[derive(Serialize)]
struct RecoveredItem {
    /// `run` or `journal`.
    kind: &'static str,
    path: String,
    /// ID of the stored run, or of the run as which it would be stored.
    run: Option<String>,
    complete: bool,
    /// What was done or would be done, for people.
    lines: Vec<String>,
}

/// Prints items for people as they come, or keeps them for one JSON object.
struct RecoverOutput {
    json: bool,
    items: Vec<RecoveredItem>,
}

impl RecoverOutput {
    fn add(&mut self, item: RecoveredItem, text: &str) -> Result<()> {
        self.items.push(item);
        match self.json {
            true => Ok(()),
            false => print(text),
        }
    }
}

/// Returns the directory of the preparation journals: `hakaru` in the user's state directory.
///
/// Source: XDG Base Directory Specification 0.8, which requires that a relative `XDG_STATE_HOME` is ignored.
pub(crate) fn state_directory() -> Result<PathBuf> {
    state_directory_from(std::env::var_os("XDG_STATE_HOME"), std::env::var_os("HOME")).context(
        both!(
            "no directory for journals: neither XDG_STATE_HOME nor HOME is set",
            "ジャーナルのディレクトリがありません（XDG_STATE_HOMEもHOMEも未設定）"
        ),
    )
}

fn state_directory_from(
    xdg_state_home: Option<OsString>,
    home: Option<OsString>,
) -> Option<PathBuf> {
    let absolute =
        |value: Option<OsString>| value.map(PathBuf::from).filter(|path| path.is_absolute());
    let state =
        absolute(xdg_state_home).or_else(|| absolute(home).map(|home| home.join(".local/state")));
    state.map(|directory| directory.join("hakaru"))
}

/// Recovers interrupted runs and preparation journals, oldest first.
pub(crate) fn main(args: &RecoverArgs, db: Option<&Path>) -> Result<Exit> {
    let (directory, database) = (state_directory()?, place::database(db)?);
    let (spools, journals) = (hakaru_store::left(&database), prepare::pending(&directory));
    let mut output = RecoverOutput {
        json: args.json,
        items: Vec::new(),
    };
    if spools.is_empty() && journals.is_empty() && !args.json {
        let (database, directory) = (database.display(), directory.display());
        print(&both!(
            "Nothing to recover: no interrupted runs of {database}, no journal in {directory}.\n",
            "回収するものはありません（{database}に中断した測定なし、{directory}にジャーナルなし）。\n"
        ))?;
        return Ok(Exit::Ok);
    }
    let mut worst = Exit::Ok;
    if !spools.is_empty() {
        // If the database cannot be opened, its runs stay in their spools, and the journals are still undone.
        worst = runs(&spools, &database, args.list, &mut output).unwrap_or_else(|error| {
            complain(&error);
            Exit::Failed
        });
    }
    for journal in &journals {
        match one(journal, args.list) {
            Ok((text, complete)) => {
                let item = RecoveredItem {
                    kind: "journal",
                    path: journal.display().to_string(),
                    run: None,
                    complete,
                    lines: text
                        .lines()
                        .skip(1)
                        .map(|line| line.trim().to_owned())
                        .collect(),
                };
                // Continue with the next journal even if the output cannot be written.
                worst = worst.and(output.add(item, &text));
                if !complete {
                    worst = Exit::Failed;
                }
            }
            Err(error @ JournalError::Locked { .. }) => anstream::eprintln!("{error}"),
            Err(error) => {
                complain(&error.into());
                worst = Exit::Failed;
            }
        }
    }
    if args.json {
        let items = &output.items;
        worst = worst.and(json::print(json::RECOVER, &RecoverJson { items }));
    }
    Ok(worst)
}

/// Stores the partial results of interrupted runs, or only lists them.
fn runs(
    spools: &[PathBuf],
    database: &Path,
    list: bool,
    output: &mut RecoverOutput,
) -> Result<Exit> {
    let mut store = match list {
        true => read_only(database)?,
        false => Store::open(database)?,
    };
    let mut worst = Exit::Ok;
    for spool in spools {
        let shown = spool.display();
        let held = match list {
            true => store.look_into(spool),
            false => store.keep_cut_short(spool),
        };
        match held {
            Ok(OrphanedRun::Running) => {
                anstream::eprintln!(
                    "{}",
                    both!(
                        "{shown}: skipped, its run is in progress",
                        "{shown}: 測定中のためスキップしました"
                    )
                )
            }
            Ok(held) => {
                let text = run(&held, list);
                let item = RecoveredItem {
                    kind: "run",
                    path: shown.to_string(),
                    run: match &held {
                        OrphanedRun::Run(record) => Some(record.id.clone()),
                        OrphanedRun::Stored { id } => Some(id.clone()),
                        OrphanedRun::Nothing { .. } | OrphanedRun::Running => None,
                    },
                    complete: true,
                    lines: vec![text.clone()],
                };
                worst = worst.and(output.add(item, &format!("{shown}\n  {text}\n")));
            }
            Err(error) => {
                complain(&cause(error));
                worst = Exit::Failed;
            }
        }
    }
    Ok(worst)
}

/// Opens the database for listing, which changes nothing and creates no database.
fn read_only(database: &Path) -> Result<Store, OpenError> {
    match Store::read(database) {
        Err(OpenError::Absent { path }) => Store::empty(path),
        opened => opened,
    }
}

/// Returns the inner error, which already names its object; the outer error would repeat it.
fn cause(error: LeftError) -> anyhow::Error {
    match error {
        LeftError::Find(error) => error.into(),
        LeftError::Append(error) => error.into(),
        other => other.into(),
    }
}

/// Describes one spool.
fn run(held: &OrphanedRun, list: bool) -> String {
    let what = |record: &RunRecord| {
        let done = record
            .phases
            .iter()
            .map(|phase| workload_words(&phase.name));
        let done = done.collect::<Vec<_>>().join(&both!(", ", "、"));
        let how = match record.outcome {
            Outcome::Interrupted => both!("cut short", "中断"),
            _ => both!("finished, but not stored", "完了したが未保存"),
        };
        let (scenario, target) = (&record.scenario.name, record.target.display_name());
        both!(
            "{scenario} of {target}, {how}: {done}",
            "{target}の{scenario}（{how}）: {done}"
        )
    };
    // Names of scenarios and devices are untrusted text.
    plain(&match held {
        OrphanedRun::Run(record) if list => {
            both!("{}; would be stored as run {}", "{}。測定{}として保存予定"; what(record), record.id)
        }
        OrphanedRun::Run(record) => {
            let (what, id) = (what(record), &record.id);
            both!(
                "{what}; stored as run {id} (`hakaru show {id}`)",
                "{what}。測定{id}として保存しました（hakaru show {id}）"
            )
        }
        OrphanedRun::Nothing { scenario } if list => {
            both!(
                "{scenario}: nothing was measured; would be removed",
                "{scenario}: 測定データなし。削除予定"
            )
        }
        OrphanedRun::Nothing { scenario } => {
            both!(
                "{scenario}: nothing was measured; removed",
                "{scenario}: 測定データなし。削除しました"
            )
        }
        OrphanedRun::Stored { id } => both!(
            "run {id} finished and is stored; removed",
            "測定{id}は完了し保存済み。削除しました"
        ),
        OrphanedRun::Running => String::new(),
    })
}

/// Describes one journal; returns whether it is completely undone.
fn one(journal: &Path, list: bool) -> Result<(String, bool), JournalError> {
    let roots = Roots::live();
    let (restarted, items, complete) = if list {
        let outlook = prepare::outlook(journal, &roots)?;
        (outlook.restarted, outlook.items, true)
    } else {
        let recovery = prepare::recover(journal, &roots)?;
        let complete = recovery.is_complete();
        let items = recovery.items.iter().map(ToString::to_string);
        (recovery.restarted, items.collect(), complete)
    };
    let when = match restarted {
        true => both!(", from before the last reboot", "（前回の再起動より前）"),
        false => String::new(),
    };
    let mut text = format!("{}{when}\n", journal.display());
    for item in &items {
        text += &format!("  {item}\n");
    }
    if items.is_empty() {
        text += &both!("  nothing left to undo\n", "  元に戻すものはありません\n");
    }
    if !complete {
        text += &both!(
            "  The journal is kept; run `hakaru recover` again when the cause is fixed.\n",
            "  ジャーナルは残しています。原因を取り除いてからhakaru recoverを再実行してください。\n"
        );
    }
    Ok((text, complete))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journals_are_in_the_state_directory_of_the_user() {
        let found = |xdg: Option<&str>, home: Option<&str>| {
            state_directory_from(xdg.map(Into::into), home.map(Into::into))
        };
        assert_eq!(
            found(Some("/state"), Some("/home/me")),
            Some("/state/hakaru".into())
        );
        assert_eq!(
            found(None, Some("/home/me")),
            Some("/home/me/.local/state/hakaru".into())
        );
        assert_eq!(
            found(Some("relative"), Some("/home/me")),
            Some("/home/me/.local/state/hakaru".into())
        );
        assert_eq!(found(None, None), None);
    }
}
