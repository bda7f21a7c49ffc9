//! The verify state file: how far a job has written, so that a later job verifies only that part.
//!
//! It is in the current directory, or in the directory of `--aux-path`, with the file name of fio and the format of
//! fio 3.39, version 4. `fio-verify-state` can print it, and fio's `verify_state_load` can read it. All numbers are
//! little-endian:
//!
//! ```text
//!   0  version, bytes after this header, CRC-32C of them without the final inversion  3 × u64
//!  24  stored ranges, u64; queue depth, ranges kept per file, 2 × u32; files, writes, worker, 3 × u64
//!  64  state of fio's random generator: unused, because hakaru has a different one    56 bytes
//! 120  job name, truncated                                                            64 bytes
//! 184  the last completed writes, file by file, newest first: file, offset            2 × u64 each
//! ```
//!
//! Additional data follows at the end, where fio does not read: each range with unknown content, as file, offset and
//! length. Version 3, of fio 3.33, can be read too: it has no number of ranges per file, and the number of files is a
//! u32. Determined by examining files of both versions, and the output of `fio-verify-state` for ours.

use crate::error::{RunError, errno_of};
use hakaru_model::job::rules::Verify;
use hakaru_model::obstacle::VerifyStateObstacle;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

const VERSION: u64 = 4;
/// State format version of fio 3.33.
const OLDER: u64 = 3;
const HEAD: usize = 24;
const GENERATOR: usize = 56;
const NAME: usize = 64;
/// Offset of the generator state after the header.
const COUNTS: usize = 40;
/// Offset of the ranges after the header.
const PLACES: usize = COUNTS + GENERATOR + NAME;

/// Write progress of a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct VerifyState {
    /// Number of issued writes; all of them have completed.
    pub(super) writes: u64,
    /// Whether fio saved it. The random offsets of fio differ from those of hakaru.
    pub(super) foreign: bool,
    /// Ranges with unknown content because a write failed: file, offset and length.
    pub(super) unknown: Vec<(u32, u64, u32)>,
}

/// Worker that the state belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner<'a> {
    pub(super) job: &'a str,
    /// Worker number within the run.
    pub(super) number: u32,
    pub(super) depth: u32,
    /// Whether several of its I/Os can be in flight at once.
    pub(super) queued: bool,
}

impl Owner<'_> {
    /// Number of last writes stored per file: twice the queue depth if they can complete in any
    /// order.
    pub(super) fn room(&self) -> usize {
        self.depth as usize * (1 + usize::from(self.queued))
    }
}

/// Path of the state file of one clone of a job, by its worker number within the run, as in fio.
pub(super) fn path(rules: &Verify, job: &str, number: u32) -> PathBuf {
    let name: String = job
        .chars()
        .map(|c| if c == '/' { '.' } else { c })
        .collect();
    rules
        .folder
        .clone()
        .unwrap_or_default()
        .join(format!("local-{name}-{number}-verify.state"))
}

fn le_bytes<const N: usize>(words: [u64; N]) -> Vec<u8> {
    words.map(u64::to_le_bytes).concat()
}

impl VerifyState {
    /// Serializes the state. `last` are the writes to each file that completed last, oldest first.
    pub(super) fn bytes(&self, owner: Owner<'_>, last: &[VecDeque<u64>]) -> Vec<u8> {
        let files = last.len().max(1);
        // If there were fewer writes than entries per file, only that many entries are stored; unknown ones are
        // zeros.
        let stored = self.writes.min(owner.room() as u64) as usize;
        let mut body = Vec::with_capacity(PLACES + 16 * owner.room() * files);
        body.extend(le_bytes([(stored * files) as u64]));
        let depths = [owner.depth, owner.room() as u32];
        body.extend(depths.map(u32::to_le_bytes).concat());
        body.extend(le_bytes([files as u64, self.writes, owner.number.into()]));
        body.resize(COUNTS + GENERATOR, 0);
        // One byte is reserved for the terminating zero of the name.
        body.extend(owner.job.bytes().take(NAME - 1));
        body.resize(PLACES, 0);
        for (file, offsets) in last.iter().enumerate() {
            let newest = offsets.iter().rev().copied().chain(std::iter::repeat(0));
            let places = newest.take(stored).map(|at| le_bytes([file as u64, at]));
            body.extend(places.flatten());
        }
        body.resize(PLACES + 16 * owner.room() * files, 0);
        let checksum = u64::from(!crc32c::crc32c(&body));
        let mut bytes = le_bytes([VERSION, body.len() as u64, checksum]);
        bytes.extend(body);
        for &(file, offset, len) in &self.unknown {
            bytes.extend(le_bytes([file.into(), offset, len.into()]));
        }
        bytes
    }

    /// Reads a state file.
    ///
    /// # Errors
    /// [`RunError::State`] if the file does not exist or is not a state file.
    pub(super) fn load(path: &Path) -> Result<VerifyState, RunError> {
        let failed = |reason| RunError::State {
            path: path.to_owned(),
            reason,
        };
        let bytes = std::fs::read(path).map_err(|e| {
            failed(VerifyStateObstacle::Unreadable {
                errno: errno_of(&e).raw_os_error(),
            })
        })?;
        VerifyState::read(&bytes).ok_or_else(|| failed(VerifyStateObstacle::Damaged))
    }

