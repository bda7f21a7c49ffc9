//! The program in memory.

use rustix::mm::{Advice, madvise};
use std::ffi::c_void;

/// Unmaps the code and the constants of the program; what runs next is mapped again, from the page cache. Returns the
/// unmapped bytes.
///
/// On each page fault the kernel maps up to 16 pages, so most of a program is mapped after its start. A process that
/// waits for days needs little of it.
///
/// Source: madvise(2), `MADV_DONTNEED` on private mappings of a file; `fault_around_bytes` of the kernel.
pub fn unmap_program() -> u64 {
    let (Ok(program), Ok(maps)) = (
        std::fs::read_link("/proc/self/exe"),
        std::fs::read_to_string("/proc/self/smaps"),
    ) else {
        return 0;
    };
    let Some(program) = program.to_str() else {
        return 0;
    };
    unwritten_ranges(&maps, program)
        .into_iter()
        .map(|(start, end)| {
            // SAFETY: the range is mapped privately from the program's file, cannot be written, and has no page that
            // differs from the file: the kernel reads the same bytes from the file again.
            let done = unsafe {
                let address = std::ptr::with_exposed_provenance_mut::<c_void>(start);
                madvise(address, end - start, Advice::LinuxDontNeed)
            };
            done.map_or(0, |()| (end - start) as u64)
        })
        .sum()
}

/// Starts and ends of the mappings in a text of `/proc/PID/smaps` that are the program's, cannot be written, and were
/// never written: relocated constants are read-only too, but differ from the file (`Anonymous` is not 0).
///
/// Source: proc_pid_smaps(5).
fn unwritten_ranges(maps: &str, program: &str) -> Vec<(usize, usize)> {
    let (mut ranges, mut range) = (Vec::new(), None);
    for line in maps.lines() {
        match line.split_once(':') {
            Some(("Anonymous", amount)) if amount.trim() == "0 kB" => ranges.extend(range.take()),
            Some((field, _)) if !field.contains(' ') => {}
            _ => range = unwritable_range(line, program),
        }
    }
    ranges
}

/// Start and end of the mapping in a line of `/proc/PID/maps`, if it is an unwritable part of the program.
///
/// Source: proc_pid_maps(5).
fn unwritable_range(line: &str, program: &str) -> Option<(usize, usize)> {
    let mut fields = line.split_ascii_whitespace();
    let (range, permissions) = (fields.next()?, fields.next()?);
    let path = fields.nth(3)?;
    if !matches!(permissions, "r-xp" | "r--p") || path != program {
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
    fn only_unwritten_parts_of_the_program_are_unmapped() {
        let of = |line: &str, anonymous: u32| {
            let maps = format!(
                "{line}\nSize:                  8 kB\nRss:                   8 kB\nAnonymous:             {anonymous} kB\nVmFlags: rd mr mw me sd\n"
            );
            // What is looked at must not be taken for the mapping after it.
            unwritten_ranges(&maps.repeat(2), "/usr/bin/hakaru")
        };
        let code =
            "00401000-00a00000 r-xp 00001000 fe:00 123                        /usr/bin/hakaru";
        assert_eq!(of(code, 0), [(0x40_1000, 0xa0_0000); 2]);
        assert_eq!(of(code, 4), []);
        let constants =
            "00a00000-00b00000 r--p 00600000 fe:00 123                        /usr/bin/hakaru";
        assert_eq!(of(constants, 0), [(0xa0_0000, 0xb0_0000); 2]);
        assert_eq!(of(constants, 12), []);
        for other in [
            "00b00000-00b10000 rw-p 00700000 fe:00 123                        /usr/bin/hakaru",
            "00401000-00a00000 rwxp 00001000 fe:00 123                        /usr/bin/hakaru",
            "7f0000000000-7f0000100000 r-xp 00000000 fe:00 7                  /usr/lib/libc.so.6",
            "7ffc00000000-7ffc00002000 r-xp 00000000 00:00 0                  [vdso]",
            "7f0000000000-7f0000100000 r-xp 00000000 00:00 0",
            "",
        ] {
            assert_eq!(of(other, 0), [], "{other}");
        }
        let both = format!("{constants}\n{code}\nAnonymous: 0 kB\n");
        assert_eq!(
            unwritten_ranges(&both, "/usr/bin/hakaru"),
            [(0x40_1000, 0xa0_0000)]
        );
    }

    #[test]
    fn the_program_runs_on() {
        static TEXT: &str = "constants are mapped again";
        assert!(unmap_program() > 0);
        assert_eq!(unmap_program() % rustix::param::page_size() as u64, 0);
        assert_eq!(TEXT.split(' ').count(), 4);
    }
}
