//! Commands on an MMC bus, joined to the requests that they serve.

use super::inflight::InFlightRequests;
use crate::event::BlockOp;
use crate::request::MmcCommand;
use std::collections::HashMap;

const READ_SINGLE: u32 = 17;
const READ_MULTIPLE: u32 = 18;
const WRITE_SINGLE: u32 = 24;
const WRITE_MULTIPLE: u32 = 25;
const SEND_STATUS: u32 = 13;
const SD_ERASE_START: u32 = 32;
const ERASE_GROUP_START: u32 = 35;
const ERASE: u32 = 38;

/// How a command ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommandOutcome {
    pub(super) retries: u32,
    pub(super) error: i32,
}

/// The request that a running command serves.
#[derive(Clone, Copy, Debug)]
struct Served {
    op: BlockOp,
    sector: u64,
    /// When the request's first command began.
    start: u64,
}

/// Running commands by their identification.
#[derive(Debug, Default)]
pub(super) struct Commands {
    running: HashMap<u64, Served>,
    /// Start of the first command of an erase sequence.
    erase_start: Option<u64>,
    stray: u64,
    status: u64,
}

impl Commands {
    /// More than a host runs at once: those beyond were left over by lost events.
    const MAX_RUNNING: usize = 1024;

    pub(super) fn stray(&self) -> u64 {
        self.stray
    }

    pub(super) fn status(&self) -> u64 {
        self.status
    }

    pub(super) fn start(
        &mut self,
        time: u64,
        opcode: u32,
        sector: u32,
        id: u64,
        requests: &mut InFlightRequests,
    ) {
        let op = match opcode {
            READ_SINGLE | READ_MULTIPLE => BlockOp::Read,
            WRITE_SINGLE | WRITE_MULTIPLE => BlockOp::Write,
            ERASE => BlockOp::Discard,
            SD_ERASE_START | ERASE_GROUP_START => {
                self.erase_start = Some(time);
                return;
            }
            SEND_STATUS => {
                self.status += 1;
                return;
            }
            _ => return,
        };
        let time = match op {
            BlockOp::Discard => self.erase_start.take().unwrap_or(time),
            _ => time,
        };
        let found = match op {
            BlockOp::Discard => requests.oldest_discard(),
            _ => requests
                .served(op, u64::from(sector))
                .map(|request| (u64::from(sector), request)),
        };
        let Some((sector, request)) = found else {
            self.stray += 1;
            return;
        };
        let command = request.command.get_or_insert(MmcCommand {
            opcode,
            start: time,
            ..MmcCommand::default()
        });
        if command.done != 0 {
            // Another attempt, or the rest of the request.
            command.retries += 1;
        }
        let start = command.start;
        if self.running.len() >= Self::MAX_RUNNING {
            self.running.clear();
        }
        self.running.insert(id, Served { op, sector, start });
    }

    pub(super) fn done(
        &mut self,
        time: u64,
        opcode: u32,
        id: u64,
        outcome: CommandOutcome,
        requests: &mut InFlightRequests,
    ) {
        if matches!(opcode, SEND_STATUS | SD_ERASE_START | ERASE_GROUP_START) {
            return;
        }
        let Some(served) = self.running.remove(&id) else {
            return;
        };
        let request = requests.commanded(served.op, served.sector, served.start);
        if let Some(command) = request.and_then(|request| request.command.as_mut()) {
            command.done = time;
            command.retries += outcome.retries;
            command.failed |= outcome.error != 0;
        }
    }
}
