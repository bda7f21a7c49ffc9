//! Pages of the ftrace ring buffer, as `trace_pipe_raw` delivers them.

/// Layout of a page, from `events/header_page`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageLayout {
    /// Offset of the length of the data.
    pub commit: usize,
    /// Bytes of that length: 4 on 32-bit kernels.
    pub commit_size: usize,
    /// Offset of the data.
    pub data: usize,
    /// Size of a page.
    pub size: usize,
}

/// Larger pages are not credible: the kernel allows 64 KiB, or one page of its own.
const LARGEST_PAGE: usize = 1 << 20;

/// Length of the data; the bits above say that events were lost before it.
const COMMIT_MASK: u64 = 0xf_ffff;

impl PageLayout {
    /// Parses `events/header_page`.
    pub(super) fn parse(text: &str) -> Option<PageLayout> {
        let (mut commit, mut data) = (None, None);
        for line in text.lines() {
            let (declaration, rest) = line.trim().strip_prefix("field:")?.split_once(';')?;
            let value = |key: &str| -> Option<usize> {
                let part = rest
                    .split(';')
                    .find_map(|part| part.trim().strip_prefix(key))?;
                part.parse().ok()
            };
            let place = || Some((value("offset:")?, value("size:")?));
            match declaration.split_whitespace().last()? {
                "commit" => commit = place(),
                "data" => data = place(),
                _ => {}
            }
        }
        let ((commit, commit_size), (data, data_size)) = (commit?, data?);
        let size = data.checked_add(data_size)?;
        (size <= LARGEST_PAGE).then_some(PageLayout {
            commit,
            commit_size,
            data,
            size,
        })
    }

    /// Calls `event` with the time and the record of each event of a page.
    pub(super) fn for_each(&self, page: &[u8], mut event: impl FnMut(u64, &[u8])) {
        let Some(data) = self.data_of(page) else {
            return;
        };
        let Some(mut time) = number(page, 0, 8) else {
            return;
        };
        let mut at = 0;
        while let Some(entry) = PageEntry::parse(data, at) {
            match entry.time {
                EntryTime::Delta(delta) => time = time.wrapping_add(delta),
                // The upper five bits do not fit into the entry; they change once in 18 years.
                EntryTime::Absolute(low) => time = time & !((1 << 59) - 1) | low,
            }
            if let Some(record) = entry.record {
                event(time, record);
            }
            at = at.saturating_add(entry.len);
        }
    }

    fn data_of<'a>(&self, page: &'a [u8]) -> Option<&'a [u8]> {
        let commit = number(page, self.commit, self.commit_size)?;
        let len = (commit & COMMIT_MASK) as usize;
        page.get(self.data..self.data.checked_add(len)?)
    }
}

/// One entry of a page.
struct PageEntry<'a> {
    time: EntryTime,
    /// `None` for entries that only move the time, and for discarded events.
    record: Option<&'a [u8]>,
    /// Bytes to the next entry.
    len: usize,
}

enum EntryTime {
    /// Nanoseconds since the entry before.
    Delta(u64),
    /// Lower 59 bits of the time.
    Absolute(u64),
}

/// Bytes of the first word of an entry: kind or length, and time.
const HEADER: usize = 4;

