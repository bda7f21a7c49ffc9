//! Orders cards for each use and by price.
//!
//! A use needs several figures, and the one that falls shortest of what "good" needs decides. A card is proven better
//! than another if each of its figures is proven to be further above its limit than the deciding figure of the other: a
//! union of single hypotheses, each tested at the full level, so that a pair counts as one test of its family (Berger
//! 1982). The family of all uses consists of all pairs of ranked cards. A card with one run proves nothing.

use crate::advice::advise_layer;
use crate::compare::{ComparedSample, SamplePair, TestFamilies, compare_family};
use crate::estimate;
use crate::figures::{FigureSample, figure_sample};
use crate::stats;
use hakaru_model::advice::{Advice, UseRule};
use hakaru_model::campaign::{CardSummary, LayerSummary};
use hakaru_model::figure::Figure;
use hakaru_model::finding::{Comparison, Verdict};
use hakaru_model::price::Price;
use hakaru_model::rank::{UsePlace, UseRanking, ValuePlace, ValueRanking};

/// A card through one layer: its index, and its results.
type Member<'a> = (u32, &'a LayerSummary);

fn members<'a>(cards: &'a [CardSummary], layer: &str) -> Vec<Member<'a>> {
    let cards = (0..).zip(cards);
    let through = cards.filter_map(|(index, card)| {
        let of = card.layers.iter().find(|of| of.layer == layer)?;
        Some((index, of))
    });
    through.collect()
}

/// Orders the cards of each layer for each use. `family` is the number of comparisons of cards by workload: the family of
/// tests has at least this size, so that no use proves an order that these comparisons do not prove.
pub fn rank_uses(
    cards: &[CardSummary],
    layers: &[String],
    rules: &[UseRule],
    family: usize,
) -> Vec<UseRanking> {
    let groups: Vec<UseGroup<'_>> = layers
        .iter()
        .flat_map(|layer| {
            let members = members(cards, layer);
            let of_rule = move |rule| UseGroup::of(layer, rule, &members);
            rules.iter().map(of_rule).collect::<Vec<_>>()
        })
        .filter(|group| !group.cards.is_empty())
        .collect();
    let proven = proven(&groups, UseGroup::tests, family);
    let ranking = |(index, group): (usize, UseGroup<'_>)| {
        let differ = |a: usize, b: usize| proven.contains(&(index, a.min(b), a.max(b)));
        group.ranking(differ)
    };
    groups.into_iter().enumerate().map(ranking).collect()
}

/// The test of one pair of cards: in `group`, the better card `a` and `b`, by their places.
struct PairTest {
    group: usize,
    a: usize,
    b: usize,
    /// Margins of the weakest figure of `a`, and of the deciding figure of `b`.
    samples: [FigureSample; 2],
}

/// Returns the pairs of all groups whose order is proven, with all of them as one family.
fn proven<G>(
    groups: &[G],
    tests: fn(&G, usize) -> Vec<PairTest>,
    family: usize,
) -> Vec<(usize, usize, usize)> {
    let of_groups = groups.iter().enumerate();
    let tests = of_groups.flat_map(|(index, group)| tests(group, index));
    let tests: Vec<PairTest> = tests.collect();
    let compared = tests.iter().filter_map(|test| {
        let pair = pair(&test.samples);
        (!is_empty(&test.samples)).then_some((test, pair))
    });
    let (tests, pairs): (Vec<&PairTest>, Vec<SamplePair<'_>>) = compared.unzip();
    let families = TestFamilies::of(pairs.iter().cloned()).at_least(family);
    // One by one, because there are as many as pairs of cards.
    let found = pairs.iter().filter_map(|pair| families.compare(pair));
    let found = tests.iter().zip(found);
    found
        .filter(|(_, comparison)| is_proven(comparison))
        .map(|(test, _)| (test.group, test.a.min(test.b), test.a.max(test.b)))
        .collect()
}

fn is_empty(samples: &[FigureSample; 2]) -> bool {
    let empty = |sample: &FigureSample| sample.values.is_empty() && sample.stated.is_none();
    samples.iter().any(empty)
}

/// The second sample is the one that should be larger.
fn pair([better, worse]: &[FigureSample; 2]) -> SamplePair<'_> {
    fn side(of: &FigureSample) -> ComparedSample<'_> {
        match of.stated {
            Some(moments) => ComparedSample::Published(moments),
            None => ComparedSample::Values(&of.values),
        }
    }
    SamplePair {
        resolution: better.resolution.max(worse.resolution),
        ..SamplePair::new("margin", "", side(worse), side(better))
    }
}

fn is_proven(comparison: &Comparison) -> bool {
    comparison.verdict == Verdict::Different && comparison.ratio > 1.0
}

