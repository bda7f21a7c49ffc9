//! Probing without data loss: content is read before it is overwritten, kept in memory, and
//! restored afterwards.
//!
//! A layer between probe and device, invisible to both. Content is restored in the reverse order of
//! overwriting: if memory wraps around, several addresses share one location, and its oldest
//! content must be written last. Kept content is lost on a crash or power loss.

use super::error::{VerifyError, is_gone};
use super::{CHUNK, SIZES, ScanSizes, probe};
use crate::blockdev::{BlockDev, OnProgress};
use hakaru_model::integrity::IntegrityVerdict;
use hakaru_model::units::{Bytes, Nanos};
use hakaru_sys::buffer::AlignedBuffer;
use std::io;
use std::ops::Range;

/// Returns the memory that `probe_and_restore` needs for a device of this size and block size: as
/// much as probing overwrites.
pub fn keeps(size: Bytes, block: u32) -> Bytes {
    SIZES.overwrites(size, block)
}

/// Like [`probe()`], and restores the content, also after an error or stop.
///
/// # Errors
/// The errors of [`probe()`]; [`VerifyError::NotRestored`] takes precedence.
pub(crate) fn probe_and_restore(
    device: &mut dyn BlockDev,
    seed: u64,
    on_progress: &mut OnProgress<'_>,
) -> Result<IntegrityVerdict, VerifyError> {
    restored_sized(SIZES, device, seed, on_progress)
}

pub(super) fn restored_sized(
    sizes: ScanSizes,
    device: &mut dyn BlockDev,
    seed: u64,
    on_progress: &mut OnProgress<'_>,
) -> Result<IntegrityVerdict, VerifyError> {
    let mut keeping = ContentKeeper::new(device)?;
    let found = probe::probe_sized(sizes, &mut keeping, seed, on_progress);
    keeping.restore()?;
    found
}

/// Original content of a range.
struct SavedBlock {
    offset: u64,
    content: Vec<u8>,
}

struct ContentKeeper<'a> {
    device: &'a mut dyn BlockDev,
    /// Oldest first.
    kept: Vec<SavedBlock>,
    /// Ranges kept so far, sorted and not adjacent.
    covered: Vec<Range<u64>>,
    /// Aligned buffer for direct I/O.
    buffer: AlignedBuffer,
    /// Time spent on keeping content in ns, which the clock of the probe excludes.
    spent: u64,
}

impl<'a> ContentKeeper<'a> {
    fn new(device: &'a mut dyn BlockDev) -> Result<ContentKeeper<'a>, VerifyError> {
        let buffer = crate::prepare::fill_buffer(CHUNK as usize)?;
        Ok(ContentKeeper {
            device,
            kept: Vec::new(),
            covered: Vec::new(),
            buffer,
            spent: 0,
        })
    }

    /// Reads and keeps the parts of a range that are not yet kept. Returns an error if a piece of several blocks cannot
    /// be read: it must not be overwritten as a whole, because most of it may be intact. A single unreadable block may
    /// be overwritten without a copy.
    fn keep(&mut self, wanted: Range<u64>) -> io::Result<()> {
        for gap in self.gaps(wanted) {
            for start in gap.clone().step_by(CHUNK as usize) {
                let len = (gap.end - start).min(CHUNK) as usize;
                let mut content = Vec::new();
                content
                    .try_reserve_exact(len)
                    .map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
                let bytes = &mut self.buffer.as_mut_slice()[..len];
                match self.device.read_at(start, bytes) {
                    Ok(()) => {
                        content.extend_from_slice(bytes);
                        self.kept.push(SavedBlock {
                            offset: start,
                            content,
                        });
                    }
                    Err(error) if len > self.device.block() as usize || is_gone(&error) => {
                        return Err(error);
                    }
                    Err(_) => {}
                }
                self.cover(start..start + len as u64);
            }
        }
        Ok(())
    }

    /// Returns the parts of a range that are not yet kept.
    fn gaps(&self, wanted: Range<u64>) -> Vec<Range<u64>> {
        let (mut gaps, mut at) = (Vec::new(), wanted.start);
        let from = self
            .covered
            .partition_point(|range| range.end <= wanted.start);
        for range in self.covered[from..]
            .iter()
            .take_while(|range| range.start < wanted.end)
        {
            if at < range.start {
                gaps.push(at..range.start);
            }
            at = at.max(range.end);
        }
        if at < wanted.end {
            gaps.push(at..wanted.end);
        }
        gaps
    }

    fn cover(&mut self, gap: Range<u64>) {
        let at = self
            .covered
            .partition_point(|range| range.start < gap.start);
        self.covered.insert(at, gap);
        let mut merged: Vec<Range<u64>> = Vec::with_capacity(self.covered.len());
        for range in self.covered.drain(..) {
            match merged.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => merged.push(range),
            }
        }
        self.covered = merged;
    }

