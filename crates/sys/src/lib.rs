//! The floor of hakaru: system calls that need unsafe code, behind types that cannot be misused.
//!
//! Buffers, queues, clocks, processor placement and ioctls. No policy lives here: nothing retries, logs, or knows a job.

#![allow(unsafe_code)]

pub mod aio;

pub mod block;
pub mod buffer;
pub mod clock;
pub mod file;
pub mod health;
pub mod mapping;
pub mod pipe;
pub mod ring;
pub mod thread;
pub mod vector;
pub mod zoned;

pub use rustix::io::Errno;
