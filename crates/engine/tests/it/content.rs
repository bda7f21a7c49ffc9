//! Content of writes, as stored in files.

use crate::common::*;
use hakaru_model::job::{Access, IoEngine, Job};
use std::collections::HashSet;

const BLOCK: usize = 4096;
const WRITES: usize = 1024;

/// Returns the file content written by a job with default buffers.
fn written(engine: IoEngine, depth: u32, access: Access, block: usize) -> Vec<u8> {
    let (_dir, path) = scratch();
    let bytes = BLOCK * WRITES / block * block;
    let job = on_file(&path, engine, access, block as u64, bytes as u64);
    let report = run_job(deep(job, depth));
    assert_eq!(only(&report).errors.total, 0);
    std::fs::read(&path).unwrap()
}

fn deep(mut job: Job, depth: u32) -> Job {
    job.queue.iodepth = depth;
    job
}

/// Engine, queue depth and block size.
const CASES: [(IoEngine, u32, usize); 15] = [
    (IoEngine::Psync, 1, BLOCK),
    (IoEngine::Psync, 1, 512),
    (IoEngine::Psync, 1, 1024),
    (IoEngine::Psync, 1, 65536),
    (IoEngine::Sync, 1, 12288),
    (IoEngine::Pvsync, 1, BLOCK),
    (IoEngine::Vsync, 1, BLOCK),
    (IoEngine::Mmap, 1, BLOCK),
    (IoEngine::Splice, 1, BLOCK),
    (IoEngine::Stdio, 1, BLOCK),
    (IoEngine::Posixaio, 2, BLOCK),
    (IoEngine::Libaio, 1, BLOCK),
    (IoEngine::Libaio, 8, BLOCK),
    (IoEngine::IoUring, 8, BLOCK),
    (IoEngine::IoUring, 128, BLOCK),
];

#[test]
fn no_sector_of_a_default_write_comes_twice_or_compresses() {
    for (engine, depth, block) in CASES {
        let content = written(engine, depth, write_seq(), block);
        let case = format!("{engine:?} at depth {depth}, {block} bytes");
        let sectors: HashSet<&[u8]> = content.chunks(512).collect();
        assert_eq!(
            sectors.len(),
            content.len().div_ceil(512),
            "{case}: sectors that are like no other"
        );
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(&content, 6).len();
        assert!(
            packed * 100 >= content.len() * 95,
            "{case}: {} bytes compress to {packed}",
            content.len()
        );
    }
}
