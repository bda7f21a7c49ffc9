//! Compares a traced path with the ledger of the card: bytes and commands exactly, and the time of each command.

use anyhow::{Context, Result, ensure};
use hakaru_model::io_path::{EdgeRequests, IoClass, IoPath, SampledRequest};
use hakaru_model::job::Op;
use hakaru_model::units::{Bytes, Nanos};
use hakaru_rig::card::CardCommand;
use std::fmt;
use std::fmt::Write;

/// Requests that the card takes for one command: each continues where the last one ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct JoinedRequests {
    op: Op,
    offset: Bytes,
    len: Bytes,
    class: IoClass,
    requests: u32,
    /// Time of the commands on the bus.
    busy: Nanos,
}

/// The same command in the trace and in the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rig) struct ComparedCommand {
    pub(in crate::rig) op: Op,
    pub(in crate::rig) offset: Bytes,
    pub(in crate::rig) len: Bytes,
    pub(in crate::rig) class: IoClass,
    /// Requests of the guest that the card takes for one command.
    requests: u32,
    /// Time from start to done on the bus of the guest.
    traced: Nanos,
    /// Time charged by the price list of the card.
    pub(in crate::rig) charged: Nanos,
}

/// Compares bytes and commands, and returns the commands. Those that the trace saw in flight when the traced part ended
/// are not among them: the card must have their bytes as well, and no others.
///
/// # Errors
/// With the first difference.
pub(in crate::rig) fn commands(
    path: &IoPath,
    on_card: &[CardCommand],
) -> Result<Vec<ComparedCommand>> {
    let (pairs, after) = commands_until_end(path, on_card)?;
    ensure_in_flight(after, &path.edges)?;
    Ok(pairs)
}

/// Compares bytes and commands of the traced part. Returns its commands, and those that the card got after it.
///
/// # Errors
/// With the first difference.
pub(in crate::rig) fn commands_until_end<'a>(
    path: &IoPath,
    on_card: &'a [CardCommand],
) -> Result<(Vec<ComparedCommand>, &'a [CardCommand])> {
    ensure!(
        path.tracer.lost_share() == 0.0 && path.tracer.unseen_completions == 0,
        "events were lost: {:?}",
        path.tracer
    );
    let shown = by_class(path);
    let counters = path.counters.context("no counters")?;
    for (op, counted) in [(Op::Write, counters.written), (Op::Read, counters.read)] {
        let traced = path.bytes(op);
        ensure!(
            traced == counted,
            "{op:?}: {} bytes traced, and {} by the counters of the disk: {shown}; {:?}",
            traced.0,
            counted.0,
            path.edges
        );
    }
    let sample = &path.sample;
    ensure!(
        sample.requests.len() as u64 == sample.drawn_from,
        "only {} of {} requests are in the sample",
        sample.requests.len(),
        sample.drawn_from
    );
    let (pairs, after) = pair(&joined(&sample.requests), on_card)?;
    for op in [Op::Write, Op::Read] {
        let traced = path.bytes(op).0;
        let of_op = pairs.iter().filter(|command| command.op == op);
        let counted: u64 = of_op.map(|command| command.len.0).sum();
        ensure!(
            traced == counted,
            "{op:?}: {traced} bytes traced, and {counted} by the card: {shown}"
        );
    }
    Ok((pairs, after))
}

/// The card got commands after the traced part that were not in flight at its end, for example from a thread that writes
/// metadata back. All commands before are the same.
#[derive(Debug)]
pub(super) struct CommandsAfterTrace(Vec<CardCommand>);

impl fmt::Display for CommandsAfterTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.len();
        let first = self.0.first();
        write!(f, "{count} commands after the traced part, first {first:?}")
    }
}

impl std::error::Error for CommandsAfterTrace {}

/// Returns the bytes and requests of each class.
pub(in crate::rig) fn by_class(path: &IoPath) -> String {
    let of_class = path.classes.iter().map(|class| {
        let op = class.op.map_or("", |op| match op {
            Op::Read => " read",
            Op::Write => "",
            Op::Trim => " trimmed",
        });
        format!(
            "{:?}{op} {} in {}",
            class.class, class.bytes.0, class.requests
        )
    });
    of_class.collect::<Vec<_>>().join(", ")
}

