//! Caveats of several runs, phases and cards, merged by type before they are printed as sentences.

use crate::caveat::{CacheOf, Caveat, FirstFailure};
use crate::io_path::TraceObstacle;
use crate::job::Op;
use crate::measured::{LeftOutRun, NoAmplification, PauseKind};
use crate::obstacle::{CacheObstacle, ClockObstacle, CountersObstacle, EngineObstacle, Reason};
use crate::record::FailureKind;
use crate::severity::{Impact, Severity};
use crate::units::{Bytes, BytesPerSec, Nanos, Quantile};
use std::collections::BTreeSet;

/// Smallest and largest value of a figure within the scope of a [`Finding`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinMax<T> {
    /// Smallest.
    pub min: T,
    /// Largest.
    pub max: T,
}

impl<T: Copy + PartialOrd> MinMax<T> {
    /// Returns the range of a single value.
    pub fn of(value: T) -> MinMax<T> {
        MinMax {
            min: value,
            max: value,
        }
    }

    fn join(self, other: MinMax<T>) -> MinMax<T> {
        MinMax {
            min: if other.min < self.min {
                other.min
            } else {
                self.min
            },
            max: if other.max > self.max {
                other.max
            } else {
                self.max
            },
        }
    }
}

/// Scope of a [`Finding`]: every combination of its subjects and phases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindingScope {
    /// Cards with their layers if several are reported together, otherwise empty.
    pub subjects: BTreeSet<String>,
    /// Phases; empty if the finding is about whole runs.
    pub phases: BTreeSet<String>,
}

impl FindingScope {
    /// Returns the scope that covers exactly both. `None` if it would also cover a subject with a
    /// phase that neither covers.
    pub fn merge(&self, other: &FindingScope) -> Option<FindingScope> {
        let FindingScope { subjects, phases } = self;
        if *subjects == other.subjects {
            return Some(FindingScope {
                subjects: subjects.clone(),
                phases: union(phases, &other.phases)?,
            });
        }
        (*phases == other.phases).then_some(())?;
        Some(FindingScope {
            subjects: union(subjects, &other.subjects)?,
            phases: phases.clone(),
        })
    }
}

/// Joins two sets. An empty set means everything, so it joins only with another empty set.
fn union(a: &BTreeSet<String>, b: &BTreeSet<String>) -> Option<BTreeSet<String>> {
    (a.is_empty() == b.is_empty()).then(|| a | b)
}

/// One weakness of the results, with its scope.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Its scope.
    pub scope: FindingScope,
    /// Type of weakness, with the range of its values over the scope.
    pub kind: FindingKind,
    /// Severity.
    pub severity: Severity,
}

impl Finding {
    /// Merges two findings. `None` if they differ, or no scope covers exactly both.
    pub fn merge(&self, other: &Finding) -> Option<Finding> {
        Some(Finding {
            scope: self.scope.merge(&other.scope)?,
            kind: self.kind.merge(&other.kind)?,
            severity: self.severity.max(other.severity),
        })
    }

    /// Merges all findings, each with the first one that accepts it.
    pub fn merge_all(findings: impl IntoIterator<Item = Finding>) -> Vec<Finding> {
        let mut all: Vec<Finding> = Vec::new();
        for finding in findings {
            let mut taken = all.iter().enumerate();
            let taken = taken.find_map(|(at, known)| Some((at, known.merge(&finding)?)));
            match taken {
                Some((at, merged)) => all[at] = merged,
                None => all.push(finding),
            }
        }
        all
    }

    /// Returns the finding for one subject.
    pub fn about(mut self, subject: &str) -> Finding {
        self.scope.subjects = BTreeSet::from([subject.to_owned()]);
        self
    }
}

