//! Where each setting of a worker is handled: one list of all fields that the plan carries in groups.
//!
//! A new field does not compile until it is listed here. Add it once it is handled; an unused field would be accepted
//! and have no effect.

use hakaru_model::job::rules::{Placement, ShellCommands, Termination};
use hakaru_model::job::{
    Buffers, Durability, EngineOptions, ErrorPolicy, FilePolicy, Measure, Queue, RateLimits,
};

const _: fn(&Queue, &Durability, &RateLimits) = |queue, durability, rate| {
    let Queue {
        // The loops: `worker/queue.rs` and `worker/source.rs`.
        iodepth: _,
        batch_submit: _,
        batch_complete_min: _,
        batch_complete_max: _,
        low_mark: _,
        serialize_overlap: _,
        // Selection and setup of the backend: `start`.
        separate_submit: _,
        offload: _,
    } = queue;
    let Durability {
        // `worker/flush.rs`.
        fsync_every: _,
        fdatasync_every: _,
        range_sync: _,
        end_fsync: _,
        fsync_on_close: _,
        // How files are opened: `files`.
        sync: _,
        dsync: _,
    } = durability;
    let RateLimits {
        // `pace`.
        bytes_per_s: _,
        iops: _,
        poisson: _,
        thinktime: _,
        thinktime_blocks: _,
        thinktime_spin: _,
        thinktime_iotime: _,
        thinktime_on_issue: _,
        ignore_thinktime: _,
        // `latency_target` and `flow`.
        latency_target: _,
        flow: _,
    } = rate;
};

const _: fn(&FilePolicy, &EngineOptions) = |files, engine| {
    let FilePolicy {
        // How files are opened: `files`.
        direct: _,
        invalidate: _,
        create_on_open: _,
        pre_read: _,
        advice: _,
        lifetime: _,
        // Selection and setup of the backend: `start`.
        atomic: _,
        lock: _,
        // End and restart of the job: `worker/limits.rs`, `worker/recreate.rs` and `worker/closing.rs`.
        fill_device: _,
        unlink_each_loop: _,
        time_close: _,
        // Names of files that are not opened: `run`.
        unopened: _,
        // Handled when the plan is made: layout, regions, verification and order.
        unlink: _,
        allow_create: _,
        overwrite: _,
        fallocate: _,
        reserve_unflushed: _,
        read_only: _,
        append: _,
        create_only: _,
        empty_first: _,
        empties_reserved: _,
        turns: _,
        begin_refused: _,
    } = files;
    let EngineOptions {
        // `start`.
        fixedbufs: _,
        registerfiles: _,
        sqthread_poll: _,
        hipri: _,
        nowait: _,
        vectored: _,
        stat: _,
        sqthread_poll_cpu: _,
        force_async: _,
        hipri_percentage: _,
        // Checked when the plan is made.
        block_unit: _,
    } = engine;
};

const _: fn(&Buffers, &ErrorPolicy, &Measure) = |buffers, errors, measure| {
    let Buffers {
        // `content`.
        fill: _,
        refill: _,
        scramble: _,
        compress_chunk: _,
        fixed_part: _,
        repeats: _,
    } = buffers;
    let ErrorPolicy {
        // `worker/checked.rs`.
        continue_on: _,
        continue_on_mismatch: _,
        ignored: _,
        // `worker/queue.rs`.
        accept_empty_reads: _,
    } = errors;
    let Measure {
        // `worker_stats`, `worker/account.rs` and `iolog`.
        clat: _,
        slat: _,
        lat: _,
        lat_histogram: _,
        slat_histogram: _,
        intervals: _,
        tick: _,
        logs: _,
        // Handled where results are printed.
        percentiles: _,
    } = measure;
};

const _: fn(&Termination, &Placement, &ShellCommands) = |termination, placement, commands| {
    let Termination {
        // `worker/limits.rs`, `steady` and `run/watch.rs`.
        exit: _,
        steady: _,
        max_latency: _,
        minimum_rate: _,
    } = termination;
    let Placement {
        // `worker_setup`.
        cpus_allowed: _,
        numa_cpu_nodes: _,
        memory: _,
        priority: _,
        // Handled when the plan is made.
        split_cpus: _,
    } = placement;
    // `worker`.
    let ShellCommands {
        before: _,
        after: _,
    } = commands;
};