    /// Restores all content in reverse order. Continues after errors.
    fn restore(mut self) -> Result<(), VerifyError> {
        let mut failed: Option<(u64, io::Error)> = None;
        let mut left = 0;
        for SavedBlock { offset, content } in std::mem::take(&mut self.kept).into_iter().rev() {
            if let Err((at, source, bytes)) = self.put_back(offset, &content) {
                left += bytes;
                failed.get_or_insert((at, source));
            }
        }
        let flushed = self.device.flush();
        match (failed, flushed) {
            (Some((at, source)), _) => Err(VerifyError::NotRestored {
                at: Bytes(at),
                left: Bytes(left),
                source,
            }),
            (None, Err(source)) => Err(VerifyError::Flush { source }),
            (None, Ok(())) => Ok(()),
        }
    }

    /// Restores one range, block by block if it fails as a whole. A block that still has its old
    /// content needs nothing: the device rejected the test write too.
    fn put_back(&mut self, offset: u64, content: &[u8]) -> Result<(), (u64, io::Error, u64)> {
        let bytes = &mut self.buffer.as_mut_slice()[..content.len()];
        bytes.copy_from_slice(content);
        let Err(error) = self.device.write_at(offset, bytes) else {
            return Ok(());
        };
        if is_gone(&error) {
            return Err((offset, error, content.len() as u64));
        }
        let block = self.device.block() as usize;
        let mut failed: Option<(u64, io::Error, u64)> = None;
        for (at, old) in (offset..).step_by(block).zip(content.chunks(block)) {
            let bytes = &mut self.buffer.as_mut_slice()[..old.len()];
            bytes.copy_from_slice(old);
            let Err(error) = self.device.write_at(at, bytes) else {
                continue;
            };
            if self.device.read_at(at, bytes).is_ok() && bytes == old {
                continue;
            }
            failed.get_or_insert((at, error, 0)).2 += old.len() as u64;
        }
        failed.map_or(Ok(()), Err)
    }
}