/// Defines [`FindingKind`], its conversion from [`Caveat`] and its merge function in one table.
///
/// A row is `Kind [keys] [figures]`, with `(phase)` if the caveat belongs to a phase. Keys must be equal to merge;
/// figures become ranges. A caveat without a row does not compile.
macro_rules! finding_kinds {
    ($( $kind:ident $(($phase:ident))? [$($key:ident: $key_type:ty),*] [$($figure:ident: $figure_type:ty),*]; )*) => {
        /// A [`Caveat`] without its phase, with ranges of its values and otherwise the same fields.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs)]
        pub enum FindingKind {
            $( $kind { $($key: $key_type,)* $($figure: MinMax<$figure_type>,)* }, )*
        }

        impl FindingKind {
            /// Names of all kinds, in order.
            pub const NAMES: &[&str] = &[$(stringify!($kind)),*];

            /// Returns the name of the kind.
            pub fn name(&self) -> &'static str {
                match self {
                    $( FindingKind::$kind { .. } => stringify!($kind), )*
                }
            }

            /// Merges two findings that differ only in their values.
            fn merge(&self, other: &FindingKind) -> Option<FindingKind> {
                Some(match self {
                    $( FindingKind::$kind { $($key,)* $($figure,)* } => {
                        let FindingKind::$kind { .. } = other else {
                            return None;
                        };
                        FindingKind::$kind {
                            $( $key: same($key, match other {
                                FindingKind::$kind { $key, .. } => $key,
                                _ => return None,
                            })?, )*
                            $( $figure: $figure.join(match other {
                                FindingKind::$kind { $figure, .. } => *$figure,
                                _ => return None,
                            }), )*
                        }
                    } )*
                })
            }
        }

        impl From<&Caveat> for Finding {
            fn from(caveat: &Caveat) -> Finding {
                let (phases, kind) = match caveat {
                    $( Caveat::$kind { $($phase,)? $($key,)* $($figure,)* } => (
                        BTreeSet::from([$($phase.clone(),)?]),
                        FindingKind::$kind {
                            $($key: $key.clone(),)*
                            $($figure: MinMax::of(*$figure),)*
                        },
                    ), )*
                };
                Finding {
                    scope: FindingScope { subjects: BTreeSet::new(), phases },
                    severity: kind.severity(),
                    kind,
                }
            }
        }
    };
}

fn same<T: Clone + PartialEq>(a: &T, b: &T) -> Option<T> {
    (a == b).then(|| a.clone())
}

finding_kinds! {
    DepthCapped [ioengine: String, asked: u32] [];
    EngineReplaced [asked: String, used: String, because: Reason<EngineObstacle>] [];
    NotDirect [path: String] [];
    Buffered [] [];
    FitsInMemory [] [size: Bytes, memory: Bytes];
    Short (phase) [wanted: Nanos] [measured: Nanos];
    FewRuns [] [runs: u32];
    FewSamples (phase) [percentile: Quantile] [samples: u64];
    SmallFile [] [size: Bytes];
    SystemDisk [] [];
    DeviceErrors (phase) [first: FirstFailure] [count: u64];
    RuleBroken (phase) [op: Option<Op>, kind: FailureKind] [];
    Interrupted (phase) [] [measured: Nanos];
    CutShort [of: u32] [whole: u32];
    ClockFallback [used: String, because: Reason<ClockObstacle>] [];
    ClockDrift [clock: String] [ppm: i64];
    Overhead (phase) [] [per_io: Nanos, share_permille: u32];
    HostBusy [] [load_percent: u32];
    HostThrottled [flags: u32] [];
    PowerSaving [governor: String] [];
    WriteCache [] [];
    Cliff (phase) [at: Bytes, before: BytesPerSec, after: BytesPerSec] [];
    ReadElsewhere (phase) [] [share_permille: u32];
    NoDiskStats [because: Reason<CountersObstacle>] [];
    NotInvalidated [path: CacheOf, because: Reason<CacheObstacle>] [];
    Outliers (phase) [runs: u32] [count: u32];
    Drift (phase) [change_permille: i32] [];
    Dependent (phase) [] [lag1_permille: i32];
    Skewed (phase) [] [runs: u32];
    TwoModes (phase) [] [runs: u32];
    Contradiction (phase) [stated: String, follows: String, hint: String] [];
    Unstated [what: String] [];
    CutOff [missing: String] [];
    Unread [first: String] [count: u32];
    Pooled [what: String] [count: u32];
    Paused (phase) [kind: PauseKind] [times: u32, total: Nanos, longest: Nanos];
    Descheduled (phase) [] [waited: Nanos, measured: Nanos];
    StolenTime (phase) [] [stolen: Nanos, measured: Nanos];
    LeftOut (phase) [runs: Vec<LeftOutRun>, of: u32] [];
    NoAmplification (phase) [because: NoAmplification] [];
    Simulated [] [];
    Traced [] [];
    NotTraced [because: TraceObstacle] [];
    EventsLost (phase) [] [of: u64, lost: u64];
    PathLost (phase) [] [];
}

