//! Why one layer or run takes longer than another, as a sum of differences of times.

use super::pictures::chart_name;
use super::{PathPhase, PathSide, figures};
use crate::chart::{Chart, Plot, Section};
use crate::number;
use crate::svg::{Differences, Paint};
use crate::table::{self, DataTable};
use crate::text::{self, SideTraffic};
use hakaru_model::io_path::{
    DifferencePart, IoPath, OperationDifference, OperationLoad, OperationPath, PartDifference,
    PathRefusal, TimeDifference, TimePart,
};
use hakaru_model::units::Nanos;

/// Differences of the first side and another one.
pub(super) struct SideDifferences<'a> {
    base: &'a PathSide<'a>,
    other: &'a PathSide<'a>,
    operations: Vec<OperationDifference>,
    refusal: Option<PathRefusal>,
}

impl<'a> SideDifferences<'a> {
    pub(super) fn of(base: &'a PathSide<'a>, other: &'a PathSide<'a>) -> SideDifferences<'a> {
        let lost = |side: &PathSide<'_>| side.path.tracer.lost_share() > IoPath::LOSS_LIMIT;
        let operations = match lost(base) || lost(other) {
            true => Vec::new(),
            false => operations(base.path, other.path),
        };
        let refusal = match (lost(base) || lost(other), operations.is_empty()) {
            (true, _) => Some(PathRefusal::EventsLost),
            (false, true) => Some(PathRefusal::NoCommonOperation),
            (false, false) => None,
        };
        SideDifferences {
            base,
            other,
            operations,
            refusal,
        }
    }

    /// Sentences about the differences.
    pub(super) fn sentences(&self) -> Vec<String> {
        let refusal = self
            .refusal
            .map(|refusal| text::path_refusal(refusal).to_owned());
        let said = self.operations.iter().flat_map(|of| self.of_operation(of));
        refusal.into_iter().chain(said).collect()
    }

    fn has_journal(&self) -> bool {
        [self.base, self.other]
            .iter()
            .any(|side| figures::has_journal(side.path))
    }

    fn of_operation(&self, of: &OperationDifference) -> Vec<String> {
        let operation = text::traced_operation(of.op, of.with_sync);
        let (base, other) = (self.base.title(), self.other.title());
        if of.total.value.abs() < 0.01 * of.base {
            let time = Nanos(of.base.round() as u64);
            return vec![text::takes_the_same(&operation, &base, &other, time)];
        }
        // The slower side is the subject, so that the difference is positive.
        let sign = of.total.value.signum();
        let (slow, fast) = match sign > 0.0 {
            true => ((self.other, &of.other_load), (self.base, &of.base_load)),
            false => ((self.base, &of.base_load), (self.other, &of.other_load)),
        };
        let total = of.total.value.abs();
        let large = |part: &&PartDifference| part.time.value.abs() >= 0.02 * total;
        let parts = of
            .parts
            .iter()
            .filter(large)
            .map(|part| (part.part, sign * part.time.value));
        let parts: Vec<(DifferencePart, f64)> = parts.collect();
        let (slow_name, fast_name) = (slow.0.title(), fast.0.title());
        let names = (slow_name.as_str(), fast_name.as_str());
        let time = text::takes_longer(
            &operation,
            names,
            total,
            &parts,
            (of.shares_allowed, self.has_journal()),
        );
        let traffic = |(side, load): (&PathSide<'_>, &OperationLoad), name| SideTraffic {
            name,
            bytes: figures::per_asked_byte(side.path, figures::moved(side.path)),
            requests: load.requests,
        };
        let differs = text::traffic_differs(&traffic(slow, names.0), &traffic(fast, names.1));
        std::iter::once(time).chain(differs).collect()
    }

    /// A chart for each operation that differs.
    pub(super) fn charts(&self, phase: &PathPhase<'_>) -> Vec<Chart> {
        self.operations
            .iter()
            .map(|of| self.chart(phase, of))
            .collect()
    }

    fn chart(&self, phase: &PathPhase<'_>, of: &OperationDifference) -> Chart {
        let operation = text::traced_operation(of.op, of.with_sync);
        let (base, other) = (self.base.title(), self.other.title());
        let parts = of.parts.iter().map(|part| {
            let paint = match part.part {
                DifferencePart::Device(class) => Paint::from(class.group()),
                DifferencePart::Time(part) => Paint::from(part),
            };
            (
                paint,
                text::difference_part(part.part, self.has_journal()),
                part.time,
            )
        });
        let sum = format!("{other} against {base}");
        let all = parts.chain([(Paint::Plain, sum, of.total)]);
        let rows = all.map(|(paint, name, time)| (paint, name, time.value, signed(&time)));
        let rows: Vec<(Paint, String, f64, String)> = rows.collect();
        let cells = rows
            .iter()
            .map(|(_, name, _, text)| table::row(name, [text.clone()]));
        let name = format!("{} {operation}", self.other.name);
        Chart {
            name: chart_name("difference", phase, &name),
            section: Section::Path,
            title: format!("Time of a {operation} on {other} against {base}"),
            note: format!(
                "Difference of the mean times by part: {} against {}. The parts add up to the difference.",
                number::nanos(of.other),
                number::nanos(of.base)
            ),
            table: DataTable::new(["Part", "Difference"], cells),
            plot: Plot::Differences(Differences { rows }),
        }
    }
}

