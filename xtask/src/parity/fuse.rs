//! Encoding of the FUSE protocol for a directory with a single file.
//!
//! Requests come in, answers go out; the caller decides when to answer. Source: `linux/fuse.h`, 7.31.

/// Maximum size of a single read or write.
pub(super) const PIECE_MAX: u32 = 128 << 10;

/// Buffer size for requests: the largest write with its headers, and an extra page.
pub(super) const REQUEST_MAX: usize = PIECE_MAX as usize + 8192;

const ROOT: u64 = 1;
const FILE: u64 = 2;

/// Name of the only file.
pub(super) const FILE_NAME: &str = "card";

/// Cache validity in seconds: one year, because nothing changes here.
const VALID_S: u64 = 31_536_000;

/// A request from the kernel.
pub(super) struct FuseRequest<'a> {
    opcode: u32,
    unique: u64,
    node: u64,
    body: &'a [u8],
}

/// Kind of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FuseOp {
    Read {
        len: u32,
    },
    Write {
        len: u32,
    },
    Sync,
    /// Needs no answer.
    Silent,
    /// Has no cost on the simulated card.
    Free,
}

impl FuseRequest<'_> {
    /// Parses a request; `None` if there are too few bytes.
    pub(super) fn parse(bytes: &[u8]) -> Option<FuseRequest<'_>> {
        Some(FuseRequest {
            opcode: u32_at(bytes, 4)?,
            unique: u64_at(bytes, 8)?,
            node: u64_at(bytes, 16)?,
            body: bytes.get(40..)?,
        })
    }

    pub(super) fn kind(&self) -> FuseOp {
        let len = u32_at(self.body, 16).unwrap_or(0).min(PIECE_MAX);
        match self.opcode {
            15 => FuseOp::Read { len },
            16 => FuseOp::Write { len },
            20 => FuseOp::Sync,
            // Forget, interrupt, destroy, forget many.
            2 | 36 | 38 | 42 => FuseOp::Silent,
            _ => FuseOp::Free,
        }
    }

    /// Answers a request. Read data is zeros, and written data is discarded.
    pub(super) fn answer(&self, file_bytes: u64) -> Vec<u8> {
        let mut out = Out::default();
        match self.opcode {
            // Lookup: the file, or an error.
            1 if self.body.strip_suffix(b"\0") == Some(FILE_NAME.as_bytes()) => {
                out.u64s(&[FILE, 0, VALID_S, VALID_S])
                    .u32s(&[0, 0])
                    .attributes(FILE, file_bytes);
            }
            1 => return self.refuse(2),
            // Get and set attributes; a new size is ignored.
            3 | 4 => {
                out.u64s(&[VALID_S])
                    .u32s(&[0, 0])
                    .attributes(self.node, file_bytes);
            }
            // Open with direct I/O and parallel writes.
            14 => {
                out.u64s(&[0]).u32s(&[1 | 1 << 6, 0]);
            }
            15 | 16 => match self.kind() {
                FuseOp::Read { len } => out.bytes.resize(out.bytes.len() + len as usize, 0),
                FuseOp::Write { len } => drop(out.u32s(&[len, 0])),
                _ => return self.refuse(22),
            },
            17 => {
                out.u64s(&[1 << 20; 5])
                    .u32s(&[4096, 255, 4096])
                    .u32s(&[0; 7]);
            }
            // Release, fsync, flush.
            18 | 20 | 25 => {}
            26 => self.introduce(&mut out),
            // All other requests are optional.
            _ => return self.refuse(38),
        }
        out.finish(self.unique, 0)
    }

    fn refuse(&self, errno: i32) -> Vec<u8> {
        Out::default().finish(self.unique, errno)
    }

    /// Negotiates version 7.31 with large, asynchronous and concurrent transfers.
    fn introduce(&self, out: &mut Out) {
        const ASYNC_READ: u32 = 1;
        const BIG_WRITES: u32 = 1 << 5;
        const ASYNC_DIRECT: u32 = 1 << 15;
        const MAX_PAGES: u32 = 1 << 22;
        let offered = u32_at(self.body, 12).unwrap_or(0);
        let flags = offered & (ASYNC_READ | BIG_WRITES | ASYNC_DIRECT | MAX_PAGES);
        let (background, congested) = (64u32, 64u32);
        out.u32s(&[
            7,
            31,
            0,
            flags,
            background | congested << 16,
            PIECE_MAX,
            1,
            PIECE_MAX / 4096,
        ])
        .u32s(&[0; 8]);
    }
}

