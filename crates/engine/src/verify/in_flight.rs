//! Tracks writes in flight: for two overlapping writes the final content is unknown.

use super::write_log::Written;
use hakaru_model::stream::IoRequest;

/// The writes that were issued and have not completed, by slot.
#[derive(Debug)]
pub(super) struct InFlightWrites(Vec<Option<Write>>);

#[derive(Clone, Copy, Debug)]
struct Write {
    written: Written,
    /// Whether no other write to its bytes was in flight at the same time.
    alone: bool,
}

impl InFlightWrites {
    pub(super) fn new(slots: usize) -> InFlightWrites {
        InFlightWrites(vec![None; slots])
    }

    /// Called when a write is issued.
    pub(super) fn begin(&mut self, slot: u32, request: &IoRequest, sequence: u64) {
        let mut alone = true;
        for other in self
            .0
            .iter_mut()
            .flatten()
            .filter(|other| other.written.overlaps(request))
        {
            (other.alone, alone) = (false, false);
        }
        self.0[slot as usize] = Some(Write {
            written: Written::new(request, sequence, true),
            alone,
        });
    }

    /// Called when a write has completed. Returns its number, and whether its bytes are known to be on the device.
    pub(super) fn end(&mut self, slot: u32) -> (u64, bool) {
        self.0[slot as usize]
            .take()
            .map_or((0, false), |write| (write.written.sequence, write.alone))
    }

    /// Whether any write in flight overlaps the bytes of an earlier one.
    pub(super) fn overlap(&self, written: &Written) -> bool {
        self.0
            .iter()
            .flatten()
            .any(|write| write.written.overlaps(&written.read()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::job::Op;

    fn write(offset: u64) -> IoRequest {
        IoRequest {
            op: Op::Write,
            region: 0,
            offset,
            len: 4096,
        }
    }

    #[test]
    fn of_two_writes_to_the_same_bytes_neither_is_known() {
        let mut writes = InFlightWrites::new(3);
        writes.begin(0, &write(0), 1);
        writes.begin(1, &write(8192), 2);
        writes.begin(2, &write(2048), 3);
        assert!(writes.overlap(&Written::new(&write(4096), 0, true)));
        assert_eq!(
            (writes.end(0), writes.end(1), writes.end(2)),
            ((1, false), (2, true), (3, false))
        );
        assert!(!writes.overlap(&Written::new(&write(4096), 0, true)));
        writes.begin(0, &write(0), 4);
        assert_eq!(writes.end(0), (4, true));
    }
}
