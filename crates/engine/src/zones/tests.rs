//! Zone rules, on files with emulated zones.

use super::*;
use hakaru_model::facts::{TargetFacts, TargetKind};
use hakaru_model::job::rules::{ZoneResets, Zones};
use hakaru_model::job::{Access, Job, Op, Scenario, SizeSpec, Target};
use hakaru_model::plan::{Plan, WorkerPlan};
use hakaru_model::stream::{IoRequest, StreamPlan};
use hakaru_model::units::Bytes;
use std::sync::Arc;

const KIB: u64 = 1024;
/// Zone size in bytes, of which a quarter is not writable. Tests use eight zones.
const ZONE: u64 = 16 * KIB;
const CAPACITY: u64 = 12 * KIB;

fn worker(access: Access, change: impl FnOnce(&mut Job)) -> WorkerPlan {
    let mut job = Job::new("j", Target::Paths(vec!["f".into()]), access);
    job.extent.size = Some(SizeSpec::Bytes(Bytes(8 * ZONE)));
    job.access.zones = Zones::Device {
        size: Some(Bytes(ZONE)),
        capacity: Some(Bytes(CAPACITY)),
        skip: Bytes(0),
        max_open: 0,
        max_open_each: 0,
        read_beyond_write_pointer: false,
        ignore_limits: false,
        resets: None,
    };
    change(&mut job);
    let facts = TargetFacts {
        path: "f".into(),
        kind: TargetKind::File,
        size: Bytes(8 * ZONE),
        free: Some(Bytes(1 << 30)),
        logical_block: 512,
        direct_io: None,
        writable: true,
    };
    let plan = Plan::resolve(&Scenario::of_job(job), &[("f".into(), facts)].into()).unwrap();
    plan.phases[0].workers[0].clone()
}

/// Returns the options of the zones of a job.
fn device_zones(job: &mut Job) -> (&mut bool, &mut Option<ZoneResets>) {
    match &mut job.access.zones {
        Zones::Device {
            read_beyond_write_pointer,
            resets,
            ..
        } => (read_beyond_write_pointer, resets),
        other => panic!("{other:?}"),
    }
}

/// Writes a number of blocks of 4 KiB in order.
fn write_blocks(number: usize, blocks: u64, table: &Arc<ZoneTable>) -> ZoneCursor {
    let plan = worker(only(Op::Write, false), |job| {
        job.extent.number_ios = Some(blocks)
    });
    let (mut cursor, stream) = cursor(number, &plan, table);
    all(&mut cursor, &stream);
    cursor
}

fn table(most_open: usize) -> Arc<ZoneTable> {
    Arc::new(ZoneTable::emulated(ZONE, CAPACITY, 8 * ZONE, most_open))
}

fn cursor(number: usize, plan: &WorkerPlan, table: &Arc<ZoneTable>) -> (ZoneCursor, StreamPlan) {
    ZoneCursor::new(number, plan, vec![Arc::clone(table)]).unwrap()
}

/// Runs a whole stream, one I/O at a time. Returns zone and offset within it, in KiB, of each.
fn all(cursor: &mut ZoneCursor, stream: &StreamPlan) -> Vec<(Op, u64, u64)> {
    let mut done = Vec::new();
    for request in stream.requests() {
        match cursor.place(&request) {
            ZonePlacement::Go(request) => {
                done.push((
                    request.op,
                    request.offset / ZONE,
                    request.offset % ZONE / KIB,
                ));
                cursor.landed(&request, true);
            }
            ZonePlacement::Emptied(request) => done.push((
                request.op,
                request.offset / ZONE,
                request.offset % ZONE / KIB,
            )),
            ZonePlacement::Nothing => break,
            other => panic!("{other:?}"),
        }
    }
    done
}

fn only(op: Op, random: bool) -> Access {
    Access::only(op, random)
}

