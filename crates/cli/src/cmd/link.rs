//! `hakaru link`: creates and removes links named `fio` and `iozone`, which run this program as a front end.
//!
//! Files that are not links to this program are never changed.

use super::print;
use crate::exit::{Exit, complain};
use anyhow::{Context, Result, anyhow};
use hakaru_report::text::{self, FailedAction, LinkChange, LinkNote, MessagePrefix};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Names of the links: `main` selects the front end by them.
const NAMES: [&str; 2] = ["fio", "iozone"];

const AFTER: &str = "Programs that call fio or iozone then run hakaru, if the directory comes first in PATH. An \
existing file is never replaced, and --remove removes links to this program only.";

/// Arguments of `hakaru link`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct LinkArgs {
    /// Directory of the links, created if needed [default: ~/.local/bin]
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Remove the links again
    #[arg(long)]
    remove: bool,
}

/// What is at the path of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinkState {
    Absent,
    /// A link to this program.
    Own,
    /// Anything else.
    Foreign,
}

/// Creates or removes the links.
pub(crate) fn main(args: &LinkArgs) -> Result<Exit> {
    let home = || std::env::var_os("HOME").map(PathBuf::from);
    let default = || home().filter(|home| home.is_absolute());
    let directory = match &args.directory {
        Some(directory) => directory.clone(),
        None => match default() {
            Some(home) => home.join(".local/bin"),
            None => {
                complain(&anyhow!(text::no_link_directory()));
                return Ok(Exit::Usage);
            }
        },
    };
    let program = std::env::current_exe()
        .and_then(|path| path.canonicalize())
        .with_context(|| text::cannot(&FailedAction::Read("/proc/self/exe")))?;
    if args.remove {
        return remove(&directory, &program);
    }
    let exit = create(&directory, &program)?;
    if exit == Exit::Ok {
        let path = std::env::var_os("PATH").unwrap_or_default();
        for note in notes(&directory, &path) {
            anstream::eprintln!("{}: {note}", text::prefix(MessagePrefix::Note));
        }
    }
    Ok(exit)
}

/// Creates every link, or none if a path is occupied.
fn create(directory: &Path, program: &Path) -> Result<Exit> {
    let shown = |path: &Path| hakaru_report::plain(&path.display().to_string());
    std::fs::create_dir_all(directory)
        .with_context(|| text::cannot(&FailedAction::Write(&shown(directory))))?;
    let mut missing = Vec::new();
    let mut changes = String::new();
    for link in links(directory) {
        match state(&link, program)? {
            LinkState::Absent => missing.push(link),
            LinkState::Own => changes += &line(LinkChange::Kept, &link, program),
            LinkState::Foreign => {
                complain(&anyhow!(text::link_occupied(&shown(&link))));
                return Ok(Exit::Refused);
            }
        }
    }
    for (done, link) in missing.iter().enumerate() {
        if let Err(error) = symlink(program, link) {
            for created in &missing[..done] {
                // Ignored: the error below is the one to report.
                let _ = std::fs::remove_file(created);
            }
            return Err(error).with_context(|| text::cannot(&FailedAction::Write(&shown(link))));
        }
        changes += &line(LinkChange::Created, link, program);
    }
    print(&changes)?;
    Ok(Exit::Ok)
}

/// Removes the links to this program, and leaves everything else.
fn remove(directory: &Path, program: &Path) -> Result<Exit> {
    let mut changes = String::new();
    for link in links(directory) {
        let change = match state(&link, program)? {
            LinkState::Absent => LinkChange::Absent,
            LinkState::Foreign => LinkChange::Left,
            LinkState::Own => {
                let shown = hakaru_report::plain(&link.display().to_string());
                std::fs::remove_file(&link)
                    .with_context(|| text::cannot(&FailedAction::Write(&shown)))?;
                LinkChange::Removed
            }
        };
        changes += &line(change, &link, program);
    }
    print(&changes)?;
    Ok(Exit::Ok)
}

fn links(directory: &Path) -> impl Iterator<Item = PathBuf> {
    NAMES.iter().map(move |name| directory.join(name))
}

fn line(change: LinkChange, link: &Path, program: &Path) -> String {
    let [link, program] = [link, program].map(|path| path.display().to_string());
    hakaru_report::plain(&text::link_change(change, &link, &program)) + "\n"
}

