//! Compares hosts by the same cards: a two-way layout of hosts and cards, on logarithms of the rates.
//!
//! Effects are contrasts of the means of the cells, and each has its own standard error by Satterthwaite, because cards
//! vary by different amounts. All contrasts of a campaign form one family (Bonferroni). Source: Montgomery, "Design and
//! Analysis of Experiments", chapter 5, for the layout; Satterthwaite (1946) for the degrees of freedom.

use crate::campaign::Layer;
use crate::compare::{has_rate, name_and_unit};
use crate::stats::{self, LEVEL, SampleMoments};
use hakaru_model::campaign::CardSummary;
use hakaru_model::facts::Identity;
use hakaru_model::finding::{HeadlineRate, PhaseSummary};
use hakaru_model::host_comparison::{
    DifferenceCause, HostCell, HostComparison, RatioInterval, VariationShares,
};
use hakaru_model::job::Op;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Compares the hosts of a campaign in each layer and phase; empty if no card was measured on several hosts.
pub fn compare_hosts(cards: &[CardSummary], layers: &[Layer<'_>]) -> Vec<HostComparison> {
    let layouts = layers.iter().flat_map(|layer| layouts_of(cards, layer));
    let layouts: Vec<TwoWayLayout<'_>> = layouts.collect();
    let contrasts = layouts.iter().map(TwoWayLayout::count);
    let level = stats::simultaneous_level(LEVEL, contrasts.sum());
    layouts
        .iter()
        .map(|layout| layout.comparison(level))
        .collect()
}

/// A phase of the same cards on several hosts, without empty cells.
struct TwoWayLayout<'a> {
    layer: &'a str,
    phase: &'a str,
    op: Op,
    rate: HeadlineRate,
    hosts: Vec<&'a str>,
    names: Vec<String>,
    /// For each card, the results on each host.
    cells: Vec<Vec<LayoutCell<'a>>>,
}

/// Results of a card on a host.
#[derive(Clone, Copy)]
struct LayoutCell<'a> {
    card: u32,
    phase: &'a PhaseSummary,
    /// Mean of the logarithms of the rate.
    log_mean: f64,
    /// Variance of that mean, and its degrees of freedom; `None` under two runs.
    log_variance: Option<(f64, f64)>,
}

/// Key of a card, then its results by host.
type CellsByCard<'a> = BTreeMap<&'a str, BTreeMap<&'a str, LayoutCell<'a>>>;

fn layouts_of<'a>(
    cards: &'a [CardSummary],
    (layer, members): &'a Layer<'a>,
) -> Vec<TwoWayLayout<'a>> {
    let mut phases: Vec<(&str, Op, HeadlineRate, CellsByCard<'a>)> = Vec::new();
    for (place, summary) in members {
        let card = &cards[*place as usize];
        for phase in summary.phases.iter().filter(|phase| has_rate(phase)) {
            let Some(cell) = LayoutCell::of(*place, phase) else {
                continue;
            };
            let known = phases
                .iter_mut()
                .find(|(name, op, ..)| *name == phase.phase && *op == phase.op);
            let cells = match known {
                Some((.., cells)) => cells,
                None => {
                    let rate = phase.detail.headline;
                    phases.push((&phase.phase, phase.op, rate, CellsByCard::new()));
                    let Some((.., cells)) = phases.last_mut() else {
                        continue;
                    };
                    cells
                }
            };
            let of_card = cells.entry(own_key(card)).or_default();
            of_card.entry(card.host.as_str()).or_insert(cell);
        }
    }
    let layout = |(phase, op, rate, cells): (&'a str, Op, HeadlineRate, CellsByCard<'a>)| {
        let hosts = complete_hosts(&cells)?;
        let complete = cells
            .iter()
            .filter(|(_, of)| hosts.iter().all(|host| of.contains_key(host)));
        let cells: Vec<Vec<LayoutCell<'a>>> = complete
            .map(|(_, of)| hosts.iter().map(|host| of[host]).collect())
            .collect();
        Some(TwoWayLayout {
            layer,
            phase,
            op,
            rate,
            names: names_of(cards, &cells),
            hosts,
            cells,
        })
    };
    phases.into_iter().filter_map(layout).collect()
}

