//! System calls that need unsafe code, behind safe types.
//!
//! Buffers, queues, clocks, CPU placement and ioctls. No policy: nothing retries, logs, or knows a
//! job.

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