/// Examines the path of a link. `program` has no symbolic links.
///
/// # Errors
/// If the directory cannot be searched.
fn state(link: &Path, program: &Path) -> Result<LinkState> {
    let failed = || text::cannot(&FailedAction::Read(&link.display().to_string()));
    let found = match link.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(LinkState::Absent),
        found => found.with_context(failed)?,
    };
    let is_own = found.is_symlink() && link.canonicalize().is_ok_and(|target| target == program);
    Ok(match is_own {
        true => LinkState::Own,
        false => LinkState::Foreign,
    })
}

/// Notes on which program a shell runs now, according to a `PATH`.
fn notes(directory: &Path, path: &OsStr) -> Vec<String> {
    let same = |one: &Path| match (one.canonicalize(), directory.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    };
    let folders: Vec<PathBuf> = std::env::split_paths(path).collect();
    let shown = directory.display().to_string();
    let Some(place) = folders.iter().position(|folder| same(folder)) else {
        return vec![text::link_note(&LinkNote::NotInPath { directory: &shown })];
    };
    let (before, after) = (&folders[..place], &folders[place + 1..]);
    let mut notes = Vec::new();
    for name in NAMES {
        let first = |folders: &[PathBuf]| {
            let mut files = folders.iter().filter(|folder| !same(folder));
            let file = files.find(|folder| is_program(&folder.join(name)));
            file.map(|folder| folder.join(name).display().to_string())
        };
        let note = match (first(before), first(after)) {
            (Some(other), _) => text::link_note(&LinkNote::HiddenBy {
                name,
                other: &other,
                directory: &shown,
            }),
            (None, Some(other)) => text::link_note(&LinkNote::Hides {
                name,
                other: &other,
                directory: &shown,
            }),
            (None, None) => continue,
        };
        notes.push(hakaru_report::plain(&note));
    }
    notes
}

fn is_program(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory with a program `hakaru`, and its path without symbolic links.
    fn lab() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let program = program(dir.path(), "hakaru");
        (dir, program)
    }

    fn program(directory: &Path, name: &str) -> PathBuf {
        std::fs::create_dir_all(directory).unwrap();
        let path = directory.join(name);
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.canonicalize().unwrap()
    }

    #[test]
    fn links_are_created_once_and_removed() {
        let (dir, hakaru) = lab();
        let bin = dir.path().join("a/bin");
        for _ in 0..2 {
            assert_eq!(create(&bin, &hakaru).unwrap(), Exit::Ok);
            assert_eq!(std::fs::read_link(bin.join("fio")).unwrap(), hakaru);
            assert_eq!(state(&bin.join("iozone"), &hakaru).unwrap(), LinkState::Own);
        }
        for _ in 0..2 {
            assert_eq!(remove(&bin, &hakaru).unwrap(), Exit::Ok);
            assert_eq!(std::fs::read_dir(&bin).unwrap().count(), 0);
        }
    }

    #[test]
    fn other_files_are_never_changed() {
        let (dir, hakaru) = lab();
        let bin = dir.path().join("bin");
        program(&bin, "iozone");
        assert_eq!(create(&bin, &hakaru).unwrap(), Exit::Refused);
        assert!(!bin.join("fio").exists(), "a link beside an occupied name");
        let other = program(dir.path(), "other");
        for target in [other.as_path(), Path::new("/no/such/hakaru")] {
            symlink(target, bin.join("fio")).unwrap();
            assert_eq!(create(&bin, &hakaru).unwrap(), Exit::Refused);
            assert_eq!(remove(&bin, &hakaru).unwrap(), Exit::Ok);
            assert_eq!(std::fs::read_link(bin.join("fio")).unwrap(), target);
            std::fs::remove_file(bin.join("fio")).unwrap();
        }
        assert!(bin.join("iozone").is_file());
    }

    #[test]
    fn notes_say_which_program_runs() {
        let (dir, hakaru) = lab();
        let [bin, system] = ["bin", "system"].map(|name| dir.path().join(name));
        create(&bin, &hakaru).unwrap();
        program(&system, "fio");
        let notes_for = |folders: &[&Path]| notes(&bin, &std::env::join_paths(folders).unwrap());
        assert_eq!(notes_for(&[&bin]), Vec::<String>::new());
        let absent = notes_for(&[&system]);
        assert!(
            absent.len() == 1 && absent[0].contains("not in PATH"),
            "{absent:?}"
        );
        let hides = notes_for(&[&bin, &system]);
        assert!(
            hides.len() == 1 && hides[0].contains("instead of"),
            "{hides:?}"
        );
        let hidden = notes_for(&[&system, &bin]);
        assert!(
            hidden.len() == 1 && hidden[0].contains("still runs"),
            "{hidden:?}"
        );
    }
}
