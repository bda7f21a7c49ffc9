//! Resolves the settings of a job, with one list of all its fields.
//!
//! A new field does not compile until it is listed here. Add it after the plan uses it: a field that nothing reads
//! would be accepted without effect.

use crate::job::rules::{BlockSizeRules, Replay};
use crate::job::{Access, Extent, Job, Timing};

const _: fn(&Job) = |job| {
    let Job {
        // Used by `Resolver::worker`.
        name: _,
        group: _,
        numjobs: _,
        ioengine: _,
        access: _,
        block: _,
        block_rules: _,
        block_align: _,
        extent: _,
        timing: _,
        verify: _,
        replay: _,
        seed: _,
        // Files and offsets, used by `regions`.
        target: _,
        // Passed to the engine unchanged. Their fields are listed in `worker/settings.rs` of the engine.
        engine: _,
        files: _,
        queue: _,
        durability: _,
        buffers: _,
        rate: _,
        errors: _,
        measure: _,
        termination: _,
        placement: _,
        commands: _,
        // Used where results are printed.
        group_reporting: _,
        options: _,
    } = job;
};

const _: fn(&Extent, &Timing, &BlockSizeRules) = |extent, timing, block_rules| {
    let Extent {
        // Used by `regions`.
        size: _,
        filesize: _,
        offset: _,
        offset_align: _,
        offset_increment: _,
        // Used by `sizes`.
        filesize_max: _,
        // Used by `resolve`.
        io_size: _,
        number_ios: _,
        loops: _,
        draws_anew: _,
    } = extent;
    let Timing {
        // Used by `resolve`.
        startdelay: _,
        startdelay_max: _,
        ramp_time: _,
        runtime: _,
        time_based: _,
        wait_for: _,
        pause_before: _,
    } = timing;
    let BlockSizeRules {
        // Used by `stream` and `regions`.
        unaligned: _,
        in_line: _,
    } = block_rules;
};

const _: fn(&Access, &Replay) = |access, replay| {
    let Access {
        // Used by `stream`.
        random: _,
        mix: _,
        every_block_once: _,
        stride: _,
        run_length: _,
        run_identical: _,
        trim_before_write: _,
        distribution: _,
        centre: _,
        percentage_random: _,
        order: _,
        zones: _,
    } = access;
    let Replay {
        // Used by `plan::replay` when the traces are read.
        read: _,
        no_stall: _,
        redirect: _,
        time_scale_percent: _,
        scale: _,
        align: _,
        skip: _,
        // Used by `Resolver::worker`.
        write: _,
        traces: _,
    } = replay;
};
