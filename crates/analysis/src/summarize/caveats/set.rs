//! Caveats of a series without duplicates.

use hakaru_model::caveat::Caveat;
use hakaru_model::measured::PauseKind;
use hakaru_model::units::{Bytes, Nanos};
use std::mem::discriminant;

/// Caveats in order; of two caveats of the same kind and subject, only the worse one is kept.
#[derive(Default)]
pub(super) struct CaveatSet(pub(super) Vec<Caveat>);

impl CaveatSet {
    pub(super) fn add(&mut self, caveat: Caveat) {
        match self.0.iter_mut().find(|known| same_thing(known, &caveat)) {
            Some(known) => merge(known, caveat),
            None => self.0.push(caveat),
        }
    }
}

/// Whether two caveats have the same kind and subject, even if their figures differ.
fn same_thing(a: &Caveat, b: &Caveat) -> bool {
    match (subject(a), subject(b)) {
        (Some(one), Some(other)) => discriminant(a) == discriminant(b) && one == other,
        _ => a == b,
    }
}

/// Subject of a caveat whose figures differ between runs: its phase, and its position or kind of pause.
#[derive(PartialEq)]
enum CaveatSubject<'a> {
    Series,
    Phase(&'a str),
    Position(&'a str, Bytes),
    Pause(&'a str, PauseKind),
}

/// Returns the subject of a caveat; `None` if two caveats of its kind are one only if they are equal.
fn subject(caveat: &Caveat) -> Option<CaveatSubject<'_>> {
    use Caveat::*;
    match caveat {
        Short { phase, .. }
        | FewSamples { phase, .. }
        | DeviceErrors { phase, .. }
        | RuleBroken { phase, .. }
        | Interrupted { phase, .. }
        | Overhead { phase, .. }
        | ReadElsewhere { phase, .. }
        | Descheduled { phase, .. }
        | EventsLost { phase, .. }
        | PathLost { phase }
        | StolenTime { phase, .. } => Some(CaveatSubject::Phase(phase)),
        Cliff { phase, at, .. } => Some(CaveatSubject::Position(phase, *at)),
        Paused { phase, kind, .. } => Some(CaveatSubject::Pause(phase, *kind)),
        HostBusy { .. } | HostThrottled { .. } | FewRuns { .. } | SmallFile { .. } => {
            Some(CaveatSubject::Series)
        }
        // Listed one by one: a new kind whose figures differ between runs belongs above.
        DepthCapped { .. }
        | EngineReplaced { .. }
        | NotDirect { .. }
        | Buffered
        | FitsInMemory { .. }
        | SystemDisk
        | CutShort { .. }
        | ClockFallback { .. }
        | ClockDrift { .. }
        | PowerSaving { .. }
        | WriteCache
        | NoDiskStats { .. }
        | NotInvalidated { .. }
        | Outliers { .. }
        | Drift { .. }
        | Dependent { .. }
        | Skewed { .. }
        | TwoModes { .. }
        | Contradiction { .. }
        | Unstated { .. }
        | CutOff { .. }
        | Unread { .. }
        | Pooled { .. }
        | LeftOut { .. }
        | NoAmplification { .. }
        | Traced
        | NotTraced { .. }
        | Simulated => None,
    }
}

/// Merges a caveat into a known one of the same kind and subject.
fn merge(known: &mut Caveat, new: Caveat) {
    use Caveat::*;
    match (known, new) {
        (
            Paused {
                times,
                total,
                longest,
                ..
            },
            Paused {
                times: more,
                total: further,
                longest: other,
                ..
            },
        ) => {
            *times = times.saturating_add(more);
            *total = Nanos(total.0.saturating_add(further.0));
            *longest = other.max(*longest);
        }
        (HostThrottled { flags }, HostThrottled { flags: more }) => *flags |= more,
        (DeviceErrors { count, .. }, DeviceErrors { count: more, .. }) => {
            *count = count.saturating_add(more);
        }
        (known, new) if is_worse(&new, known) => *known = new,
        _ => {}
    }
}

/// Whether the first of two caveats of the same kind and subject is worse.
fn is_worse(new: &Caveat, known: &Caveat) -> bool {
    use Caveat::*;
    match (new, known) {
        (Short { measured: x, .. }, Short { measured: y, .. })
        | (Interrupted { measured: x, .. }, Interrupted { measured: y, .. }) => x < y,
        (SmallFile { size: x }, SmallFile { size: y }) => x < y,
        (Descheduled { waited: x, .. }, Descheduled { waited: y, .. })
        | (StolenTime { stolen: x, .. }, StolenTime { stolen: y, .. }) => x > y,
        (HostBusy { load_percent: x }, HostBusy { load_percent: y }) => x > y,
        (
            Overhead {
                share_permille: x, ..
            },
            Overhead {
                share_permille: y, ..
            },
        ) => x > y,
        _ => false,
    }
}
