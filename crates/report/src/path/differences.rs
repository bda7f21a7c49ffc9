//! Why one layer or run takes longer than another, as a sum of differences of times.

use super::pictures::chart_name;
use super::{PathPhase, figures};
use crate::chart::{Chart, Plot, Section};
use crate::number;
use crate::svg::{Differences, Paint};
use crate::table::{self, DataTable};
use crate::text::{self, DeviceSplitText, LongerText, SideTraffic};
use hakaru_model::finding::TracedPhase;
use hakaru_model::io_path::{
    ClassGroup, DeviceSplit, DifferencePart, OperationDifference, PartDifference, PathComparison,
    PathDifference, PathRefusal, PriceRefusal, TimePart,
};
use hakaru_model::job::Op;

/// The difference of one side from the one that it was compared with.
pub(super) struct SideDifference<'a> {
    /// Names of the side compared with, and of this one.
    base: String,
    other: String,
    /// The runs shown, in the same order; `None` if a side was not traced.
    shown: [Option<&'a TracedPhase>; 2],
    of: &'a PathDifference,
}

impl<'a> SideDifference<'a> {
    pub(super) fn new(
        (base, other): (&str, &str),
        shown: [Option<&'a TracedPhase>; 2],
        of: &'a PathDifference,
    ) -> SideDifference<'a> {
        SideDifference {
            base: base.to_owned(),
            other: other.to_owned(),
            shown,
            of,
        }
    }

    pub(super) fn comparison(&self) -> Option<&'a PathComparison> {
        self.of.outcome.as_ref().ok()
    }

    fn refusal(&self) -> Option<PathRefusal> {
        self.of.outcome.as_ref().err().copied()
    }

    pub(super) fn base(&self) -> &str {
        &self.base
    }

    pub(super) fn other(&self) -> &str {
        &self.other
    }

    pub(super) fn operations(&self) -> &'a [OperationDifference] {
        self.comparison().map_or(&[], |of| &of.operations)
    }

    /// Sentences about the differences.
    pub(super) fn sentences(&self) -> Vec<String> {
        let refusal = self.refusal().map(text::path_refusal);
        let operations = self.operations().iter();
        let said = operations.flat_map(|of| self.of_operation(of));
        refusal.into_iter().chain(said).collect()
    }

    pub(super) fn has_journal(&self) -> bool {
        let mut shown = self.shown.iter().flatten();
        shown.any(|side| figures::has_journal(&side.path))
    }

    fn of_operation(&self, of: &OperationDifference) -> Vec<String> {
        let operation = text::traced_operation(of.op, of.with_sync);
        let names = (self.base.as_str(), self.other.as_str());
        if of
            .total
            .ci95
            .is_some_and(|(low, high)| low <= 0.0 && high >= 0.0)
        {
            return vec![text::no_difference_of_times(
                &operation,
                names,
                &of.total,
                self.of.runs,
            )];
        }
        if of.total.value.abs() < 0.01 * of.base {
            return vec![text::takes_the_same(&operation, names, of.base)];
        }
        // The slower side is the subject, so that the difference is positive.
        let sign = of.total.value.signum();
        let (slow, fast) = match sign > 0.0 {
            true => (names.1, names.0),
            false => (names.0, names.1),
        };
        let total = of.total.value.abs();
        let large = |part: &&PartDifference| part.time.value.abs() >= 0.02 * total;
        let parts = of.parts.iter().filter(large);
        let parts: Vec<(DifferencePart, f64)> = parts
            .map(|part| (part.part, sign * part.time.value))
            .collect();
        let ends = of.total.ci95.map(|(low, high)| match sign > 0.0 {
            true => (low, high),
            false => (-high, -low),
        });
        let longer = text::takes_longer(&LongerText {
            operation: &operation,
            names: (slow, fast),
            difference: total,
            ends,
            parts: &parts,
            shares: of.shares_allowed,
            journal: self.has_journal(),
        });
        let traffic = self.traffic(of, sign > 0.0);
        let device = of.device.filter(is_explained);
        let device = device.map(|split| device_split(of.op, names, split));
        let more = traffic.into_iter().chain(device);
        std::iter::once(longer).chain(more).collect()
    }

    /// How the traffic of the slower side differs.
    fn traffic(&self, of: &OperationDifference, other_is_slow: bool) -> Option<String> {
        let op = of.op.unwrap_or(Op::Write);
        let bytes = |shown: Option<&TracedPhase>| {
            let mut traffic = shown?.findings.traffic.iter();
            traffic.find(|it| it.op == op)?.amplification
        };
        let [base, other] = self.shown;
        let base = SideTraffic {
            name: &self.base,
            bytes: bytes(base)?,
            requests: of.base_load.requests,
        };
        let other = SideTraffic {
            name: &self.other,
            bytes: bytes(other)?,
            requests: of.other_load.requests,
        };
        match other_is_slow {
            true => text::traffic_differs(&other, &base),
            false => text::traffic_differs(&base, &other),
        }
    }

    /// Why the difference on the device is not divided into requests, bytes and jumps.
    pub(super) fn without_prices(&self) -> Vec<String> {
        let compared = |&&(op, _): &&(Op, PriceRefusal)| {
            let mut operations = self.operations().iter();
            operations.any(|of| of.op == Some(op))
        };
        let refused = self.of.without_prices.iter().filter(compared);
        refused
            .map(|(op, refusal)| text::price_refusal(*op, *refusal))
            .collect()
    }

    /// A chart for each operation that differs.
    pub(super) fn charts(&self, phase: &PathPhase<'_>) -> Vec<Chart> {
        let operations = self.operations().iter();
        operations.map(|of| self.chart(phase, of)).collect()
    }

    fn chart(&self, phase: &PathPhase<'_>, of: &OperationDifference) -> Chart {
        let operation = text::traced_operation(of.op, of.with_sync);
        let (base, other) = (&self.base, &self.other);
        let journal = self.has_journal();
        let (shown, small) = shown_parts(&of.parts);
        let part = |part: &PartDifference| {
            let name = text::difference_part(part.part, journal);
            let time = part.time;
            (paint(part.part), name, time.value, text::signed_time(&time))
        };
        let mut rows: Vec<_> = shown.iter().map(part).collect();
        if !small.is_empty() {
            let sum = small.iter().map(|part| part.time.value).sum();
            let name = text::smaller_parts(small.len());
            rows.push((Paint::Speckled, name, sum, text::signed_nanos(sum)));
        }
        let sum = text::sum().to_owned();
        rows.push((
            Paint::Plain,
            sum,
            of.total.value,
            text::signed_time(&of.total),
        ));
        let name = format!("{other} {operation}");
        Chart {
            name: chart_name("difference", phase, &name),
            section: Section::Path,
            title: text::difference_title(&operation, other, base),
            note: text::sum_of_parts(of, self.of.runs),
            table: part_table(of, (base, other), journal),
            plot: Plot::Differences(Differences { rows }),
        }
    }
}

