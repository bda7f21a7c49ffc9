//! Rated speeds and claims beside measured figures.

use super::titles::{self, is_sequential};
use super::view::{View, Work};
use super::{beside, explained, tables, words};
use crate::chart::{self, BarChart, Chart, ChartTitle, Section};
use crate::document::{ColumnStyle, DocumentBlock, TableStyle, folded};
use crate::findings::ConclusionKind;
use crate::number;
use crate::svg::{Bar, BarGroup};
use crate::text::{self, RatedShare};
use hakaru_model::campaign::CardSummary;
use hakaru_model::finding::{ClaimVerdict, MeasuredFigure};
use hakaru_model::job::Op;

/// Whether no phase measured the figure of some claim.
pub(super) fn has_unmeasured(view: &View<'_>) -> bool {
    let mut checks = view.of.cards.iter().flat_map(|card| &card.claims);
    checks.any(|check| check.verdict == ClaimVerdict::NotMeasured)
}

/// Rated speeds and claims next to the measured results.
pub(super) fn section(view: &View<'_>) -> Vec<DocumentBlock> {
    let chart = rated(view).map(|chart| DocumentBlock::Charts(vec![chart]));
    let printed = tables::printed(view).map(|table| {
        let table = DocumentBlock::Table(TableStyle::Compact, table);
        folded(text::rated_speeds(), vec![table])
    });
    let printed: Vec<DocumentBlock> = chart.into_iter().chain(printed).collect();
    let classes = tables::classes(view).map(DocumentBlock::Marks);
    let mut how = text::capital(&words::promises(view).unwrap_or_default());
    // A rated speed that the host cannot reach says nothing about the card.
    let plateaus = view
        .works
        .iter()
        .filter_map(|work| titles::plateau(view, view.main_layer(), work));
    for plateau in plateaus {
        how = text::paragraph(&[&how, &text::chart_title(&plateau)]);
    }
    let legend = classes
        .is_some()
        .then(|| DocumentBlock::Quiet(text::claim_legend(has_unmeasured(view))));
    let classes: Vec<DocumentBlock> = classes.into_iter().chain(legend).collect();
    explained(
        text::conclusion_title(ConclusionKind::Claims),
        how,
        beside(ColumnStyle::Halves, classes, printed),
    )
}

/// Measured sequential speeds with a mark at the rated speed: one group for each card with rated speeds.
pub(super) fn rated(view: &View<'_>) -> Option<Chart> {
    let ops = [Op::Read, Op::Write].into_iter();
    let is_known = |op: &Op| {
        view.of
            .cards
            .iter()
            .any(|card| rated_speed(card, *op).is_some())
    };
    let ops: Vec<Op> = ops.filter(is_known).collect();
    let all = rated_speeds(view);
    let (low, high) = reached(view)?;
    let bar = |card: usize, op: Op| {
        let rated = rated_speed(&view.of.cards[card], op).map(RatedSpeed::bar);
        rated.or_else(|| unrated(view, card, op))
    };
    let groups = view.names.iter().enumerate().map(|(card, name)| BarGroup {
        label: name.clone(),
        bars: ops.iter().map(|&op| bar(card, op)).collect(),
    });
    let groups = groups.filter(|group| group.bars.iter().any(Option::is_some));
    let series = ops
        .iter()
        .map(|op| text::workload_kind(*op, false, 0, false));
    let runs = || all.iter().map(|speed| u64::from(speed.measured.runs));
    let judged = |verdict| all.iter().filter(|speed| speed.verdict == verdict).count();
    let about = BarChart {
        name: "rated-speed".to_owned(),
        section: Section::Claims,
        title: text::chart_title(&ChartTitle::Rated {
            met: judged(ClaimVerdict::Kept),
            missed: judged(ClaimVerdict::Missed),
            untested: judged(ClaimVerdict::NotShown),
            of: all.len(),
            low,
            high,
        }),
        unit: "MB/s",
        quantity: view.with_layer(text::rated_quantity(), view.main_layer()),
        runs: text::runs_between(runs().min()?, runs().max()?),
        rows: text::card_column(),
    };
    Some(about.of(series.collect(), groups.collect()))
}

