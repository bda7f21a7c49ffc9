//! Reports on anatomies of cards, and on predictions.

mod evidence;
mod facts;
mod page;
mod predicted;
mod values;

pub(crate) use facts::headline;
pub(crate) use values::rate;

pub use page::{anatomy_charts, anatomy_html, anatomy_markdown, anatomy_terminal};
pub use predicted::{predictions_html, predictions_terminal};
