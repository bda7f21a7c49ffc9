//! Charts of campaigns with more cards than a chart can draw.

use crate::support;
use hakaru_model::finding::Verdict;
use hakaru_report::{Language, Section, campaign_charts, campaign_html, with_language};

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

/// Regression: where a layer made some cards faster and others slower, the title only named the fastest card.
#[test]
fn a_title_names_the_cards_that_a_layer_makes_faster() {
    let page = |ratios: [f64; 2], language: Language| {
        let mut campaign = support::campaign::campaign();
        for (card, ratio) in campaign.cards.iter_mut().zip(ratios) {
            for cost in &mut card.costs {
                cost.comparison.ratio = ratio;
                cost.comparison.ratio_ci95 = Some((ratio * 0.99, ratio * 1.01));
                cost.comparison.verdict = Verdict::Different;
            }
        }
        with_language(language, || campaign_html(&campaign))
    };
    let wanted = "andom writes: through vfat, 1 of 2 cards lose 23%, but kingston gains 37%";
    let english = page([1.37, 0.77], Language::English);
    assert!(english.contains(wanted));
    let wanted = "vfatを介すと2枚中1枚は23%低下、kingstonは37%上昇";
    assert!(page([1.37, 0.77], Language::Japanese).contains(wanted));
    // Small effects are no finding.
    assert!(!page([1.02, 0.77], Language::English).contains("kingston gains"));
    assert!(!page([1.37, 0.97], Language::English).contains("kingston gains"));
}
