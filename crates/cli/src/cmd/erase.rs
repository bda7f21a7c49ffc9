//! Permission to erase a device: shows the device and its content, and asks for its name.

use crate::exit::{Ended, Exit};
use anyhow::Result;
use hakaru_device::Roots;
use hakaru_device::guard::{self, Candidate, Confirmation, Erasable, Refusal, quoted};
use hakaru_report::plain;
use std::io::{BufRead, IsTerminal};
use std::path::Path;

/// Describes the content of a device, one line per item.
pub(crate) fn losses(path: &Path) -> String {
    let found = guard::what_would_be_lost(path);
    if found.is_empty() {
        return format!("No known content on {}.\n", path.display());
    }
    let lines: Vec<String> = found
        .iter()
        .map(|loss| format!("  {}\n", plain(&loss.to_string())))
        .collect();
    format!(
        "Data that would be lost on {}:\n{}",
        path.display(),
        lines.concat()
    )
}

/// Describes a device, such as `SanDisk SE32G (0x4a5b6c7d), 29.7 GiB, /dev/mmcblk0`, and whether it is a partition or
/// mapping.
pub(crate) fn called(candidate: &Candidate) -> String {
    let identity = candidate.identity();
    let (name, path, size) = (
        identity.display_name(),
        identity.path.display().to_string(),
        candidate.size(),
    );
    plain(
        &match (candidate.partition(), candidate.mapping(), name == path) {
            (Some(number), ..) => format!("partition {number} of {name}, {size}, {path}"),
            (None, Some(mapping), true) => format!("the mapping {mapping}, {size}, {path}"),
            (None, Some(mapping), false) => {
                format!("the mapping {mapping} on {name}, {size}, {path}")
            }
            (None, None, true) => format!("{name}, {size}"),
            (None, None, false) => format!("{name}, {size}, {path}"),
        },
    )
}

/// The device at a path, if it may be erased; else prints the refusal.
pub(crate) fn candidate(path: &Path, roots: &Roots) -> Result<Candidate> {
    Ok(guard::passive(path, roots).map_err(|refusal| Ended(refuse(&refusal)))?)
}

/// Obtains the permission to erase a device, or prints the refusal. If the ID is empty, prompts for the device name on
/// the terminal.
pub(crate) fn ask(path: &Path, id: &str) -> Result<Erasable> {
    let roots = Roots::live();
    let candidate = candidate(path, &roots)?;
    let confirmation = match id {
        "" => Confirmation::Typed(typed_name(path, &candidate)?),
        id => Confirmation::Serial(id.to_owned()),
    };
    let erasable = candidate.confirm(&confirmation, &roots);
    Ok(erasable.map_err(|refusal| Ended(refuse(&refusal)))?)
}

/// Shows a device with its content, and asks for its name.
fn typed_name(path: &Path, candidate: &Candidate) -> Result<String> {
    if !std::io::stdin().is_terminal() {
        let name = path.display();
        anstream::eprintln!(
            "\u{1b}[1;31merror\u{1b}[0m: refused: this would erase all data on {name}"
        );
        anstream::eprintln!("  help: {}", how_to_name(candidate));
        return Err(Ended(Exit::Refused).into());
    }
    anstream::eprintln!("{}", called(candidate));
    let (losses, name) = (losses(path), candidate.name());
    anstream::eprint!("{losses}Type {name} or its ID to erase it: ");
    let mut typed = String::new();
    std::io::stdin().lock().read_line(&mut typed)?;
    Ok(typed)
}

/// Describes how to give the permission.
fn how_to_name(candidate: &Candidate) -> String {
    match candidate.ids() {
        [] => format!(
            "it has no serial number, CID or /dev/disk/by-id name: run this on a terminal, and \
            type its name, {}, when asked",
            candidate.name()
        ),
        ids => {
            let ids: Vec<String> = ids
                .iter()
                .map(|id| format!("--erase={}", quoted(id)))
                .collect();
            format!("pass {}", ids.join(" or "))
        }
    }
}

/// Prints a refusal with advice. A device that does not exist is a usage error.
pub(crate) fn refuse(refusal: &Refusal) -> Exit {
    let absent = matches!(
        refusal,
        Refusal::NotThere { .. } | Refusal::NotABlockDevice { .. }
    );
    let (lead, exit) = if absent {
        ("", Exit::Usage)
    } else {
        ("refused: ", Exit::Refused)
    };
    let plain = hakaru_report::plain;
    anstream::eprintln!(
        "\u{1b}[1;31merror\u{1b}[0m: {lead}{}",
        plain(&refusal.to_string())
    );
    anstream::eprintln!("  help: {}", plain(&refusal.cure()));
    exit
}

/// Returns the result of a dry run as JSON.
///
/// # Errors
/// Never in practice: the value contains only text, which JSON can represent.
pub(crate) fn outlook_json(path: &Path, would: &[String], lost: bool) -> Result<String> {
    let lost: Vec<String> = match lost {
        true => guard::what_would_be_lost(path)
            .iter()
            .map(ToString::to_string)
            .collect(),
        false => Vec::new(),
    };
    let all = serde_json::json!({
        "format": 1,
        "dry_run": true,
        "target": path.display().to_string(),
        "would": would,
        "would_be_lost": lost,
    });
    Ok(serde_json::to_string_pretty(&all)? + "\n")
}
