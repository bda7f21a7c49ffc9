//! Rings with every option, on a file.

use super::*;
use crate::buffer::Slots;
use rustix::io::Errno;
use std::io::Write;

fn ring(options: RingOptions) -> Option<Ring> {
    let mut file = tempfile::tempfile().unwrap();
    for i in 0..4u8 {
        file.write_all(&[i; 4096]).unwrap();
    }
    match Ring::new(Slots::new(4, 4096).unwrap(), vec![file.into()], options) {
        Ok(ring) => Some(ring),
        Err(errno) => {
            eprintln!("SKIPPED: this kernel has no rings with {options:?} ({errno})");
            None
        }
    }
}

#[test]
fn reads_come_back_with_every_switch() {
    let plain = RingOptions::default();
    let registered = RingOptions {
        fixed_buffers: true,
        fixed_files: true,
        ..plain
    };
    let polled = RingOptions {
        sq_poll: true,
        ..registered
    };
    let vectored = RingOptions {
        vectored: true,
        ..plain
    };
    let placed = RingOptions {
        sq_poll_cpu: Some(0),
        ..polled
    };
    let aside = [1, 3].map(|force_async| RingOptions {
        force_async,
        ..plain
    });
    let both = RingOptions {
        force_async: 2,
        ..registered
    };
    let once = RingOptions {
        sq_poll: true,
        ..plain
    };
    for options in [
        plain, registered, polled, once, vectored, placed, aside[0], aside[1], both,
    ] {
        let Some(mut ring) = ring(options) else {
            continue;
        };
        for _ in 0..50 {
            for slot in 0..4 {
                ring.prepare(slot, 0, false, u64::from(slot) * 4096, 4096 - slot);
            }
            let mut seen = 0;
            while seen < 4 {
                ring.submit(1).unwrap();
                seen += ring.reap(4, |c| {
                    assert_eq!(c.result, Ok(4096 - c.slot), "{options:?}")
                });
            }
            assert_eq!(ring.in_flight(), 0, "{options:?}");
        }
        assert!(
            (0..4).all(|s| ring.buffer(s, 4000).iter().all(|&b| b == s as u8)),
            "{options:?}"
        );
    }
}

#[test]
fn a_read_that_would_wait_fails_where_that_is_asked_for() {
    let Some(mut ring) = ring(RingOptions {
        nowait: true,
        ..RingOptions::default()
    }) else {
        return;
    };
    let file = &ring.files()[0];
    rustix::fs::fsync(file).unwrap();
    rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    ring.prepare(0, 0, false, 0, 4096);
    ring.submit(1).unwrap();
    let mut results = Vec::new();
    while results.is_empty() {
        ring.reap(1, |c| results.push(c.result));
    }
    // A memory file system never blocks, and a stacked one does not support such reads.
    assert!(
        matches!(
            results[..],
            [Err(Errno::AGAIN | Errno::OPNOTSUPP) | Ok(4096)]
        ),
        "{results:?}"
    );
}

#[test]
fn dropping_waits_for_what_is_prepared_too() {
    let Some(mut ring) = ring(RingOptions::default()) else {
        return;
    };
    ring.prepare(0, 0, false, 0, 4096);
    ring.submit(0).unwrap();
    ring.prepare(1, 0, false, 4096, 4096);
}
