//! Tests of decoding: the flags of requests.

use super::*;
use crate::recorder::fixtures::{DISK, EventRecord, FILESYSTEM, KERNELS};

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

fn decode(decoder: &mut Decoder, record: &EventRecord) -> Option<EventKind> {
    let event = decoder.decode(&record.0, 77, 3, 4242)?;
    assert_eq!((event.time, event.cpu, event.tid), (77, 3, 4242));
    Some(event.kind)
}

#[test]
fn decodes_the_same_request_from_each_kernel() {
    for kernel in &KERNELS {
        let [of_bio, of_request, of_completion, of_requeue] = kernel.rwbs;
        let mut decoder = kernel.decoder();
        let mut expect = |record: EventRecord, kind: EventKind| {
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
    for kernel in &KERNELS {
        let mut decoder = kernel.decoder();
        let mut expect = |record: EventRecord, kind: EventKind| {
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
        let mrq = 0xffff_8000_1234_5678_u64;
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
        // Sectors of the partition become sectors of the disk, which is the target.
        for target in [DISK, FILESYSTEM] {
            assert_eq!(
                decode(&mut decoder, &bio(target)),
                Some(EventKind::F2fsBio {
                    sector: 9_192,
                    size: 4096,
                    page_type: 1,
                }),
                "{}: {target}",
                kernel.name
            );
        }
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
