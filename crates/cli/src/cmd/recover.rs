//! `hakaru recover`: stores the partial results of interrupted runs, undoes leftover preparation steps, and reports
//! steps that cannot be undone.

use super::print;
use crate::exit::{Exit, complain};
use crate::place;
use anyhow::{Context, Result};
use hakaru_device::Roots;
use hakaru_device::prepare::{self, JournalError};
use hakaru_model::record::{Outcome, RunRecord};
use hakaru_report::plain;
use hakaru_store::{LeftError, OpenError, OrphanedRun, Store};
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
}

/// Returns the directory of the preparation journals: `hakaru` in the user's state directory.
///
/// Source: XDG Base Directory Specification 0.8, which requires that a relative `XDG_STATE_HOME` is ignored.
pub(crate) fn folder() -> Result<PathBuf> {
    folder_from(std::env::var_os("XDG_STATE_HOME"), std::env::var_os("HOME"))
        .context("no directory for journals: neither XDG_STATE_HOME nor HOME is set")
}

fn folder_from(xdg_state_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let absolute =
        |value: Option<OsString>| value.map(PathBuf::from).filter(|path| path.is_absolute());
    let state =
        absolute(xdg_state_home).or_else(|| absolute(home).map(|home| home.join(".local/state")));
    state.map(|folder| folder.join("hakaru"))
}

/// Recovers interrupted runs and preparation journals, oldest first.
pub(crate) fn main(args: &RecoverArgs, db: Option<&Path>) -> Result<Exit> {
    let (folder, database) = (folder()?, place::database(db)?);
    let (spools, journals) = (hakaru_store::left(&database), prepare::pending(&folder));
    if spools.is_empty() && journals.is_empty() {
        let folder = folder.display();
        print(&format!(
            "Nothing to recover: no interrupted runs of {}, no journal in {folder}.\n",
            database.display()
        ))?;
        return Ok(Exit::Ok);
    }
    let mut worst = Exit::Ok;
    if !spools.is_empty() {
        // If the database cannot be opened, its runs stay in their spools, and the journals are still undone.
        worst = runs(&spools, &database, args.list).unwrap_or_else(|error| {
            complain(&error);
            Exit::Failed
        });
    }
    for journal in &journals {
        match one(journal, args.list) {
            Ok((text, complete)) => {
                // Continue with the next journal even if the output cannot be written.
                worst = worst.and(print(&text));
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
    Ok(worst)
}

/// Stores the partial results of interrupted runs, or only lists them.
fn runs(spools: &[PathBuf], database: &Path, list: bool) -> Result<Exit> {
    let mut store = if list {
        only_to_tell(database)?
    } else {
        Store::open(database)?
    };
    let mut worst = Exit::Ok;
    for spool in spools {
        let held = if list {
            store.look_into(spool)
        } else {
            store.keep_cut_short(spool)
        };
        match held {
            Ok(OrphanedRun::Running) => {
                anstream::eprintln!("{}: skipped, its run is in progress", spool.display())
            }
            Ok(held) => {
                worst = worst.and(print(&format!(
                    "{}\n  {}\n",
                    spool.display(),
                    run(&held, list)
                )))
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
fn only_to_tell(database: &Path) -> Result<Store, OpenError> {
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
            .map(|phase| phase.name.as_str())
            .collect::<Vec<_>>()
            .join(", ");
        let how = if record.outcome == Outcome::Interrupted {
            "cut short"
        } else {
            "finished, but not stored"
        };
        format!(
            "{} of {}, {how}: {done}",
            record.scenario.name,
            record.target.display_name()
        )
    };
    // Names of scenarios and devices are untrusted text.
    plain(&match held {
        OrphanedRun::Run(record) if list => {
            format!("{}; would be stored as run {}", what(record), record.id)
        }
        OrphanedRun::Run(record) => {
            format!(
                "{}; stored as run {} (`hakaru show {}`)",
                what(record),
                record.id,
                record.id
            )
        }
        OrphanedRun::Nothing { scenario } if list => {
            format!("{scenario}: nothing was measured; would be removed")
        }
        OrphanedRun::Nothing { scenario } => {
            format!("{scenario}: nothing was measured; removed")
        }
        OrphanedRun::Stored { id } => format!("run {id} finished and is stored; removed"),
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
        (
            recovery.restarted,
            recovery.items.iter().map(ToString::to_string).collect(),
            complete,
        )
    };
    let when = if restarted {
        ", from before the last reboot"
    } else {
        ""
    };
    let mut text = format!("{}{when}\n", journal.display());
    for item in &items {
        text += &format!("  {item}\n");
    }
    if items.is_empty() {
        text += "  nothing left to undo\n";
    }
    if !complete {
        text += "  The journal is kept; run `hakaru recover` again when the cause is fixed.\n";
    }
    Ok((text, complete))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journals_lie_in_the_users_state_folder() {
        let found = |xdg: Option<&str>, home: Option<&str>| {
            folder_from(xdg.map(Into::into), home.map(Into::into))
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
