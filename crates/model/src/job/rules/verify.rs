//! How and when written data is verified.

use crate::units::Bytes;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Verification of written data (`verify` and related options).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verify {
    /// Verification method.
    pub method: VerifyMethod,
    /// Reads back and verifies all data after the last write (`do_verify`).
    pub read_back: bool,
    /// Writes nothing, and verifies the data of an earlier run of the same job (`verify_only`).
    pub only: bool,
    /// Ends the job at the first mismatch (`verify_fatal`).
    pub fatal: bool,
    /// Reads back by offset even if no block is written twice. Otherwise such blocks are read in the order of their
    /// writes (`random_generator=lfsr`).
    #[serde(default)]
    pub sorted: bool,
    /// Saves the expected and received data of a mismatch (`verify_dump`).
    pub dump: bool,
    /// Bytes per header (`verify_interval`); `None`: whole blocks.
    pub interval: Option<Bytes>,
    /// Offset of the header within these bytes (`verify_offset`).
    #[serde(default)]
    pub offset: u32,
    /// Repeated content of the data after the header (`verify_pattern`); empty for random bytes.
    #[serde(default)]
    pub fill: Vec<PatternPart>,
    /// Verifies after every N writes instead of at the end (`verify_backlog`); 0: at the end.
    pub backlog: u64,
    /// Number of blocks verified at a time then (`verify_backlog_batch`); 0: the same as `backlog`.
    pub backlog_batch: u64,
    /// Number of verification threads (`verify_async`); 0 verifies in the worker.
    pub async_threads: u32,
    /// CPUs of the verification threads (`verify_async_cpus`); empty for any.
    #[serde(default)]
    pub async_cpus: Vec<u32>,
    /// Saves a verify state, from which an interrupted run can be verified (`verify_state_save`).
    pub save_state: bool,
    /// Verifies only the blocks listed in a verify state (`verify_state_load`).
    #[serde(default)]
    pub load_state: bool,
    /// Directory of verify states and saved mismatches; `None`: the current directory.
    #[serde(default)]
    pub folder: Option<PathBuf>,
    /// Verifies the write sequence number in the header (`verify_write_sequence`).
    pub write_sequence: bool,
    /// Verifies the job's seed in the header (`verify_header_seed`).
    #[serde(default = "yes")]
    pub header_seed: bool,
}

fn yes() -> bool {
    true
}

impl Verify {
    /// Creates the settings for a method, with the usual defaults.
    pub fn by(method: VerifyMethod) -> Verify {
        Verify {
            method,
            read_back: true,
            only: false,
            fatal: false,
            sorted: false,
            dump: false,
            interval: None,
            offset: 0,
            fill: Vec::new(),
            backlog: 0,
            backlog_batch: 0,
            async_threads: 0,
            async_cpus: Vec::new(),
            save_state: true,
            load_state: false,
            folder: None,
            write_sequence: true,
            header_seed: true,
        }
    }
}

/// Verification method of a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerifyMethod {
    /// A header with the offset and number of the write, without a checksum.
    Header,
    /// The header, and a CRC-32C of the data.
    Crc32c,
    /// The header, and a CRC-32 of the data.
    Crc32,
    /// The header, and a CRC-64 of the data.
    Crc64,
    /// The header, and a CRC-16 of the data.
    Crc16,
    /// The header, and a CRC-7 of the data.
    Crc7,
    /// The header, and an MD5 of the data.
    Md5,
    /// The header, and a SHA-1 of the data.
    Sha1,
    /// The header, and a SHA-256 of the data.
    Sha256,
    /// The header, and a SHA-512 of the data.
    Sha512,
    /// The header, and a SHA3-224 of the data.
    #[serde(rename = "sha3-224")]
    Sha3_224,
    /// The header, and a SHA3-256 of the data.
    #[serde(rename = "sha3-256")]
    Sha3_256,
    /// The header, and a SHA3-384 of the data.
    #[serde(rename = "sha3-384")]
    Sha3_384,
    /// The header, and a SHA3-512 of the data.
    #[serde(rename = "sha3-512")]
    Sha3_512,
    /// The header, and a 32-bit xxHash of the data.
    Xxhash,
    /// A repeated pattern without a header.
    Pattern(Vec<PatternPart>),
    /// The header and a repeated pattern.
    PatternHeader(Vec<PatternPart>),
    /// No verification: data is read back but not compared.
    Null,
}

impl VerifyMethod {
    /// Size of the header in bytes, without its checksum.
    pub const HEADER: usize = 40;

    /// Returns its name as in the `verify` option.
    pub fn name(&self) -> &'static str {
        match self {
            VerifyMethod::Header => "meta",
            VerifyMethod::Crc32c => "crc32c",
            VerifyMethod::Crc32 => "crc32",
            VerifyMethod::Crc64 => "crc64",
            VerifyMethod::Crc16 => "crc16",
            VerifyMethod::Crc7 => "crc7",
            VerifyMethod::Md5 => "md5",
            VerifyMethod::Sha1 => "sha1",
            VerifyMethod::Sha256 => "sha256",
            VerifyMethod::Sha512 => "sha512",
            VerifyMethod::Sha3_224 => "sha3-224",
            VerifyMethod::Sha3_256 => "sha3-256",
            VerifyMethod::Sha3_384 => "sha3-384",
            VerifyMethod::Sha3_512 => "sha3-512",
            VerifyMethod::Xxhash => "xxhash",
            VerifyMethod::Pattern(_) => "pattern",
            VerifyMethod::PatternHeader(_) => "pattern_hdr",
            VerifyMethod::Null => "null",
        }
    }

    /// Returns the size of its checksum in bytes; 0 for none.
    pub fn checksum_bytes(&self) -> usize {
        use VerifyMethod::*;
        match self {
            Header | Pattern(_) | PatternHeader(_) | Null => 0,
            Crc7 => 1,
            Crc16 => 2,
            Crc32c | Crc32 | Xxhash => 4,
            Crc64 => 8,
            Md5 => 16,
            Sha1 => 20,
            Sha3_224 => 28,
            Sha256 | Sha3_256 => 32,
            Sha3_384 => 48,
            Sha512 | Sha3_512 => 64,
        }
    }

    /// Returns the size of the header in bytes, with its checksum; 0 for methods without a header.
    pub fn header_bytes(&self) -> usize {
        match self {
            VerifyMethod::Pattern(_) | VerifyMethod::Null => 0,
            _ => Self::HEADER + self.checksum_bytes(),
        }
    }
}

/// One part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PatternPart {
    /// Fixed bytes.
    Bytes(Vec<u8>),
    /// The offset of the block in the file, 8 bytes, least significant first (`%o`).
    Offset,
}