/// Returns the key of a card without its host, which is added to keys of cards that several hosts measure.
fn own_key(card: &CardSummary) -> &str {
    let of_host = card.key.strip_suffix(card.host.as_str());
    let key = of_host.and_then(|key| key.strip_suffix('#'));
    key.filter(|_| !card.host.is_empty()).unwrap_or(&card.key)
}

/// Most sets of hosts that are compared, so that a large campaign with many gaps does not take minutes.
const MOST_HOST_SETS: usize = 1_000;

/// Returns two or more hosts on which at least one card was measured: those with the most cells in a complete table, and
/// of equal ones those with the most hosts.
///
/// The hosts of a largest table are those that all of its cards have in common: another common host would add cells.
/// With over [`MOST_HOST_SETS`] such sets, only those of the most frequent sets of hosts are compared.
fn complete_hosts<'a>(cells: &CellsByCard<'a>) -> Option<Vec<&'a str>> {
    let mut cards_by_hosts: BTreeMap<BTreeSet<&str>, usize> = BTreeMap::new();
    for of in cells.values().filter(|of| of.len() > 1) {
        *cards_by_hosts
            .entry(of.keys().copied().collect())
            .or_default() += 1;
    }
    let mut by_frequency: Vec<(&BTreeSet<&str>, usize)> = cards_by_hosts
        .iter()
        .map(|(hosts, cards)| (hosts, *cards))
        .collect();
    by_frequency.sort_by_key(|(_, cards)| Reverse(*cards));
    let mut common: BTreeSet<BTreeSet<&str>> = BTreeSet::new();
    for (hosts, _) in &by_frequency {
        let with_others = common.iter().map(|others| others & *hosts);
        let with_others: Vec<_> = with_others
            .filter(|hosts| hosts.len() > 1)
            .take(MOST_HOST_SETS.saturating_sub(common.len()))
            .collect();
        common.extend(with_others);
        common.insert((*hosts).clone());
    }
    let cells_of = |hosts: &BTreeSet<&str>| {
        let whole = by_frequency.iter().filter(|(of, _)| hosts.is_subset(of));
        whole.map(|(_, cards)| cards).sum::<usize>() * hosts.len()
    };
    let largest = common
        .into_iter()
        .rev()
        .max_by_key(|hosts| (cells_of(hosts), hosts.len()))?;
    Some(largest.into_iter().collect())
}

/// Returns the names of the cards. A card has another label on each host, so it is named after its device; after its key
/// if the device is not known, as for simulated cards, or if devices share a name.
fn names_of(cards: &[CardSummary], cells: &[Vec<LayoutCell<'_>>]) -> Vec<String> {
    let card = |row: &Vec<LayoutCell<'_>>| &cards[row[0].card as usize];
    let name = |row: &Vec<LayoutCell<'_>>| {
        let mut labels = row.iter().map(|cell| &cards[cell.card as usize].name);
        let first = labels.next().cloned().unwrap_or_default();
        if labels.all(|label| *label == first) {
            return first;
        }
        let target = card(row).layers.first().map(|layer| &layer.summary.target);
        let known = target.filter(|target| target.device.known().is_some());
        let device = known.map(|target| Identity {
            label: None,
            ..target.clone()
        });
        device.map_or_else(
            || own_key(card(row)).to_owned(),
            |device| device.display_name(),
        )
    };
    let names: Vec<String> = cells.iter().map(name).collect();
    let distinct: BTreeSet<&String> = names.iter().collect();
    match distinct.len() == names.len() {
        true => names,
        false => cells
            .iter()
            .map(|row| own_key(card(row)).to_owned())
            .collect(),
    }
}

