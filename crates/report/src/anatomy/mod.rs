//! Reports on anatomies of cards, and on predictions.

mod evidence;
mod facts;
mod page;
mod predicted;
mod values;

pub use page::{anatomy_charts, anatomy_html, anatomy_markdown, anatomy_terminal};
pub use predicted::{predictions_html, predictions_terminal};
