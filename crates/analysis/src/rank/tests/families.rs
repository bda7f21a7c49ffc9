//! Which pairs of cards are tested, how many tests they are, and figures of which less is better.

use super::*;
use hakaru_model::advice::Criterion;
use hakaru_model::finding::Estimate;
use hakaru_model::units::{Nanos, Quantile};

/// A card with a price that has only sequential reads, with these values in MB/s.
fn reader(name: &str, mb: &[f64]) -> CardSummary {
    let mut card = card(name, 2, 1.0, Some("10 EUR"));
    let phases = &mut card.layers[0].summary.phases;
    phases.retain(|phase| phase.phase == "seq-read");
    let values: Vec<f64> = mb.iter().map(|mb| mb * 1e6).collect();
    phases[0].bandwidth = crate::estimate(&values).unwrap();
    card
}

/// Four values whose standard error is √(1/3).
fn around(mb: f64) -> [f64; 4] {
    [mb - 1.0, mb + 1.0, mb - 1.0, mb + 1.0]
}

/// A use that needs one figure.
fn rule(figure: Figure, fits: f64, care: f64) -> UseRule {
    UseRule {
        id: "own".to_owned(),
        title: "own".to_owned(),
        criteria: vec![Criterion {
            figure,
            fits,
            care,
            why: String::new(),
        }],
        needs_permissions: false,
    }
}

/// Cards of a use in order, with their letters, of a family of at least so many tests.
fn for_reads(cards: &[CardSummary], family: usize) -> Vec<(u32, String)> {
    let rules = [rule(Figure::SequentialRead, 50.0, 10.0)];
    let mut all = rank_uses(cards, &["raw".to_owned()], &rules, family);
    let places = all.remove(0).places.into_iter();
    places.map(|place| (place.card, place.letters)).collect()
}

fn for_the_money(cards: &[CardSummary]) -> Vec<(u32, String)> {
    let mut all = rank_values(cards, &["raw".to_owned()]);
    assert_eq!(all.len(), 1);
    let places = all.remove(0).places.into_iter();
    places.map(|place| (place.card, place.letters)).collect()
}

fn named(places: &[(u32, &str)]) -> Vec<(u32, String)> {
    let place = |&(card, letters): &(u32, &str)| (card, letters.to_owned());
    places.iter().map(place).collect()
}

/// A difference of 2.3 is 2.82 standard errors. With 6 degrees of freedom, p is 0.03: enough for one test (2.45), but not
/// for two (2.97) or three (3.29).
#[test]
fn a_pair_of_cards_is_one_test() {
    let two = [
        reader("slow", &around(100.0)),
        reader("fast", &around(102.3)),
    ];
    let (differ, share) = (named(&[(1, "a"), (0, "b")]), named(&[(1, "a"), (0, "a")]));
    for (family, expected) in [(0, &differ), (1, &differ), (2, &share), (3, &share)] {
        assert_eq!(&for_reads(&two, family), expected, "{family}");
    }
    assert_eq!(for_the_money(&two), differ);
    // A third card makes three pairs. It differs from both by a hundred standard errors.
    let [slow, fast] = two;
    let three = [slow, fast, reader("slowest", &around(20.0))];
    let expected = named(&[(1, "a"), (0, "a"), (2, "b")]);
    assert_eq!(for_reads(&three, 0), expected);
    assert_eq!(for_the_money(&three), expected);
}

/// A published mean without deviation and number of runs cannot be tested, and is no test of the family.
#[test]
fn a_card_with_only_a_mean_is_ranked_without_proof() {
    let mean = |mb: f64| {
        let mut card = reader("printed", &around(mb));
        card.layers[0].summary.phases[0].bandwidth = Estimate {
            mean: mb * 1e6,
            ..Estimate::default()
        };
        card
    };
    let others = || {
        [
            reader("slow", &around(100.0)),
            reader("fast", &around(102.3)),
        ]
    };
    let [slow, fast] = others();
    let first = [slow, fast, mean(300.0)];
    let expected = named(&[(2, "ab"), (1, "a"), (0, "b")]);
    assert_eq!(for_the_money(&first), expected);
    assert_eq!(for_reads(&first, 0), expected);
    let [slow, fast] = others();
    let last = [mean(90.0), slow, fast];
    let expected = named(&[(2, "a"), (1, "b"), (0, "ab")]);
    assert_eq!(for_the_money(&last), expected);
    assert_eq!(for_reads(&last, 0), expected);
}

