//! The file that tells how far a job has written, so that a later one checks no further.
//!
//! A few lines of text in the folder the program was started in, named as fio names it; the content is our own:
//!
//! ```text
//! hakaru verify state 1
//! writes 4096
//! unknown 0 65536 4096
//! ```
//!
//! The last line stands once for each place whose content is not known: number of the file, offset, length.

use crate::error::RunError;
use std::fmt::Write;
use std::path::PathBuf;

const HEAD: &str = "hakaru verify state 1";

/// How far a worker has written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// Writes that were issued; all of them have landed.
    pub(super) writes: u64,
    /// Places whose content is not known, because a write of them failed: file, offset and length.
    pub(super) unknown: Vec<(u32, u64, u32)>,
}

/// Name of the file of one clone of a job.
pub(super) fn path(job: &str, clone: u32) -> PathBuf {
    let name: String = job.chars().map(|c| if c == '/' { '.' } else { c }).collect();
    PathBuf::from(format!("local-{name}-{clone}-verify.state"))
}

impl State {
    /// The text of its file.
    pub(super) fn text(&self) -> String {
        let mut text = format!("{HEAD}\nwrites {}\n", self.writes);
        for (file, offset, len) in &self.unknown {
            let _ = writeln!(text, "unknown {file} {offset} {len}");
        }
        text
    }

    /// Reads it.
    ///
    /// # Errors
    /// [`RunError::State`] where there is none, or it is none of ours.
    pub(super) fn load(job: &str, clone: u32) -> Result<State, RunError> {
        let path = path(job, clone);
        let failed = |reason: String| RunError::State { path: path.clone(), reason };
        let text = std::fs::read(&path).map_err(|e| failed(e.to_string()))?;
        let state = std::str::from_utf8(&text).ok().and_then(State::read);
        state.ok_or_else(|| failed("this program did not save it".to_owned()))
    }

    fn read(text: &str) -> Option<State> {
        let mut lines = text.lines();
        let mut state = State::default();
        lines.next().filter(|line| *line == HEAD)?;
        for line in lines {
            let mut words = line.split(' ');
            let word = words.next()?;
            let mut number = || words.next()?.parse::<u64>().ok();
            match word {
                "writes" => state.writes = number()?,
                "unknown" => {
                    let (file, offset, len) = (number()?, number()?, number()?);
                    state.unknown.push((u32::try_from(file).ok()?, offset, u32::try_from(len).ok()?));
                }
                _ => return None,
            }
        }
        Some(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_survives_and_nothing_else_is_taken_for_one() {
        let state = State { writes: 7, unknown: vec![(0, 4096, 512), (1, 0, 512)] };
        assert_eq!(State::read(&state.text()), Some(state));
        for text in ["", "writes 7\n", "hakaru verify state 1\nwrites x\n", "hakaru verify state 1\nunknown 1 2\n"] {
            assert_eq!(State::read(text), None, "{text}");
        }
        assert_eq!(path("a/b", 3), PathBuf::from("local-a.b-3-verify.state"));
    }
}
