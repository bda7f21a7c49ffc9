//! Verdicts about hosts and cards at the limits of spread, number of cards and share of the bus.

use crate::bus_limit;
use crate::testing::read_series;
use hakaru_model::finding::{Bottleneck, BusLimit, Summary};

/// Returns a card on a bus of 50 MB/s with this mean of sequential reads in MB/s.
fn card(number: u64, mb: f64) -> Summary {
    let mut summary = read_series(number, 40e6, 0.0);
    summary.phases[0].bandwidth.mean = mb * 1e6;
    summary
}

fn limits(cards: &[Summary]) -> Vec<BusLimit> {
    bus_limit(&cards.iter().collect::<Vec<_>>())
}

fn verdicts(means: &[f64]) -> Vec<(Bottleneck, Vec<u32>)> {
    let cards: Vec<Summary> = (0..).zip(means).map(|(nth, &mb)| card(nth, mb)).collect();
    let found = limits(&cards).into_iter();
    found.map(|of| (of.limit, of.members)).collect()
}

#[test]
fn three_different_cards_with_the_same_speed_show_the_host() {
    use Bottleneck::{Card, Contradiction, Host, Unclear};
    // The middle one is the mean; the distance of the others is the deviation, in percent.
    for (mean, percent, expected) in [
        (35.0, 0.0, Host),
        (35.0, 2.99, Host),
        (35.0, 3.01, Unclear),
        // 60% of the limit are not more than what a card alone explains.
        (30.0, 0.0, Card),
        (30.1, 0.0, Host),
        (52.4, 0.0, Host),
        (53.0, 0.0, Contradiction),
    ] {
        let apart = mean * percent / 100.0;
        let found = verdicts(&[mean - apart, mean, mean + apart]);
        assert_eq!(found, [(expected, vec![0, 1, 2])], "{mean} {percent}");
    }
    assert_eq!(verdicts(&[35.0]), [(Unclear, vec![0])]);
    assert_eq!(verdicts(&[35.0, 35.0]), [(Unclear, vec![0, 1])]);
    let mut twins = [card(0, 35.0), card(1, 35.0), card(2, 35.0)];
    twins[2].target.label = twins[1].target.label.clone();
    assert_eq!(limits(&twins)[0].limit, Unclear, "two different cards");
}

#[test]
fn limits_have_the_mean_and_the_spread_of_their_cards() {
    let found = limits(&[card(0, 10.0), card(1, 20.0), card(2, 30.0)]);
    let [of] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!((of.limit, of.cards), (Bottleneck::Card, 3));
    assert_eq!((of.measured.0, of.share), (20e6, Some(0.4)));
    assert_eq!(of.ceiling.unwrap().0, 50e6);
    assert!((of.spread.unwrap() - 0.5).abs() < 1e-12, "{of:?}");
    let alone = &limits(&[card(0, 10.0)])[0];
    assert_eq!((alone.spread, alone.share), (None, Some(0.2)));
}

#[test]
fn hosts_are_named_only_if_there_are_several() {
    let named = |names: &[&str]| -> Vec<Option<String>> {
        let cards = (0..).zip(names).map(|(nth, name)| {
            let mut card = card(nth, 20.0);
            card.environment.hostname = (*name).to_owned();
            card
        });
        let found = limits(&cards.collect::<Vec<_>>()).into_iter();
        found.map(|of| of.host).collect()
    };
    let some = |name: &str| Some(name.to_owned());
    assert_eq!(named(&["pi4"]), [None]);
    assert_eq!(named(&["pi4", "pi4"]), [None]);
    assert_eq!(named(&["pi4", ""]), [None, None]);
    assert_eq!(named(&["pi4", "pi5"]), [some("pi4"), some("pi5")]);
    assert_eq!(named(&["pi4", "", "pi5"]), [some("pi4"), None, some("pi5")]);
}
