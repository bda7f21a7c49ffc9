//! `sync_file_range`: starts writeback of the data written since the last call, every N writes.

use crate::backend::SyncKind;
use hakaru_model::job::rules::RangeSync;
use hakaru_model::plan::WorkerPlan;
use hakaru_model::stream::IoRequest;
use hakaru_sys::file::RangeCall;

/// Written range without writeback per file: start and end.
#[derive(Debug)]
pub(super) struct Ranges {
    rule: RangeSync,
    written: u32,
    dirty: Box<[(u64, u64)]>,
}

/// A file without pending range.
const CLEAN: (u64, u64) = (u64::MAX, 0);

impl Ranges {
    pub(super) fn new(plan: &WorkerPlan) -> Option<Box<Ranges>> {
        let rule = plan.durability.range_sync?;
        Some(Box::new(Ranges {
            rule,
            written: 0,
            dirty: vec![CLEAN; plan.stream.regions.len()].into(),
        }))
    }

    /// Counts a write. Returns the range to write back, if it is time.
    pub(super) fn note(&mut self, request: &IoRequest) -> Option<SyncKind> {
        let (from, to) = self.dirty.get_mut(request.region as usize)?;
        *from = request.offset.min(*from);
        *to = (request.offset + u64::from(request.len)).max(*to);
        self.written += 1;
        if self.written < self.rule.every {
            return None;
        }
        let (offset, len) = (*from, *to - *from);
        (*from, *to) = CLEAN;
        self.written = 0;
        let RangeSync {
            wait_before,
            write,
            wait_after,
            ..
        } = self.rule;
        Some(SyncKind::Range(
            offset,
            len,
            RangeCall {
                wait_before,
                write,
                wait_after,
            },
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::job::Op;

    #[test]
    fn a_range_covers_what_was_written_since_the_last() {
        let (wait_before, write, wait_after) = (true, true, false);
        let mut ranges = Ranges {
            rule: RangeSync {
                every: 3,
                wait_before,
                write,
                wait_after,
            },
            written: 0,
            dirty: vec![CLEAN; 2].into(),
        };
        let call = RangeCall {
            wait_before,
            write,
            wait_after,
        };
        let range = |len| Some(SyncKind::Range(0, len, call));
        let write = |region, offset| IoRequest {
            op: Op::Write,
            region,
            offset,
            len: 4096,
        };
        assert_eq!(ranges.note(&write(0, 8192)), None);
        assert_eq!(ranges.note(&write(1, 0)), None);
        assert_eq!(ranges.note(&write(0, 0)), range(12_288));
        assert_eq!(ranges.note(&write(0, 4096)), None);
        assert_eq!(ranges.note(&write(0, 0)), None);
        assert_eq!(ranges.note(&write(0, 0)), range(8192));
    }
}
