//! What the path of one side says, in sentences.

use super::{PathSide, figures};
use crate::escape::plain;
use crate::naming::distinct;
use crate::text::{self, BecameText};
use hakaru_model::finding::Bottleneck;
use hakaru_model::io_path::{ClassTraffic, IoClass, IoPath, IssuerKind, PathFigure, TimePart};
use hakaru_model::job::Op;
use hakaru_model::units::Bytes;

/// Shares below this are not worth a place in a sentence.
const WORTH: f64 = 0.05;

/// The sentences about one side, by subject.
pub(super) struct SideSentences {
    /// What each I/O became, by operation.
    pub(super) became: Vec<String>,
    /// Where the time of an operation went, by percentile.
    pub(super) times: Vec<String>,
    /// That no cache flush is sent.
    pub(super) flushes: Option<String>,
    /// What limits the speed.
    pub(super) limit: Option<String>,
    /// How much of the bus the requests use.
    pub(super) bus: Option<String>,
    /// What the main operation waited behind.
    pub(super) behind: Option<String>,
    /// Bytes at the device per byte of the application, by operation, with their ratio.
    pub(super) amplification: Vec<(f64, String)>,
    /// Merged and split bios.
    pub(super) merges: Vec<String>,
    /// Traffic that no worker caused directly.
    pub(super) others: Vec<String>,
}

impl SideSentences {
    pub(super) fn of(side: &PathSide<'_>) -> SideSentences {
        let path = side.path();
        let layer = path.disk.filesystem.as_deref().map(plain);
        let ops = || figures::asked_ops(path).into_iter();
        let amplification = |op| {
            let asked = figures::asked_bytes(path, Some(op));
            let ratio = figures::moved_by(path, op) as f64 / asked;
            (asked > 0.0).then(|| (ratio, text::host_amplification(op, ratio)))
        };
        SideSentences {
            became: ops()
                .filter_map(|op| became(path, op, layer.as_deref()))
                .collect(),
            times: times(path),
            flushes: (figures::syncs(path) && !path.disk.flushes_sent)
                .then(|| text::no_flushes(&plain(&path.disk.name))),
            limit: limit(side),
            bus: bus(side),
            behind: waited_behind(path),
            amplification: ops().filter_map(amplification).collect(),
            merges: merges(path),
            others: others(path),
        }
    }

    /// What the requests were, where the time of a median operation went, and what the limit is: for several sides, whose
    /// charts and tables have the rest.
    pub(super) fn essential(self) -> Vec<String> {
        let median = self.times.into_iter().take(1);
        let ends = self.flushes.into_iter().chain(self.limit).chain(self.bus);
        self.became.into_iter().chain(median).chain(ends).collect()
    }

    /// All sentences, most important first.
    pub(super) fn everything(self) -> Vec<String> {
        let amplification = self.amplification.into_iter().map(|(_, said)| said);
        let first = self.became.into_iter().chain(self.times);
        let limits = self.flushes.into_iter().chain(self.limit).chain(self.bus);
        first
            .chain(limits)
            .chain(self.behind)
            .chain(amplification)
            .chain(self.merges)
            .chain(self.others)
            .collect()
    }
}

/// Where the time of the main operation went, for each percentile.
fn times(path: &IoPath) -> Vec<String> {
    let Some(main) = figures::main_operation(path) else {
        return Vec::new();
    };
    let of = text::traced_operation(main.op, main.with_sync);
    let journal = figures::has_journal(path);
    let said = figures::percentiles(main).into_iter().map(|percentile| {
        let total = percentile.parts.total();
        let mut parts = figures::chart_parts(percentile.parts);
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        let shares = parts.into_iter().map(|(part, nanos)| (part, nanos / total));
        let shares: Vec<_> = shares
            .filter(|(_, share)| *share >= WORTH)
            .take(4)
            .collect();
        text::time_went(&of, percentile.name, &shares, journal)
    });
    said.filter(|said| !said.is_empty()).collect()
}

