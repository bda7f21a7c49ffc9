//! Tests of decoding: the flags of requests.

use super::*;

fn flags(letters: &str) -> (BlockOp, String) {
    let flags = parse_flags(letters.as_bytes());
    let names = [
        (flags.preflush, 'p'),
        (flags.fua, 'f'),
        (flags.sync, 's'),
        (flags.meta, 'm'),
        (flags.ahead, 'a'),
    ];
    let set = names.iter().filter(|(set, _)| *set);
    (flags.op, set.map(|(_, name)| *name).collect())
}

#[test]
fn decodes_operations_and_flags() {
    for (letters, op, set) in [
        ("R", BlockOp::Read, ""),
        ("RA", BlockOp::Read, "a"),
        ("RSM", BlockOp::Read, "sm"),
        ("RAM", BlockOp::Read, "ma"),
        ("W", BlockOp::Write, ""),
        ("WS", BlockOp::Write, "s"),
        ("WFS", BlockOp::Write, "fs"),
        ("FWFSM", BlockOp::Write, "pfsm"),
        ("FWS", BlockOp::Write, "ps"),
        ("FF", BlockOp::Flush, "p"),
        ("FFS", BlockOp::Flush, "ps"),
        ("F", BlockOp::Flush, ""),
        ("FS", BlockOp::Flush, "s"),
        ("D", BlockOp::Discard, ""),
        ("DS", BlockOp::Discard, "s"),
        ("DE", BlockOp::Discard, ""),
        ("N", BlockOp::Other, ""),
        ("NS", BlockOp::Other, "s"),
        // Zone append, reset, reset of all zones, open.
        ("ZA", BlockOp::Write, ""),
        ("ZAS", BlockOp::Write, "s"),
        ("ZR", BlockOp::Other, ""),
        ("ZRAS", BlockOp::Other, "s"),
        ("ZOS", BlockOp::Other, "s"),
        // Atomic, which has no meaning here.
        ("WSU", BlockOp::Write, "s"),
        ("", BlockOp::Other, ""),
    ] {
        assert_eq!(flags(letters), (op, set.to_owned()), "{letters}");
    }
}

/// Formats of a kernel, and where its records differ from those of others.
struct Kernel {
    name: &'static str,
    formats: &'static str,
    /// Offsets of `rwbs` in the events of bios, of requests, of completions and of requeues.
    rwbs: [usize; 4],
    /// Offsets of the thread's name in the events of bios, and of issued requests.
    comm: [usize; 2],
    /// Bytes of a pointer.
    pointer: usize,
    /// Whether the MMC and F2FS formats are in the file.
    has_modules: bool,
}

const KERNELS: [Kernel; 6] = [
    Kernel {
        name: "5.10",
        formats: include_str!("../../../testdata/formats/5.10-x86_64.txt"),
        rwbs: [28, 32, 32, 28],
        comm: [36, 40],
        pointer: 8,
        has_modules: true,
    },
    Kernel {
        name: "6.1",
        formats: include_str!("../../../testdata/formats/6.1-x86_64.txt"),
        rwbs: [28, 32, 32, 28],
        comm: [36, 40],
        pointer: 8,
        has_modules: true,
    },
    Kernel {
        name: "6.1 on 32-bit ARM",
        formats: include_str!("../../../testdata/formats/6.1-arm.txt"),
        rwbs: [28, 32, 32, 28],
        comm: [36, 40],
        pointer: 4,
        has_modules: true,
    },
    Kernel {
        name: "6.6",
        formats: include_str!("../../../testdata/formats/6.6-x86_64.txt"),
        rwbs: [28, 32, 32, 28],
        comm: [36, 40],
        pointer: 8,
        has_modules: true,
    },
    Kernel {
        name: "6.12",
        formats: include_str!("../../../testdata/formats/6.12-x86_64.txt"),
        rwbs: [28, 34, 34, 30],
        comm: [36, 42],
        pointer: 8,
        has_modules: true,
    },
    Kernel {
        name: "6.18",
        formats: include_str!("../../../testdata/formats/6.18-x86_64.txt"),
        rwbs: [28, 34, 34, 30],
        comm: [38, 44],
        pointer: 8,
        has_modules: false,
    },
];

const FILESYSTEM: DiskNumber = DiskNumber {
    major: 179,
    minor: 2,
};