impl<'a> PageEntry<'a> {
    /// Parses the entry at an offset. Returns `None` at the end of the data.
    fn parse(data: &'a [u8], at: usize) -> Option<PageEntry<'a>> {
        let word = number(data, at, 4)?;
        // `type_len:5, time_delta:27`: the compiler begins with the lowest bits, or with the highest ones.
        let (kind, delta) = if cfg!(target_endian = "big") {
            (word >> 27, word & 0x7ff_ffff)
        } else {
            (word & 0x1f, word >> 5)
        };
        let second = || number(data, at + HEADER, 4);
        match kind {
            // The second word is the length, which includes itself.
            0 => {
                let len = second()? as usize;
                let end = at.checked_add(HEADER)?.checked_add(len)?;
                Some(PageEntry {
                    time: EntryTime::Delta(delta),
                    record: Some(data.get(at + 2 * HEADER..end)?),
                    len: HEADER + len,
                })
            }
            1..=28 => {
                let len = kind as usize * 4;
                let start = at + HEADER;
                Some(PageEntry {
                    time: EntryTime::Delta(delta),
                    record: Some(data.get(start..start + len)?),
                    len: HEADER + len,
                })
            }
            // Padding: a discarded event, or with delta 0 the rest of the page.
            29 if delta == 0 => None,
            29 => Some(PageEntry {
                time: EntryTime::Delta(delta),
                record: None,
                len: HEADER.checked_add(second()? as usize)?,
            }),
            30 => Some(PageEntry {
                time: EntryTime::Delta(delta + (second()? << 27)),
                record: None,
                len: 2 * HEADER,
            }),
            _ => Some(PageEntry {
                time: EntryTime::Absolute(delta + (second()? << 27)),
                record: None,
                len: 2 * HEADER,
            }),
        }
    }
}

/// Reads a number of 4 or 8 bytes.
fn number(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(size)?)?;
    match size {
        4 => Some(u64::from(u32::from_ne_bytes(bytes.try_into().ok()?))),
        8 => Some(u64::from_ne_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT_64: &str = "\
\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;
";
    const LAYOUT_32: &str = "\
\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:12;\tsize:4084;\tsigned:1;
";

    /// Builds a page as the kernel of a layout does.
    fn page(layout: PageLayout, time: u64, flags: u64, data: &[u8]) -> Vec<u8> {
        let mut page = time.to_ne_bytes().to_vec();
        let commit = data.len() as u64 | flags;
        match layout.commit_size {
            4 => page.extend((commit as u32).to_ne_bytes()),
            _ => page.extend(commit.to_ne_bytes()),
        }
        page.extend(data);
        page.resize(layout.size, 0xaa);
        page
    }

    fn header(kind: u32, delta: u32) -> [u8; 4] {
        if cfg!(target_endian = "big") {
            (kind << 27 | delta).to_ne_bytes()
        } else {
            (kind | delta << 5).to_ne_bytes()
        }
    }

    fn events(layout: PageLayout, page: &[u8]) -> Vec<(u64, Vec<u8>)> {
        let mut events = Vec::new();
        layout.for_each(page, |time, record| events.push((time, record.to_vec())));
        events
    }

    #[test]
    fn decodes_lengths_deltas_and_time_stamps() {
        let mut data = Vec::new();
        // Two words of content.
        data.extend(header(2, 100));
        data.extend([1; 8]);
        // A discarded event of 8 bytes behind its header.
        data.extend(header(29, 7));
        data.extend(8u32.to_ne_bytes());
        data.extend([9; 4]);
        // Time moves by 3 << 27 plus 5.
        data.extend(header(30, 5));
        data.extend(3u32.to_ne_bytes());
        // Content of 120 bytes, longer than the kind can say.
        data.extend(header(0, 1));
        data.extend(124u32.to_ne_bytes());
        data.extend([2; 120]);
        // Absolute time.
        data.extend(header(31, 17));
        data.extend(1u32.to_ne_bytes());
        data.extend(header(1, 3));
        data.extend([3; 4]);
        data.extend(header(29, 0));
        for text in [LAYOUT_64, LAYOUT_32] {
            let layout = PageLayout::parse(text).unwrap();
            assert_eq!(layout.size, 4096);
            // The upper bits say that events were lost before.
            let page = page(layout, 1_000, 1 << 31, &data);
            let second = 1_000 + 100 + 7 + (3 << 27) + 5 + 1;
            assert_eq!(
                events(layout, &page),
                [
                    (1_100, vec![1; 8]),
                    (second, vec![2; 120]),
                    ((1 << 27) + 17 + 3, vec![3; 4])
                ]
            );
        }
    }

    #[test]
    fn damaged_pages_end_early() {
        let layout = PageLayout::parse(LAYOUT_64).unwrap();
        let mut data = header(0, 1).to_vec();
        data.extend(u32::MAX.to_ne_bytes());
        assert_eq!(events(layout, &page(layout, 0, 0, &data)), []);
        let too_long = page(layout, 0, COMMIT_MASK, &[]);
        assert_eq!(events(layout, &too_long), []);
        assert_eq!(events(layout, &[1, 2, 3]), []);
        let mut padding = header(29, 1).to_vec();
        padding.extend(u32::MAX.to_ne_bytes());
        assert_eq!(events(layout, &page(layout, 0, 0, &padding)), []);
        assert_eq!(
            PageLayout::parse(&LAYOUT_64.replace("4080", "99999999")),
            None
        );
        assert_eq!(
            PageLayout::parse("\tfield: u64 timestamp;\toffset:0;\n"),
            None
        );
    }
}
