//! The token that permits access from other hosts, and actions from any.
//!
//! Only digests are stored, so that the file does not contain what signs in. A token has 256 random bits, so a fast digest
//! suffices: there is nothing to guess.

use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Number of random bytes of a token and of its salt.
const RANDOM_BYTES: usize = 32;

/// A token, which is shown once and never stored.
pub struct Token(String);

impl Token {
    /// Returns the token as hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The file of the token cannot be used.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot use the token file {path}: {source}; help: remove it, and the next start makes a new token"
)]
pub struct TokenError {
    path: String,
    source: std::io::Error,
}

/// Digests of a token.
#[derive(Clone, PartialEq, Eq)]
struct StoredToken {
    salt: String,
    /// Digest of the token.
    token: String,
    /// Digest of the session that the token gives.
    session: String,
}

/// The stored digests, and where they are.
pub struct TokenFile {
    stored: StoredToken,
}

impl TokenFile {
    /// Returns the path of the token file of a database.
    pub fn path(database: &Path) -> PathBuf {
        database.with_file_name("serve.token")
    }

    /// Reads the token file; makes a new token if there is none, or if `renew` is set.
    ///
    /// # Errors
    /// [`TokenError`] if the file cannot be read or written, or has other content.
    pub fn open(path: &Path, renew: bool) -> Result<(TokenFile, Option<Token>), TokenError> {
        let failed = |source| TokenError {
            path: path.display().to_string(),
            source,
        };
        let known = match renew {
            true => None,
            false => read(path).map_err(failed)?,
        };
        if let Some(stored) = known {
            return Ok((TokenFile { stored }, None));
        }
        let token = random().map_err(failed)?;
        let salt = random().map_err(failed)?;
        let stored = StoredToken {
            token: digest(&[&salt, "token", &token]),
            session: digest(&[&session_of(&salt, &token)]),
            salt,
        };
        write(path, &stored).map_err(failed)?;
        Ok((TokenFile { stored }, Some(Token(token))))
    }

    /// Returns the session that a token gives; `None` for a wrong one.
    pub(crate) fn session(&self, token: &str) -> Option<String> {
        let given = digest(&[&self.stored.salt, "token", token]);
        is_equal(&given, &self.stored.token).then(|| session_of(&self.stored.salt, token))
    }

    /// Whether a session is the one that the token gives.
    pub(crate) fn is_session(&self, session: &str) -> bool {
        is_equal(&digest(&[session]), &self.stored.session)
    }
}

fn session_of(salt: &str, token: &str) -> String {
    digest(&[salt, "session", token])
}

/// Compares digests in a time that does not depend on where they differ.
fn is_equal(a: &str, b: &str) -> bool {
    a.len() == b.len()
        && a.bytes()
            .zip(b.bytes())
            .fold(0, |sum, (a, b)| sum | (a ^ b))
            == 0
}

/// SHA-256 of texts, each with its length before it, as hexadecimal digits.
fn digest(texts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    hexadecimal(&hash.finalize())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn random() -> std::io::Result<String> {
    let mut bytes = [0; RANDOM_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(hexadecimal(&bytes))
}

fn read(path: &Path) -> std::io::Result<Option<StoredToken>> {
    let text = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        text => text?,
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        ["hakaru-token/1", salt, token, session] => Ok(Some(StoredToken {
            salt: salt.to_owned(),
            token: token.to_owned(),
            session: session.to_owned(),
        })),
        _ => Err(std::io::Error::new(
            ErrorKind::InvalidData,
            both!(
                "it does not contain a token",
                "トークンのファイルではありません"
            ),
        )),
    }
}

/// Replaces the file atomically; only its owner may read it.
fn write(path: &Path, stored: &StoredToken) -> std::io::Result<()> {
    if let Some(directory) = path.parent().filter(|path| !path.as_os_str().is_empty()) {
        std::fs::create_dir_all(directory)?;
    }
    let new = path.with_extension(format!("{}.new", std::process::id()));
    let _ = std::fs::remove_file(&new);
    let mut file = File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&new)?;
    let StoredToken {
        salt,
        token,
        session,
    } = stored;
    writeln!(file, "hakaru-token/1 {salt} {token} {session}")?;
    file.sync_all()?;
    std::fs::rename(&new, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_token_is_shown_once_and_stored_as_digests() {
        let dir = tempfile::tempdir().unwrap();
        let path = TokenFile::path(&dir.path().join("x.db"));
        let (file, token) = TokenFile::open(&path, false).unwrap();
        let token = token.unwrap();
        let session = file.session(token.as_str()).unwrap();
        assert!(file.is_session(&session));
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains(token.as_str()) && !text.contains(&session));
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);

        let (again, shown) = TokenFile::open(&path, false).unwrap();
        assert!(shown.is_none() && again.is_session(&session));
        let (renewed, other) = TokenFile::open(&path, true).unwrap();
        assert!(!renewed.is_session(&session));
        assert!(renewed.session(token.as_str()).is_none());
        assert!(renewed.session(other.unwrap().as_str()).is_some());
    }

    #[test]
    fn wrong_tokens_give_no_session() {
        let dir = tempfile::tempdir().unwrap();
        let (file, token) = TokenFile::open(&dir.path().join("t"), false).unwrap();
        let token = token.unwrap();
        for wrong in [
            "",
            "0",
            &token.as_str()[1..],
            &token.as_str().to_uppercase(),
        ] {
            assert!(file.session(wrong).is_none() && !file.is_session(wrong));
        }
        std::fs::write(dir.path().join("t"), "x").unwrap();
        assert!(TokenFile::open(&dir.path().join("t"), false).is_err());
    }
}
