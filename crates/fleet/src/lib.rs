//! Campaigns over many hosts, on NATS JetStream.
//!
//! ```text
//! operator                            server (nats-server)                  host
//! fleet run ── HostJob, signed ────>  LAB_WORK     lab.work.<host>    ────> agent ── campaign::run ── its database
//! store     <─ HostReport ──────────  LAB_RESULT   lab.result.<host>  <──── agent
//!           ── Receipt ────────────>  LAB_RECEIPT  lab.receipt.<host> ────> agent: acknowledged
//! fleet devices <─ HostHello ───────  LAB_HOST     lab.host.<host>    <──── agent
//! ```
//! A job is all that one host measures of a campaign: the agent carries it out with the runner that also measures
//! locally, in a database of its own, so a job that is delivered twice continues where it stopped. A result is kept by
//! the host until the operator has acknowledged it, and is stored once, because records are identified by their ID.
//! Only the agent's own guard permits erasing, and only with a permission that the operator signed.

#![forbid(unsafe_code)]

#[macro_use]
extern crate hakaru_report;

pub mod agent;
mod certificates;
mod clock;
mod connection;
pub mod directory;
pub mod enroll;
mod keys;
pub mod message;
mod names;
pub mod operator;
pub mod server;
mod signed;

#[cfg(test)]
mod attacks;

pub use connection::ConnectError;
pub use signed::Rejected;

/// Version of this program, which agents and operator compare.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Runs a future on an executor of this thread, so that texts keep its language.
///
/// # Errors
/// If the executor cannot be created, or the error of the future.
fn block_on<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(future)
}
