//! Unreadable records: each is reported and skipped, so that the others remain accessible.

use crate::exit::{Exit, complain};
use hakaru_report::text::{self, FailedAction};
pub(crate) use hakaru_results::lookup::one;
use hakaru_store::Readable;

/// Counts unreadable records, so that the program ends with an error after it processed the others.
#[derive(Debug, Default)]
pub(crate) struct Unreadable {
    count: usize,
}

impl Unreadable {
    /// Reports unreadable records, and returns the others.
    pub(crate) fn skip<T>(&mut self, what: &str, found: Readable<T>) -> Vec<T> {
        for (id, error) in found.unreadable {
            self.name(what, &id, error);
        }
        found.records
    }

    /// Like [`Unreadable::skip`], but returns an error if no record can be read.
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

    /// Reports one unreadable record.
    pub(crate) fn name(&mut self, what: &str, id: &str, because: impl Into<anyhow::Error>) {
        complain(
            &because
                .into()
                .context(text::cannot(&FailedAction::ReadStored(what, id))),
        );
        self.count += 1;
    }

    /// Returns the exit code: failure if any record was unreadable.
    pub(crate) fn exit(&self) -> Exit {
        if self.count == 0 {
            Exit::Ok
        } else {
            Exit::Failed
        }
    }
}
