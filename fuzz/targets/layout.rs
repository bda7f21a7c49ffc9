//! Fuzzes the media of file systems: the input is the start of a medium, and repeated behind it.

#![no_main]

use hakaru_trace::layout::{DiskArea, LayoutSnapshot, Medium, address_map, read};
use libfuzzer_sys::fuzz_target;
use std::io;

const SIZE: u64 = 48 << 20;

struct Image<'a>(&'a [u8]);

impl Medium for Image<'_> {
    fn size(&self) -> io::Result<u64> {
        Ok(SIZE)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let start = offset as usize % self.0.len();
        let content = self.0[start..].iter().chain(self.0.iter().cycle());
        buffer
            .iter_mut()
            .zip(content)
            .for_each(|(to, from)| *to = *from);
        Ok(())
    }
}

fuzz_target!(|data: &[u8]| {
    if data.is_empty() {
        return;
    }
    let area = DiskArea {
        start: 2048,
        sectors: SIZE / 512,
    };
    let layout = read(&Image(data), area, None);
    for range in &layout.ranges {
        assert!(range.sector >= area.start && range.sector + range.sectors <= area.end());
    }
    let snapshot = LayoutSnapshot {
        layout,
        ..LayoutSnapshot::default()
    };
    let map = address_map(area.end(), None, &snapshot);
    let sectors: u64 = map.ranges().iter().map(|range| range.sectors).sum();
    assert!(sectors <= area.end());
});
