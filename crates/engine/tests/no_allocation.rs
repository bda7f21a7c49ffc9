//! Test that the I/O loop does not allocate: twice the I/Os, the same number of allocations.

#[path = "it/common/mod.rs"]
mod common;

use common::{MIB, go_on, on_file, plan, scenario};
use hakaru_model::job::{Access, IoEngine};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Counting;

static COUNT: AtomicU64 = AtomicU64::new(0);

// SAFETY: all calls are forwarded to the system's allocator unchanged.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: `at` came from `alloc` above.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.fetch_add(1, Relaxed);
        // SAFETY: `at` came from `alloc` above.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(engine: IoEngine, file: &std::path::Path, ios: u64) -> u64 {
    let mut job = on_file(file, engine, Access::mixed(50, true), 4096, MIB);
    job.extent.io_size = Some(hakaru_model::job::SizeSpec::Bytes(
        hakaru_model::units::Bytes(ios * 4096),
    ));
    job.queue.iodepth = 8;
    // Ticks send messages and may allocate; they are not tested here.
    job.measure.tick = hakaru_model::units::Nanos::from_secs(3600);
    let plan = plan(&scenario(vec![job]));
    let before = COUNT.load(Relaxed);
    let report = go_on(&plan);
    assert_eq!(report.phases[0].workers[0].errors.total, 0);
    COUNT.load(Relaxed) - before
}

#[test]
fn the_number_of_allocations_does_not_depend_on_the_number_of_ios() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("f");
    std::fs::write(&file, vec![1u8; MIB as usize]).unwrap();
    let engines = [
        IoEngine::Psync,
        IoEngine::Sync,
        IoEngine::Pvsync2,
        IoEngine::Libaio,
        IoEngine::IoUring,
    ];
    for engine in engines {
        allocations(engine, &file, 100);
        let few = (0..5)
            .map(|_| allocations(engine, &file, 1_000))
            .min()
            .unwrap();
        let many = (0..5)
            .map(|_| allocations(engine, &file, 20_000))
            .min()
            .unwrap();
        // 19,000 more I/Os: progress checks of the phase runner may add a handful of allocations, the I/Os none.
        assert!(
            many <= few + 16,
            "{engine:?}: {few} allocations for 1,000 I/Os, {many} for 20,000"
        );
    }
}
