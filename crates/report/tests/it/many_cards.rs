//! Charts of campaigns with more cards than a chart can draw.

use crate::support;
use hakaru_report::{Language, Section, campaign_charts, with_language};

/// A chart of many cards draws the best and the worst; its data has all.
#[test]
fn many_cards_are_drawn_from_both_ends() {
    let mut campaign = support::campaign::campaign();
    let card = campaign.cards[0].clone();
    campaign.rankings.clear();
    campaign.cards = (0..40)
        .map(|n| {
            let mut card = card.clone();
            card.name = format!("card {n}");
            for layer in &mut card.layers {
                for phase in &mut layer.summary.phases {
                    phase.bandwidth.mean *= f64::from(n + 1);
                    phase.iops.mean *= f64::from(n + 1);
                }
            }
            card
        })
        .collect();
    for (language, more, note) in [
        (
            Language::English,
            "8 more",
            "32 of 40 are drawn, the highest and the lowest",
        ),
        (
            Language::Japanese,
            "ほか8件",
            "40件のうち上位と下位の32件を表示",
        ),
    ] {
        let all = with_language(language, || campaign_charts(&campaign));
        let speed = all.iter().find(|chart| chart.section == Section::Speed);
        let speed = speed.unwrap();
        let svg = with_language(language, || speed.svg(1100));
        assert!(svg.contains(more) && svg.contains(note), "{svg}");
        assert!(svg.contains("card 39") && svg.contains("card 0<"));
        assert!(!svg.contains("card 20"), "{svg}");
        let bars = campaign
            .cards
            .iter()
            .map(|card| card.layers.len())
            .sum::<usize>();
        assert_eq!(speed.csv().lines().count(), 1 + bars);
    }
}