/// A difference with its interval, if known.
fn signed(time: &TimeDifference) -> String {
    let value = text::signed_nanos(time.value);
    match time.ci95 {
        Some((low, high)) => format!(
            "{value} [{}, {}]",
            text::signed_nanos(low),
            text::signed_nanos(high)
        ),
        None => value,
    }
}

/// Differences of the operations that both sides have.
fn operations(base: &IoPath, other: &IoPath) -> Vec<OperationDifference> {
    let pair = |a: &OperationPath| {
        let same = |b: &&OperationPath| (b.op, b.with_sync) == (a.op, a.with_sync);
        let b = other.operations.iter().find(same)?;
        (a.count > 0 && b.count > 0).then(|| difference((base, a), (other, b)))
    };
    base.operations.iter().filter_map(pair).collect()
}

fn difference(
    (base_path, base): (&IoPath, &OperationPath),
    (other_path, other): (&IoPath, &OperationPath),
) -> OperationDifference {
    let parts = other.mean.minus(&base.mean);
    let part = |part: TimePart| PartDifference {
        part: DifferencePart::Time(part),
        time: TimeDifference {
            value: parts.of(part),
            ci95: None,
        },
    };
    let used = |part: &TimePart| base.mean.of(*part) != 0.0 || other.mean.of(*part) != 0.0;
    let mut all: Vec<PartDifference> = TimePart::ALL.into_iter().filter(used).map(part).collect();
    all.sort_by(|a, b| b.time.value.abs().total_cmp(&a.time.value.abs()));
    OperationDifference {
        op: base.op,
        with_sync: base.with_sync,
        base: base.mean.total(),
        other: other.mean.total(),
        total: TimeDifference {
            value: parts.total(),
            ci95: None,
        },
        parts: all,
        shares_allowed: parts.shares_allowed(),
        base_load: load(base_path, base),
        other_load: load(other_path, other),
        device: None,
    }
}

/// What one operation put on the device in the mean.
fn load(path: &IoPath, of: &OperationPath) -> OperationLoad {
    let with_bytes = || path.classes.iter().filter(|class| class.op.is_some());
    let count = of.count.max(1) as f64;
    OperationLoad {
        requests: figures::sum(with_bytes().map(|class| class.requests)) as f64 / count,
        bytes: figures::moved(path) / count,
        jumps: figures::sum(with_bytes().map(|class| class.runs)) as f64 / count,
        flushes: figures::flushes(path) as f64 / count,
    }
}
