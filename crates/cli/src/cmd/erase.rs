//! Permission to erase a device: shows the device and its content, and asks for its name.

use super::json;
use crate::exit::{Ended, Exit};
use anyhow::Result;
use hakaru_campaign::errors;
use hakaru_device::Roots;
use hakaru_device::guard::{self, Candidate, Confirmation, Erasable, Refusal, quoted};
use hakaru_report::plain;
use hakaru_report::text::{self, EraseTarget, MessagePrefix};
use std::io::{BufRead, IsTerminal};
use std::path::Path;

/// Describes the content of a device, one line per item.
pub(crate) fn losses(path: &Path) -> String {
    let found = guard::what_would_be_lost(path);
    let lines: Vec<String> = found
        .iter()
        .map(|loss| format!("  {}\n", plain(&loss.to_string())))
        .collect();
    text::losses(&path.display().to_string(), &lines)
}

/// Describes a device, such as `SanDisk SE32G (0x4a5b6c7d), 29.7 GiB, /dev/mmcblk0`, and whether it is a partition or
/// mapping.
pub(crate) fn called(candidate: &Candidate) -> String {
    let identity = candidate.identity();
    plain(&text::erase_target(&EraseTarget {
        partition: candidate.partition(),
        mapping: candidate.mapping().as_deref(),
        name: &identity.display_name(),
        size: candidate.size(),
        path: &identity.path.display().to_string(),
    }))
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
        print_error(
            &text::would_erase_all(&name.to_string()),
            &how_to_name(candidate),
        );
        return Err(Ended(Exit::Refused).into());
    }
    anstream::eprintln!("{}", called(candidate));
    let (losses, name) = (losses(path), candidate.name());
    anstream::eprint!("{losses}{}", text::type_to_erase(name));
    let mut typed = String::new();
    std::io::stdin().lock().read_line(&mut typed)?;
    Ok(typed)
}

/// Describes how to give the permission.
fn how_to_name(candidate: &Candidate) -> String {
    match candidate.ids() {
        [] => text::erase_without_id(candidate.name()),
        ids => {
            let ids: Vec<String> = ids
                .iter()
                .map(|id| format!("--erase={}", quoted(id)))
                .collect();
            text::pass_one_of(&ids)
        }
    }
}

/// Prints a refusal with advice. A device that does not exist is a usage error.
pub(crate) fn refuse(refusal: &Refusal) -> Exit {
    let absent = matches!(
        refusal,
        Refusal::NotThere { .. } | Refusal::NotABlockDevice { .. }
    );
    let said = errors::message(refusal);
    let (said, exit) = match absent {
        true => (said, Exit::Usage),
        false => (text::refused(&said), Exit::Refused),
    };
    print_error(&plain(&said), &plain(&errors::cure(refusal)));
    exit
}

/// Prints an error with advice.
fn print_error(error: &str, help: &str) {
    let prefix = text::prefix;
    anstream::eprintln!(
        "\u{1b}[1;31m{}\u{1b}[0m: {error}",
        prefix(MessagePrefix::Error)
    );
    anstream::eprintln!("  {}: {help}", prefix(MessagePrefix::Help));
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
    json::pretty(&all)
}
