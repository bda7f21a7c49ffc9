//! The header of a written block: the write it belongs to, its location, and the checksum of its
//! data.
//!
//! ```text
//!   0  magic      u32    4  method  u16    6  bytes of the checksum  u16
//!   8  length     u32   12  CRC-32C of the header, this field taken as 0
//!  16  seed       u64   24  offset  u64   32  number of the write    u64
//!  40  checksum of the data, 0 to 64 bytes
//! ```
//!
//! All numbers are little-endian. The length is that of the piece including the header.

use super::digest::{LONGEST, Sum};
use hakaru_model::job::rules::VerifyMethod;
use hakaru_model::mismatch::BlockDifference;

/// The first four bytes: "haka".
const MAGIC: u32 = u32::from_le_bytes(*b"haka");

/// Methods by their number in headers. New ones are appended.
const METHODS: [&str; 17] = [
    "meta",
    "crc32c",
    "crc32",
    "crc64",
    "crc16",
    "crc7",
    "md5",
    "sha1",
    "sha256",
    "sha512",
    "sha3-224",
    "sha3-256",
    "sha3-384",
    "sha3-512",
    "xxhash",
    "pattern_hdr",
    "null",
];

/// Fields of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockHeader {
    method: u16,
    pub(super) len: u32,
    pub(super) seed: u64,
    pub(super) offset: u64,
    pub(super) sequence: u64,
    pub(super) sum: Sum,
}

impl BlockHeader {
    pub(super) fn new(
        method: &VerifyMethod,
        len: u32,
        seed: u64,
        offset: u64,
        sequence: u64,
        sum: Sum,
    ) -> BlockHeader {
        let number = METHODS.iter().position(|name| *name == method.name());
        BlockHeader {
            method: number.map_or(u16::MAX, |n| n as u16),
            len,
            seed,
            offset,
            sequence,
            sum,
        }
    }

    /// Name of its method, or the number of an unknown method.
    pub(super) fn method(&self) -> String {
        METHODS
            .get(usize::from(self.method))
            .map_or_else(|| self.method.to_string(), |name| (*name).to_owned())
    }

    /// Writes the header to the start of `to`, which must have room for a header of this method.
    pub(super) fn write(&self, to: &mut [u8]) {
        let sum = self.sum.bytes();
        let whole = VerifyMethod::HEADER + sum.len();
        let mut raw = [0; VerifyMethod::HEADER + LONGEST];
        raw[0..4].copy_from_slice(&MAGIC.to_le_bytes());
        raw[4..6].copy_from_slice(&self.method.to_le_bytes());
        raw[6..8].copy_from_slice(&(sum.len() as u16).to_le_bytes());
        raw[8..12].copy_from_slice(&self.len.to_le_bytes());
        raw[16..24].copy_from_slice(&self.seed.to_le_bytes());
        raw[24..32].copy_from_slice(&self.offset.to_le_bytes());
        raw[32..40].copy_from_slice(&self.sequence.to_le_bytes());
        raw[40..whole].copy_from_slice(sum);
        let own = crc32c::crc32c(&raw[..whole]);
        raw[12..16].copy_from_slice(&own.to_le_bytes());
        to[..whole].copy_from_slice(&raw[..whole]);
    }

    /// Reads a header from the start of `from`.
    ///
    /// # Errors
    /// The difference between the bytes there and a valid header.
    pub(super) fn read(from: &[u8]) -> Result<BlockHeader, BlockDifference> {
        let number = |at: usize, bytes: usize| {
            let piece = from.get(at..at + bytes).unwrap_or_default().iter();
            let append = |value, &byte| value << 8 | u64::from(byte);
            piece.rev().fold(0u64, append)
        };
        let (found, wanted) = (number(0, 4) as u32, MAGIC);
        if found != wanted {
            return Err(BlockDifference::Magic { found, wanted });
        }
        let sum_bytes = (number(6, 2) as usize).min(LONGEST);
        let whole = from.get(..VerifyMethod::HEADER + sum_bytes).unwrap_or(from);
        let (start, rest) = whole.split_at(12.min(whole.len()));
        let parts = [start, &[0; 4], rest.get(4..).unwrap_or_default()].into_iter();
        let (found, wanted) = (parts.fold(0, crc32c::crc32c_append), number(12, 4) as u32);
        if found != wanted {
            return Err(BlockDifference::Header { found, wanted });
        }
        Ok(BlockHeader {
            method: number(4, 2) as u16,
            len: number(8, 4) as u32,
            seed: number(16, 8),
            offset: number(24, 8),
            sequence: number(32, 8),
            sum: Sum::of(whole.get(VerifyMethod::HEADER..).unwrap_or_default()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_survives_and_every_flipped_bit_is_found() {
        let header = BlockHeader::new(
            &VerifyMethod::Md5,
            4096,
            7,
            1 << 40,
            99,
            Sum::of(&[0xab; 16]),
        );
        let mut raw = [0; 56];
        header.write(&mut raw);
        assert_eq!(BlockHeader::read(&raw), Ok(header));
        assert_eq!(header.method(), "md5");
        for bit in 0..raw.len() * 8 {
            let mut damaged = raw;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(BlockHeader::read(&damaged).is_err(), "bit {bit}");
        }
        for len in 0..40 {
            assert!(BlockHeader::read(&raw[..len]).is_err(), "{len} bytes");
        }
    }
}
