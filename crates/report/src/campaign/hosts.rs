//! Hosts as a dimension of a campaign: is a difference one of the host, or of the card?

use super::tables::NONE;
use super::view::{View, Work};
use crate::compare::times_within;
use crate::document::{DocumentBlock, TableStyle, folded, part};
use crate::escape::plain;
use crate::naming::distinct;
use crate::number::{self, MeanText};
use crate::table::{self, DataTable};
use crate::text::{self, HostEffectKind};
use hakaru_model::host_comparison::{DifferenceCause, HostCell, HostComparison, RatioInterval};

/// The part of the report about hosts; empty if no card was measured on several.
pub(super) fn blocks(view: &View<'_>) -> Vec<DocumentBlock> {
    let all = comparisons(view);
    if all.is_empty() {
        return Vec::new();
    }
    let causes = DocumentBlock::Table(TableStyle::Words, causes(view, &all));
    let mut tables = Vec::new();
    for (of, work) in &all {
        let title = view.with_layer(&work.title(), &plain(&of.layer));
        tables.push(DocumentBlock::Title(title));
        tables.push(DocumentBlock::Table(
            TableStyle::Numbers,
            table_of(of, work),
        ));
    }
    let about = DocumentBlock::Quiet(text::hosts_about().to_owned());
    let blocks = vec![causes, about, folded(text::hosts_every_figure(), tables)];
    part(text::hosts_title(), blocks)
}

/// The causes of the differences, for a terminal; empty if no card was measured on several hosts.
pub(super) fn in_brief(view: &View<'_>) -> Vec<DocumentBlock> {
    let all = comparisons(view);
    if all.is_empty() {
        return Vec::new();
    }
    let causes = DocumentBlock::Table(TableStyle::Words, causes(view, &all));
    part(text::hosts_title(), vec![causes])
}

/// What the hosts do to the same cards, for the answer; `None` unless two hosts were compared.
pub(super) fn in_a_sentence(view: &View<'_>) -> Option<String> {
    let main = view.main_layer();
    let all = comparisons(view);
    let all = || all.iter().filter(|(of, _)| of.layer == main);
    if all().next().is_none() || all().any(|(of, _)| of.hosts.len() != 2) {
        return None;
    }
    let mut groups: Vec<HostEffect> = Vec::new();
    for (of, work) in all() {
        let ratio = of.host_ratios.get(1)?.ratio;
        let kind = match of.cause {
            DifferenceCause::Host | DifferenceCause::HostAndCard if ratio > 1.0 => {
                HostEffectKind::Faster(1)
            }
            DifferenceCause::Host | DifferenceCause::HostAndCard => HostEffectKind::Faster(0),
            DifferenceCause::Card if proven_minor(of) => HostEffectKind::Minor,
            DifferenceCause::Card | DifferenceCause::NotProven => HostEffectKind::NotProven,
            DifferenceCause::Combination => HostEffectKind::ByCard,
            DifferenceCause::TooFewRuns => return None,
        };
        let gain = ratio.max(ratio.recip()) - 1.0;
        match groups.iter_mut().find(|group| group.kind == kind) {
            Some(group) => group.add(&work.noun, gain),
            None => groups.push(HostEffect {
                kind,
                works: vec![work.noun.clone()],
                gains: (gain, gain),
            }),
        }
    }
    let hosts = &all().next()?.0.hosts;
    let said = |group: &HostEffect| {
        let gains = [group.gains.0, group.gains.1].map(number::percent);
        let (fast, slow) = match group.kind {
            HostEffectKind::Faster(1) => (&hosts[1], &hosts[0]),
            _ => (&hosts[0], &hosts[1]),
        };
        text::host_effect(
            group.kind,
            (&plain(fast), &plain(slow)),
            &group.works,
            (&gains[0], &gains[1]),
        )
    };
    let said: Vec<String> = groups.iter().map(said).collect();
    Some(text::host_effects(&said))
}

/// A sentence that each card was measured on only one of several hosts; `None` for one host, or if a card was measured on
/// several.
pub(super) fn cards_on_other_hosts(view: &View<'_>) -> Option<String> {
    let cards = &view.of.cards;
    let hosts = distinct(cards.iter().map(|card| card.host.as_str()));
    let names = distinct(cards.iter().map(|card| card.name.as_str()));
    let is_known = cards.iter().all(|card| !card.host.is_empty());
    if hosts.len() < 2 || names.len() < cards.len() || !is_known {
        return None;
    }
    let named = cards.iter().filter(|_| cards.len() <= NAMED_CARDS);
    let each = named.map(|card| text::card_on_host(&plain(&card.name), &plain(&card.host)));
    Some(text::cards_on_other_hosts(&each.collect::<Vec<_>>()))
}

/// Maximum number of cards that are listed with their hosts.
const NAMED_CARDS: usize = 4;

