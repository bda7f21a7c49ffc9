//! NKEYs: Ed25519 keys with which clients sign in to the server, and sign messages.

use nkeys::KeyPair;

/// A new key: what is secret, and what everybody may know.
pub(crate) struct NewKey {
    /// The seed, which begins with `SU`.
    pub(crate) seed: String,
    /// The public key, which begins with `U`.
    pub(crate) public: String,
}

impl NewKey {
    /// Creates a key from random numbers of the system.
    pub(crate) fn generate() -> anyhow::Result<NewKey> {
        let pair = KeyPair::new_user();
        Ok(NewKey {
            seed: pair.seed()?,
            public: pair.public_key(),
        })
    }
}

/// Whether a text is the public key of a user.
pub(crate) fn is_public(text: &str) -> bool {
    text.starts_with('U') && KeyPair::from_public_key(text).is_ok()
}