impl Kernel {
    /// Returns the formats of all events, as the files of tracefs hold them.
    fn parsed(&self) -> Vec<EventFormat> {
        let starts: Vec<_> = self
            .formats
            .match_indices("name: ")
            .filter(|&(at, _)| at == 0 || self.formats.as_bytes()[at - 1] == b'\n')
            .map(|(at, _)| at)
            .chain([self.formats.len()])
            .collect();
        starts
            .windows(2)
            .map(|range| EventFormat::parse(&self.formats[range[0]..range[1]]).unwrap())
            .collect()
    }

    fn decoder(&self) -> Decoder {
        let mut decoder = Decoder::new(Some((FILESYSTEM, 8_192)));
        for format in self.parsed() {
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
    fn record(&self, event: &str) -> Record {
        let format = self
            .parsed()
            .into_iter()
            .find(|format| format.name == event);
        let mut record = Record(vec![0; 160]);
        record.put(0, &format.unwrap().id.to_ne_bytes());
        record.put(4, &4242u32.to_ne_bytes());
        record
    }
}

/// A record of an event, with 0 where nothing was put.
struct Record(Vec<u8>);

impl Record {
    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Puts the address of a block event.
    fn range(mut self, sector: u64, sectors: u32) -> Record {
        self.put(16, &sector.to_ne_bytes());
        self.put(24, &sectors.to_ne_bytes());
        self
    }

    fn number(mut self, at: usize, number: u32) -> Record {
        self.put(at, &number.to_ne_bytes());
        self
    }

    fn text(mut self, at: usize, text: &str) -> Record {
        self.put(at, text.as_bytes());
        self
    }
}

/// Far behind the first 2 TiB, so that 32 bits do not suffice.
const SECTOR: u64 = 0x12_3456_7890;

fn write_flags() -> RequestFlags {
    RequestFlags {
        op: BlockOp::Write,
        preflush: true,
        fua: true,
        sync: true,
        meta: true,
        ahead: false,
    }
}

fn range() -> SectorRange {
    SectorRange {
        start: SECTOR,
        sectors: 24,
    }
}

fn decode(decoder: &mut Decoder, record: &Record) -> Option<EventKind> {
    let event = decoder.decode(&record.0, 77, 3, 4242)?;
    assert_eq!((event.time, event.cpu, event.tid), (77, 3, 4242));
    Some(event.kind)
}

#[test]
fn decodes_the_same_request_from_each_kernel() {
    for kernel in KERNELS {
        let [of_bio, of_request, of_completion, of_requeue] = kernel.rwbs;
        let mut decoder = kernel.decoder();
        let mut expect = |record: Record, kind: EventKind| {
            assert_eq!(decode(&mut decoder, &record), Some(kind), "{}", kernel.name);
        };
        let record = |event: &str, rwbs: usize| {
            let record = kernel.record(event).range(SECTOR, 24);
            record.text(rwbs, "FWFSM")
        };
        let (range, flags) = (range(), write_flags());
        let mut comm = ThreadName::default();
        comm.0[..15].copy_from_slice(b"jbd2/mmcblk0p2-");
        expect(
            record("block_bio_queue", of_bio).text(kernel.comm[0], "jbd2/mmcblk0p2-\0"),
            EventKind::BioQueue { range, flags, comm },
        );
        expect(
            record("block_rq_insert", of_request),
            EventKind::RequestInsert { range, flags },
        );
        expect(
            record("block_rq_issue", of_request).text(kernel.comm[1], "jbd2/mmcblk0p2-\0"),
            EventKind::RequestIssue { range, flags, comm },
        );
        expect(
            record("block_rq_requeue", of_requeue),
            EventKind::RequestRequeue { range, flags },
        );
        expect(
            record("block_rq_complete", of_completion).number(28, -5i32 as u32),
            EventKind::RequestComplete {
                range,
                flags,
                error: -5,
            },
        );
    }
}

#[test]
fn decodes_what_explains_from_each_kernel() {
    for kernel in KERNELS {
        let mut decoder = kernel.decoder();
        let mut expect = |record: Record, kind: EventKind| {
            assert_eq!(decode(&mut decoder, &record), Some(kind), "{}", kernel.name);
        };
        expect(
            kernel
                .record("block_bio_backmerge")
                .range(SECTOR, 24)
                .text(28, "W"),
            EventKind::BioMerge {
                range: range(),
                front: false,
            },
        );
        let mut split = kernel.record("block_split").range(SECTOR, 0);
        split.put(24, &(SECTOR + 1024).to_ne_bytes());
        expect(
            split,
            EventKind::Split {
                sector: SECTOR,
                rest: SECTOR + 1024,
            },
        );
        expect(
            kernel.record("jbd2_end_commit"),
            EventKind::JournalCommitEnd,
        );
        expect(kernel.record("ext4_sync_file_enter"), EventKind::SyncEnter);
    }
}

#[test]
fn decodes_commands_of_each_kernel() {
    for kernel in KERNELS.iter().filter(|kernel| kernel.has_modules) {
        let mut decoder = kernel.decoder();
        let mrq = 0xffff_8000_1234_5678_u64 as usize;
        let mrq = &mrq.to_ne_bytes()[..kernel.pointer];
        let id = match mrq.len() {
            4 => 0x1234_5678,
            _ => 0xffff_8000_1234_5678,
        };
        let pointers = 96 + kernel.pointer;
        let mut start = kernel
            .record("mmc_request_start")
            .number(8, 25)
            .number(56, 8)
            .number(60, 11_064)
            .number(64, 512);
        start.put(pointers, mrq);
        assert_eq!(
            decode(&mut decoder, &start),
            Some(EventKind::MmcStart {
                opcode: 25,
                sector: 11_064,
                blocks: 8,
                block_size: 512,
                id,
            }),
            "{}",
            kernel.name
        );
        let mut done = kernel
            .record("mmc_request_done")
            .number(8, 25)
            .number(32, 2)
            .number(92, 4096)
            .number(96, -110i32 as u32);
        done.put(128, mrq);
        assert_eq!(
            decode(&mut decoder, &done),
            Some(EventKind::MmcDone {
                opcode: 25,
                id,
                bytes: 4096,
                retries: 2,
                error: -110,
            }),
            "{}",
            kernel.name
        );
    }
}

#[test]
fn decodes_the_types_of_f2fs() {
    for kernel in KERNELS.iter().filter(|kernel| kernel.has_modules) {
        let mut decoder = kernel.decoder();
        let bio = |target: DiskNumber| {
            let mut record = kernel
                .record("f2fs_submit_write_bio")
                .number(12, target.kernel())
                .number(24, 1)
                .number(40, 4096);
            record.put(32, &1_000u64.to_ne_bytes());
            record
        };
        // Sectors of the partition become sectors of the disk.
        assert_eq!(
            decode(&mut decoder, &bio(FILESYSTEM)),
            Some(EventKind::F2fsBio {
                sector: 9_192,
                size: 4096,
                page_type: 1,
            }),
            "{}",
            kernel.name
        );
        let elsewhere = DiskNumber { major: 8, minor: 1 };
        assert_eq!(decode(&mut decoder, &bio(elsewhere)), None);
    }
}

#[test]
fn counts_what_it_leaves_out() {
    let kernel = &KERNELS[5];
    let mut decoder = kernel.decoder();
    // Plugging by a thread that has nothing to do with the disk.
    assert_eq!(decode(&mut decoder, &kernel.record("block_plug")), None);
    let queue = kernel.record("block_bio_queue").range(8, 8).text(28, "R");
    assert!(decode(&mut decoder, &queue).is_some());
    let plug = decode(&mut decoder, &kernel.record("block_plug"));
    assert!(matches!(plug, Some(EventKind::Other { .. })));
    assert_eq!(decoder.received().sum::<u64>(), 3);
    // Unknown events, and records that are cut off.
    assert_eq!(decoder.decode(&[0xff, 0xff, 0, 0], 1, 0, 0), None);
    assert_eq!(decoder.decode(&[1], 1, 0, 0), None);
    let short = decoder.decode(&queue.0[..12], 1, 0, 0).unwrap();
    assert!(matches!(short.kind, EventKind::BioQueue { .. }));
}

#[test]
fn an_event_without_the_needed_fields_is_refused() {
    let text =
        "name: block_rq_issue\nID: 7\nformat:\n\tfield:int common_pid;\toffset:4;\tsize:4;\n";
    let format = EventFormat::parse(text).unwrap();
    let event = EVENTS.iter().position(|spec| spec.name == "block_rq_issue");
    assert!(!Decoder::new(None).add(event.unwrap(), &format));
}
