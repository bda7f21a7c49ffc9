//! Log of written ranges that must be read back. For overlapping writes, the last one counts.

use hakaru_model::job::Op;
use hakaru_model::stream::IoRequest;
use std::collections::BTreeMap;

/// One write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) region: u32,
    pub(super) len: u32,
    pub(super) offset: u64,
    /// Number of the write; later writes have larger numbers.
    pub(super) sequence: u64,
    /// Whether its content is known. It is unknown for a trim or a failed write.
    pub(super) known: bool,
}

impl Written {
    pub(super) fn new(request: &IoRequest, sequence: u64, known: bool) -> Written {
        let IoRequest {
            region,
            offset,
            len,
            ..
        } = *request;
        Written {
            region,
            len,
            offset,
            sequence,
            known,
        }
    }

    pub(super) fn end(&self) -> u64 {
        self.offset + u64::from(self.len)
    }

    /// Whether a request overlaps its bytes.
    pub(super) fn overlaps(&self, request: &IoRequest) -> bool {
        let IoRequest {
            region,
            offset,
            len,
            ..
        } = *request;
        self.region == region && offset < self.end() && self.offset < offset + u64::from(len)
    }

    /// Returns the request that reads it back.
    pub(super) fn read(&self) -> IoRequest {
        IoRequest {
            op: Op::Read,
            region: self.region,
            offset: self.offset,
            len: self.len,
        }
    }
}

/// Number of entries at which writes covered by later ones are removed. This bounds the log of a
/// long job on a small file.
const SWEEP_AT: usize = 1 << 16;

/// All writes of a worker.
#[derive(Debug, Default)]
pub(super) struct WriteLog {
    written: Vec<Written>,
    sweep_at: usize,
}

impl WriteLog {
    /// Creates an empty log with capacity for `writes`.
    pub(super) fn with_room(writes: u64) -> WriteLog {
        let room = writes.min(SWEEP_AT as u64) as usize;
        WriteLog {
            written: Vec::with_capacity(room),
            sweep_at: SWEEP_AT,
        }
    }

    pub(super) fn add(&mut self, written: Written) {
        self.written.push(written);
        if self.written.len() >= self.sweep_at {
            survivors(&mut self.written);
            self.sweep_at = (2 * self.written.len()).max(SWEEP_AT);
        }
    }

    /// Returns the ranges with unknown content.
    pub(super) fn unknown(&self) -> impl Iterator<Item = &Written> {
        self.written.iter().filter(|written| !written.known)
    }

    /// Takes all writes whose content is known and still current, by file and offset.
    pub(super) fn settle(&mut self) -> Vec<Written> {
        current(std::mem::take(&mut self.written))
    }

    /// Takes all writes as [`WriteLog::settle`] does. Returns them, and the reads of each write in write order. A range
    /// that was written several times is read as often.
    pub(super) fn settle_in_order(&mut self) -> (Vec<Written>, Vec<IoRequest>) {
        let mut all = std::mem::take(&mut self.written);
        all.sort_unstable_by_key(|w| w.sequence);
        let current = current(all.clone());
        let written = all.iter().filter(|w| w.known);
        let reads = written.filter(|w| latest(&current, w).is_some());
        let reads = reads.map(Written::read).collect();
        (current, reads)
    }

    /// Takes the first `count` writes, without those covered by later ones.
    pub(super) fn take(&mut self, count: usize) -> Vec<Written> {
        let count = count.min(self.written.len());
        survivors_and_first(&mut self.written, count)
    }

    /// Takes the first `count` writes. Returns the latest write of the range of each whose content is known and still
    /// current.
    pub(super) fn take_with_repeats(&mut self, count: usize) -> Vec<Written> {
        let count = count.min(self.written.len());
        let current = current(self.written.clone());
        let first = self.written.drain(..count).filter(|w| w.known);
        first.filter_map(|w| latest(&current, &w)).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.written.len()
    }
}

/// Returns the writes whose content is known and still current, by file and offset.
fn current(mut written: Vec<Written>) -> Vec<Written> {
    survivors(&mut written);
    written.retain(|written| written.known);
    written
}

/// Returns the write of the same range among `current`, which are sorted by file and offset.
fn latest(current: &[Written], w: &Written) -> Option<Written> {
    let place = (w.region, w.offset);
    let at = current.binary_search_by_key(&place, |w| (w.region, w.offset));
    at.ok()
        .map(|at| current[at])
        .filter(|last| last.len == w.len)
}

/// Takes the first `count` entries of `written` in order, without those that a later write covers.
fn survivors_and_first(written: &mut Vec<Written>, count: usize) -> Vec<Written> {
    let rest = written.split_off(count);
    let first = std::mem::replace(written, rest);
    let mut all: Vec<Written> = first.iter().chain(written.iter()).copied().collect();
    survivors(&mut all);
    let mut kept: Vec<u64> = all.iter().filter(|w| w.known).map(|w| w.sequence).collect();
    kept.sort_unstable();
    first
        .into_iter()
        .filter(|w| kept.binary_search(&w.sequence).is_ok())
        .collect()
}

/// Removes each write that a later one overlaps, and sorts the others by region and offset.
fn survivors(written: &mut Vec<Written>) {
    written.sort_unstable_by_key(|w| (w.region, w.offset, w.sequence));
    // Blocks almost always cover each other completely: then the last write at each offset is
    // current.
    let mut kept: usize = 0;
    for i in 0..written.len() {
        let same = kept > 0 && {
            let last = &written[kept - 1];
            (last.region, last.offset, last.len)
                == (written[i].region, written[i].offset, written[i].len)
        };
        kept -= usize::from(same);
        written[kept] = written[i];
        kept += 1;
    }
    written.truncate(kept);
    let overlap =
        |pair: &[Written]| pair[0].region == pair[1].region && pair[0].end() > pair[1].offset;
    if written.windows(2).any(overlap) {
        sweep_overlaps(written);
    }
}