impl<'a> LayoutCell<'a> {
    /// `None` if a rate is zero, or only a mean is known.
    fn of(card: u32, phase: &'a PhaseSummary) -> Option<LayoutCell<'a>> {
        let values = &phase.detail.headline.of(phase).values;
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        let log_mean = stats::mean(&logs).filter(|mean| mean.is_finite())?;
        let moments = SampleMoments::independent(&logs);
        Some(LayoutCell {
            card,
            phase,
            log_mean,
            log_variance: moments.map(|moments| (moments.variance_of_mean(), moments.df())),
        })
    }
}

/// A weighted sum of the means of the cells.
struct Contrast {
    estimate: f64,
    /// Variance, and its degrees of freedom; `None` if a cell has only one run.
    variance: Option<(f64, f64)>,
}

impl Contrast {
    /// Returns the interval of the estimate at this confidence level.
    fn interval(&self, level: f64) -> Option<(f64, f64)> {
        let (variance, df) = self.variance?;
        let half = match variance > 0.0 {
            true => stats::t_quantile(0.5 + level / 2.0, df)? * variance.sqrt(),
            false => 0.0,
        };
        Some((self.estimate - half, self.estimate + half))
    }

    /// Whether the estimate is proven to differ from 0.
    fn is_proven(&self, level: f64) -> bool {
        // Rounding leaves this much of equal rates.
        let rounding = 1e-12;
        let interval = self.interval(level);
        interval.is_some_and(|(low, high)| low > rounding || high < -rounding)
    }

    fn ratio(&self, level: f64) -> RatioInterval {
        RatioInterval {
            ratio: self.estimate.exp(),
            ci95: self
                .interval(level)
                .map(|(low, high)| (low.exp(), high.exp())),
        }
    }
}

impl TwoWayLayout<'_> {
    /// Number of contrasts that are tested: pairs of hosts, cards with the first card, and cells.
    fn count(&self) -> usize {
        let (hosts, cards) = (self.hosts.len(), self.cells.len());
        hosts * (hosts - 1) / 2 + (cards - 1) + hosts * cards * usize::from(cards > 1)
    }

    /// Returns the contrast with these weights, by card and host.
    fn contrast(&self, weight: impl Fn(usize, usize) -> f64) -> Contrast {
        let (mut estimate, mut variance, mut squares) = (0.0, Some(0.0), 0.0);
        for (card, row) in self.cells.iter().enumerate() {
            for (host, cell) in row.iter().enumerate() {
                let weight = weight(card, host);
                estimate += weight * cell.log_mean;
                if weight == 0.0 {
                    continue;
                }
                variance = variance.zip(cell.log_variance).map(|(sum, (own, df))| {
                    let own = own * weight * weight;
                    squares += own * own / df;
                    sum + own
                });
            }
        }
        Contrast {
            estimate,
            // Satterthwaite.
            variance: variance.map(|sum| match squares > 0.0 {
                true => (sum, sum * sum / squares),
                false => (0.0, f64::INFINITY),
            }),
        }
    }

    /// Contrast of two hosts, over all cards.
    fn hosts(&self, from: usize, to: usize) -> Contrast {
        let part = 1.0 / self.cells.len() as f64;
        self.contrast(|_, host| part * (sign(host == to) - sign(host == from)))
    }

    /// Contrast of a card with the first one, over all hosts.
    fn cards(&self, to: usize) -> Contrast {
        let part = 1.0 / self.hosts.len() as f64;
        self.contrast(|card, _| part * (sign(card == to) - sign(card == 0)))
    }

    /// What a cell differs by from the sum of the effects of its host and its card.
    fn combination(&self, (card, host): (usize, usize)) -> Contrast {
        let (hosts, cards) = (self.hosts.len() as f64, self.cells.len() as f64);
        self.contrast(|c, h| (sign(c == card) - 1.0 / cards) * (sign(h == host) - 1.0 / hosts))
    }

