//! Records that cannot be read: each is named and skipped, and hides no other.

use crate::exit::{Exit, complain};
use hakaru_store::{FindError, Readable};

/// Counts them, so that the program ends with an error although everything else was done.
#[derive(Debug, Default)]
pub(crate) struct Unreadable {
    count: usize,
}

impl Unreadable {
    /// Names what cannot be read, and returns the rest.
    pub(crate) fn skip<T>(&mut self, what: &str, found: Readable<T>) -> Vec<T> {
        for (id, error) in found.unreadable {
            self.name(what, &id, error);
        }
        found.records
    }

    /// The same; where nothing can be read, that is an error.
    pub(crate) fn skip_some<T>(
        &mut self,
        what: &str,
        mut found: Readable<T>,
    ) -> anyhow::Result<Vec<T>> {
        if found.records.is_empty() && !found.unreadable.is_empty() {
            return Err(found.unreadable.remove(0).1.into());
        }
        Ok(self.skip(what, found))
    }

    /// Names one.
    pub(crate) fn name(&mut self, what: &str, id: &str, because: impl Into<anyhow::Error>) {
        complain(
            &because
                .into()
                .context(format!("skipped: cannot read {what} {id}")),
        );
        self.count += 1;
    }

    /// How the program ends.
    pub(crate) fn exit(&self) -> Exit {
        if self.count == 0 {
            Exit::Ok
        } else {
            Exit::Failed
        }
    }
}

/// What one look-up found, with its error where only this record cannot be read.
pub(crate) fn one<T>(name: &str, found: Result<T, FindError>) -> Result<Readable<T>, FindError> {
    Readable::collect([(name.to_owned(), found)])
}
