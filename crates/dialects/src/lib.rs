//! Parsers and formatters for the command lines and outputs of other programs.
//!
//! Nothing here runs I/O, opens files or measures: callers pass in all host facts.

#![forbid(unsafe_code)]

pub mod fio;
pub mod import;
pub mod iozone;
mod markup;