#[test]
fn sequential_writes_fill_zone_after_zone_up_to_its_capacity() {
    let table = table(usize::MAX);
    let plan = worker(only(Op::Write, false), |job| job.extent.loops = 2);
    let (mut cursor, stream) = cursor(0, &plan, &table);
    let done = all(&mut cursor, &stream);
    assert_eq!(
        done[..5],
        [
            (Op::Write, 0, 0),
            (Op::Write, 0, 4),
            (Op::Write, 0, 8),
            (Op::Write, 1, 0),
            (Op::Write, 1, 4)
        ]
    );
    assert_eq!(done.len(), 48, "all that can be written, twice");
    assert_eq!(
        done[24],
        (Op::Write, 0, 0),
        "a full zone is emptied when its turn comes again"
    );
}

#[test]
fn a_zone_that_was_begun_is_gone_on_with() {
    let table = table(usize::MAX);
    let mut plan = worker(only(Op::Write, false), |job| {
        job.extent.number_ios = Some(2)
    });
    let (mut first, stream) = cursor(0, &plan, &table);
    assert_eq!(
        all(&mut first, &stream),
        [(Op::Write, 0, 0), (Op::Write, 0, 4)]
    );
    plan.stream.limit_ios = Some(3);
    let (mut second, stream) = cursor(1, &plan, &table);
    assert_eq!(
        all(&mut second, &stream),
        [(Op::Write, 0, 8), (Op::Write, 1, 0), (Op::Write, 1, 4)]
    );
}

#[test]
fn random_writes_go_to_the_write_pointer_and_open_no_more_zones_than_allowed() {
    for most in [1, 3, usize::MAX] {
        let table = table(most);
        let plan = worker(only(Op::Write, true), |job| job.extent.loops = 20);
        let (mut cursor, stream) = cursor(0, &plan, &table);
        let mut next = [0; 8];
        for (_, zone, at) in all(&mut cursor, &stream) {
            let next = &mut next[zone as usize];
            assert!(
                at == *next || at == 0 && *next == 12,
                "zone {zone} at {at} KiB after {next}"
            );
            *next = at + 4;
            assert!(table.lock().open <= most);
        }
        assert!(
            next.iter().all(|&at| at > 0),
            "every zone has its turn with {most} open"
        );
    }
}

#[test]
fn reads_stay_below_the_write_pointer_unless_requested_otherwise() {
    let table = table(usize::MAX);
    let nothing = worker(only(Op::Read, true), |_| {});
    let (mut reader, stream) = cursor(0, &nothing, &table);
    assert_eq!(all(&mut reader, &stream), [], "nothing is written yet");
    write_blocks(1, 5, &table);
    let random = all(&mut reader, &stream);
    assert_eq!(random.len(), 32);
    let written = |&(_, zone, at): &(Op, u64, u64)| zone == 0 || zone == 1 && at < 8;
    assert!(random.iter().all(written), "{random:?}");
    let in_line = worker(only(Op::Read, false), |_| {});
    let (mut reader, stream) = cursor(2, &in_line, &table);
    let read = all(&mut reader, &stream).into_iter();
    let read: Vec<u64> = read.map(|(_, zone, at)| zone * 16 + at).collect();
    assert_eq!(read, [0, 4, 8, 16, 20], "once through what is written");
    let beyond = worker(only(Op::Read, false), |job| *device_zones(job).0 = true);
    let (mut reader, stream) = cursor(3, &beyond, &table);
    assert_eq!(all(&mut reader, &stream).len(), 32, "whole zones, once");
}

