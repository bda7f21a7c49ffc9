//! Command lines and job files of fio, parsed for this host.

use hakaru_dialects::fio::{FioError, Invocation, ParseContext};
use std::ffi::OsString;
use std::path::Path;

/// Parses a command line with other sources of its files.
///
/// # Errors
/// If the command line or a job file is invalid.
pub fn parse_with(
    args: &[OsString],
    read_file: &dyn Fn(&Path) -> std::io::Result<Vec<u8>>,
    path_exists: &dyn Fn(&Path) -> bool,
) -> Result<Invocation, FioError> {
    let context = ParseContext {
        env: &|name| std::env::var(name).ok(),
        read_file,
        path_exists,
        cpu_count: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
        page_size: rustix::param::page_size() as u64,
        memory_mb: memory_mb(),
    };
    hakaru_dialects::fio::parse(args, &context)
}

/// Returns the memory of the host in MiB.
fn memory_mb() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kb = text.lines().find_map(|line| {
        line.strip_prefix("MemTotal:")?
            .trim()
            .strip_suffix("kB")?
            .trim()
            .parse()
            .ok()
    });
    kb.unwrap_or(0u64) / 1024
}
