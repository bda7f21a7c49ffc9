//! Commands and costs of a card, so that a test can compute the expected measurement.

use hakaru_model::job::Op;
use hakaru_model::units::{Bytes, Nanos};

/// More commands than this are counted, but not kept one by one.
const KEPT: usize = 1 << 20;

/// Everything charged since the card or the ledger began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardLedger {
    reads: CommandTotals,
    writes: CommandTotals,
    trims: CommandTotals,
    /// Flushes answered.
    pub flushes: u64,
    /// Time spent on them.
    pub flush_busy: Nanos,
    /// Time in which the card had nothing to do, without the gaps it absorbed.
    pub idle: Nanos,
    /// The commands in their order, as far as they are kept.
    pub commands: Vec<CardCommand>,
    /// The times in which it had nothing to do, in their order, as far as they are kept.
    pub waits: Vec<Wait>,
    /// Operation and end of the last request; `None` at the start.
    last: Option<(Op, u64)>,
}

/// What was charged for one kind of command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommandTotals {
    /// Commands; a run of requests that follow one another is one.
    pub commands: u64,
    /// Bytes moved.
    pub bytes: Bytes,
    /// Time charged.
    pub busy: Nanos,
}

/// One command, put together from the requests that it came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardCommand {
    /// The operation.
    pub op: Op,
    /// The start offset.
    pub offset: Bytes,
    /// How long it is.
    pub len: Bytes,
    /// When it began, counted from the birth of the card.
    pub begun_at: Nanos,
    /// Time spent on it.
    pub busy: Nanos,
    /// When the last of its requests was answered.
    pub ended_at: Nanos,
}

/// A time in which the card had nothing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// When it ended, counted from the birth of the card.
    pub until: Nanos,
    /// How long it was.
    pub lasted: Nanos,
}

impl CardLedger {
    /// What was charged for one kind of command.
    pub fn of(&self, op: Op) -> CommandTotals {
        match op {
            Op::Read => self.reads,
            Op::Write => self.writes,
            Op::Trim => self.trims,
        }
    }

    /// Time charged for everything.
    pub fn busy(&self) -> Nanos {
        Nanos(self.reads.busy.0 + self.writes.busy.0 + self.trims.busy.0 + self.flush_busy.0)
    }

    /// Time between two moments in which the card had nothing to do, without the gaps it absorbed.
    pub fn idle_between(&self, from: Nanos, to: Nanos) -> Nanos {
        let part = |wait: &Wait| {
            let begun = wait.until.0.saturating_sub(wait.lasted.0);
            wait.until.0.min(to.0).saturating_sub(begun.max(from.0))
        };
        Nanos(self.waits.iter().map(part).sum())
    }

    /// Enters one request, after `idle` time without any.
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
        // What was before the first request is nobody's idle time.
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
