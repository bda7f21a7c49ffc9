//! Errors about named objects that do not exist, which commands report as usage errors and pages as "not found".

use std::io::ErrorKind;

/// A named object does not exist, which is a usage error.
#[derive(Debug, thiserror::Error)]
#[error("{tried}")]
pub struct NotThere {
    tried: String,
    #[source]
    source: Option<std::io::Error>,
}

/// Creates an error for a named object that does not exist.
pub fn not_there(tried: impl Into<String>) -> anyhow::Error {
    NotThere {
        tried: tried.into(),
        source: None,
    }
    .into()
}

/// Operations on a path given by the user.
pub trait NamedPath<T> {
    /// Adds the attempted action; a missing path becomes a usage error.
    ///
    /// # Errors
    /// The I/O error, with the action.
    fn named(self, tried: impl FnOnce() -> String) -> anyhow::Result<T>;
}

impl<T> NamedPath<T> for std::io::Result<T> {
    fn named(self, tried: impl FnOnce() -> String) -> anyhow::Result<T> {
        self.map_err(|source| match source.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => NotThere {
                tried: tried(),
                source: Some(source),
            }
            .into(),
            _ => anyhow::Error::new(source).context(tried()),
        })
    }
}
