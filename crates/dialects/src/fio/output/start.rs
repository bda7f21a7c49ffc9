//! What fio prints before and while it runs: the jobs, its version, files laid out, notes.

use super::view::StartView;

/// The lines on all jobs, the version, and `Starting 2 processes`. Ends with a newline.
pub fn banner(view: &StartView<'_>) -> String {
    let StartView { version, jobs, .. } = view;
    format!("{version}\nStarting {} processes\n", jobs.iter().map(|(job, _)| job.numjobs).sum::<u32>())
}

/// The line that announces files being written before a job: `a: Laying out IO file (1 file / 1024MiB)`.
pub fn laying_out(job: &str, files: u64, bytes: u64) -> String {
    let (word, plural) = if files == 1 { ("file", "") } else { ("files", "s") };
    format!("{job}: Laying out IO file{plural} ({files} {word} / {}MiB)\n", bytes >> 20)
}

/// The note on a queue depth that the engine cannot have.
pub const DEPTH_NOTE: &str =
    "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1\n";