/// Sequential reads and writes of all cards with a rated speed.
fn rated_speeds<'v>(view: &'v View<'_>) -> Vec<RatedSpeed<'v>> {
    let of_card = |card| {
        [Op::Read, Op::Write]
            .into_iter()
            .filter_map(move |op| rated_speed(card, op))
    };
    view.of.cards.iter().flat_map(of_card).collect()
}

/// The smallest and the largest share of the rated speeds of each operation, in percent.
pub(super) fn reached_by_operation(view: &View<'_>) -> Vec<RatedShare> {
    let of_op = |op| {
        let cards = view.of.cards.iter();
        let speeds = cards.filter_map(|card| rated_speed(card, op));
        let speeds: Vec<RatedSpeed<'_>> = speeds.collect();
        // A rated speed that the host cannot reach says nothing about the card.
        let is_of_op = |work: &&Work| work.op == op;
        let mut works = view.works.iter().filter(is_of_op);
        let limited = works.any(|work| titles::plateau(view, view.main_layer(), work).is_some());
        Some(RatedShare {
            op,
            percent: extremes(&speeds)?,
            cards: (speeds.len() < view.of.cards.len())
                .then_some((speeds.len(), view.of.cards.len())),
            limited,
        })
    };
    [Op::Read, Op::Write]
        .into_iter()
        .filter_map(of_op)
        .collect()
}

/// The smallest and the largest share of the rated speeds, in percent; `None` without a rated speed.
pub(super) fn reached(view: &View<'_>) -> Option<(String, String)> {
    extremes(&rated_speeds(view))
}

/// The smallest and the largest share of these rated speeds, in percent.
fn extremes(speeds: &[RatedSpeed<'_>]) -> Option<(String, String)> {
    let shares = || {
        speeds
            .iter()
            .map(|speed| speed.measured.value / speed.rated)
    };
    let (low, high) = (shares().reduce(f64::min)?, shares().reduce(f64::max)?);
    Some((words::percent(low), words::percent(high)))
}

/// A rated speed of a card that was measured.
struct RatedSpeed<'a> {
    measured: &'a MeasuredFigure,
    /// In MB/s.
    rated: f64,
    verdict: ClaimVerdict,
}

fn rated_speed(card: &CardSummary, op: Op) -> Option<RatedSpeed<'_>> {
    let of_op = card
        .claims
        .iter()
        .filter(|check| words::printed(check.claim, op));
    let mut found = of_op.flat_map(|check| check.parts.iter().map(move |part| (check, part)));
    found.find_map(|(check, part)| {
        let measured = part.measured.as_ref()?;
        let usable = part.required > 0.0 && measured.value.is_finite();
        usable.then_some(RatedSpeed {
            measured,
            rated: part.required,
            verdict: check.verdict,
        })
    })
}

/// The sequential speed of a card whose maker states none.
fn unrated(view: &View<'_>, card: usize, op: Op) -> Option<Bar> {
    let layer = view.main_layer();
    let mut works = view.works.iter();
    let work = works.find(|work| work.op == op && is_sequential(view, layer, work))?;
    let phase = view.cell(card, layer, work)?;
    let value = phase.bandwidth.mean / 1e6;
    Some(Bar {
        value,
        mean: number::significant(value),
        n: Some(chart::runs_of(phase)).filter(|runs| *runs > 0),
        ..Bar::default()
    })
}

impl RatedSpeed<'_> {
    fn bar(self) -> Bar {
        Bar {
            value: self.measured.value,
            // Where the mark is near the end of the bar, both figures stand behind the mark.
            mean: format!(
                "{} / {}",
                number::significant(self.measured.value),
                number::exact(self.rated, 3)
            ),
            n: Some(u64::from(self.measured.runs)).filter(|runs| *runs > 0),
            rated: Some(self.rated),
            ..Bar::default()
        }
    }
}
