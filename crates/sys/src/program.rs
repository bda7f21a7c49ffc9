//! The program in memory.

use rustix::mm::{Advice, madvise};
use std::ffi::c_void;

/// Unmaps the code of the program; what runs next is mapped again, from the page cache. Returns the unmapped bytes.
///
/// On each page fault the kernel maps up to 16 pages, so most of a program is mapped after its start. A process that
/// waits for days needs little of it.
///
/// Source: madvise(2), `MADV_DONTNEED` on private mappings of a file; `fault_around_bytes` of the kernel.
pub fn unmap_code() -> u64 {
    let (Ok(program), Ok(maps)) = (
        std::fs::read_link("/proc/self/exe"),
        std::fs::read_to_string("/proc/self/maps"),
    ) else {
        return 0;
    };
    let Some(program) = program.to_str() else {
        return 0;
    };
    maps.lines()
        .filter_map(|line| code_range(line, program))
        .map(|(start, end)| {
            // SAFETY: code of the program is mapped privately from its file and was never written, because it cannot be:
            // the kernel reads the same bytes from the file again.
            let done = unsafe {
                let address = std::ptr::with_exposed_provenance_mut::<c_void>(start);
                madvise(address, end - start, Advice::LinuxDontNeed)
            };
            done.map_or(0, |()| (end - start) as u64)
        })
        .sum()
}

/// Start and end of the mapping in a line of `/proc/PID/maps`, if it is unwritable code of the program.
///
/// Source: proc_pid_maps(5).
fn code_range(line: &str, program: &str) -> Option<(usize, usize)> {
    let mut fields = line.split_ascii_whitespace();
    let (range, permissions) = (fields.next()?, fields.next()?);
    let path = fields.nth(3)?;
    if permissions != "r-xp" || path != program {
        return None;
    }
    let (start, end) = range.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    let (start, end) = (address(start)?, address(end)?);
    (start < end).then_some((start, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unwritable_code_of_the_program_is_unmapped() {
        let of = |line| code_range(line, "/usr/bin/hakaru");
        let code =
            "00401000-00a00000 r-xp 00001000 fe:00 123                        /usr/bin/hakaru";
        assert_eq!(of(code), Some((0x40_1000, 0xa0_0000)));
        for other in [
            "00a00000-00b00000 r--p 00600000 fe:00 123                        /usr/bin/hakaru",
            "00b00000-00b10000 rw-p 00700000 fe:00 123                        /usr/bin/hakaru",
            "00401000-00a00000 rwxp 00001000 fe:00 123                        /usr/bin/hakaru",
            "7f0000000000-7f0000100000 r-xp 00000000 fe:00 7                  /usr/lib/libc.so.6",
            "7ffc00000000-7ffc00002000 r-xp 00000000 00:00 0                  [vdso]",
            "7f0000000000-7f0000100000 r-xp 00000000 00:00 0",
            "",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn the_program_runs_on() {
        assert!(unmap_code() > 0);
        assert_eq!(unmap_code() % rustix::param::page_size() as u64, 0);
    }
}
