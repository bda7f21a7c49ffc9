//! Findings at the limits of loss and time, and the loads and parts of several runs.

use super::*;

/// At most one event in a thousand may be lost, reported by the kernel or not.
#[test]
fn a_loss_of_one_event_in_a_thousand_is_complete() {
    let (raw, ext4) = raw_and_ext4();
    for (lost, missing, incomplete) in [
        (0, 0, false),
        (1, 0, false),
        (0, 1, false),
        (1, 1, true),
        (2, 0, true),
        (0, 2, true),
    ] {
        let mut path = ext4.clone();
        path.tracer.events = vec![EventCount {
            counted: 1000,
            lost,
            missing,
            ..EventCount::default()
        }];
        assert_eq!(path_findings(&path).incomplete, incomplete);
        let compared = compare_paths(&[&raw], &[&path], &[]);
        assert_eq!(compared.is_err(), incomplete, "{lost} {missing}");
    }
}

#[test]
fn operations_without_time_have_no_shares() {
    let (mut raw, _) = raw_and_ext4();
    assert_eq!(path_findings(&raw).shares.len(), 1);
    raw.operations[0].mean = TimeParts::default();
    assert_eq!(path_findings(&raw).shares, []);
}

/// 50 operations with 50 and with 150 requests, 4 and 8 KiB each, 50 and 100 jumps, 50 and 100 flushes.
#[test]
fn the_load_of_a_side_is_the_mean_of_its_runs() {
    let (raw, ext4) = raw_and_ext4();
    let mut other = raw.clone();
    other.classes = vec![
        traffic_of(IoClass::Data, Some(Op::Write), 150, 409_600, 100),
        traffic_of(IoClass::Flush, None, 100, 0, 0),
    ];
    let load = |sides: [&[&IoPath]; 2]| {
        let compared = compare_paths(sides[0], sides[1], &[]).unwrap();
        let write = &compared.operations[0];
        [write.base_load, write.other_load].map(|of| (of.requests, of.bytes, of.jumps, of.flushes))
    };
    let mean = (2.0, 6144.0, 1.5, 1.5);
    assert_eq!(load([&[&raw, &other], &[&ext4]])[0], mean);
    assert_eq!(load([&[&ext4], &[&raw, &other]])[1], mean);
    assert_eq!(
        load([&[&raw], &[&other]]),
        [(1.0, 4096.0, 1.0, 1.0), (3.0, 8192.0, 2.0, 2.0)]
    );
}

/// A sum of nothing is -0, which would be printed as `-0`.
#[test]
fn a_part_that_one_side_lacks_takes_no_time_there() {
    let (raw, mut ext4) = raw_and_ext4();
    ext4.operations[0].mean.add(TimePart::WaitingBehind, 12.0);
    ext4.operations[0].behind = vec![ClassTime {
        class: IoClass::Journal,
        nanos: 12.0,
    }];
    for (base, other) in [(&raw, &ext4), (&ext4, &raw)] {
        let compared = compare_paths(&[base], &[other], &[]).unwrap();
        let parts = &compared.operations[0].parts;
        let times = parts.iter().flat_map(|of| [of.base, of.other]);
        let zeros: Vec<f64> = times.filter(|&time| time == 0.0).collect();
        // Journal on the device, waiting behind the journal, and the commit.
        assert_eq!(zeros.len(), 3, "{parts:?}");
        assert!(
            zeros.iter().all(|zero| zero.is_sign_positive()),
            "{parts:?}"
        );
    }
}