/// An answer under construction; its header is filled in at the end.
struct Out {
    bytes: Vec<u8>,
}

impl Default for Out {
    fn default() -> Out {
        Out { bytes: vec![0; 16] }
    }
}

impl Out {
    fn u32s(&mut self, values: &[u32]) -> &mut Out {
        self.bytes
            .extend(values.iter().flat_map(|value| value.to_ne_bytes()));
        self
    }

    fn u64s(&mut self, values: &[u64]) -> &mut Out {
        self.bytes
            .extend(values.iter().flat_map(|value| value.to_ne_bytes()));
        self
    }

    fn attributes(&mut self, node: u64, file_bytes: u64) {
        let (size, mode, links) = if node == ROOT {
            (4096, 0o040_755, 2)
        } else {
            (file_bytes, 0o100_666, 1)
        };
        self.u64s(&[node, size, size / 512, 0, 0, 0])
            .u32s(&[0, 0, 0, mode, links, 0, 0, 0, 4096, 0]);
    }

    fn finish(mut self, unique: u64, errno: i32) -> Vec<u8> {
        let len = self.bytes.len() as u32;
        self.bytes[0..4].copy_from_slice(&len.to_ne_bytes());
        self.bytes[4..8].copy_from_slice(&(-errno).to_ne_bytes());
        self.bytes[8..16].copy_from_slice(&unique.to_ne_bytes());
        self.bytes
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(opcode: u32, body: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend((40 + body.len() as u32).to_ne_bytes());
        bytes.extend(opcode.to_ne_bytes());
        bytes.extend(7u64.to_ne_bytes());
        bytes.extend(FILE.to_ne_bytes());
        bytes.extend([0; 16]);
        bytes.extend(body);
        bytes
    }

    fn answer(opcode: u32, body: &[u8]) -> Vec<u8> {
        FuseRequest::parse(&request(opcode, body))
            .map(|r| r.answer(1 << 20))
            .unwrap_or_default()
    }

    #[test]
    fn answers_have_the_sizes_of_the_protocol() {
        let read: Vec<u8> = [[0u8; 16].as_slice(), &4096u32.to_ne_bytes(), &[0; 20]].concat();
        for (opcode, body, len) in [
            (26, [0u8; 16].as_slice(), 64),
            (1, b"card\0", 128),
            (3, &[], 104),
            (14, &[], 16),
            (15, &read, 4096),
            (16, &read, 8),
            (17, &[], 80),
            (25, &[], 0),
        ] {
            let answer = answer(opcode, body);
            assert_eq!(answer.len(), 16 + len, "opcode {opcode}");
            assert_eq!(u32_at(&answer, 0), Some(answer.len() as u32));
            assert_eq!(u64_at(&answer, 8), Some(7));
        }
    }

    #[test]
    fn what_is_not_there_is_refused() {
        assert_eq!(answer(1, b"other\0")[4..8], (-2i32).to_ne_bytes());
        assert_eq!(answer(22, &[])[4..8], (-38i32).to_ne_bytes());
        assert!(FuseRequest::parse(&[0; 39]).is_none());
    }

    #[test]
    fn transfers_are_distinguished() {
        let body = [[0u8; 16].as_slice(), &512u32.to_ne_bytes()].concat();
        let kind = |opcode| FuseRequest::parse(&request(opcode, &body)).map(|r| r.kind());
        assert_eq!(kind(15), Some(FuseOp::Read { len: 512 }));
        assert_eq!(kind(16), Some(FuseOp::Write { len: 512 }));
        assert_eq!(kind(20), Some(FuseOp::Sync));
        assert_eq!(kind(2), Some(FuseOp::Silent));
    }
}
