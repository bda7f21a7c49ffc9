//! The engine: runs a plan and returns the measurements.
//!
//! It issues and times I/O, and does not depend on dialects, databases or terminals. Code that runs for each I/O does
//! not allocate, block on other threads or format text; only code that runs once per tick may.

#![deny(unsafe_code)]

mod backend;
mod clock;
mod content;
mod direct;
mod disks;
mod error;
mod files;
mod flow;
mod host;
mod idle;
mod iolog;
mod latency_intervals;
mod overhead;
mod pace;
mod recorder;
mod run;
mod shared;
pub mod sim;
mod start;
mod steady;
mod verify;
mod worker;
mod worker_setup;
mod worker_stats;
mod zones;

pub use clock::{ClockChoice, ClockMark, ClockReads, CounterRate, test_clocks};
pub use direct::{DirectTarget, FileRun};
pub use disks::read_at_rest;
pub use error::RunError;
pub use hakaru_sys::buffer::map_large_blocks;
pub use idle::{IdleProfiler, Idleness};
pub use iolog::{LogChunk, LogHistogram, LogSample};
pub use overhead::measure_overhead;
pub use run::{
    CounterReading, EngineReport, Flow, LayoutProgress, MeasuredPart, MeasuredWorker, NoObserver,
    Observer, PhaseProgress, RunOptions, WorkerStage, run,
};
pub use verify::{checksum_names, checksum_speed};
