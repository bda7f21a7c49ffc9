//! Ledger of the commands and costs of a card, from which a test computes the expected measurement.

use hakaru_model::job::Op;
use hakaru_model::units::{Bytes, Nanos};

/// Maximum number of commands kept individually; further ones are only counted.
const KEPT: usize = 1 << 20;

/// All costs charged since the creation of the card or the ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardLedger {
    reads: CommandTotals,
    writes: CommandTotals,
    trims: CommandTotals,
    /// Number of flushes.
    pub flushes: u64,
    /// Time charged for flushes.
    pub flush_busy: Nanos,
    /// Idle time of the card, without absorbed gaps.
    pub idle: Nanos,
    /// Commands in order, up to the limit.
    pub commands: Vec<CardCommand>,
    /// Idle periods in order, up to the limit.
    pub waits: Vec<Wait>,
    /// Operation and end of the last request; `None` at the start.
    last: Option<(Op, u64)>,
}

/// Totals of one kind of command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommandTotals {
    /// Number of commands; consecutive requests count as one.
    pub commands: u64,
    /// Bytes transferred.
    pub bytes: Bytes,
    /// Time charged.
    pub busy: Nanos,
}

/// One command, merged from its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardCommand {
    /// The operation.
    pub op: Op,
    /// The start offset.
    pub offset: Bytes,
    /// Length in bytes.
    pub len: Bytes,
    /// Start time since the creation of the card.
    pub begun_at: Nanos,
    /// Time charged.
    pub busy: Nanos,
    /// Completion time of its last request.
    pub ended_at: Nanos,
}

/// An idle period of the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// End time since the creation of the card.
    pub until: Nanos,
    /// Duration.
    pub lasted: Nanos,
}

impl CardLedger {
    /// Totals of one kind of command.
    pub fn of(&self, op: Op) -> CommandTotals {
        match op {
            Op::Read => self.reads,
            Op::Write => self.writes,
            Op::Trim => self.trims,
        }
    }

    /// Total time charged.
    pub fn busy(&self) -> Nanos {
        Nanos(self.reads.busy.0 + self.writes.busy.0 + self.trims.busy.0 + self.flush_busy.0)
    }

    /// Idle time of the card between two points in time, without absorbed gaps.
    pub fn idle_between(&self, from: Nanos, to: Nanos) -> Nanos {
        let part = |wait: &Wait| {
            let begun = wait.until.0.saturating_sub(wait.lasted.0);
            wait.until.0.min(to.0).saturating_sub(begun.max(from.0))
        };
        Nanos(self.waits.iter().map(part).sum())
    }

    /// Whether a request belongs to the last command.
    pub(super) fn is_continued_by(&self, op: Op, offset: u64) -> bool {
        self.last == Some((op, offset))
    }

    /// Records one request that follows `idle` time without requests.
    pub(super) fn note(&mut self, request: CardCommand, idle: Nanos) {
        let CardCommand { op, offset, .. } = request;
        let continues = self.is_continued_by(op, offset.0);
        let last = self.last.replace((op, offset.0 + request.len.0));
        // Time before the first request does not count as idle.
        if last.is_some() && idle.0 > 0 {
            self.note_idle(idle, request.begun_at);
        }
        let totals = match op {
            Op::Read => &mut self.reads,
            Op::Write => &mut self.writes,
            Op::Trim => &mut self.trims,
        };
        totals.bytes.0 += request.len.0;
        totals.busy.0 += request.busy.0;
        totals.commands += u64::from(!continues);
        if self.commands.len() >= KEPT {
            return;
        }
        match self.commands.last_mut() {
            Some(last) if continues => {
                last.len.0 += request.len.0;
                last.busy.0 += request.busy.0;
                last.ended_at = request.ended_at;
            }
            _ => self.commands.push(request),
        }
    }

    fn note_idle(&mut self, lasted: Nanos, until: Nanos) {
        self.idle.0 += lasted.0;
        if self.waits.len() < KEPT {
            self.waits.push(Wait { until, lasted });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A read of one sector that follows `idle` time, all in milliseconds.
    fn read_sector(ledger: &mut CardLedger, sector: u64, begun_at: u64, busy: u64, idle: u64) {
        let ms = Nanos::from_millis;
        let request = CardCommand {
            op: Op::Read,
            offset: Bytes(sector * 512),
            len: Bytes(512),
            begun_at: ms(begun_at),
            busy: ms(busy),
            ended_at: ms(begun_at + busy),
        };
        ledger.note(request, ms(idle));
    }

    #[test]
    fn idle_time_is_counted_where_it_occurred() {
        let mut ledger = CardLedger::default();
        let ms = Nanos::from_millis;
        read_sector(&mut ledger, 0, 100, 10, 100);
        read_sector(&mut ledger, 1, 210, 10, 100);
        read_sector(&mut ledger, 2, 220, 10, 0);
        assert_eq!(
            ledger.idle,
            ms(100),
            "time before the first request is not idle"
        );
        assert_eq!(ledger.idle_between(ms(0), ms(1000)), ms(100));
        assert_eq!(ledger.idle_between(ms(160), ms(1000)), ms(50));
        assert_eq!(ledger.idle_between(ms(120), ms(130)), ms(10));
        assert_eq!(ledger.idle_between(ms(210), ms(1000)), ms(0));
        assert_eq!(
            (ledger.commands.len(), ledger.commands[0].ended_at),
            (1, ms(230))
        );
    }
}
