//! Which cards of a campaign lead, and how the time of the page grows with their number.

use crate::support::campaign::campaign;
use hakaru_model::campaign::CampaignSummary;
use hakaru_model::finding::Verdict;
use hakaru_report::campaign_html;
use std::time::Instant;

const CARDS: [&str; 4] = ["ada", "bob", "cy", "dee"];

fn of_pairs(proven: impl Fn(u32, u32) -> bool) -> CampaignSummary {
    of_cards(&CARDS, proven)
}

/// A campaign of cards, each 5% slower than the one before it; `proven` says which pairs differ.
fn of_cards(names: &[&str], proven: impl Fn(u32, u32) -> bool) -> CampaignSummary {
    let mut campaign = campaign();
    let card = campaign.cards[0].clone();
    campaign.cards.clear();
    for name in names {
        let mut card = card.clone();
        (*name).clone_into(&mut card.name);
        card.costs.clear();
        campaign.cards.push(card);
    }
    for ranking in &mut campaign.rankings {
        let (place, pair) = (ranking.places[0].clone(), ranking.pairs[0].clone());
        ranking.places.clear();
        ranking.pairs.clear();
        for a in 0..names.len() as u32 {
            let mut place = place.clone();
            (place.card, place.rank) = (a, a + 1);
            place.mean *= 0.95_f64.powf(f64::from(a));
            ranking.places.push(place);
            for b in a + 1..names.len() as u32 {
                let mut pair = pair.clone();
                (pair.a, pair.b) = (a, b);
                pair.comparison.verdict = match proven(a, b) {
                    true => Verdict::Different,
                    false => Verdict::Undecided { needed: None },
                };
                ranking.pairs.push(pair);
            }
        }
    }
    campaign
}

/// The title of the chart of a workload of the main layer.
fn title(page: &str) -> &str {
    let titles = page.match_indices(": ada");
    let mut titles = titles.map(|(at, _)| {
        let begin = page[..at].rfind('>').unwrap() + 1;
        page[begin..].split('<').next().unwrap()
    });
    let found = titles.find(|title| title.contains("lead") || title.contains("is the fastest, "));
    found.expect("a chart of the fastest")
}

/// Regression: every card without a proven difference from the first one was among those that lead, even if another of
/// them was proven to be faster: "no difference between them is shown" was false.
#[test]
fn of_cards_that_lead_none_is_proven_to_be_slower() {
    let pairs: Vec<(u32, u32)> = (0..4)
        .flat_map(|a| (a + 1..4).map(move |b| (a, b)))
        .collect();
    for mask in 1..1 << pairs.len() {
        let proven = |a: u32, b: u32| {
            let nth = pairs.iter().position(|pair| *pair == (a, b)).unwrap();
            mask & (1 << nth) != 0
        };
        let campaign = of_pairs(proven);
        let beaten = |card: u32| (0..card).any(|faster| proven(faster, card));
        let leaders: Vec<&str> = (0..4)
            .filter(|card| !beaten(*card))
            .map(|card| CARDS[card as usize])
            .collect();
        let page = campaign_html(&campaign);
        let title = title(&page);
        let wanted = match &leaders[..] {
            [only] => format!("{only} is the fastest, "),
            [first, second] => format!("{first} and {second} lead; "),
            [first, second, third] => format!("{first}, {second} and {third} lead; "),
            all => panic!("{all:?}"),
        };
        assert!(
            title.contains(&wanted),
            "{mask:06b}: {title}, wanted {wanted}"
        );
        // The answer and the frames of the matrix agree with the title.
        let answer = page.split_once("<h2 class=\"answer\">").unwrap().1;
        let answer = answer.split_once("</h2>").unwrap().0;
        match &leaders[..] {
            [only] => assert!(
                answer.contains(&format!("{only} is the fastest")),
                "{answer}"
            ),
            _ => assert!(!answer.contains("is the fastest"), "{answer}"),
        }
    }
}

/// Regression: each cell of the matrix compared all pairs with all pairs. The report of a hundred cards did not end.
#[test]
fn twice_the_cards_take_at_most_twelve_times_as_long() {
    let campaign = |cards: usize| {
        let names: Vec<String> = (0..cards).map(|card| format!("card {card}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        of_cards(&names, |_, _| false)
    };
    let seconds = |campaign: &CampaignSummary| {
        let begun = Instant::now();
        assert!(campaign_html(campaign).contains("card 29"));
        begun.elapsed().as_secs_f64()
    };
    let (few, many) = (campaign(30), campaign(60));
    // The least disturbed of the interleaved rounds: another program can take any of them.
    let rounds = (0..3).map(|_| seconds(&many) / seconds(&few));
    let ratio = rounds.fold(f64::INFINITY, f64::min);
    // There are four times as many pairs, in twice as many cells: 32 times if a cell compares pairs with pairs.
    assert!(ratio < 12.0, "{ratio:.1} times as long");
}
