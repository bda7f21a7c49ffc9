//! Translators: text of other programs in, nouns out, and back.
//!
//! Nothing here runs, opens or measures anything: what a translator needs from the world is handed to it by the edge.

#![forbid(unsafe_code)]

pub mod fio;
pub mod import;
pub mod iozone;
