//! The terse output.

use super::view::RunView;

/// One line of fields for each reported job, of terse version 2, 3, 4 or 5 (any other is taken as 3).
pub fn terse(view: &RunView<'_>, version: u8) -> String {
    format!("{version};{}\n", view.version)
}