impl FindingKind {
    /// Returns the severity: whether the figures still measure what their name says.
    pub fn severity(&self) -> Severity {
        use FindingKind::*;
        match self {
            FitsInMemory { .. } | ReadElsewhere { .. } | Contradiction { .. } => Severity::Wrong,
            DepthCapped { .. }
            | EngineReplaced { .. }
            | NotDirect { .. }
            | Buffered { .. }
            | Short { .. }
            | FewRuns { .. }
            | FewSamples { .. }
            | SmallFile { .. }
            | SystemDisk { .. }
            | DeviceErrors { .. }
            | RuleBroken { .. }
            | Interrupted { .. }
            | CutShort { .. }
            | ClockDrift { .. }
            | Overhead { .. }
            | HostBusy { .. }
            | HostThrottled { .. }
            | PowerSaving { .. }
            | WriteCache { .. }
            | Cliff { .. }
            | NotInvalidated { .. }
            | Outliers { .. }
            | Drift { .. }
            | Dependent { .. }
            | Skewed { .. }
            | TwoModes { .. }
            | Unstated { .. }
            | CutOff { .. }
            | Unread { .. }
            | Pooled { .. }
            | Paused { .. }
            | Descheduled { .. }
            | StolenTime { .. }
            | EventsLost { .. }
            | LeftOut { .. }
            | Simulated { .. } => Severity::Weak,
            ClockFallback { .. }
            | NoDiskStats { .. }
            | NoAmplification { .. }
            | Traced { .. }
            | NotTraced { .. }
            | PathLost { .. } => Severity::Note,
        }
    }

    /// Returns what the weakness does to the figures.
    pub fn impact(&self) -> Impact {
        use FindingKind::*;
        match self {
            FitsInMemory { .. }
            | ReadElsewhere { .. }
            | Contradiction { .. }
            | EngineReplaced { .. }
            | NotDirect { .. }
            | Buffered { .. }
            | SmallFile { .. }
            | SystemDisk { .. }
            | DeviceErrors { .. }
            | RuleBroken { .. }
            | ClockDrift { .. }
            | Overhead { .. }
            | HostBusy { .. }
            | HostThrottled { .. }
            | PowerSaving { .. }
            | WriteCache { .. }
            | Cliff { .. }
            | NotInvalidated { .. }
            | Paused { .. }
            | Descheduled { .. }
            | StolenTime { .. }
            | EventsLost { .. }
            | Simulated { .. } => Impact::Bias,
            // Without a second run, nothing is known of the error of a figure.
            FewRuns {
                runs: MinMax { max: ..=1, .. },
            } => Impact::Bias,
            DepthCapped { .. }
            | Pooled { .. }
            | Unstated { .. }
            | Drift { .. }
            | LeftOut { .. } => Impact::Comparison,
            Short { .. }
            | FewRuns { .. }
            | FewSamples { .. }
            | Interrupted { .. }
            | CutShort { .. }
            | Outliers { .. }
            | Dependent { .. }
            | Skewed { .. }
            | TwoModes { .. }
            | CutOff { .. }
            | Unread { .. } => Impact::Precision,
            ClockFallback { .. }
            | NoDiskStats { .. }
            | NoAmplification { .. }
            | Traced { .. }
            | NotTraced { .. }
            | PathLost { .. } => Impact::Information,
        }
    }
}

#[cfg(test)]
mod tests;
