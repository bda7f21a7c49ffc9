//! Signed messages: a message counts only if its sender signed it for this subject.
//!
//! The payload is compressed JSON. Headers hold the sender's public key and the signature of subject and payload, so a
//! message cannot be sent again to another host, or as one of another kind.

use async_nats::HeaderMap;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use nkeys::KeyPair;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// First bytes of all that is signed, so that a signature cannot be one of another protocol.
const DOMAIN: &[u8] = b"hakaru-fleet-1\0";

/// Header with the public key of the sender.
const FROM: &str = "Hakaru-From";

/// Header with the signature.
const SIGNATURE: &str = "Hakaru-Signature";

/// Maximum size of a message after decompression.
const MOST: usize = 64 << 20;

/// Level of compression: 6 of 10, the default of zlib.
const LEVEL: u8 = 6;

/// Why a message is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// No signature.
    #[error("it is not signed")]
    Unsigned,
    /// Signed with another key.
    #[error("it is signed by {from}, not by {expected}")]
    Foreign {
        /// Public key of the sender.
        from: String,
        /// The expected public key.
        expected: String,
    },
    /// The signature is not one of this content, subject and key.
    #[error("its signature is wrong: it was changed, or sent to another subject")]
    Forged,
    /// It is larger than 64 MiB after decompression.
    #[error("it is not compressed data of at most 64 MiB")]
    TooLarge,
    /// The content has another form.
    #[error("its content has another form: {0}")]
    Malformed(String),
}

/// Signs messages.
pub(crate) struct Signer {
    pair: KeyPair,
    public: String,
}

impl Signer {
    /// Reads the seed of a key.
    pub(crate) fn new(seed: &str) -> anyhow::Result<Signer> {
        let pair = KeyPair::from_seed(seed.trim())?;
        let public = pair.public_key();
        Ok(Signer { pair, public })
    }

    /// Returns the public key.
    #[cfg(test)]
    pub(crate) fn public(&self) -> &str {
        &self.public
    }

    /// Returns headers and payload of a message for a subject.
    pub(crate) fn seal<T: Serialize>(
        &self,
        subject: &str,
        content: &T,
    ) -> anyhow::Result<(HeaderMap, Vec<u8>)> {
        let json = serde_json::to_vec(content)?;
        let payload = miniz_oxide::deflate::compress_to_vec_zlib(&json, LEVEL);
        let signature = self.pair.sign(&signed_bytes(subject, &payload))?;
        let mut headers = HeaderMap::new();
        headers.insert(FROM, self.public.as_str());
        headers.insert(SIGNATURE, STANDARD.encode(signature));
        Ok((headers, payload))
    }
}

fn signed_bytes(subject: &str, payload: &[u8]) -> Vec<u8> {
    [DOMAIN, subject.as_bytes(), b"\0", payload].concat()
}

/// Returns the public key that a message claims as its sender's.
pub(crate) fn sender(headers: &HeaderMap) -> Option<String> {
    Some(headers.get(FROM)?.as_str().to_owned())
}

/// Checks and reads a message that `expected` must have signed for this subject.
///
/// # Errors
/// [`Rejected`].
pub(crate) fn open<T: DeserializeOwned>(
    subject: &str,
    headers: Option<&HeaderMap>,
    payload: &[u8],
    expected: &str,
) -> Result<T, Rejected> {
    let header = |name: &str| headers?.get(name).map(|value| value.as_str().to_owned());
    let (Some(from), Some(signature)) = (header(FROM), header(SIGNATURE)) else {
        return Err(Rejected::Unsigned);
    };
    if from != expected {
        let expected = expected.to_owned();
        return Err(Rejected::Foreign { from, expected });
    }
    let signature = STANDARD.decode(signature).map_err(|_| Rejected::Forged)?;
    let key = KeyPair::from_public_key(expected).map_err(|_| Rejected::Forged)?;
    key.verify(&signed_bytes(subject, payload), &signature)
        .map_err(|_| Rejected::Forged)?;
    let json = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(payload, MOST)
        .map_err(|_| Rejected::TooLarge)?;
    serde_json::from_slice(&json).map_err(|error| Rejected::Malformed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::NewKey;

    fn signer() -> Signer {
        Signer::new(&NewKey::generate().unwrap().seed).unwrap()
    }

    #[test]
    fn a_message_counts_for_its_subject_and_sender_only() {
        let (signer, other) = (signer(), signer());
        let (headers, payload) = signer.seal("lab.work.a", &"erase").unwrap();
        let read = |subject: &str, headers: Option<&HeaderMap>, payload: &[u8], key: &Signer| {
            open::<String>(subject, headers, payload, key.public())
        };
        let read_own = |subject: &str| read(subject, Some(&headers), &payload, &signer);
        assert_eq!(read_own("lab.work.a").unwrap(), "erase");
        assert_eq!(read_own("lab.work.b"), Err(Rejected::Forged));
        assert_eq!(
            read("lab.work.a", None, &payload, &signer),
            Err(Rejected::Unsigned)
        );
        assert!(matches!(
            read("lab.work.a", Some(&headers), &payload, &other),
            Err(Rejected::Foreign { .. })
        ));
        let (_, replaced) = signer.seal("lab.work.a", &"other").unwrap();
        assert_eq!(
            read("lab.work.a", Some(&headers), &replaced, &signer),
            Err(Rejected::Forged)
        );
        // A sender that claims another key has no signature of it.
        let (mut claimed, payload) = other.seal("lab.work.a", &"erase").unwrap();
        claimed.insert(FROM, signer.public());
        assert_eq!(
            read("lab.work.a", Some(&claimed), &payload, &signer),
            Err(Rejected::Forged)
        );
    }

    #[test]
    fn every_changed_bit_is_noticed() {
        let signer = signer();
        let (headers, payload) = signer.seal("lab.result.a", &vec![1, 2, 3]).unwrap();
        for bit in 0..payload.len() * 8 {
            let mut changed = payload.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let read = open::<Vec<u8>>("lab.result.a", Some(&headers), &changed, signer.public());
            assert_eq!(read, Err(Rejected::Forged), "bit {bit}");
        }
    }

    #[test]
    fn content_that_expands_too_much_is_rejected() {
        let signer = signer();
        let bomb = miniz_oxide::deflate::compress_to_vec_zlib(&vec![b'0'; MOST + 1], LEVEL);
        let signature = signer.pair.sign(&signed_bytes("s", &bomb)).unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(FROM, signer.public());
        headers.insert(SIGNATURE, STANDARD.encode(signature));
        let read = open::<u64>("s", Some(&headers), &bomb, signer.public());
        assert_eq!(read, Err(Rejected::TooLarge));
    }
}
