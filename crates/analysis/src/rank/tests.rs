//! Tests of the order of cards for uses and by price.

mod families;

use super::*;
use crate::default_rules;
use crate::testing::suite;
use hakaru_model::advice::Fitness;
use hakaru_model::campaign::LayerSummary;

/// A card with the results of the suite, all rates multiplied by a factor.
fn card(name: &str, runs: u32, factor: f64, price: Option<&str>) -> CardSummary {
    let mut summary = suite(runs);
    for phase in &mut summary.phases {
        let values = |values: &[f64], seed: usize| -> Vec<f64> {
            let noise = |i: usize| 1.0 + 0.01 * (((i * 7 + seed) % 5) as f64 - 2.0);
            let all = values.iter().enumerate();
            all.map(|(i, value)| value * factor * noise(i)).collect()
        };
        phase.bandwidth = crate::estimate(&values(&phase.bandwidth.values, 1)).unwrap();
        phase.iops = crate::estimate(&values(&phase.iops.values, 1)).unwrap();
    }
    let layer = LayerSummary {
        layer: "raw".to_owned(),
        summary,
        prepared: Vec::new(),
        advice: Vec::new(),
    };
    let price = price.map(|price| (CardSummary::PRICE.to_owned(), price.to_owned()));
    CardSummary {
        name: name.to_owned(),
        key: name.to_owned(),
        host: "pi4".to_owned(),
        printed: Vec::new(),
        facts: price.into_iter().collect(),
        layers: vec![layer],
        claims: Vec::new(),
        costs: Vec::new(),
    }
}

fn uses(cards: &[CardSummary]) -> Vec<UseRanking> {
    rank_uses(cards, &["raw".to_owned()], &default_rules(), 0)
}

fn order(ranking: &UseRanking) -> Vec<(u32, Option<u32>, &str)> {
    let places = ranking.places.iter();
    places
        .map(|p| (p.card, p.rank, p.letters.as_str()))
        .collect()
}

#[test]
fn cards_of_a_use_are_ordered_by_the_figure_that_falls_shortest() {
    let cards = [
        card("slow", 5, 0.5, None),
        card("fast", 5, 2.0, None),
        card("twin", 5, 2.0, None),
    ];
    let all = uses(&cards);
    assert_eq!(all.len(), 7, "every use has a ranking");
    let nas = all.iter().find(|of| of.id == "nas").unwrap();
    assert_eq!(
        order(nas),
        [(1, Some(1), "a"), (2, Some(2), "a"), (0, Some(3), "b")]
    );
    // 60 MB/s of sequential writes, and good is 100.
    let first = &nas.places[0];
    assert_eq!(first.figure, Some(Figure::SequentialWrite));
    assert!((first.margin.unwrap() - 0.6).abs() < 0.02, "{first:?}");
    assert_eq!(
        (first.fitness, nas.places[2].fitness),
        (Some(Fitness::WithCare), Some(Fitness::DoesNot))
    );
    // The verdicts are those of the advice, wherever it is printed.
    for of in &all {
        for place in &of.places {
            let summary = &cards[place.card as usize].layers[0].summary;
            let advice = crate::advise(summary, &default_rules());
            let advice = advice.iter().find(|advice| advice.id == of.id).unwrap();
            assert_eq!(place.fitness, advice.fitness, "{}", of.id);
        }
    }
}

/// Regression: uses had a smaller family of tests, and proved an order that the comparisons of cards did not prove.
#[test]
fn the_family_is_at_least_that_of_the_comparisons_of_cards() {
    let cards = [card("slow", 5, 1.0, None), card("fast", 5, 1.1, None)];
    let letters = |family: usize| {
        let all = rank_uses(&cards, &["raw".to_owned()], &default_rules(), family);
        let nas = all.into_iter().find(|of| of.id == "nas").unwrap();
        nas.places
            .into_iter()
            .map(|place| place.letters)
            .collect::<Vec<_>>()
    };
    assert_eq!(letters(0), ["a", "b"]);
    assert_eq!(letters(1_000_000), ["a", "a"]);
}

/// Regression: ten cards that all lacked figures shared a letter, although their deciding figures differed tenfold.
#[test]
fn cards_that_all_lack_figures_have_ranks_without_letters() {
    let partial = |name: &str, factor: f64| {
        let mut card = card(name, 5, factor, None);
        let phases = &mut card.layers[0].summary.phases;
        phases.retain(|phase| phase.phase == "rand-write");
        card
    };
    let all = uses(&[partial("worn", 0.001), partial("old", 0.01)]);
    let docker = all.iter().find(|of| of.id == "docker").unwrap();
    assert_eq!(order(docker), [(1, Some(1), ""), (0, Some(2), "")]);
}

#[test]
fn one_run_each_gives_an_order_without_proof() {
    let cards = [card("slow", 1, 0.5, None), card("fast", 1, 2.0, None)];
    for ranking in uses(&cards) {
        let letters: Vec<&str> = ranking.places.iter().map(|p| p.letters.as_str()).collect();
        assert!(
            letters.iter().all(|letters| ["a", ""].contains(letters)),
            "{ranking:?}"
        );
    }
}

#[test]
fn a_card_without_all_figures_has_no_rank_unless_it_is_unsuitable() {
    let mut partial = card("partial", 5, 4.0, None);
    partial.layers[0]
        .summary
        .phases
        .retain(|phase| phase.phase == "seq-read");
    let all = uses(&[partial, card("whole", 5, 1.0, None)]);
    let os = all.iter().find(|of| of.id == "os").unwrap();
    assert_eq!(order(os), [(1, Some(1), "a"), (0, None, "")]);
}

#[test]
fn a_slower_card_may_give_more_for_the_money() {
    let cards = [
        card("cheap", 5, 1.0, Some("500 yen")),
        card("fast", 5, 2.0, Some("¥2,000")),
        card("unpriced", 5, 9.0, None),
        card("imported", 5, 9.0, Some("9 EUR")),
    ];
    let found = rank_values(&cards, &["raw".to_owned()]);
    let reads = found
        .iter()
        .find(|of| of.figure == Figure::SequentialRead)
        .unwrap();
    assert_eq!((reads.currency.as_str(), reads.per), ("JPY", 1000.0));
    let order: Vec<(u32, u32, &str)> = reads
        .places
        .iter()
        .map(|place| (place.card, place.rank, place.letters.as_str()))
        .collect();
    assert_eq!(order, [(0, 1, "a"), (1, 2, "b")]);
    // 40 MB/s for 500 yen are 80 MB/s for 1000.
    assert!((reads.places[0].value - 80.0).abs() < 2.0, "{reads:?}");
    let currencies: Vec<&str> = found.iter().map(|of| of.currency.as_str()).collect();
    assert_eq!(
        currencies,
        ["JPY", "JPY", "JPY", "JPY", "EUR", "EUR", "EUR", "EUR"]
    );
    assert_eq!(rank_values(&cards[2..3], &["raw".to_owned()]), []);
}
