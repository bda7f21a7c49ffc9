//! Problems of a job as a benchmark, and their corrections.

use hakaru_model::lint::LintWarning;
use hakaru_model::severity::Severity;
use hakaru_model::units::Bytes;

pub(in crate::text) fn severity(of: Severity) -> &'static str {
    of.name()
}

pub(in crate::text) fn lint(warning: &LintWarning) -> String {
    match warning {
        LintWarning::DepthIgnored { ioengine, asked } => {
            format!("iodepth={asked} has no effect: {ioengine} keeps one I/O in flight")
        }
        LintWarning::DepthBuffered { asked } => {
            format!("iodepth={asked} is hardly ever reached: libaio blocks on submit with direct=0")
        }
        LintWarning::Buffered { .. } => {
            "Results may be memory speed: direct=0 goes through the page cache".to_owned()
        }
        LintWarning::ReadAhead => {
            "Results include the read-ahead of the kernel: direct=0 with invalidate=1 reads each block from the device \
             once"
                .to_owned()
        }
        LintWarning::FitsInMemory { size, memory, .. } => format!(
            "Few reads will reach the device: {size} fits in memory ({memory}) and direct=0"
        ),
        LintWarning::NotFlushed => {
            "Time to reach the device is not measured: writes end in the page cache".to_owned()
        }
        LintWarning::SmallFile { size } => {
            format!("The flash may be slower: {size} may fit in a device cache")
        }
        LintWarning::Short { runtime, wanted } => {
            format!("Measures for only {runtime}: flash results below {wanted} vary widely")
        }
        LintWarning::EndsEarly { runtime, size } => format!(
            "The job may end early: runtime={runtime} without time_based=1 stops after {size}"
        ),
        LintWarning::NoRamp => {
            "The first seconds are included: queues fill and clocks speed up meanwhile".to_owned()
        }
        LintWarning::OneRun => "One run says nothing about variation".to_owned(),
        LintWarning::ReadsBack { writer } => {
            format!("Reads come from memory: `{writer}` just wrote them")
        }
        LintWarning::SameBlocks { clones } => format!(
            "All but the first of {clones} clones read cached data: they go through the same part of one file"
        ),
        LintWarning::Compressible => {
            "Data is all the same: a compressing device stores almost nothing".to_owned()
        }
        LintWarning::Unit { option, typed, means } => {
            format!("{option}={typed} is {means} bytes here")
        }
        LintWarning::Misread { warning } => warning.clone(),
        LintWarning::Found { caveat } => super::super::caveat(caveat),
    }
}

pub(in crate::text) fn lint_help(warning: &LintWarning) -> String {
    match warning {
        LintWarning::DepthIgnored { .. } => {
            "use ioengine=io_uring or libaio, or leave iodepth out".to_owned()
        }
        LintWarning::DepthBuffered { .. } => "use direct=1, or ioengine=io_uring".to_owned(),
        LintWarning::Buffered { odd_block } => {
            format!("use {} to measure the device", direct(*odd_block))
        }
        LintWarning::ReadAhead => {
            "use direct=1 to measure the device without read-ahead".to_owned()
        }
        LintWarning::FitsInMemory {
            memory, odd_block, ..
        } => {
            format!("use {}, or a size over {memory}", direct(*odd_block))
        }
        LintWarning::NotFlushed => "use end_fsync=1, fsync=N or direct=1".to_owned(),
        LintWarning::SmallFile { .. } => {
            "use size=2g or more, or a runtime that outlasts the cache".to_owned()
        }
        LintWarning::Short { wanted, .. } => {
            format!(
                "use runtime={} or more with time_based=1",
                wanted.0 / 1_000_000_000
            )
        }
        LintWarning::EndsEarly { .. } => {
            "add time_based=1 to start over until the runtime is up".to_owned()
        }
        LintWarning::NoRamp => "add ramp_time=2s".to_owned(),
        LintWarning::OneRun => "run it at least 5 times, or use hakaru campaign".to_owned(),
        LintWarning::ReadsBack { .. } => {
            "use direct=1, or end_fsync=1 in the writing job and invalidate=1 in the reading job"
                .to_owned()
        }
        LintWarning::SameBlocks { .. } => {
            "add offset_increment=, or use directory= so that each clone has its own file"
                .to_owned()
        }
        LintWarning::Compressible => {
            "use refill_buffers=1, or leave zero_buffers and buffer_pattern out".to_owned()
        }
        LintWarning::Unit { typed, .. } => {
            let bare = typed.trim_end_matches(['i', 'I', 'b', 'B']);
            format!("type {bare} for multiples of 1024, or kb_base=1000 for units as on labels")
        }
        LintWarning::Misread { .. } | LintWarning::Found { .. } => String::new(),
    }
}

/// The option for direct I/O; a block size that is not a multiple of the sector size must become one.
fn direct(odd_block: Option<Bytes>) -> String {
    match odd_block {
        None => "direct=1".to_owned(),
        Some(Bytes(size)) => format!(
            "direct=1 with bs={} (a multiple of 512)",
            size.next_multiple_of(512)
        ),
    }
}