/// Handles partial overlaps: from the last write to the first, keeps each that no later one
/// overlaps.
fn sweep_overlaps(written: &mut Vec<Written>) {
    written.sort_unstable_by_key(|w| std::cmp::Reverse(w.sequence));
    // Covered ranges by region and start, merged and disjoint.
    let mut covered: BTreeMap<(u32, u64), u64> = BTreeMap::new();
    written.retain(|w| cover(&mut covered, w));
    written.sort_unstable_by_key(|w| (w.region, w.offset));
}

/// Adds a write to the covered ranges. Returns whether it did not overlap them.
fn cover(covered: &mut BTreeMap<(u32, u64), u64>, w: &Written) -> bool {
    let (mut start, mut end) = (w.offset, w.end());
    let mut free = true;
    while let Some((&(region, from), &to)) = covered.range(..=(w.region, end)).next_back() {
        if region != w.region || to < start {
            break;
        }
        free &= to <= w.offset || from >= w.end();
        (start, end) = (start.min(from), end.max(to));
        covered.remove(&(region, from));
    }
    covered.insert((w.region, start), end);
    free
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn write(sequence: u64, offset: u64, len: u32) -> Written {
        Written {
            region: 0,
            len,
            offset,
            sequence,
            known: true,
        }
    }

    fn settled(writes: &[Written]) -> Vec<u64> {
        let mut write_log = WriteLog::with_room(0);
        writes.iter().for_each(|&w| write_log.add(w));
        write_log.settle().iter().map(|w| w.sequence).collect()
    }

    #[test]
    fn the_last_write_to_a_place_counts() {
        assert_eq!(
            settled(&[write(1, 0, 4), write(2, 8, 4), write(3, 0, 4)]),
            [3, 2]
        );
        assert_eq!(
            settled(&[write(1, 0, 8), write(2, 4, 8), write(3, 20, 4)]),
            [2, 3]
        );
        assert_eq!(
            settled(&[
                write(1, 0, 4),
                Written {
                    known: false,
                    ..write(2, 0, 4)
                }
            ]),
            [0u64; 0]
        );
    }

    #[test]
    fn the_oldest_are_taken_first_and_those_written_over_are_not() {
        let mut write_log = WriteLog::with_room(4);
        [write(1, 0, 4), write(2, 8, 4), write(3, 0, 4)]
            .into_iter()
            .for_each(|w| write_log.add(w));
        assert_eq!(
            write_log
                .take(2)
                .iter()
                .map(|w| w.sequence)
                .collect::<Vec<_>>(),
            [2]
        );
        assert_eq!(write_log.len(), 1);
        assert_eq!(
            write_log
                .take(9)
                .iter()
                .map(|w| w.sequence)
                .collect::<Vec<_>>(),
            [3]
        );
    }

    /// fio 3.33 with `--rw=randwrite:4 --verify=pattern`: 32 writes, of which 8 repeat an offset, and 32 reads.
    #[test]
    fn writes_are_read_in_their_order_with_their_repeats() {
        let writes = [
            write(1, 8, 4),
            write(2, 0, 4),
            write(3, 8, 4),
            write(4, 2, 4),
        ];
        let log = |writes: &[Written]| WriteLog {
            written: writes.to_vec(),
            sweep_at: SWEEP_AT,
        };
        let (current, reads) = log(&writes[..3]).settle_in_order();
        let offsets = |reads: &[IoRequest]| reads.iter().map(|r| r.offset).collect::<Vec<_>>();
        assert_eq!(offsets(&reads), [8, 0, 8]);
        assert_eq!(
            current.iter().map(|w| w.sequence).collect::<Vec<_>>(),
            [2, 3]
        );
        let trimmed = Written {
            known: false,
            ..write(0, 8, 4)
        };
        let (_, reads) = log(&[trimmed, writes[0]]).settle_in_order();
        assert_eq!(offsets(&reads), [8], "a trim is not read back");
        let (_, reads) = log(&writes).settle_in_order();
        assert_eq!(
            offsets(&reads),
            [8, 8, 2],
            "another write covers a part of the second"
        );
        let mut backlog = log(&writes);
        let first = backlog.take_with_repeats(2);
        assert_eq!(
            first,
            [writes[2]],
            "the content is that of the latest write"
        );
        assert_eq!(backlog.len(), 2);
    }

    proptest! {
        #[test]
        fn what_is_read_back_was_overwritten_by_nobody(
            places in prop::collection::vec((0u64..40, 1u32..12, any::<bool>()), 0..60),
        ) {
            let writes: Vec<Written> =
                places.iter().zip(0..).map(|(&(offset, len, known), n)| Written { known, ..write(n, offset, len) }).collect();
            // Reference model: the last write of each byte.
            let mut bytes = [None; 64];
            for w in &writes {
                (w.offset..w.end()).for_each(|at| bytes[at as usize] = Some(w.sequence));
            }
            let whole = |w: &Written| w.known && (w.offset..w.end()).all(|at| bytes[at as usize] == Some(w.sequence));
            let settled = settled(&writes);
            for w in &writes {
                if settled.contains(&w.sequence) {
                    prop_assert!(whole(w), "{w:?} is read back though something lies over it");
                }
                let touched = writes.iter().any(|v| v.sequence > w.sequence && v.offset < w.end() && w.offset < v.end());
                prop_assert_eq!(settled.contains(&w.sequence), w.known && !touched, "{:?}", w);
            }
        }
    }
}
