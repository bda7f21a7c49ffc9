//! Messages of errors in the language of the thread.
//!
//! An error's `Display` is its English text. This module has the texts of the errors that users meet in other
//! languages, with an exhaustive `match` for each type. Errors of other types keep their English text.

mod ja;

use hakaru_device::guard::Refusal;
use hakaru_report::Language;
use hakaru_report::text::language;
use std::error::Error;

/// The messages of an error and of its causes, outermost first; messages with advice end in `; help: …`.
pub(crate) fn messages(error: &anyhow::Error) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for cause in error.chain() {
        let message = message(cause);
        // Many errors end with their cause: skip a cause that the previous message contains.
        if said.last().is_none_or(|last| !last.contains(&message)) {
            said.push(message);
        }
    }
    said
}

/// Advice on a refusal of the guard.
pub(crate) fn cure(refusal: &Refusal) -> String {
    match language() {
        Language::English => refusal.cure(),
        Language::Japanese => ja::cure(refusal),
    }
}

/// The message of one error, without its causes.
pub(crate) fn message(error: &(dyn Error + 'static)) -> String {
    let translated = match language() {
        Language::English => None,
        Language::Japanese => ja::message(error),
    };
    translated.unwrap_or_else(|| error.to_string())
}