/// What limits the speed; `None` if events were lost.
pub(super) fn limit(side: &PathSide<'_>) -> Option<String> {
    if side.shown.findings.incomplete || side.path().window.0 == 0 {
        return None;
    }
    let share = side.figure(PathFigure::DeviceShare)?.mean;
    Some(text::path_limit(
        side.series.limit,
        share,
        side.series.runs.len(),
        (side.series.bus).is_some_and(|bus| bus.limit == Bottleneck::Host),
    ))
}

/// Use of the bus below which nobody would take it for the limit.
const LITTLE: f64 = 0.1;

/// How much of the bus the requests use; `None` if it is unknown or little, or events were lost.
fn bus(side: &PathSide<'_>) -> Option<String> {
    let of = side
        .series
        .bus
        .filter(|_| !side.shown.findings.incomplete)?;
    let share = of.speed.0 / of.ceiling.0;
    (share >= LITTLE).then(|| text::bus_use(&of, share))
}

/// What the main operation waited behind, if that is a relevant part of its time.
fn waited_behind(path: &IoPath) -> Option<String> {
    let of = figures::main_operation(path)?;
    let total = of.mean.of(TimePart::WaitingBehind);
    if total < WORTH * of.mean.total() || of.behind.is_empty() {
        return None;
    }
    let mut classes: Vec<(IoClass, f64)> =
        of.behind.iter().map(|it| (it.class, it.nanos)).collect();
    classes.sort_by(|a, b| b.1.total_cmp(&a.1));
    classes.retain(|(_, nanos)| *nanos >= WORTH * total);
    classes.truncate(4);
    let operation = text::traced_operation(of.op, of.with_sync);
    (!classes.is_empty()).then(|| text::waited_behind(&operation, total, &classes))
}

/// What each I/O of an operation became; `None` if no request belongs to it.
fn became(path: &IoPath, op: Op, layer: Option<&str>) -> Option<String> {
    let ios = figures::asked_count(path, op).max(1) as f64;
    let per_io = |class: &ClassTraffic| (class.class, class.requests as f64 / ios);
    let classes: Vec<(IoClass, f64)> = figures::classes(path, op).map(per_io).collect();
    let bytes = figures::moved_by(path, op);
    (!classes.is_empty()).then(|| {
        text::became(&BecameText {
            layer,
            op,
            size: figures::only_size(path, op),
            requests: figures::requests(path, op) as f64 / ios,
            bytes: bytes as f64 / ios,
            classes,
        })
    })
}

/// Merged and split bios, if they are more than single ones.
fn merges(path: &IoPath) -> Vec<String> {
    let groups = figures::groups(path);
    let bios = figures::sum(groups.iter().map(|sum| sum.bios));
    let merges = figures::sum(groups.iter().map(|sum| sum.merges));
    let splits = figures::sum(groups.iter().map(|sum| sum.splits));
    let mut said = Vec::new();
    if merges >= (bios / 100).max(1) {
        said.push(text::merged_bios(merges, bios));
    }
    if splits >= (bios / 100).max(1) {
        said.push(text::split_bios(splits));
    }
    said
}

/// Traffic that no worker caused directly.
fn others(path: &IoPath) -> Vec<String> {
    let kinds = [
        IssuerKind::Kernel,
        IssuerKind::OwnProcess,
        IssuerKind::OtherProcess,
    ];
    let of_kind = |kind: IssuerKind| {
        let issuers = path.classes.iter().flat_map(|class| &class.issuers);
        let of_kind: Vec<_> = issuers.filter(|issuer| issuer.kind == kind).collect();
        let bytes = figures::sum(of_kind.iter().map(|issuer| issuer.bytes.0));
        let names = distinct(of_kind.iter().map(|issuer| plain(&issuer.name)));
        let names: Vec<&str> = names.iter().map(String::as_str).take(4).collect();
        (bytes > 0).then(|| text::other_issuers(kind, Bytes(bytes), &names))?
    };
    kinds.into_iter().filter_map(of_kind).collect()
}
