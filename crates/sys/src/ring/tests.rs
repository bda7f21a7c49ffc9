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

/// A ring with one read in flight that does not end before something is written to the returned pipe.
fn waiting_ring() -> Option<(Ring, rustix::fd::OwnedFd)> {
    let (reader, writer) = rustix::pipe::pipe().unwrap();
    let slots = Slots::new(4, 4096).unwrap();
    let mut ring = match Ring::new(slots, vec![reader], RingOptions::default()) {
        Ok(ring) => ring,
        Err(errno) => {
            eprintln!("SKIPPED: this kernel has no rings ({errno})");
            return None;
        }
    };
    ring.prepare(0, 0, false, 0, 4096);
    ring.submit(0).unwrap();
    Some((ring, writer))
}

fn is_mapped(address: usize) -> bool {
    let start = std::ptr::without_provenance_mut(address);
    // SAFETY: this only tests whether the page is mapped: it fails with ENOMEM if not, and writes nothing.
    unsafe { rustix::mm::msync(start, 1, rustix::mm::MsyncFlags::ASYNC) }.is_ok()
}

#[test]
fn buffers_in_flight_stay_mapped_after_a_drop_in_another_thread() {
    let Some((mut ring, writer)) = waiting_ring() else {
        return;
    };
    let address = ring.buffer(1, 4096).as_ptr().addr();
    let dropped = std::thread::spawn(move || {
        let may_enter = ring.submit_for(1, std::time::Duration::from_millis(1));
        drop(ring);
        may_enter
    });
    // A kernel that lets any thread use the ring waits for the read instead.
    rustix::io::write(&writer, &[1; 4096]).unwrap();
    let entered = matches!(dropped.join().unwrap(), Some(Ok(_)));
    assert!(entered || is_mapped(address));
}

#[test]
fn a_panic_while_reaping_loses_no_count() {
    let Some(mut ring) = ring(RingOptions::default()) else {
        return;
    };
    for slot in 0..2 {
        ring.prepare(slot, 0, false, 0, 4096);
    }
    while ring.in_flight() < 2 {
        ring.submit(2).unwrap();
    }
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        ring.reap(2, |_| panic!("on purpose"));
    }));
    assert!(panicked.is_err());
    assert_eq!(ring.in_flight(), 1);
    ring.submit(1).unwrap();
    assert_eq!(ring.reap(2, |c| assert_eq!(c.result, Ok(4096))), 1);
}
