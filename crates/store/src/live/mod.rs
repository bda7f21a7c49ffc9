//! Live state of running processes, for other processes of the same user.
//!
//! A process that measures publishes its state twice a second as files in memory; another process lists them, follows
//! their samples, and asks the owner to stop or answers its prompt. Nothing is written to a disk, and nothing waits:
//! if publishing fails, the measurement continues.
//!
//! ```text
//! /dev/shm/hakaru-UID-HASH/         one directory per user and database, mode 0700
//!   PID-START.json                  state, replaced by renaming PID-START.new
//!   PID-START.samples               ring of the latest samples, one slot of 1 KiB each
//!   PID-START.request.TIME-PID-N    request to the owner: stop, or the answer to a prompt
//!   PID-START.watch                 present while the process reads the states of others
//! ```
//! START is the start time of the process in clock ticks since boot, so that a process that reuses the process ID is
//! not mistaken for the owner. Files of processes that no longer exist are removed by whoever finds them. Links, and
//! files of other users, are ignored.

mod directory;
mod owner;
mod publisher;
mod reader;
mod request;
mod ring;
mod state;

pub use owner::LiveOwner;
pub use publisher::{LivePublisher, STATE_PERIOD};
pub use reader::{LiveReader, LiveWatch};
pub use request::{LiveRequest, LiveRequestError};
pub use ring::MAX_LIVE_SAMPLES;
pub use state::{
    LiveActivity, LiveCampaign, LiveCell, LiveCellState, LiveDisk, LiveEnd, LivePhase,
    LivePhaseState, LivePrompt, LivePromptKind, LiveRate, LiveSample, LiveState, LiveVerb,
};
