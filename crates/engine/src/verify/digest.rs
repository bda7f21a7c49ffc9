//! Checksums of data, each computed by its own library.

use crc::{CRC_7_MMC, CRC_16_ARC, CRC_64_XZ, Crc};
use hakaru_model::job::rules::VerifyMethod;
use std::hash::Hasher;

/// Length of the longest checksum, in bytes.
pub(super) const LONGEST: usize = 64;

const CRC7: Crc<u8> = Crc::<u8>::new(&CRC_7_MMC);
const CRC16: Crc<u16> = Crc::<u16>::new(&CRC_16_ARC);
const CRC64: Crc<u64> = Crc::<u64>::new(&CRC_64_XZ);

/// A checksum value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sum {
    bytes: [u8; LONGEST],
    len: usize,
}

impl Sum {
    /// Creates a checksum from up to [`LONGEST`] bytes.
    pub(super) fn of(from: &[u8]) -> Sum {
        let mut bytes = [0; LONGEST];
        let len = from.len().min(LONGEST);
        bytes[..len].copy_from_slice(&from[..len]);
        Sum { bytes, len }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Returns the checksum in hexadecimal.
    pub(super) fn text(&self) -> String {
        self.bytes()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

/// Computes the checksum of two concatenated pieces of data; empty for methods without a checksum.
pub(super) fn sum(method: &VerifyMethod, data: [&[u8]; 2]) -> Sum {
    match method {
        VerifyMethod::Header
        | VerifyMethod::Pattern(_)
        | VerifyMethod::PatternHeader(_)
        | VerifyMethod::Null => Sum::of(&[]),
        VerifyMethod::Crc32c => {
            let sum = data
                .iter()
                .fold(0, |sum, piece| crc32c::crc32c_append(sum, piece));
            Sum::of(&sum.to_be_bytes())
        }
        VerifyMethod::Crc32 => {
            let mut hasher = crc32fast::Hasher::new();
            data.iter().for_each(|piece| hasher.update(piece));
            Sum::of(&hasher.finalize().to_be_bytes())
        }
        VerifyMethod::Crc64 => {
            let mut sum = CRC64.digest();
            data.iter().for_each(|piece| sum.update(piece));
            Sum::of(&sum.finalize().to_be_bytes())
        }
        VerifyMethod::Crc16 => {
            let mut sum = CRC16.digest();
            data.iter().for_each(|piece| sum.update(piece));
            Sum::of(&sum.finalize().to_be_bytes())
        }
        VerifyMethod::Crc7 => {
            let mut sum = CRC7.digest();
            data.iter().for_each(|piece| sum.update(piece));
            Sum::of(&[sum.finalize()])
        }
        VerifyMethod::Xxhash => {
            let mut hasher = twox_hash::XxHash32::with_seed(0);
            data.iter().for_each(|piece| hasher.write(piece));
            Sum::of(&hasher.finish_32().to_be_bytes())
        }
        VerifyMethod::Md5 => digest::<md5::Md5>(data),
        VerifyMethod::Sha1 => digest::<sha1::Sha1>(data),
        VerifyMethod::Sha256 => digest::<sha2::Sha256>(data),
        VerifyMethod::Sha512 => digest::<sha2::Sha512>(data),
        VerifyMethod::Sha3_224 => digest::<sha3::Sha3_224>(data),
        VerifyMethod::Sha3_256 => digest::<sha3::Sha3_256>(data),
        VerifyMethod::Sha3_384 => digest::<sha3::Sha3_384>(data),
        VerifyMethod::Sha3_512 => digest::<sha3::Sha3_512>(data),
    }
}

fn digest<D: sha2::Digest>(data: [&[u8]; 2]) -> Sum {
    let mut digest = D::new();
    data.iter().for_each(|piece| digest.update(piece));
    Sum::of(&digest.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check values of the CRC catalog and of the standards, over "123456789" or "abc".
    #[test]
    fn known_answers() {
        use VerifyMethod::*;
        let nine: [&[u8]; 2] = [b"1234", b"56789"];
        for (method, text) in [
            (Crc32c, "e3069283"),
            (Crc32, "cbf43926"),
            (Crc64, "995dc9bbdf1939fa"),
            (Crc16, "bb3d"),
            (Crc7, "75"),
        ] {
            assert_eq!(sum(&method, nine).text(), text, "{method:?}");
        }
        let abc: [&[u8]; 2] = [b"a", b"bc"];
        for (method, text) in [
            (Md5, "900150983cd24fb0d6963f7d28e17f72"),
            (Sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                Sha256,
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ),
            (
                Sha3_224,
                "e642824c3f8cf24ad09234ee7d3c766fc9a3a5168d0c94ad73b46fdf",
            ),
            (Xxhash, "32d153ff"),
        ] {
            assert_eq!(sum(&method, abc).text(), text, "{method:?}");
        }
    }

    #[test]
    fn each_is_as_long_as_the_model_says() {
        use VerifyMethod::*;
        for method in [
            Header, Crc32c, Crc32, Crc64, Crc16, Crc7, Md5, Sha1, Sha256, Sha512, Sha3_224,
            Sha3_256, Sha3_384, Sha3_512, Xxhash,
        ] {
            assert_eq!(
                sum(&method, [b"x", b""]).bytes().len(),
                method.checksum_bytes(),
                "{method:?}"
            );
        }
    }
}