/// A card with only an `fsync` latency at the 99th percentile, in ms, equal in four runs.
fn syncing(name: &str, ms: f64) -> CardSummary {
    let mut card = card(name, 2, 1.0, None);
    let phases = &mut card.layers[0].summary.phases;
    phases.retain(|phase| phase.phase == "durable");
    let phase = &mut phases[0];
    phase.detail.sync_by_run = vec![(Quantile::P99, crate::estimate(&[ms * 1e6; 4]).unwrap())];
    let sync = phase.sync.as_mut().unwrap();
    sync.quantiles = vec![(Quantile::P99, Nanos((ms * 1e6) as u64))];
    card
}

/// Percentiles are upper edges of buckets: differences up to 1/64 are rounding, whatever the rates resolve.
#[test]
fn percentiles_that_differ_by_rounding_prove_no_order() {
    let rules = [rule(Figure::SyncP99, 10.0, 50.0)];
    for (slow, letters) in [
        (8.0, ["a", "a"]),
        (8.01, ["a", "a"]),
        (8.12, ["a", "a"]),
        (8.14, ["a", "b"]),
        (16.0, ["a", "b"]),
    ] {
        let cards = [syncing("slow", slow), syncing("fast", 8.0)];
        let found = rank_uses(&cards, &["raw".to_owned()], &rules, 0);
        let places = &found[0].places;
        let found: Vec<&str> = places.iter().map(|of| of.letters.as_str()).collect();
        assert_eq!(found, letters, "{slow}");
    }
}

/// The margin is how often the limit contains the latency, so that more is better for every figure.
#[test]
fn the_margin_of_a_latency_is_its_limit_divided_by_it() {
    let rules = [rule(Figure::SyncP99, 10.0, 50.0)];
    let latencies = [8.0, 40.0, 2.5, 100.0];
    let cards = latencies.map(|ms| syncing("card", ms));
    let found = rank_uses(&cards, &["raw".to_owned()], &rules, 0);
    let places: Vec<(u32, f64, Option<Fitness>)> = found[0]
        .places
        .iter()
        .map(|of| (of.card, of.margin.unwrap(), of.fitness))
        .collect();
    let (fits, care, not) = (Fitness::Fits, Fitness::WithCare, Fitness::DoesNot);
    assert_eq!(
        places,
        [
            (2, 4.0, Some(fits)),
            (0, 1.25, Some(fits)),
            (1, 0.25, Some(care)),
            (3, 0.1, Some(not)),
        ]
    );
    assert!(
        found[0]
            .places
            .iter()
            .all(|of| of.figure == Some(Figure::SyncP99))
    );
}

/// A card with sequential reads and writes, with these values in MB/s.
fn of_both(name: &str, reads: &[f64], writes: &[f64]) -> CardSummary {
    let mut card = card(name, 2, 1.0, None);
    let phases = &mut card.layers[0].summary.phases;
    phases.retain(|phase| ["seq-read", "seq-write"].contains(&phase.phase.as_str()));
    for phase in phases {
        let mb = match phase.phase.as_str() {
            "seq-read" => reads,
            _ => writes,
        };
        let values: Vec<f64> = mb.iter().map(|mb| mb * 1e6).collect();
        phase.bandwidth = crate::estimate(&values).unwrap();
    }
    card
}

/// A difference of 2.55 is 3.12 standard errors: enough for two tests (2.97), but not for three (3.29). The writes of one
/// of two equal cards have a single run, but their reads can be tested.
#[test]
fn a_pair_of_equal_cards_is_a_test_of_the_family() {
    let mut use_of_both = rule(Figure::SequentialRead, 100.0, 60.0);
    let writes = rule(Figure::SequentialWrite, 100.0, 99.0);
    use_of_both.criteria.extend(writes.criteria);
    let (best, equal) = (
        of_both("best", &around(52.55), &around(200.0)),
        of_both("equal", &around(50.0), &around(60.0)),
    );
    let once = of_both("once", &around(50.0), &[60.0]);
    let letters = |cards: &[CardSummary], family: usize| {
        let rules = std::slice::from_ref(&use_of_both);
        let found = rank_uses(cards, &["raw".to_owned()], rules, family);
        let places = found[0].places.iter();
        let places: Vec<(u32, String)> = places.map(|of| (of.card, of.letters.clone())).collect();
        places
    };
    let cards = [once, equal, best];
    let of_three = named(&[(2, "a"), (0, "a"), (1, "a")]);
    assert_eq!(letters(&cards, 0), of_three);
    for (family, expected) in [(2, ["a", "b"]), (3, ["a", "a"])] {
        let two = named(&[(1, expected[0]), (0, expected[1])]);
        assert_eq!(letters(&cards[1..], family), two, "{family}");
    }
}
