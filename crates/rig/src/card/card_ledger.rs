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

    /// Records one request that follows `idle` time without requests.
    pub(super) fn note(
        &mut self,
        op: Op,
        offset: u64,
        len: u64,
        begun_at: Nanos,
        busy: Nanos,
        idle: Nanos,
    ) {
        let last = self.last.replace((op, offset + len));
        let goes_on = last == Some((op, offset));
        // Time before the first request does not count as idle.
        let idle = if last.is_some() { idle } else { Nanos(0) };
        self.idle.0 += idle.0;
        if idle.0 > 0 && self.waits.len() < KEPT {
            self.waits.push(Wait {
                until: begun_at,
                lasted: idle,
            });
        }
        let ended_at = Nanos(begun_at.0 + busy.0);
        let kept = self.commands.len() < KEPT;
        let side = match op {
            Op::Read => &mut self.reads,
            Op::Write => &mut self.writes,
            Op::Trim => &mut self.trims,
        };
        side.bytes.0 += len;
        side.busy.0 += busy.0;
        side.commands += u64::from(!goes_on);
        match self.commands.last_mut() {
            Some(last) if goes_on && kept => {
                last.len.0 += len;
                last.busy.0 += busy.0;
                last.ended_at = ended_at;
            }
            _ if kept => {
                let (offset, len) = (Bytes(offset), Bytes(len));
                self.commands.push(CardCommand {
                    op,
                    offset,
                    len,
                    begun_at,
                    busy,
                    ended_at,
                });
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_time_is_told_by_where_it_fell() {
        let mut ledger = CardLedger::default();
        let ms = Nanos::from_millis;
        ledger.note(Op::Read, 0, 512, ms(100), ms(10), ms(100));
        ledger.note(Op::Read, 512, 512, ms(210), ms(10), ms(100));
        ledger.note(Op::Read, 1024, 512, ms(220), ms(10), ms(0));
        assert_eq!(
            ledger.idle,
            ms(100),
            "what was before the first is nobody's"
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