#[test]
fn a_trim_empties_a_zone_that_holds_something() {
    let table = table(usize::MAX);
    let writer = write_blocks(0, 7, &table);
    let trims = worker(only(Op::Trim, false), |_| {});
    let (mut trimmer, stream) = cursor(1, &trims, &table);
    assert_eq!(
        all(&mut trimmer, &stream),
        [(Op::Trim, 0, 0), (Op::Trim, 1, 0), (Op::Trim, 2, 0)]
    );
    let is_empty = |zone: &table::TrackedZone| zone.write_pointer == zone.start && !zone.open;
    assert!(table.lock().zones.iter().all(is_empty));
    let by_trimmer = (trimmer.emptied(Op::Trim), trimmer.emptied(Op::Write));
    assert_eq!((by_trimmer, writer.emptied(Op::Write)), ((3, 0), 0));
}

/// The result of a single order of writes varies too much, so the mean of many is tested.
#[test]
fn zones_are_emptied_as_often_as_was_asked_for() {
    let full = |resets: Option<ZoneResets>| {
        let left = |seed: u64| {
            let table = table(usize::MAX);
            let mut plan = worker(only(Op::Write, true), |job| {
                *device_zones(job).1 = resets;
                job.extent.loops = 50;
            });
            plan.stream.seed = seed;
            let (mut cursor, stream) = cursor(0, &plan, &table);
            all(&mut cursor, &stream);
            let valid = table.lock().valid(0, 8);
            valid as f64 / (8 * CAPACITY) as f64
        };
        (0..64).map(left).sum::<f64>() / 64.0
    };
    let (without, with) = (
        full(None),
        full(Some(ZoneResets {
            threshold_millionths: 300_000,
            every: 4,
        })),
    );
    assert!(
        with + 0.05 < without && with > 0.2,
        "{with} of all are full, and {without} where none is emptied"
    );
}

#[test]
fn a_zone_belongs_to_one_worker_while_writes_are_on_their_way() {
    let table = table(1);
    let plan = worker(only(Op::Write, true), |_| {});
    let ((mut one, _), (mut two, _)) = (cursor(0, &plan, &table), cursor(1, &plan, &table));
    let at = |offset| IoRequest {
        op: Op::Write,
        region: 0,
        offset,
        len: 4096,
    };
    let issued = |cursor: &mut ZoneCursor, offset| match cursor.place(&at(offset)) {
        ZonePlacement::Go(request) => request,
        other => panic!("{other:?}"),
    };
    let (first, second) = (issued(&mut one, 0), issued(&mut one, 0));
    assert_eq!((first.offset, second.offset), (0, 4096));
    assert_eq!(two.place(&at(0)), ZonePlacement::Wait);
    // No other zone may be opened.
    assert_eq!(two.place(&at(5 * ZONE)), ZonePlacement::Wait);
    one.landed(&first, true);
    assert_eq!(two.place(&at(0)), ZonePlacement::Wait);
    one.landed(&second, true);
    let third = issued(&mut two, 5 * ZONE);
    assert_eq!(third.offset, 8192, "to the zone that is open");
    drop(two);
    let next = one.place(&at(0));
    assert!(matches!(next, ZonePlacement::Wait | ZonePlacement::Go(_)));
}

#[test]
fn offset_and_size_are_rounded_inwards_to_whole_zones() {
    let plan = worker(only(Op::Write, false), |job| {
        job.extent.offset = SizeSpec::Bytes(Bytes(ZONE + 4096));
        job.extent.size = Some(SizeSpec::Bytes(Bytes(3 * ZONE)));
    });
    let (_, stream) = cursor(0, &plan, &table(usize::MAX));
    assert_eq!(
        (stream.regions[0].offset, stream.regions[0].len),
        (2 * ZONE, 2 * ZONE)
    );
    assert_eq!(stream.limit_bytes, Some(2 * ZONE));
    let plan = worker(only(Op::Write, false), |job| {
        job.extent.offset = SizeSpec::Bytes(Bytes(4096));
        job.extent.size = Some(SizeSpec::Bytes(Bytes(ZONE)));
    });
    assert_eq!(
        ZoneCursor::new(0, &plan, vec![table(usize::MAX)]).err(),
        Some(0),
        "no whole zone is left"
    );
}