/// All parts with their times on both sides, and the sum.
fn part_table(of: &OperationDifference, (base, other): (&str, &str), journal: bool) -> DataTable {
    let cells = |base: f64, other: f64, difference: String| {
        [number::nanos(base), number::nanos(other), difference]
    };
    let part = |part: &PartDifference| {
        let name = text::difference_part(part.part, journal);
        let difference = text::signed_time(&part.time);
        table::row(name, cells(part.base, part.other, difference))
    };
    let sum = table::row(
        text::sum().to_owned(),
        cells(of.base, of.other, text::signed_time(&of.total)),
    );
    let [part_head, difference_head] = text::part_table_heads();
    let head = [part_head, base, other, difference_head];
    DataTable::new(head, of.parts.iter().map(part).chain([sum]))
}

/// Share of the absolute sum below which parts are joined in a picture.
const SMALL: f64 = 0.01;

/// The parts with a row of their own in a picture, and the others.
fn shown_parts(parts: &[PartDifference]) -> (Vec<PartDifference>, Vec<PartDifference>) {
    let absolute: f64 = parts.iter().map(|part| part.time.value.abs()).sum();
    let (shown, small): (Vec<_>, Vec<_>) = parts
        .iter()
        .copied()
        .partition(|part| part.time.value.abs() >= SMALL * absolute);
    match small.len() {
        1 => (parts.to_vec(), Vec::new()),
        _ => (shown, small),
    }
}

fn paint(part: DifferencePart) -> Paint {
    match part {
        DifferencePart::Device(class) => Paint::from(class.group()),
        DifferencePart::Behind(_) => Paint::from(TimePart::WaitingBehind),
        DifferencePart::Time(TimePart::Flush) => Paint::from(ClassGroup::Flush),
        DifferencePart::Time(part) => Paint::from(part),
    }
}

/// Whether prices explain at least half of a difference on the device. Less says nothing about its cause.
fn is_explained(split: &DeviceSplit) -> bool {
    split.remainder.abs() <= 0.5 * split.total().abs()
}

/// The difference on the device by price; the side that is slower there is the subject.
fn device_split(op: Option<Op>, (base, other): (&str, &str), split: DeviceSplit) -> String {
    let sign = split.total().signum();
    let (slow, fast) = match sign > 0.0 {
        true => (other, base),
        false => (base, other),
    };
    let shares = split.shares_allowed();
    let split = DeviceSplit {
        requests: sign * split.requests,
        bytes: sign * split.bytes,
        jumps: sign * split.jumps,
        remainder: sign * split.remainder,
        ..split
    };
    text::device_split(&DeviceSplitText {
        op: op.unwrap_or(Op::Write),
        names: (slow, fast),
        split,
        shares,
    })
}
