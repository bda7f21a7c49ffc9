//! System calls that need unsafe code, behind safe types.
//!
//! Buffers, queues, clocks, CPU placement and ioctls. This crate contains no policy: it does not
//! retry or log, and knows nothing of jobs.

#![allow(unsafe_code)]

pub mod aio;

pub mod block;
pub mod buffer;
pub mod clock;
pub mod extents;
pub mod file;
pub mod health;
pub mod mapping;
pub mod perf;
pub mod pipe;
pub mod program;
pub mod ring;
pub mod thread;
pub mod vector;
pub mod zoned;

pub use rustix::io::Errno;