/// The cards for one use.
struct UseGroup<'a> {
    layer: &'a str,
    rule: &'a UseRule,
    cards: Vec<CardForUse>,
}

/// One card for one use.
struct CardForUse {
    card: u32,
    advice: Advice,
    /// Margin of each measured criterion: how far the figure is above its limit.
    margins: Vec<(Figure, f64, FigureSample)>,
}

impl<'a> UseGroup<'a> {
    fn of(layer: &'a str, rule: &'a UseRule, members: &[Member<'_>]) -> UseGroup<'a> {
        let card = |&(card, of): &Member<'_>| CardForUse::of(card, of, rule);
        let cards = members.iter().map(card);
        // A file system that cannot serve the use has no best card.
        let possible = cards.filter(|card| card.advice.impossible_on.is_none());
        let mut cards: Vec<CardForUse> = possible.collect();
        cards.sort_by(|a, b| {
            let order = b.advice.fitness.cmp(&a.advice.fitness);
            order.then(b.margin().total_cmp(&a.margin()))
        });
        UseGroup { layer, rule, cards }
    }

    /// Tests of all pairs of ranked cards, in both directions where the order is not clear from the verdicts.
    fn tests(&self, group: usize) -> Vec<PairTest> {
        let ranked: Vec<usize> = (0..self.cards.len())
            .filter(|&place| self.cards[place].advice.fitness.is_some())
            .collect();
        let mut tests = Vec::new();
        for (nth, &a) in ranked.iter().enumerate() {
            for &b in &ranked[nth + 1..] {
                let samples = self.cards[a].against(&self.cards[b]);
                tests.extend(samples.map(|samples| PairTest {
                    group,
                    a,
                    b,
                    samples,
                }));
            }
        }
        tests
    }

    fn ranking(self, differ: impl Fn(usize, usize) -> bool) -> UseRanking {
        let ranked = self
            .cards
            .iter()
            .filter(|card| card.advice.fitness.is_some());
        let ranked: Vec<&CardForUse> = ranked.collect();
        // Nothing can be proven about cards that all lack figures: a letter that all share would say no more.
        let is_testable = ranked.iter().any(|card| card.is_complete());
        let letters = match is_testable {
            true => stats::letters(ranked.len(), &differ),
            false => vec![String::new(); ranked.len()],
        };
        let place = |(place, card): (usize, &CardForUse)| {
            let letters = letters.get(place);
            UsePlace {
                card: card.card,
                rank: letters.map(|_| place as u32 + 1),
                letters: letters.cloned().unwrap_or_default(),
                fitness: card.advice.fitness,
                figure: card.deciding().map(|(figure, ..)| *figure),
                margin: card.deciding().map(|(_, margin, _)| *margin),
            }
        };
        UseRanking {
            id: self.rule.id.clone(),
            title: self.rule.title.clone(),
            layer: self.layer.to_owned(),
            places: self.cards.iter().enumerate().map(place).collect(),
        }
    }
}

impl CardForUse {
    fn of(card: u32, of: &LayerSummary, rule: &UseRule) -> CardForUse {
        let advice = advise_layer(of, std::slice::from_ref(rule)).swap_remove(0);
        let margin = |decision: &hakaru_model::advice::Decision| {
            let (figure, fits) = (decision.criterion.figure, decision.criterion.fits);
            let sample = figure_sample(&of.summary, figure).relative_to(fits, figure);
            let value = decision.measured.value;
            let margin = match figure.more_is_better() {
                true => value / fits,
                false => fits / value,
            };
            (figure, margin, sample)
        };
        let margins = advice.decided_by.iter().map(margin);
        let margins = margins.filter(|(_, margin, _)| !margin.is_nan()).collect();
        CardForUse {
            card,
            advice,
            margins,
        }
    }

    /// Whether all figures that the use needs were measured.
    fn is_complete(&self) -> bool {
        self.advice.not_measured.is_empty()
    }

    /// The figure that decides the order, with its margin.
    fn deciding(&self) -> Option<&(Figure, f64, FigureSample)> {
        self.margins.iter().min_by(|a, b| a.1.total_cmp(&b.1))
    }

    fn margin(&self) -> f64 {
        self.deciding()
            .map_or(f64::NEG_INFINITY, |(_, margin, _)| *margin)
    }

    /// The samples of the weakest evidence that this card is better: of all its figures, the one least above the
    /// deciding figure of the other. `None` if a figure of this card is missing, because it could be worse.
    fn against(&self, other: &CardForUse) -> Option<[FigureSample; 2]> {
        if !self.is_complete() {
            return None;
        }
        let (_, _, worst) = other.deciding()?;
        let evidence = |sample: &FigureSample| {
            let samples = [sample.clone(), worst.clone()];
            let comparison = compare_family(&[pair(&samples)]).pop();
            let p = comparison.and_then(|c| if c.ratio > 1.0 { c.p_value } else { None });
            (p.unwrap_or(2.0), samples)
        };
        let all = self.margins.iter().map(|(_, _, sample)| evidence(sample));
        let weakest = all.max_by(|a, b| a.0.total_cmp(&b.0));
        weakest.map(|(_, samples)| samples)
    }
}

/// Figures whose values per unit of money are ranked.
const VALUED: [Figure; 4] = [
    Figure::SequentialRead,
    Figure::SequentialWrite,
    Figure::RandomRead,
    Figure::RandomWrite,
];

/// Orders the cards of each layer by their speed per unit of money. Prices in different currencies are not compared.
pub fn rank_values(cards: &[CardSummary], layers: &[String]) -> Vec<ValueRanking> {
    let prices: Vec<Option<Price>> = cards.iter().map(CardSummary::price).collect();
    let mut currencies: Vec<&str> = Vec::new();
    for price in prices.iter().flatten() {
        if !currencies.contains(&price.currency.as_str()) {
            currencies.push(&price.currency);
        }
    }
    let mut groups = Vec::new();
    for layer in layers {
        let members = members(cards, layer);
        for currency in &currencies {
            let groups_of =
                VALUED.map(|figure| ValueGroup::of(layer, currency, figure, &members, &prices));
            groups.extend(groups_of.into_iter().flatten());
        }
    }
    let proven = proven(&groups, ValueGroup::tests, 0);
    let ranking = |(index, group): (usize, ValueGroup<'_>)| {
        group.ranking(|a, b| proven.contains(&(index, a.min(b), a.max(b))))
    };
    groups.into_iter().enumerate().map(ranking).collect()
}

/// The cards by one figure per unit of money.
struct ValueGroup<'a> {
    layer: &'a str,
    currency: &'a str,
    figure: Figure,
    per: f64,
    /// Card, value, and sample of the value.
    cards: Vec<(u32, f64, FigureSample)>,
}

impl<'a> ValueGroup<'a> {
    /// `None` if no card has this figure and a price in this currency.
    fn of(
        layer: &'a str,
        currency: &'a str,
        figure: Figure,
        members: &[Member<'_>],
        prices: &[Option<Price>],
    ) -> Option<ValueGroup<'a>> {
        let amount = |card: u32| {
            let price = prices.get(card as usize)?.as_ref()?;
            (price.currency == currency).then_some(price.amount)
        };
        let amounts: Vec<f64> = prices
            .iter()
            .flatten()
            .filter(|price| price.currency == currency)
            .map(|price| price.amount)
            .collect();
        let per = 10f64.powi(stats::median(&amounts)?.log10().round() as i32);
        let card = |&(card, of): &Member<'_>| {
            let factor = per / amount(card)?;
            let measured = crate::figure(&of.summary, figure)?;
            let sample = figure_sample(&of.summary, figure).scaled(factor);
            Some((card, measured.value * factor, sample))
        };
        let mut cards: Vec<_> = members.iter().filter_map(card).collect();
        cards.sort_by(|a, b| b.1.total_cmp(&a.1));
        (!cards.is_empty()).then_some(ValueGroup {
            layer,
            currency,
            figure,
            per,
            cards,
        })
    }

    fn tests(&self, group: usize) -> Vec<PairTest> {
        let places =
            (0..self.cards.len()).flat_map(|a| (a + 1..self.cards.len()).map(move |b| (a, b)));
        let test = |(a, b): (usize, usize)| PairTest {
            group,
            a,
            b,
            samples: [self.cards[a].2.clone(), self.cards[b].2.clone()],
        };
        places.map(test).collect()
    }

    fn ranking(self, differ: impl Fn(usize, usize) -> bool) -> ValueRanking {
        let letters = stats::letters(self.cards.len(), differ);
        let place = |((rank, (card, value, sample)), letters): (
            (u32, &(u32, f64, FigureSample)),
            String,
        )| {
            let known = estimate(&sample.values);
            let stated = sample.stated.map(|moments| moments.deviation);
            ValuePlace {
                card: *card,
                rank,
                letters,
                value: *value,
                deviation: known.and_then(|estimate| estimate.deviation).or(stated),
            }
        };
        ValueRanking {
            figure: self.figure,
            layer: self.layer.to_owned(),
            currency: self.currency.to_owned(),
            per: self.per,
            places: (1..).zip(&self.cards).zip(letters).map(place).collect(),
        }
    }
}

#[cfg(test)]
mod tests;