    fn read(bytes: &[u8]) -> Option<VerifyState> {
        let number = |bytes: &[u8], at: usize| {
            Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
        };
        let (version, len) = (number(bytes, 0)?, usize::try_from(number(bytes, 8)?).ok()?);
        let (body, rest) = bytes.get(HEAD..)?.split_at_checked(len)?;
        // In the older version, all fields read here are eight bytes earlier.
        let shift = match version {
            VERSION => 0,
            OLDER => 8,
            _ => return None,
        };
        let whole = len >= PLACES - shift && u64::from(!crc32c::crc32c(body)) == number(bytes, 16)?;
        let writes = number(body, 24 - shift).filter(|_| whole)?;
        let foreign = body[COUNTS - shift..][..GENERATOR]
            .iter()
            .any(|byte| *byte != 0);
        let mut state = VerifyState {
            writes,
            foreign,
            unknown: Vec::new(),
        };
        for place in rest.chunks(24) {
            let (file, offset, len) = (number(place, 0)?, number(place, 8)?, number(place, 16)?);
            state
                .unknown
                .push((u32::try_from(file).ok()?, offset, u32::try_from(len).ok()?));
        }
        Some(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::job::rules::VerifyMethod;

    fn offsets(of: &[u64]) -> VecDeque<u64> {
        of.iter().copied().collect()
    }

    #[test]
    fn a_state_survives_and_nothing_else_is_taken_for_one() {
        let owner = Owner {
            job: "a",
            number: 0,
            depth: 2,
            queued: true,
        };
        let state = VerifyState {
            writes: 7,
            foreign: false,
            unknown: vec![(0, 4096, 512), (1, 0, 512)],
        };
        let bytes = state.bytes(owner, &[offsets(&[4096])]);
        assert_eq!(VerifyState::read(&bytes), Some(state));
        for cut in [0, 8, 24, 100, bytes.len() - 1] {
            assert_eq!(VerifyState::read(&bytes[..cut]), None, "{cut}");
        }
        let mut damaged = bytes.clone();
        damaged[40] ^= 1;
        assert_eq!(VerifyState::read(&damaged), None);
        let mut later = bytes;
        later[0] = 5;
        assert_eq!(VerifyState::read(&later), None);
    }

    #[test]
    fn the_path_has_the_names_of_directory_and_job() {
        let mut rules = Verify::by(VerifyMethod::Header);
        let name = "local-a.b-3-verify.state";
        assert_eq!(path(&rules, "a/b", 3), Path::new(name));
        rules.folder = Some("aux".into());
        assert_eq!(path(&rules, "a/b", 3), Path::new("aux").join(name));
    }

    fn words(bytes: &[u8]) -> Vec<u64> {
        let words = bytes.chunks(8).map(|word| word.try_into().unwrap());
        words.map(u64::from_le_bytes).collect()
    }

    fn after_writes(writes: u64) -> VerifyState {
        VerifyState {
            writes,
            ..VerifyState::default()
        }
    }

    #[test]
    fn the_bytes_are_those_of_fio() {
        // Sixteen sequential writes of 4 KiB by a job named `st`: fio 3.39 writes a file of 200
        // bytes.
        let owner = Owner {
            job: "st",
            number: 0,
            depth: 1,
            queued: false,
        };
        let bytes = after_writes(16).bytes(owner, &[offsets(&[61_440])]);
        assert_eq!(bytes.len(), 200);
        let first = words(&bytes);
        assert_eq!((first[0], first[1]), (4, 0xb0));
        assert_eq!(first[3..8], [1, 1 | 1 << 32, 1, 16, 0]);
        assert_eq!(&bytes[120..123], b"st\0");
        assert_eq!(first[23..], [0, 61_440]);
        // Four writes to two files at queue depth 3.
        let owner = Owner {
            depth: 3,
            queued: true,
            ..owner
        };
        let last = [offsets(&[0, 4096]), offsets(&[0, 4096])];
        let bytes = after_writes(4).bytes(owner, &last);
        let second = words(&bytes);
        assert_eq!(second[3..8], [8, 3 | 6 << 32, 2, 4, 0]);
        let places = [0, 4096, 0, 0, 0, 0, 0, 0, 1, 4096, 1, 0, 1, 0, 1, 0];
        assert_eq!(second[23..39], places);
        assert_eq!(bytes.len(), 24 + PLACES + 16 * 12);
    }

    #[test]
    fn files_of_fio_itself_are_read() {
        // State files of fio 3.33 and 3.39 after sixteen sequential writes of 4 KiB by a job named
        // `st`.
        let older = state_of(
            &[3, 0xa8, 0x4580_21f2, 1, 1 | 1 << 32, 16],
            &[(14, 0x7473), (23, 61_440)],
            24,
        );
        assert_eq!(VerifyState::read(&older), Some(after_writes(16)));
        let generator = [(9, 0xeb2c_aa9a_a4a8_cb5b), (10, 0x485e_e230)];
        let places = [generator.as_slice(), &[(15, 0x7473), (24, 61_440)]].concat();
        let newer = state_of(&[4, 0xb0, 0x9093_7ffe, 1, 1 | 1 << 32, 1, 16], &places, 25);
        let foreign = VerifyState {
            foreign: true,
            ..after_writes(16)
        };
        assert_eq!(VerifyState::read(&newer), Some(foreign));
    }

    /// Builds a file of 64-bit words: the first ones, and others by index.
    fn state_of(first: &[u64], others: &[(usize, u64)], count: usize) -> Vec<u8> {
        let mut words = vec![0; count];
        words[..first.len()].copy_from_slice(first);
        others.iter().for_each(|&(place, word)| words[place] = word);
        words.into_iter().flat_map(u64::to_le_bytes).collect()
    }
}