/// What two hosts do to the same cards in some workloads.
struct HostEffect {
    kind: HostEffectKind,
    works: Vec<String>,
    /// Smallest and largest gain of the faster host, as shares.
    gains: (f64, f64),
}

impl HostEffect {
    fn add(&mut self, work: &str, gain: f64) {
        self.works.push(work.to_owned());
        self.gains = (self.gains.0.min(gain), self.gains.1.max(gain));
    }
}

/// The comparisons of hosts with their workloads.
fn comparisons<'v>(view: &'v View<'_>) -> Vec<(&'v HostComparison, &'v Work)> {
    let known = |work: &&Work, of: &HostComparison| of.phase == work.phase && of.op == work.op;
    let hosts = view.of.hosts.iter();
    hosts
        .filter_map(|of| Some((of, view.works.iter().find(|work| known(work, of))?)))
        .collect()
}

/// One row for each layer and workload: ratios of hosts and cards, parts of the variation, and the cause.
fn causes(view: &View<'_>, all: &[(&HostComparison, &Work)]) -> DataTable {
    let row = |(of, work): &(&HostComparison, &Work)| {
        let shares = of.shares.map_or(NONE.to_owned(), |shares| {
            let shares = [shares.host, shares.card, shares.combination];
            shares
                .map(|share| format!("{}%", number::percent(share)))
                .join(" / ")
        });
        let what = view.with_layer(&work.title(), &plain(&of.layer));
        vec![
            what,
            text::difference_cause(of.cause, proven_minor(of)),
            extremes(&of.hosts, &of.host_ratios),
            extremes(&of.cards, &of.card_ratios),
            shares,
        ]
    };
    DataTable::new(text::hosts_heads().map(str::to_owned), all.iter().map(row))
}

/// Smallest ratio of two hosts or cards that makes them the cause of a difference.
const CAUSE: f64 = 1.05;

/// Whether the dimension that is not the cause is proven to differ all the same, everywhere by less than 5%.
fn proven_minor(of: &HostComparison) -> bool {
    let differs = |ratios: &[RatioInterval]| {
        let mut known = ratios.iter().filter_map(|ratio| ratio.ci95);
        let sizes = || ratios.iter().map(|ratio| ratio.ratio);
        let largest = sizes().fold(0.0, f64::max) / sizes().fold(f64::MAX, f64::min);
        largest < CAUSE && known.any(|(low, high)| low > 1.0 || high < 1.0)
    };
    match of.cause {
        DifferenceCause::Host => differs(&of.card_ratios),
        DifferenceCause::Card => differs(&of.host_ratios),
        _ => false,
    }
}

/// The slowest and the fastest of several, with the ratio and its interval where it is known: that to the first one.
fn extremes(names: &[String], ratios: &[RatioInterval]) -> String {
    let places = ratios.iter().enumerate();
    let by_ratio =
        |a: &(usize, &RatioInterval), b: &(usize, &RatioInterval)| a.1.ratio.total_cmp(&b.1.ratio);
    let (Some((low, least)), Some((high, most))) =
        (places.clone().min_by(by_ratio), places.max_by(by_ratio))
    else {
        return NONE.to_owned();
    };
    if low == high {
        return NONE.to_owned();
    }
    // The interval of a ratio is known where one side is the first.
    let interval = match (low, high) {
        (0, _) => most.ci95,
        (_, 0) => least.ci95.map(|(low, high)| (1.0 / high, 1.0 / low)),
        _ => None,
    };
    let ratio = times_within(most.ratio / least.ratio, interval);
    let [fast, slow] = [high, low].map(|place| plain(&names[place]));
    text::faster_than(&fast, &slow, &ratio)
}

/// A row for each card, a column for each host; the last row has the ratios of the hosts over all cards.
fn table_of(of: &HostComparison, work: &Work) -> DataTable {
    let scale = if work.small { 1.0 } else { 1e6 };
    let cell = |cell: &HostCell| MeanText::of_parts(cell.mean, cell.deviation, scale).to_string();
    let rows = of.cards.iter().zip(&of.cells).zip(&of.card_ratios);
    let rows = rows.map(|((card, cells), ratio)| {
        let cells = cells.iter().map(cell);
        table::row(plain(card), cells.chain([of_first(ratio)]))
    });
    let last = of.host_ratios.iter().map(of_first).chain([String::new()]);
    let last = table::row(text::all_together(of.cards.len()), last);
    let hosts = of
        .hosts
        .iter()
        .map(|host| format!("{} ({})", plain(host), work.unit()));
    let first = of
        .cards
        .first()
        .map(|first| plain(first))
        .unwrap_or_default();
    let head = table::row(text::card_column(), hosts.chain([text::ratio_to(&first)]));
    DataTable::new(head, rows.chain([last]))
}

/// A ratio to the first with its interval.
fn of_first(of: &RatioInterval) -> String {
    times_within(of.ratio, of.ci95)
}
