//! Speed of checksums.

use super::digest::sum;
use hakaru_model::job::rules::VerifyMethod;
use hakaru_model::rng::Rng;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Bytes per checksum: small enough for the caches of any CPU.
const PIECE: usize = 128 << 10;
/// Measurement time per checksum.
const TIME: Duration = Duration::from_millis(100);

/// All supported checksums; those that fio also has are in the order of fio.
const ALL: [VerifyMethod; 14] = [
    VerifyMethod::Md5,
    VerifyMethod::Crc64,
    VerifyMethod::Crc32,
    VerifyMethod::Crc32c,
    VerifyMethod::Crc16,
    VerifyMethod::Crc7,
    VerifyMethod::Sha1,
    VerifyMethod::Sha256,
    VerifyMethod::Sha512,
    VerifyMethod::Xxhash,
    VerifyMethod::Sha3_224,
    VerifyMethod::Sha3_256,
    VerifyMethod::Sha3_384,
    VerifyMethod::Sha3_512,
];

/// The names of all checksums.
pub fn checksum_names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(VerifyMethod::name)
}

/// Measures the speed of a checksum on one CPU in bytes/s; `None` for an unknown name. Takes 0.1 s.
pub fn checksum_speed(name: &str) -> Option<f64> {
    let method = ALL.iter().find(|method| method.name() == name)?;
    let mut data = vec![0; PIECE];
    crate::content::fill_random(&mut data, &mut Rng::fork(0, 0xc5));
    let (begun, mut bytes) = (Instant::now(), 0u64);
    loop {
        black_box(sum(method, [black_box(data.as_slice()), &[]]));
        bytes += PIECE as u64;
        let elapsed = begun.elapsed();
        if elapsed >= TIME {
            return Some(bytes as f64 / elapsed.as_secs_f64());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_checksum_has_a_speed() {
        assert!(checksum_speed("crc7").is_some_and(|speed| speed > 0.0));
        assert_eq!(checksum_speed("murmur3"), None);
        assert!(ALL.iter().all(|method| method.checksum_bytes() > 0));
    }
}
