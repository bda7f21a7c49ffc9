//! Messages of `hakaru link` and `hakaru man`.

use crate::text::{LinkChange, LinkNote};

pub(in crate::text) fn link_change(change: LinkChange, link: &str, program: &str) -> String {
    match change {
        LinkChange::Created => format!("created {link} -> {program}"),
        LinkChange::Kept => format!("exists already: {link} -> {program}"),
        LinkChange::Removed => format!("removed {link}"),
        LinkChange::Absent => format!("nothing to remove: {link} does not exist"),
        LinkChange::Left => format!("left unchanged: {link} is not a link to {program}"),
    }
}

pub(in crate::text) fn link_note(note: &LinkNote<'_>) -> String {
    match note {
        LinkNote::NotInPath { directory } => {
            format!("{directory} is not in PATH: add it, or call the links by their paths")
        }
        LinkNote::Hides {
            name,
            other,
            directory,
        } => format!(
            "`{name}` now runs hakaru instead of {other}; undo this with `hakaru link --remove {directory}`"
        ),
        LinkNote::HiddenBy {
            name,
            other,
            directory,
        } => format!("`{name}` still runs {other}, which comes before {directory} in PATH"),
    }
}

pub(in crate::text) fn link_occupied(path: &str) -> String {
    format!(
        "refused: {path} exists and is not a link to this program; help: name another directory, or move the file"
    )
}

pub(in crate::text) fn no_link_directory() -> &'static str {
    "no directory for links: HOME is not set; help: name a directory, such as `hakaru link /usr/local/bin`"
}

pub(in crate::text) fn no_manual_page(command: &str) -> String {
    format!("no manual page for `{command}`; help: name a command listed by `hakaru --help`")
}
