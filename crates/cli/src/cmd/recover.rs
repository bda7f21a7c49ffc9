//! `hakaru recover`: takes back what a preparation left behind, and names what was cut short and cannot be undone.

use super::print;
use crate::exit::{Exit, complain};
use anyhow::{Context, Result};
use hakaru_device::Roots;
use hakaru_device::prepare::{self, JournalError};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What to do.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Journals lie in $XDG_STATE_HOME/hakaru (~/.local/state/hakaru); each is removed once all of it \
                        is undone. Those of programs that still run are left alone."
)]
pub(crate) struct Args {
    /// Only say what was left behind, and change nothing
    #[arg(long)]
    list: bool,
}

/// Where preparations keep their journals: `hakaru` in the user's state folder.
///
/// Source: XDG Base Directory Specification 0.8; a relative `XDG_STATE_HOME` is ignored, as it asks.
pub(crate) fn folder() -> Result<PathBuf> {
    folder_from(std::env::var_os("XDG_STATE_HOME"), std::env::var_os("HOME"))
        .context("there is no folder for journals: set XDG_STATE_HOME or HOME")
}

fn folder_from(xdg_state_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let absolute = |value: Option<OsString>| value.map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute(xdg_state_home).or_else(|| absolute(home).map(|home| home.join(".local/state")));
    state.map(|folder| folder.join("hakaru"))
}

/// Goes through the journals, oldest first.
pub(crate) fn main(args: &Args) -> Result<Exit> {
    let folder = folder()?;
    let journals = prepare::pending(&folder);
    if journals.is_empty() {
        print(&format!("Nothing was left behind: there is no journal in {}.\n", folder.display()))?;
        return Ok(Exit::Ok);
    }
    let mut worst = Exit::Ok;
    for journal in &journals {
        match one(journal, args.list) {
            Ok((text, complete)) => {
                print(&text)?;
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

/// What one journal tells, and whether nothing of it is left to be tried again.
fn one(journal: &Path, list: bool) -> Result<(String, bool), JournalError> {
    let roots = Roots::live();
    let (restarted, items, complete) = if list {
        let outlook = prepare::outlook(journal, &roots)?;
        (outlook.restarted, outlook.items, true)
    } else {
        let recovery = prepare::recover(journal, &roots)?;
        let complete = recovery.is_complete();
        (recovery.restarted, recovery.items.iter().map(ToString::to_string).collect(), complete)
    };
    let when = if restarted { ", from before the system was restarted" } else { "" };
    let mut text = format!("{}{when}\n", journal.display());
    for item in &items {
        text += &format!("  {item}\n");
    }
    if items.is_empty() {
        text += "  nothing is left of it\n";
    }
    if !complete {
        text += "  The journal is kept: run `hakaru recover` again once the reason is gone.\n";
    }
    Ok((text, complete))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journals_lie_in_the_users_state_folder() {
        let found = |xdg: Option<&str>, home: Option<&str>| folder_from(xdg.map(Into::into), home.map(Into::into));
        assert_eq!(found(Some("/state"), Some("/home/me")), Some("/state/hakaru".into()));
        assert_eq!(found(None, Some("/home/me")), Some("/home/me/.local/state/hakaru".into()));
        assert_eq!(found(Some("relative"), Some("/home/me")), Some("/home/me/.local/state/hakaru".into()));
        assert_eq!(found(None, None), None);
    }
}