/// Checks that the commands after the traced part are those that the trace saw in flight at its end.
fn ensure_in_flight(after: &[CardCommand], edges: &EdgeRequests) -> Result<()> {
    let bytes: u64 = after.iter().map(|command| command.len.0).sum();
    match bytes == edges.at_end_bytes.0 && after.len() as u64 <= edges.at_end {
        true => Ok(()),
        false => Err(CommandsAfterTrace(after.to_vec()).into()),
    }
}

/// Pairs the commands of the trace with those of the card, which must be the same in the same order. Returns further
/// commands of the card, too.
fn pair<'a>(
    traced: &[JoinedRequests],
    charged: &'a [CardCommand],
) -> Result<(Vec<ComparedCommand>, &'a [CardCommand])> {
    let mut pairs = Vec::with_capacity(traced.len());
    for (number, (traced, charged)) in traced.iter().zip(charged).enumerate() {
        let by_trace = (traced.op, traced.offset.0, traced.len.0);
        let by_card = (charged.op, charged.offset.0, charged.len.0);
        ensure!(
            by_trace == by_card,
            "command {number}: {by_trace:?} traced, and {by_card:?} by the card"
        );
        pairs.push(ComparedCommand {
            op: traced.op,
            offset: traced.offset,
            len: traced.len,
            class: traced.class,
            requests: traced.requests,
            traced: traced.busy,
            charged: charged.busy,
        });
    }
    ensure!(
        traced.len() <= charged.len(),
        "{} commands traced, and {} by the card",
        traced.len(),
        charged.len()
    );
    Ok((pairs, &charged[traced.len()..]))
}

/// Joins requests as the card joins commands.
fn joined(requests: &[SampledRequest]) -> Vec<JoinedRequests> {
    let mut joined: Vec<JoinedRequests> = Vec::new();
    for request in requests {
        let Some(op) = request.op else { continue };
        let offset = Bytes(request.sector * 512);
        let len = u64::from(request.sectors) * 512;
        let busy = request.command.unwrap_or(request.served);
        match joined.last_mut() {
            Some(last) if last.op == op && last.offset.0 + last.len.0 == offset.0 => {
                last.len.0 += len;
                last.busy.0 += busy.0;
                last.requests += 1;
            }
            _ => joined.push(JoinedRequests {
                op,
                offset,
                len: Bytes(len),
                class: request.class,
                requests: 1,
                busy,
            }),
        }
    }
    joined
}

/// Device times against charges, as relative deviations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::rig) struct TimeComparison {
    traced: Nanos,
    charged: Nanos,
    /// Of the sums.
    pub(super) total: f64,
    /// Median over commands.
    pub(super) median: f64,
    /// The 5th and 95th percentile over commands.
    range: (f64, f64),
}

impl TimeComparison {
    /// Compares the times of commands; `None` without any.
    pub(in crate::rig) fn of(commands: &[ComparedCommand]) -> Option<TimeComparison> {
        let mut deviations: Vec<f64> = commands
            .iter()
            .filter(|command| command.charged.0 > 0)
            .map(ComparedCommand::deviation)
            .collect();
        deviations.sort_by(f64::total_cmp);
        let at = |percent: usize| {
            deviations
                .get((deviations.len() - 1) * percent / 100)
                .copied()
        };
        let sum = |time: fn(&ComparedCommand) -> Nanos| commands.iter().map(|it| time(it).0).sum();
        let (traced, charged): (u64, u64) = (sum(|it| it.traced), sum(|it| it.charged));
        if deviations.is_empty() {
            return None;
        }
        Some(TimeComparison {
            traced: Nanos(traced),
            charged: Nanos(charged),
            total: traced as f64 / charged as f64 - 1.0,
            median: at(50)?,
            range: (at(5)?, at(95)?),
        })
    }

    /// Whether the sum and the median of commands are within a tolerance.
    pub(in crate::rig) fn is_within(&self, tolerance: f64) -> bool {
        self.total.abs() <= tolerance && self.median.abs() <= tolerance
    }
}

impl fmt::Display for TimeComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: f64| share * 100.0;
        write!(
            f,
            "{:+.1}% of {:.0} ms (commands: median {:+.1}%, 5% to 95% {:+.1} to {:+.1}%)",
            percent(self.total),
            self.charged.0 as f64 / 1e6,
            percent(self.median),
            percent(self.range.0),
            percent(self.range.1)
        )
    }
}

impl ComparedCommand {
    fn deviation(&self) -> f64 {
        self.traced.0 as f64 / self.charged.0.max(1) as f64 - 1.0
    }
}

