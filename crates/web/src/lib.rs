//! Serves stored results as web pages and JSON, on this host or, with a token, on its network.
//!
//! Pages are those of `hakaru-report` in a frame with a menu. Readers use read-only connections; the server measures
//! nothing itself. No path that a client sends reaches the file system: names are looked up in the database, in the list
//! of disks, and in fixed tables.

#![forbid(unsafe_code)]

#[macro_use]
extern crate hakaru_report;

#[macro_use]
mod html;

mod access;
mod connections;
mod context;
mod frame;
mod kept;
mod live;
mod pages;
mod server;
mod token;

pub use context::ServeOptions;
pub use server::{Started, serve};
pub use token::{Token, TokenError, TokenFile};
