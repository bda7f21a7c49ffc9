//! Formats and records of the events of several kernels, for tests.

use super::decode::{Decoder, FilesystemPlace};
use super::format::EventFormat;
use super::options::DiskNumber;
use super::table::EVENTS;

/// Formats of a kernel, and where its records differ from those of others.
pub(super) struct Kernel {
    pub(super) name: &'static str,
    pub(super) formats: &'static str,
    /// Offsets of `rwbs` in the events of bios, of requests, of completions and of requeues.
    pub(super) rwbs: [usize; 4],
    /// Offsets of the thread's name in the events of bios, and of issued requests.
    pub(super) comm: [usize; 2],
    /// Bytes of a pointer.
    pub(super) pointer: usize,
    /// Whether the MMC and F2FS formats are in the file.
    pub(super) has_modules: bool,
}

pub(super) static KERNELS: [Kernel; 6] = [
    Kernel {
        name: "5.10",
        formats: include_str!("../../testdata/formats/5.10-x86_64.txt"),
        rwbs: [28, 32, 32, 28],
        comm: [36, 40],
        pointer: 8,
        has_modules: true,
    },
    Kernel {
        name: "6.1",
        formats: include_str!("../../testdata/formats/6.1-x86_64.txt"),
        rwbs: [28, 32, 32, 28],
        comm: [36, 40],
        pointer: 8,
        has_modules: true,
    },
    Kernel {
        name: "6.1 on 32-bit ARM",
        formats: include_str!("../../testdata/formats/6.1-arm.txt"),
        rwbs: [28, 32, 32, 28],
        comm: [36, 40],
        pointer: 4,
        has_modules: true,
    },
    Kernel {
        name: "6.6",
        formats: include_str!("../../testdata/formats/6.6-x86_64.txt"),
        rwbs: [28, 32, 32, 28],
        comm: [36, 40],
        pointer: 8,
        has_modules: true,
    },
    Kernel {
        name: "6.12",
        formats: include_str!("../../testdata/formats/6.12-x86_64.txt"),
        rwbs: [28, 34, 34, 30],
        comm: [36, 42],
        pointer: 8,
        has_modules: true,
    },
    Kernel {
        name: "6.18",
        formats: include_str!("../../testdata/formats/6.18-x86_64.txt"),
        rwbs: [28, 34, 34, 30],
        comm: [38, 44],
        pointer: 8,
        has_modules: false,
    },
];

/// The partition of the file system under test.
pub(super) const FILESYSTEM: DiskNumber = DiskNumber {
    major: 179,
    minor: 2,
};

/// The whole disk.
pub(super) const DISK: DiskNumber = DiskNumber {
    major: 179,
    minor: 0,
};

impl Kernel {
    /// Returns the formats of all events, as the files of tracefs hold them: name and text.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let formats = self.formats;
        let begins = formats.match_indices("name: ").map(|(at, _)| at);
        let starts: Vec<usize> = begins
            .filter(|&at| at == 0 || formats.as_bytes()[at - 1] == b'\n')
            .chain([formats.len()])
            .collect();
        let texts: Vec<_> = starts
            .windows(2)
            .map(|range| &formats[range[0]..range[1]])
            .collect();
        texts.into_iter().map(|text| {
            let name = text
                .lines()
                .next()
                .and_then(|line| line.strip_prefix("name: "));
            (name.unwrap(), text)
        })
    }

    /// Returns the kernel of this name.
    pub(super) fn named(name: &str) -> &'static Kernel {
        KERNELS.iter().find(|kernel| kernel.name == name).unwrap()
    }

    pub(super) fn decoder(&self) -> Decoder {
        let mut decoder = Decoder::new(Some(FilesystemPlace {
            number: FILESYSTEM,
            disk: DISK,
            start: 8_192,
        }));
        for (_, text) in self.texts() {
            let format = EventFormat::parse(text).unwrap();
            let event = EVENTS.iter().position(|spec| spec.name == format.name);
            if let Some(event) = event {
                assert!(EVENTS[event].can_filter(&format), "{}", format.name);
                assert!(
                    decoder.add(event, &format),
                    "{}: {}",
                    self.name,
                    format.name
                );
            }
        }
        decoder
    }

    /// Builds a record of an event.
    pub(super) fn record(&self, event: &str) -> EventRecord {
        let (_, text) = self.texts().find(|(name, _)| *name == event).unwrap();
        let format = EventFormat::parse(text);
        let mut record = EventRecord(vec![0; 160]);
        record.put(0, &format.unwrap().id.to_ne_bytes());
        record.put(4, &4242u32.to_ne_bytes());
        record
    }
}

/// A record of an event, with 0 where nothing was put.
pub(super) struct EventRecord(pub(super) Vec<u8>);

impl EventRecord {
    pub(super) fn put(&mut self, at: usize, bytes: &[u8]) {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Puts the address of a block event.
    pub(super) fn range(mut self, sector: u64, sectors: u32) -> EventRecord {
        self.put(16, &sector.to_ne_bytes());
        self.put(24, &sectors.to_ne_bytes());
        self
    }

    pub(super) fn number(mut self, at: usize, number: u32) -> EventRecord {
        self.put(at, &number.to_ne_bytes());
        self
    }

    pub(super) fn text(mut self, at: usize, text: &str) -> EventRecord {
        self.put(at, text.as_bytes());
        self
    }
}
