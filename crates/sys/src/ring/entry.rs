//! Read and write entries of the submission queue.

use io_uring::{opcode, squeue, types};

/// File of an entry: descriptor or registered index.
#[derive(Clone, Copy, Debug)]
pub(super) enum FileHandle {
    Descriptor(i32),
    Registered(u32),
}

/// Buffer of an entry: address, vector or registered index.
#[derive(Clone, Copy, Debug)]
pub(super) enum Memory {
    Plain(*mut u8),
    Registered(*mut u8, u16),
    Vector(*const libc::iovec),
}

/// Builds an entry for either file type, because their common trait is private in the library.
macro_rules! entry {
    ($target:expr, $memory:expr, $write:expr, $offset:expr, $len:expr, $flags:expr) => {
        match ($write, $memory) {
            (false, Memory::Plain(at)) => opcode::Read::new($target, at, $len)
                .offset($offset)
                .rw_flags($flags)
                .build(),
            (true, Memory::Plain(at)) => opcode::Write::new($target, at, $len)
                .offset($offset)
                .rw_flags($flags)
                .build(),
            (false, Memory::Registered(at, slot)) => {
                opcode::ReadFixed::new($target, at, $len, slot)
                    .offset($offset)
                    .rw_flags($flags)
                    .build()
            }
            (true, Memory::Registered(at, slot)) => {
                opcode::WriteFixed::new($target, at, $len, slot)
                    .offset($offset)
                    .rw_flags($flags)
                    .build()
            }
            (false, Memory::Vector(at)) => opcode::Readv::new($target, at, 1)
                .offset($offset)
                .rw_flags($flags)
                .build(),
            (true, Memory::Vector(at)) => opcode::Writev::new($target, at, 1)
                .offset($offset)
                .rw_flags($flags)
                .build(),
        }
    };
}

/// Builds an entry with the library.
pub(super) fn build(
    target: FileHandle,
    memory: Memory,
    write: bool,
    (offset, len, flags): (u64, u32, i32),
) -> squeue::Entry {
    match target {
        FileHandle::Descriptor(fd) => entry!(types::Fd(fd), memory, write, offset, len, flags),
        FileHandle::Registered(index) => {
            entry!(types::Fixed(index), memory, write, offset, len, flags)
        }
    }
}

/// A read or write entry as 64-bit words: `struct io_uring_sqe` of `linux/io_uring.h`.
///
/// The library writes parts of words and copies entries as a whole afterwards, which stalls the CPU
/// until the parts are in memory. Here the constant words are extracted once per file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(super) struct SqeWords {
    /// Opcode, flags and file.
    pub(super) head: u64,
    pub(super) offset: u64,
    pub(super) address: u64,
    pub(super) len: u32,
    pub(super) rw_flags: u32,
    pub(super) user_data: u64,
    pub(super) buffer: u16,
    pub(super) personality: u16,
    pub(super) splice_fd: u32,
    // Two fields: an array would be copied through memory for each entry.
    pub(super) unused: u64,
    pub(super) unused_too: u64,
}

const _: () = assert!(size_of::<SqeWords>() == size_of::<squeue::Entry>());
const _: () = assert!(align_of::<SqeWords>() == align_of::<squeue::Entry>());

impl SqeWords {
    /// All zeros.
    pub(super) const EMPTY: SqeWords = SqeWords {
        head: 0,
        offset: 0,
        address: 0,
        len: 0,
        rw_flags: 0,
        user_data: 0,
        buffer: 0,
        personality: 0,
        splice_fd: 0,
        unused: 0,
        unused_too: 0,
    };

    pub(super) fn of(entry: squeue::Entry) -> SqeWords {
        // SAFETY: both are the 64 bytes of `struct io_uring_sqe`, plain numbers without invalid values; the library's
        // type is `repr(C)`, and sets every byte.
        unsafe { std::mem::transmute::<squeue::Entry, SqeWords>(entry) }
    }

    #[inline(always)]
    pub(super) fn entry(self) -> squeue::Entry {
        // SAFETY: as in `of`.
        unsafe { std::mem::transmute::<SqeWords, squeue::Entry>(self) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_library() {
        let at = std::ptr::without_provenance_mut(0x7000);
        let targets = [FileHandle::Descriptor(7), FileHandle::Registered(3)];
        let memories = [(Memory::Plain(at), 0), (Memory::Registered(at, 9), 9)];
        for (target, (memory, buffer)) in targets.into_iter().flat_map(|t| memories.map(|m| (t, m)))
        {
            for (write, flags) in [(false, 0), (true, 8)] {
                let built =
                    build(target, memory, write, (0x1234_5678_9abc, 512, flags)).user_data(9);
                let words = SqeWords {
                    head: SqeWords::of(build(target, memory, write, (0, 0, 0))).head,
                    offset: 0x1234_5678_9abc,
                    address: 0x7000,
                    len: 512,
                    rw_flags: flags as u32,
                    user_data: 9,
                    buffer,
                    personality: 0,
                    splice_fd: 0,
                    unused: 0,
                    unused_too: 0,
                };
                assert_eq!(words, SqeWords::of(built), "{target:?} {memory:?} {write}");
            }
        }
    }
}
