//! Leave to erase a device: shows what it is and what would be lost, and asks for its name.

use crate::exit::Exit;
use anyhow::Result;
use hakaru_device::Roots;
use hakaru_device::guard::{self, Confirmation, Erasable, Refusal};
use std::io::{BufRead, IsTerminal};
use std::path::Path;

/// What is on a device, one line each.
pub(crate) fn losses(path: &Path) -> String {
    let found = guard::what_would_be_lost(path);
    if found.is_empty() {
        return format!("Nothing that is known was found on {}.\n", path.display());
    }
    let lines: Vec<String> = found.iter().map(|loss| format!("  {loss}\n")).collect();
    format!("Would be lost on {}:\n{}", path.display(), lines.concat())
}

/// Takes the device for erasing, or says why not. An empty id is asked for on the terminal.
pub(crate) fn ask(path: &Path, id: &str) -> Result<Result<Erasable, Exit>> {
    let roots = Roots::live();
    let candidate = match guard::passive(path, &roots) {
        Ok(candidate) => candidate,
        Err(refusal) => return Ok(Err(refuse(&refusal))),
    };
    let confirmation = if id.is_empty() {
        if !std::io::stdin().is_terminal() {
            anstream::eprintln!("error: --erase has no id, and there is no terminal to ask on");
            anstream::eprintln!("  help: name the device by one of its ids: {}", candidate.ids().join(", "));
            return Ok(Err(Exit::Refused));
        }
        anstream::eprintln!("{}", candidate.identity().display_name());
        anstream::eprint!("{}Type its name, {}, to go on: ", losses(path), candidate.name());
        let mut typed = String::new();
        std::io::stdin().lock().read_line(&mut typed)?;
        Confirmation::Typed(typed)
    } else {
        Confirmation::Serial(id.to_owned())
    };
    Ok(candidate.confirm(&confirmation, &roots).map_err(|refusal| refuse(&refusal)))
}

fn refuse(refusal: &Refusal) -> Exit {
    anstream::eprintln!("\u{1b}[1;31merror\u{1b}[0m: refused: {refusal}");
    anstream::eprintln!("  help: {}", refusal.cure());
    Exit::Refused
}
