//! The file that tells how far a job has written, so that a later one checks no further.
//!
//! It stands in the folder the program was started in, or in that of `--aux-path`, under fio's name and in fio's form, version 3, so that
//! `fio-verify-state` prints it. All numbers are little-endian:
//!
//! ```text
//!   0  version, bytes behind this head, CRC-32C of them without the last inversion     3 × u64
//!  24  places that are told, u64; queue depth, u32; files, u32; writes, u64; clone, u64
//!  56  state of the random generator: left out, because ours is another               56 bytes
//! 112  name of the job, cut                                                           64 bytes
//! 176  the writes that landed last, oldest first: file, offset                        2 × u64 each
//! ```
//!
//! There is room for as many places as depth times files. What fio does not keep stands behind all that, where it does
//! not look: each place whose content is not known, as file, offset and length. Found by looking at files of fio 3.33,
//! and at what `fio-verify-state` makes of them.

use crate::error::RunError;
use hakaru_model::job::rules::Verify;
use std::path::{Path, PathBuf};

const VERSION: u64 = 3;
const HEAD: usize = 24;
const GENERATOR: usize = 56;
const NAME: usize = 64;
/// Where the places begin, behind the head.
const PLACES: usize = 32 + GENERATOR + NAME;

/// How far a worker has written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// Writes that were issued; all of them have landed.
    pub(super) writes: u64,
    /// Places whose content is not known, because a write of them failed: file, offset and length.
    pub(super) unknown: Vec<(u32, u64, u32)>,
}

/// Whose state it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner<'a> {
    pub(super) job: &'a str,
    pub(super) clone: u32,
    pub(super) depth: u32,
    pub(super) files: u32,
}

impl Owner<'_> {
    /// How many of the last writes are told.
    pub(super) fn room(&self) -> usize {
        self.depth as usize * self.files.max(1) as usize
    }
}

/// The file of one clone of a job.
pub(super) fn path(rules: &Verify, job: &str, clone: u32) -> PathBuf {
    let name: String = job.chars().map(|c| if c == '/' { '.' } else { c }).collect();
    rules.folder.clone().unwrap_or_default().join(format!("local-{name}-{clone}-verify.state"))
}

impl State {
    /// The bytes of its file; `last` are the writes that landed last, oldest first.
    pub(super) fn bytes(&self, owner: Owner<'_>, last: impl ExactSizeIterator<Item = (u32, u64)>) -> Vec<u8> {
        let mut body = Vec::with_capacity(PLACES + 16 * owner.room());
        body.extend((last.len() as u64).to_le_bytes());
        body.extend([owner.depth, owner.files].map(u32::to_le_bytes).concat());
        body.extend([self.writes, owner.clone.into()].map(u64::to_le_bytes).concat());
        body.resize(32 + GENERATOR, 0);
        // A byte stays free for the zero that ends a name.
        body.extend(owner.job.bytes().take(NAME - 1));
        body.resize(PLACES, 0);
        for (file, offset) in last {
            body.extend([file.into(), offset].map(u64::to_le_bytes).concat());
        }
        body.resize(PLACES + 16 * owner.room(), 0);
        let checksum = u64::from(!crc32c::crc32c(&body));
        let mut bytes = [VERSION, body.len() as u64, checksum].map(u64::to_le_bytes).concat();
        bytes.extend(body);
        for &(file, offset, len) in &self.unknown {
            bytes.extend([file.into(), offset, len.into()].map(u64::to_le_bytes).concat());
        }
        bytes
    }

    /// Reads it.
    ///
    /// # Errors
    /// [`RunError::State`] where there is none, or what is there is none.
    pub(super) fn load(path: &Path) -> Result<State, RunError> {
        let failed = |reason: String| RunError::State { path: path.to_owned(), reason };
        let bytes = std::fs::read(path).map_err(|e| failed(e.to_string()))?;
        State::read(&bytes).ok_or_else(|| failed("it is no saved state, or a damaged one".to_owned()))
    }

    fn read(bytes: &[u8]) -> Option<State> {
        let number = |bytes: &[u8], at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let (version, len) = (number(bytes, 0)?, usize::try_from(number(bytes, 8)?).ok()?);
        let (body, rest) = bytes.get(HEAD..)?.split_at_checked(len)?;
        let whole = version == VERSION && len >= PLACES && u64::from(!crc32c::crc32c(body)) == number(bytes, 16)?;
        let mut state = State { writes: number(body, 16).filter(|_| whole)?, unknown: Vec::new() };
        for place in rest.chunks(24) {
            let (file, offset, len) = (number(place, 0)?, number(place, 8)?, number(place, 16)?);
            state.unknown.push((u32::try_from(file).ok()?, offset, u32::try_from(len).ok()?));
        }
        Some(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::job::rules::VerifyMethod;

    #[test]
    fn a_state_survives_and_nothing_else_is_taken_for_one() {
        let owner = Owner { job: "a", clone: 0, depth: 2, files: 1 };
        let state = State { writes: 7, unknown: vec![(0, 4096, 512), (1, 0, 512)] };
        let bytes = state.bytes(owner, [(0, 4096)].into_iter());
        assert_eq!(State::read(&bytes), Some(state));
        for cut in [0, 8, 24, 100, bytes.len() - 1] {
            assert_eq!(State::read(&bytes[..cut]), None, "{cut}");
        }
        let mut damaged = bytes;
        damaged[40] ^= 1;
        assert_eq!(State::read(&damaged), None);
        let mut rules = Verify::by(VerifyMethod::Header);
        assert_eq!(path(&rules, "a/b", 3), PathBuf::from("local-a.b-3-verify.state"));
        rules.folder = Some("aux".into());
        assert_eq!(path(&rules, "a/b", 3), PathBuf::from("aux/local-a.b-3-verify.state"));
    }

    #[test]
    fn the_bytes_are_those_of_fio() {
        // Sixteen sequential writes of 4 KiB by a job called st.
        let owner = Owner { job: "st", clone: 0, depth: 1, files: 1 };
        let bytes = State { writes: 16, unknown: Vec::new() }.bytes(owner, [(0, 61_440)].into_iter());
        assert_eq!(bytes.len(), 192);
        assert_eq!(
            bytes[..24],
            [3, 0, 0, 0, 0, 0, 0, 0, 0xa8, 0, 0, 0, 0, 0, 0, 0, 0xf2, 0x21, 0x80, 0x45, 0, 0, 0, 0]
        );
    }
}
