//! The text output.

use super::view::RunView;

/// The results as text. Begins with the newline that ends the status line, or leaves an empty line where there was none.
pub fn normal(view: &RunView<'_>) -> String {
    format!("\n{} workers\n", view.workers.len())
}