    fn comparison(&self, level: f64) -> HostComparison {
        let (hosts, cards) = (self.hosts.len(), self.cells.len());
        let places = (0..cards).flat_map(|card| (0..hosts).map(move |host| (card, host)));
        let combinations: Vec<Contrast> = places.map(|place| self.combination(place)).collect();
        let card_contrasts: Vec<Contrast> = (0..cards).map(|card| self.cards(card)).collect();
        let pairs = (0..hosts).flat_map(|a| (a + 1..hosts).map(move |b| (a, b)));
        let host_contrasts: Vec<Contrast> = pairs.map(|(a, b)| self.hosts(a, b)).collect();
        let has_spread = self
            .cells
            .iter()
            .flatten()
            .all(|cell| cell.log_variance.is_some());
        let ratio_of_host = |host| self.hosts(0, host).ratio(level);
        // Effects below 5% can be proven, too; beside a larger one, they are no cause.
        let causes_from = |size: f64| {
            let is_cause = |of: &Contrast| of.is_proven(level) && of.estimate.abs() >= size;
            (
                combinations.iter().any(is_cause),
                host_contrasts.iter().any(is_cause),
                card_contrasts.iter().any(is_cause),
            )
        };
        let causes = match causes_from(SAME.ln()) {
            (false, false, false) => causes_from(0.0),
            large => large,
        };
        HostComparison {
            layer: self.layer.to_owned(),
            phase: self.phase.to_owned(),
            op: self.op,
            unit: name_and_unit(self.rate).1.to_owned(),
            hosts: self.hosts.iter().map(|host| (*host).to_owned()).collect(),
            cards: self.names.clone(),
            cells: self.cells.iter().map(|row| self.row(row)).collect(),
            host_ratios: (0..hosts).map(ratio_of_host).collect(),
            card_ratios: card_contrasts.iter().map(|of| of.ratio(level)).collect(),
            shares: self.shares(&combinations),
            cause: match causes {
                _ if !has_spread => DifferenceCause::TooFewRuns,
                (true, ..) => DifferenceCause::Combination,
                (_, true, true) => DifferenceCause::HostAndCard,
                (_, true, false) => DifferenceCause::Host,
                (_, false, true) => DifferenceCause::Card,
                (_, false, false) => DifferenceCause::NotProven,
            },
        }
    }

    fn row(&self, cells: &[LayoutCell<'_>]) -> Vec<HostCell> {
        let cell = |cell: &LayoutCell<'_>| {
            let estimate = self.rate.of(cell.phase);
            HostCell {
                card: cell.card,
                runs: u32::try_from(estimate.values.len()).unwrap_or(u32::MAX),
                mean: estimate.mean,
                deviation: estimate.deviation,
            }
        };
        cells.iter().map(cell).collect()
    }

    /// Returns the parts of the sum of squares between the cells.
    fn shares(&self, combinations: &[Contrast]) -> Option<VariationShares> {
        let (hosts, cards) = (self.hosts.len() as f64, self.cells.len() as f64);
        let square = |contrast: Contrast| contrast.estimate * contrast.estimate;
        let of_host = |host: usize| {
            square(self.contrast(|_, h| (sign(h == host) - 1.0 / hosts) / cards)) * cards
        };
        let of_card = |card: usize| {
            square(self.contrast(|c, _| (sign(c == card) - 1.0 / cards) / hosts)) * hosts
        };
        let host: f64 = (0..self.hosts.len()).map(of_host).sum();
        let card: f64 = (0..self.cells.len()).map(of_card).sum();
        let squares = combinations.iter().map(|of| of.estimate * of.estimate);
        let combination: f64 = squares.sum();
        let all = host + card + combination;
        (all > 1e-24).then(|| VariationShares {
            host: host / all,
            card: card / all,
            combination: combination / all,
        })
    }
}

/// Ratio below which results are the same for practical purposes.
const SAME: f64 = 1.05;

/// 1 if it is so.
fn sign(is_so: bool) -> f64 {
    f64::from(u8::from(is_so))
}

#[cfg(test)]
mod tests;