/// Returns all commands as CSV.
pub(super) fn csv(commands: &[ComparedCommand]) -> String {
    let mut csv =
        "op,class,offset,bytes,requests,charged_us,traced_us,deviation_percent\n".to_owned();
    for command in commands {
        let us = |time: Nanos| time.0 as f64 / 1e3;
        // Writing to a string cannot fail.
        let _ = writeln!(
            csv,
            "{:?},{:?},{},{},{},{:.1},{:.1},{:.1}",
            command.op,
            command.class,
            command.offset.0,
            command.len.0,
            command.requests,
            us(command.charged),
            us(command.traced),
            command.deviation() * 100.0
        );
    }
    csv
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(op: Op, sector: u64, sectors: u32) -> SampledRequest {
        SampledRequest {
            sector,
            sectors,
            op: Some(op),
            class: IoClass::Data,
            queued: Nanos(0),
            waited: Nanos(0),
            served: Nanos(9_000_000),
            command: Some(Nanos(5_000_000)),
        }
    }

    fn charged(op: Op, sector: u64, sectors: u64, busy: u64) -> CardCommand {
        CardCommand {
            op,
            offset: Bytes(sector * 512),
            len: Bytes(sectors * 512),
            begun_at: Nanos(0),
            busy: Nanos::from_millis(busy),
            ended_at: Nanos(0),
        }
    }

    #[test]
    fn consecutive_requests_are_one_command() {
        let requests = [
            request(Op::Write, 0, 8),
            request(Op::Write, 8, 8),
            request(Op::Read, 16, 8),
            request(Op::Write, 24, 8),
            request(Op::Write, 40, 8),
        ];
        let joined = joined(&requests);
        assert_eq!(joined.len(), 4);
        assert_eq!((joined[0].len, joined[0].requests), (Bytes(8192), 2));
        assert_eq!(joined[0].busy, Nanos::from_millis(10));
    }

    #[test]
    fn names_the_first_command_that_differs() {
        let traced = joined(&[request(Op::Write, 0, 8), request(Op::Write, 24, 8)]);
        let first = charged(Op::Write, 0, 8, 5);
        let both = [first, charged(Op::Write, 24, 8, 5)];
        let (pairs, after) = pair(&traced, &both).unwrap();
        assert_eq!((pairs.len(), after), (2, &[][..]));
        let other = pair(&traced, &[first, charged(Op::Write, 24, 16, 5)]).unwrap_err();
        assert!(other.to_string().starts_with("command 1: "), "{other}");
        let fewer = pair(&traced, &[first]).unwrap_err();
        assert_eq!(fewer.to_string(), "2 commands traced, and 1 by the card");
        assert!(!fewer.is::<CommandsAfterTrace>());
    }

    #[test]
    fn later_commands_must_have_been_in_flight() {
        let command = charged(Op::Write, 0, 8, 5);
        let edges = |at_end: u64, bytes: u64| EdgeRequests {
            at_end,
            at_end_bytes: Bytes(bytes),
            ..EdgeRequests::default()
        };
        let check = |after: &[CardCommand], edges: EdgeRequests| ensure_in_flight(after, &edges);
        assert!(check(&[], edges(0, 0)).is_ok() && check(&[command], edges(1, 4096)).is_ok());
        for (after, edges) in [
            (vec![command], edges(0, 0)),
            (vec![command], edges(1, 512)),
            (vec![command, command], edges(1, 8192)),
            (Vec::new(), edges(1, 4096)),
        ] {
            let error = check(&after, edges).unwrap_err();
            assert!(error.is::<CommandsAfterTrace>(), "{error}");
        }
    }

    #[test]
    fn the_median_is_not_moved_by_one_disturbed_command() {
        let sectors = [0, 16, 32, 48, 64];
        let mut requests = sectors.map(|sector| request(Op::Write, sector, 8));
        let card = sectors.map(|sector| charged(Op::Write, sector, 8, 5));
        requests[2].command = Some(Nanos::from_millis(30));
        let (pairs, _) = pair(&joined(&requests), &card).unwrap();
        let times = TimeComparison::of(&pairs).unwrap();
        assert_eq!((times.median, times.total), (0.0, 1.0));
        assert!(!times.is_within(0.05));
        assert_eq!(TimeComparison::of(&[]), None);
    }
}