impl BlockDev for ContentKeeper<'_> {
    fn size(&self) -> Bytes {
        self.device.size()
    }

    fn block(&self) -> u32 {
        self.device.block()
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        let before = self.device.now();
        let kept = self.keep(offset..offset + data.len() as u64);
        self.spent += self.device.now().0.saturating_sub(before.0);
        kept?;
        self.device.write_at(offset, data)
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.device.read_at(offset, buffer)
    }

    /// The content does not change, so nothing needs to be kept.
    fn rewrite_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.device.rewrite_at(offset, buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.device.flush()
    }

    fn is_pulled(&self) -> bool {
        self.device.is_pulled()
    }

    fn turns_out_pulled(&self) -> bool {
        self.device.turns_out_pulled()
    }

    fn now(&self) -> Nanos {
        Nanos(self.device.now().0.saturating_sub(self.spent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcard::{FakeCard, PastEndWrites};
    use crate::verify::Capacity;
    use std::ops::ControlFlow;

    /// A card whose blocks contain their own address.
    fn full(mut card: FakeCard) -> FakeCard {
        for (at, block) in card.content.chunks_exact_mut(512).enumerate() {
            block.fill((at % 251) as u8);
        }
        card
    }

    #[test]
    fn every_kind_of_card_is_as_it_was() {
        let (mib, claimed) = (1u64 << 20, 300u64 << 20);
        let cards = [
            (FakeCard::honest(9 << 20), Capacity::AsClaimed),
            (
                FakeCard::false_capacity(32 * mib, claimed, PastEndWrites::Wraps),
                Capacity::Wraps {
                    real: Bytes(32 * mib),
                },
            ),
            (
                FakeCard::false_capacity(100 * mib, claimed, PastEndWrites::Wraps),
                Capacity::Wraps {
                    real: Bytes(100 * mib),
                },
            ),
            (
                FakeCard::false_capacity(100 * mib, claimed, PastEndWrites::Vanishes),
                Capacity::Ends {
                    real: Bytes(100 * mib),
                },
            ),
            (
                FakeCard::false_capacity(100 * mib, claimed, PastEndWrites::Refuses),
                Capacity::Ends {
                    real: Bytes(100 * mib),
                },
            ),
        ];
        for (card, capacity) in cards {
            let mut card = full(card);
            let before = card.content.clone();
            let verdict =
                probe_and_restore(&mut card, 7, &mut |_| ControlFlow::Continue(())).unwrap();
            assert_eq!(verdict.capacity, capacity);
            assert!(card.content == before, "{capacity:?}");
            // Keeping is not counted: the test card writes 20 MB/s.
            assert_eq!(verdict.write_speed.whole().rate().unwrap().0, 20e6);
        }
    }

    #[test]
    fn a_stop_restores_everything_and_a_refusal_is_reported() {
        let mut card = full(FakeCard::honest(300 << 20));
        let before = card.content.clone();
        let mut calls = 0;
        let stopped = probe_and_restore(&mut card, 7, &mut |_| {
            calls += 1;
            if calls == 5 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        assert!(
            matches!(stopped, Err(VerifyError::Interrupted { .. })),
            "{stopped:?}"
        );
        assert!(card.content == before);

        let mut card = full(FakeCard::honest(300 << 20));
        let mut keeping = ContentKeeper::new(&mut card).unwrap();
        keeping.write_at(512, &[1; 1024]).unwrap();
        keeping.write_at(0, &[2; 2048]).unwrap();
        assert_eq!(keeping.covered, std::slice::from_ref(&(0..2048)));
        drop(keeping);
        card.write_error = Some(512);
        let mut keeping = ContentKeeper::new(&mut card).unwrap();
        assert!(keeping.write_at(512, &[3; 512]).is_err());
        // Content that was never overwritten needs no restoring.
        keeping.restore().unwrap();
        card.write_error = None;
        let mut keeping = ContentKeeper::new(&mut card).unwrap();
        keeping.write_at(0, &[3; 4096]).unwrap();
        let ContentKeeper {
            kept,
            covered,
            buffer,
            spent,
            ..
        } = keeping;
        card.write_error = Some(512);
        let lost = ContentKeeper {
            device: &mut card,
            kept,
            covered,
            buffer,
            spent,
        }
        .restore();
        assert!(
            matches!(
                lost,
                Err(VerifyError::NotRestored {
                    at: Bytes(512),
                    left: Bytes(512),
                    ..
                })
            ),
            "{lost:?}"
        );
    }

    /// Regression: the message was "No such device" without saying that the card was removed.
    #[test]
    fn a_card_that_is_gone_when_it_is_put_back_is_called_pulled() {
        for errno in [
            rustix::io::Errno::NODEV,
            rustix::io::Errno::NXIO,
            rustix::io::Errno::NOMEDIUM,
        ] {
            let source = io::Error::from_raw_os_error(errno.raw_os_error());
            let told = VerifyError::NotRestored {
                at: Bytes(512),
                left: Bytes(1024),
                source,
            }
            .to_string();
            assert!(
                told.contains("the device was removed or disconnected"),
                "{told}"
            );
            let told = VerifyError::Flush {
                source: io::Error::from_raw_os_error(errno.raw_os_error()),
            }
            .to_string();
            assert!(told.contains("the device was removed"), "{told}");
        }
        let source = io::Error::from_raw_os_error(5);
        let told = VerifyError::NotRestored {
            at: Bytes(512),
            left: Bytes(1024),
            source,
        }
        .to_string();
        assert!(!told.contains("removed"), "{told}");
    }

    /// Regression: a chunk with one unreadable sector was overwritten without keeping its intact
    /// sectors.
    #[test]
    fn one_bad_block_takes_none_of_its_neighbours_along() {
        let bad = (5 << 20) + 512 * 7;
        let mut card = full(FakeCard::honest(300 << 20));
        let before = card.content.clone();
        card.read_error = Some(bad);
        let verdict = probe_and_restore(&mut card, 7, &mut |_| ControlFlow::Continue(())).unwrap();
        let lost: Vec<usize> = (0..before.len())
            .step_by(512)
            .filter(|&at| card.content[at..at + 512] != before[at..at + 512])
            .collect();
        assert_eq!(lost, [bad as usize], "all that could be read is as it was");
        assert_eq!(verdict.bad_bytes, Bytes(512));
        // Writing block by block takes time too: no segment has a duration of 0.
        assert!(
            verdict
                .write_speed
                .points
                .iter()
                .all(|point| point.elapsed.0 > 0),
            "{:?}",
            verdict.write_speed
        );
    }

    #[test]
    fn only_what_is_promised_is_kept_in_memory() {
        // The last two sizes have the maximum number of whole chunks and a quarter of it.
        for size in [
            9u64 << 20,
            250 << 20,
            300 << 20,
            (4 << 30) - (64 << 20),
            4 << 30,
        ] {
            let mut card = FakeCard::false_capacity(1 << 20, size, PastEndWrites::Wraps);
            let mut keeping = ContentKeeper::new(&mut card).unwrap();
            probe::probe(&mut keeping, 1, &mut |_| ControlFlow::Continue(())).unwrap();
            let kept: u64 = keeping
                .kept
                .iter()
                .map(|kept| kept.content.len() as u64)
                .sum();
            // Some more single blocks are overwritten in the second round, and in the search for
            // the end.
            let promised = keeps(Bytes(size), 512).0;
            assert!(
                kept <= promised && promised <= kept + 128 * 4096,
                "{kept} of {size}, and {promised} are promised"
            );
        }
    }
}
