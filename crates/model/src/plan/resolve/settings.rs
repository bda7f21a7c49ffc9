//! Where the settings of a job are resolved: one list of all its fields.
//!
//! A new field does not compile before it is listed here. Add it once the plan depends on it; a field that nothing reads
//! would be accepted and have no effect.

use crate::job::rules::{BlockSizeRules, Replay};
use crate::job::{Access, Extent, Job, Timing};

const _: fn(&Job) = |job| {
    let Job {
        // The worker's own: `Resolver::worker`.
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
        // Which files it works on, and where: `regions`.
        target: _,
        // Handed to the engine as they are. Their fields are listed in `worker/settings.rs` of the engine.
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
        // Obeyed where results are printed.
        group_reporting: _,
        options: _,
    } = job;
};

const _: fn(&Extent, &Timing, &BlockSizeRules) = |extent, timing, block_rules| {
    let Extent {
        // `regions`.
        size: _,
        filesize: _,
        offset: _,
        offset_align: _,
        offset_increment: _,
        // `sizes`.
        filesize_max: _,
        // `resolve`.
        io_size: _,
        number_ios: _,
        loops: _,
    } = extent;
    let Timing {
        // `resolve`.
        startdelay: _,
        startdelay_max: _,
        ramp_time: _,
        runtime: _,
        time_based: _,
        wait_for: _,
        pause_before: _,
    } = timing;
    let BlockSizeRules {
        // `stream` and `regions`.
        unaligned: _,
        in_line: _,
    } = block_rules;
};

const _: fn(&Access, &Replay) = |access, replay| {
    let Access {
        // `stream`.
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
        // `plan::replay`, when the traces are read.
        read: _,
        no_stall: _,
        redirect: _,
        time_scale_percent: _,
        scale: _,
        align: _,
        skip: _,
        // `Resolver::worker`.
        write: _,
        traces: _,
    } = replay;
};
