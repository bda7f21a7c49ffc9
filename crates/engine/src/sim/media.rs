//! Content of a simulated card: stores only written data; the rest reads as zeros.

use super::card::SimCard;
use std::collections::BTreeMap;

const PAGE: u64 = 4096;

/// Pages by their real location.
#[derive(Debug, Default)]
pub(crate) struct Media {
    pages: BTreeMap<u64, Box<[u8]>>,
}

impl Media {
    pub(crate) fn write(&mut self, card: &SimCard, offset: u64, block: &[u8]) {
        let mut rest = block;
        for_each_piece(card, offset, block.len(), |place, len| {
            let (piece, after) = rest.split_at(len);
            rest = after;
            let page = self
                .pages
                .entry(place / PAGE)
                .or_insert_with(|| vec![0; PAGE as usize].into());
            let start = (place % PAGE) as usize;
            page[start..start + len].copy_from_slice(piece);
        });
    }

    pub(crate) fn read(&self, card: &SimCard, offset: u64, block: &mut [u8]) {
        let mut done = 0;
        for_each_piece(card, offset, block.len(), |place, len| {
            let piece = &mut block[done..done + len];
            done += len;
            let start = (place % PAGE) as usize;
            match self.pages.get(&(place / PAGE)) {
                Some(page) => piece.copy_from_slice(&page[start..start + len]),
                None => piece.fill(0),
            }
        });
    }
}

/// Splits a block into pieces within pages, with offset and length.
fn for_each_piece(card: &SimCard, offset: u64, len: usize, mut f: impl FnMut(u64, usize)) {
    let capacity = card.model().capacity.0.max(1);
    let (mut at, end) = (offset, offset + len as u64);
    while at < end {
        let place = card.place(at);
        let len = (PAGE - place % PAGE).min(capacity - place).min(end - at);
        f(place, len as usize);
        at += len;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::device_model::DeviceModel;
    use hakaru_model::units::Bytes;

    #[test]
    fn content_comes_back_and_wraps_with_the_card() {
        let card = SimCard::new(DeviceModel::plain("t", Bytes(10_000)), 1);
        let mut media = Media::default();
        let block: Vec<u8> = (0..9000u32).map(|i| (i % 251) as u8 + 1).collect();
        media.write(&card, 5000, &block);
        let mut back = vec![0; 9000];
        media.read(&card, 5000, &mut back);
        assert_eq!(back, block);
        media.read(&card, 0, &mut back[..4]);
        assert_eq!(
            back[..4],
            block[5000..5004],
            "past its end the card begins again"
        );
    }
}
