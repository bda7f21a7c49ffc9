//! Digest of a card's content, to check that nothing was changed.

use super::{Refused, SimulatedCard};
use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;

impl SimulatedCard {
    /// Returns the digest of a range, without costs.
    ///
    /// # Errors
    /// Past the end, and if the backing file cannot be read.
    pub fn digest(&self, range: Range<u64>) -> Result<u64, Refused> {
        let mut hasher = DefaultHasher::new();
        let mut buffer = vec![0; 1 << 20];
        let mut at = range.start;
        while at < range.end {
            let len = (range.end - at).min(buffer.len() as u64);
            let part = &mut buffer[..len as usize];
            self.peek(at, part)?;
            hasher.write(part);
            at += len;
        }
        Ok(hasher.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::device_model::DeviceModel;
    use hakaru_model::units::Bytes;

    #[test]
    fn one_byte_changes_it_and_only_in_its_range() {
        let card = SimulatedCard::new(DeviceModel::plain("t", Bytes(4 << 20)), 1)
            .expect("a temporary file");
        let signs = || {
            [0..4 << 20, 0..1 << 20, 3 << 20..4 << 20]
                .map(|range| card.digest(range).expect("it reads"))
        };
        let before = signs();
        card.poke((4 << 20) - 1, &[1]).expect("it writes");
        let after = signs();
        assert_ne!(before[0], after[0]);
        assert_eq!(before[1], after[1]);
        assert_ne!(before[2], after[2]);
        assert_eq!(card.digest(0..(4 << 20) + 1), Err(Refused::OutOfRange));
    }
}
