//! The latest samples of a process in a file of fixed size, so that a reader that was away catches up.

use super::directory;
use super::state::LiveSample;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Maximum number of samples that are kept: ten minutes of two samples a second.
pub const MAX_LIVE_SAMPLES: u64 = 1200;

/// Length of a sample with its padding, in bytes.
const SLOT: usize = 1024;

/// Maximum length of the name of a phase in a sample, in characters. Names are the only part without a fixed length.
const LONGEST_NAME: usize = 24;

/// The ring of the process that writes it.
#[derive(Debug)]
pub(super) struct SampleWriter {
    file: File,
    last: u64,
}

impl SampleWriter {
    pub(super) fn create(path: &Path) -> io::Result<SampleWriter> {
        Ok(SampleWriter {
            file: directory::create(path)?,
            last: 0,
        })
    }

    /// Writes the next sample, and returns its sequence number.
    pub(super) fn push(&mut self, mut sample: LiveSample) -> io::Result<u64> {
        sample.seq = self.last + 1;
        sample.phase = sample.phase.chars().take(LONGEST_NAME).collect();
        let mut slot = serde_json::to_vec(&sample)?;
        if slot.len() >= SLOT {
            let message = "the sample is longer than its slot";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        slot.resize(SLOT - 1, b' ');
        slot.push(b'\n');
        self.file.write_all_at(&slot, offset(sample.seq))?;
        self.last = sample.seq;
        Ok(sample.seq)
    }
}

/// Position of a sample in the file, in bytes.
fn offset(seq: u64) -> u64 {
    (seq.saturating_sub(1) % MAX_LIVE_SAMPLES) * SLOT as u64
}

/// Reads the samples of a ring after a sequence number, up to `last`. Samples that were overwritten are left out.
pub(super) fn read_after(path: &Path, after: u64, last: u64) -> io::Result<Vec<LiveSample>> {
    let file = directory::open(path)?;
    let first = (after.saturating_add(1)).max(last.saturating_sub(MAX_LIVE_SAMPLES - 1));
    let mut found = Vec::new();
    for seq in first.max(1)..=last {
        let mut slot = [0; SLOT];
        if file.read_exact_at(&mut slot, offset(seq)).is_err() {
            continue;
        }
        // A slot that is being overwritten is not valid JSON, or has another number.
        let text = std::str::from_utf8(&slot).ok();
        let sample = text.and_then(|text| hakaru_model::json::from_str::<LiveSample>(text).ok());
        found.extend(sample.filter(|sample| sample.seq == seq));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::state::LiveRate;

    fn sample(at_unix_ms: i64) -> LiveSample {
        LiveSample {
            at_unix_ms,
            ..LiveSample::default()
        }
    }

    #[test]
    fn the_ring_keeps_the_latest_samples() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("samples");
        let mut writer = SampleWriter::create(&path).unwrap();
        let last = MAX_LIVE_SAMPLES + 10;
        for n in 1..=last {
            assert_eq!(writer.push(sample(n as i64)).unwrap(), n);
        }
        let seqs = |after| -> Vec<u64> {
            let found = read_after(&path, after, last).unwrap();
            assert!(found.iter().all(|s| s.at_unix_ms == s.seq as i64));
            found.iter().map(|s| s.seq).collect()
        };
        assert_eq!(seqs(last - 2), [last - 1, last]);
        assert!(seqs(last).is_empty());
        assert!(seqs(u64::MAX).is_empty());
        let all = seqs(0);
        assert_eq!((all[0], all.len() as u64), (11, MAX_LIVE_SAMPLES));
        let length = std::fs::metadata(&path).unwrap().len();
        assert_eq!(length, MAX_LIVE_SAMPLES * SLOT as u64);
    }

    #[test]
    fn the_longest_sample_fits_its_slot() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("samples");
        let rate = Some(LiveRate {
            bytes_per_s: 1.234_567_890_123_456_7e300,
            iops: 1.234_567_890_123_456_7e-300,
            p50_ns: Some(u64::MAX),
            p99_ns: Some(u64::MAX),
        });
        let longest = LiveSample {
            at_unix_ms: i64::MIN,
            // Each of these characters takes six bytes of JSON.
            phase: "\u{1}".repeat(1000),
            read: rate,
            write: rate,
            trim: rate,
            temperature: Some(i64::MIN),
            throttled: Some(u32::MAX),
            ..LiveSample::default()
        };
        let mut writer = SampleWriter::create(&path).unwrap();
        let pushed = writer.push(longest.clone());
        assert!(pushed.is_ok(), "{pushed:?}");
        let found = read_after(&path, 0, 1).unwrap();
        assert_eq!(found[0].read, longest.read);
    }

    #[test]
    fn torn_and_foreign_slots_are_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("samples");
        let mut writer = SampleWriter::create(&path).unwrap();
        for n in 0..3 {
            writer.push(sample(n)).unwrap();
        }
        writer
            .file
            .write_all_at(b"{\"seq\":2,\"seq\":", offset(2))
            .unwrap();
        let seqs: Vec<u64> = read_after(&path, 0, 9)
            .unwrap()
            .iter()
            .map(|s| s.seq)
            .collect();
        assert_eq!(seqs, [1, 3]);
    }
}
