//! The file descriptor table of a worker, which is its own where possible. Opening files is not done here.

use hakaru_model::job::rules::Zones;
use hakaru_model::plan::WorkerPlan;

/// Gives the calling worker its own descriptor table, if it shares no files. Returns whether it has one: on kernels
/// without support the table stays shared with other threads, which costs about 20 ns per call.
#[allow(unsafe_code)]
pub(super) fn keep(plan: &WorkerPlan) -> bool {
    // ThreadSanitizer writes its reports from any thread, through files that it opened in another one.
    if cfg!(thread_sanitizer) {
        return false;
    }
    // SAFETY: the thread is a worker that has just started; the thread of the run waits for it. It opens its files
    // later, by path, and closes them itself (`Backend`, `Recorder`, `Checker`); results hold no files. Only zoned
    // devices are opened in advance, and only commands inherit descriptors: both are excluded.
    shares_no_files(plan) && unsafe { hakaru_sys::thread::keep_own_files() }.is_ok()
}

/// Whether other threads and programs need no file of this worker, nor it one of theirs.
fn shares_no_files(plan: &WorkerPlan) -> bool {
    let commands = &plan.commands;
    let calls = commands.before.is_some() || commands.after.is_some();
    !calls && !matches!(plan.stream.access.zones, Zones::Device { .. })
}
