//! The rules of the sentence that a page begins with, and the order of its caveats.

mod history;

use crate::support;
use crate::support::campaign::campaign;
use hakaru_model::campaign::CampaignSummary;
use hakaru_model::caveat::Caveat;
use hakaru_model::finding::{Comparison, Summary, Verdict};
use hakaru_model::units::Bytes;
use hakaru_report::{campaign_html, comparison_html, html_with};

/// The first sentence of a page, and the line below it.
fn answer(page: &str) -> (String, String) {
    let between = |from: &str, to: &str| {
        let found = page
            .split_once(from)
            .and_then(|(_, rest)| rest.split_once(to));
        let text = found.map_or("", |(text, _)| text);
        text.replace("&#39;", "'")
            .replace("&lt;", "<")
            .replace("&amp;", "&")
            .replace('\u{a0}', " ")
    };
    (
        between("<h2 class=\"answer\">", "</h2>"),
        between("<p class=\"proof\">", "</p>"),
    )
}

fn of_run(summary: &hakaru_model::finding::Summary) -> (String, String) {
    answer(&html_with(
        std::slice::from_ref(summary),
        &[support::findings()],
    ))
}

#[test]
fn a_run_is_judged_by_uses_and_names_a_lasting_fall() {
    let (text, proof) = of_run(&support::sandisk());
    assert!(
        text.starts_with("Good for OS boot and packages, not for "),
        "{text}"
    );
    assert!(
        text.contains("random writes reach 610 IOPS, but "),
        "{text}"
    );
    assert!(
        proof.starts_with("10 runs: the standard deviation is at most "),
        "{proof}"
    );
    let with_fall = answer(&html_with(&[support::sandisk()], &[])).0;
    assert!(with_fall.contains(" falls from "), "{with_fall}");
}

#[test]
fn a_run_without_verdicts_states_its_figures() {
    let (text, _) = answer(&html_with(&[support::small()], &[]));
    assert!(text.contains("IOPS for "), "{text}");
}

#[test]
fn a_run_that_is_invalid_says_so_first() {
    let mut summary = support::small();
    summary.caveats.push(Caveat::FitsInMemory {
        size: Bytes(1 << 30),
        memory: Bytes(8 << 30),
    });
    let (text, _) = of_run(&summary);
    assert!(text.starts_with("Do not quote these figures: "), "{text}");
    assert!(text.contains("OS boot"), "{text}");
}

/// Regression: the page of two imports without a common workload had no answer.
#[test]
fn series_without_a_common_workload_state_their_figures() {
    let (mut a, mut b) = (support::small(), support::small());
    a.phases.truncate(1);
    b.phases.drain(..1);
    let (text, _) = answer(&html_with(&[a, b], &[]));
    assert!(text.contains(" for "), "{text}");
}

/// The answer of a campaign after a change.
fn changed(change: impl FnOnce(&mut CampaignSummary)) -> (String, String) {
    let mut campaign = campaign();
    campaign.limits.clear();
    change(&mut campaign);
    answer(&campaign_html(&campaign))
}

fn all_pairs(campaign: &mut CampaignSummary, verdict: Verdict) {
    let pairs = campaign.rankings.iter_mut().flat_map(|r| &mut r.pairs);
    pairs.for_each(|pair| pair.comparison.verdict = verdict);
}

/// Regression: ratings through a reference layer that is a file system were called those of the raw device.
#[test]
fn only_ratings_of_a_raw_device_are_called_so() {
    let raw = campaign();
    let note = "Rated through vfat";
    assert!(campaign_html(&raw).contains(note));
    let renamed = serde_json::to_string(&raw)
        .unwrap()
        .replace("\"raw\"", "\"ext4\"");
    let ext4: CampaignSummary = serde_json::from_str(&renamed).unwrap();
    assert!(!campaign_html(&ext4).contains(note));
}

#[test]
fn a_campaign_names_a_winner_only_with_proof() {
    let (text, proof) = changed(|_| {});
    assert!(
        text.starts_with(
            "On the raw device, kingston is the fastest of two cards in all eight workloads: "
        ),
        "{text}"
    );
    assert!(
        proof.contains(" card comparisons prove a difference"),
        "{proof}"
    );
    let open = Verdict::Undecided { needed: None };
    let (text, proof) = changed(|campaign| all_pairs(campaign, open));
    assert!(
        text.starts_with("No difference between the two cards is proven."),
        "{text}"
    );
    assert!(proof.starts_with("None of "), "{proof}");
}

/// Regression: of cards that different hosts measured, one was called the fastest in all workloads.
#[test]
fn of_cards_on_different_hosts_none_is_the_fastest_in_all() {
    let (text, proof) = changed(|campaign| {
        campaign.cards[0].host = "pi-4".into();
        campaign.cards[1].host = "zero".into();
    });
    assert!(!text.contains("in all eight workloads"), "{text}");
    let hosts = format!(
        "No card was measured on two hosts (kingston on pi-4, {} on zero): a difference may be one of the hosts.",
        campaign().cards[1].name
    );
    assert!(proof.contains(&hosts), "{proof}");
    assert!(
        text.contains("kingston is the fastest of two cards for "),
        "{text}"
    );
}

#[test]
fn a_campaign_of_single_runs_has_no_proof() {
    let (text, proof) = changed(|campaign| {
        all_pairs(campaign, Verdict::Undecided { needed: None });
        let layers = campaign.cards.iter_mut().flat_map(|card| &mut card.layers);
        for phase in layers.flat_map(|layer| &mut layer.summary.phases) {
            phase.bandwidth.values.truncate(1);
            phase.iops.values.truncate(1);
        }
    });
    assert!(
        text.contains("has the highest figure of two cards for "),
        "{text}"
    );
    assert!(text.contains("each was measured once: no proof"), "{text}");
    assert!(proof.starts_with("Measured once: no proof."), "{proof}");
}

#[test]
fn the_cost_of_a_layer_is_stated_if_every_card_has_it() {
    let cost = "Through vfat, random writes fall by 88%";
    assert!(changed(|_| {}).0.contains(cost));
    let one_is_open = |campaign: &mut CampaignSummary| {
        let costs = campaign.cards[1].costs.iter_mut();
        costs.for_each(|cost| cost.comparison.verdict = Verdict::Undecided { needed: None });
    };
    assert!(!changed(one_is_open).0.contains("Through vfat"));
}

/// Regression: a campaign of one card through several layers was answered by what the card is good for.
#[test]
fn a_campaign_of_one_card_compares_its_layers() {
    let one = |campaign: &mut CampaignSummary| {
        campaign.cards.truncate(1);
        campaign.rankings.clear();
    };
    let (text, _) = changed(one);
    assert!(
        text.starts_with("On kingston, the raw device has the highest figure of two layers for "),
        "{text}"
    );
    assert!(text.contains("Through vfat, kingston loses "), "{text}");
    let mut campaign = campaign();
    one(&mut campaign);
    let page = campaign_html(&campaign);
    assert_eq!(
        page.matches("<table class=\"heat\">").count(),
        2,
        "rates, and costs"
    );
    assert!(page.contains("<tr><th scope=\"row\">Raw device"));
}

#[test]
fn a_comparison_states_the_largest_proven_difference() {
    let (a, b) = (support::sandisk(), support::sandisk_vfat());
    let of = |change: &dyn Fn(&mut Comparison)| {
        let mut all = support::comparisons();
        all.iter_mut().for_each(change);
        answer(&comparison_html(&a, &b, &all))
    };
    let (text, proof) = of(&|_| {});
    assert!(text.contains("× as fast as vfat for "), "{text}");
    assert!(text.ends_with(" (proven)."), "{text}");
    assert!(
        proof.starts_with("2 of 4 rates proven different, 1 level within 5%, 1 not proven."),
        "{proof}"
    );
    let (text, _) = of(&|c| c.verdict = Verdict::Equivalent);
    assert!(
        text.ends_with("are level: every figure is the same within 5%."),
        "{text}"
    );
    let (text, _) = of(&|c| c.verdict = Verdict::Undecided { needed: Some(41) });
    assert!(
        text.starts_with("No difference is proven. The largest is "),
        "{text}"
    );
    assert!(
        text.ends_with("; about 41 runs each would prove it."),
        "{text}"
    );
    let (text, proof) = of(&|c| {
        c.verdict = Verdict::Undecided { needed: None };
        c.p_value = None;
    });
    assert!(text.starts_with("Measured once: no proof."), "{text}");
    assert_eq!(proof, "");
}

/// The most harmful caveats are on the first screen: biased figures, then misleading comparisons, then imprecise ones.
#[test]
fn caveats_are_ranked_by_what_they_do_to_the_figures() {
    let mut summary = support::small();
    summary.caveats = vec![
        Caveat::Simulated,
        Caveat::FewRuns { runs: 3 },
        Caveat::HostBusy { load_percent: 434 },
    ];
    let page = html_with(&[summary], &[]).replace('\u{a0}', " ");
    let list = page.split_once("<ol class=\"limits\">").unwrap().1;
    let list = list.split_once("</ol>").unwrap().0;
    let at = |words: &str| {
        list.find(words)
            .unwrap_or_else(|| panic!("{words}: {list}"))
    };
    assert!(at("Host was busy") < at("Only 3 runs"), "{list}");
}

/// The box with the verdict: its class, and its text below the heading.
fn verdict(page: &str) -> (&str, &str) {
    let (_, rest) = page.split_once("<div class=\"verdict ").unwrap();
    let (class, rest) = rest.split_once('"').unwrap();
    let (_, rest) = rest.split_once("<p>").unwrap_or_default();
    (class, rest.split("</p>").next().unwrap_or_default())
}

/// The titles of the charts of a page.
fn chart_titles(page: &str) -> Vec<&str> {
    let titles = page.split("<figcaption><h3>").skip(1);
    titles
        .filter_map(|rest| rest.split("</h3>").next())
        .collect()
}

#[test]
fn the_first_chart_of_a_run_shows_the_fall_of_the_answer() {
    let mut summary = support::sandisk();
    let falls = |phase: &hakaru_model::finding::PhaseSummary| {
        phase
            .sustained
            .as_ref()
            .is_some_and(|found| found.cliff.is_some())
    };
    // A long write that stays even comes first.
    let mut even = summary
        .phases
        .iter()
        .find(|phase| falls(phase))
        .unwrap()
        .clone();
    even.phase = "mix-4k-q1-j1".to_owned();
    even.sustained.as_mut().unwrap().cliff = None;
    even.sustained.as_mut().unwrap().falls.clear();
    summary.phases.insert(0, even);
    let page = html_with(&[summary], &[]).replace('\u{a0}', " ");
    let (_, first) = page.split_once("<figure id=\"").unwrap();
    assert!(
        first.starts_with("over-time-sustained-write\""),
        "{}",
        &first[..60]
    );
}

#[test]
fn rows_of_a_rate_card_have_names_of_their_own() {
    let mut summary = support::sandisk();
    let random = summary
        .phases
        .iter()
        .position(|phase| phase.phase == "rand-write");
    let mut large = summary.phases[random.unwrap()].clone();
    "rand-write-64k".clone_into(&mut large.phase);
    large.detail.shape.as_mut().unwrap().block = Bytes(65536);
    let mut deep = large.clone();
    "write-64k-q8-j1".clone_into(&mut deep.phase);
    deep.detail.shape.as_mut().unwrap().iodepth = 8;
    summary.phases.extend([large, deep]);
    let page = html_with(&[summary], &[]).replace('\u{a0}', " ");
    for wanted in [
        "Random 4 KiB<small>Q1 T1</small>",
        "Random 64 KiB Q1 T1",
        "Random 64 KiB Q8 T1",
    ] {
        assert!(
            page.contains(&format!("<th scope=\"row\">{wanted}")),
            "{wanted}"
        );
    }
}

/// The deep suite measures random I/O of 4 KiB again, which the card has already; a job of the user stays, with its name.
#[test]
fn a_rate_card_has_a_workload_once() {
    let mut summary = support::sandisk();
    let mut phases = summary.phases.iter();
    let random = phases.position(|phase| phase.phase == "rand-write");
    let mut again = summary.phases[random.unwrap()].clone();
    "write-4k-q1-j1".clone_into(&mut again.phase);
    summary.phases.push(again.clone());
    let rows = |summary: &Summary| {
        let page = html_with(std::slice::from_ref(summary), &[]).replace('\u{a0}', " ");
        let (_, card) = page.split_once("class=\"card\"").unwrap();
        card.split("</table>").next().unwrap().to_owned()
    };
    let card = rows(&summary);
    assert_eq!(card.matches("4 KiB, Q1 T1").count(), 1, "{card}");
    assert!(!card.contains("Random 4 KiB"), "{card}");
    "mine".clone_into(&mut again.phase);
    summary.phases.push(again);
    let card = rows(&summary);
    assert_eq!(card.matches("4 KiB, Q1 T1").count(), 1, "{card}");
    assert!(card.contains(">Random writes (mine)"), "{card}");
}

#[test]
fn pairs_of_cards_are_not_listed_if_none_differs() {
    let mut campaign = campaign();
    let pairs = |campaign: &CampaignSummary| {
        let page = campaign_html(campaign);
        let (_, rest) = page.split_once("How the cards differ</h2>").unwrap();
        rest.split("</table>").next().unwrap().to_owned()
    };
    assert!(pairs(&campaign).contains("none: all proven"));
    let again: Vec<_> = campaign.rankings[0].pairs.clone();
    for ranking in &mut campaign.rankings {
        ranking.pairs.extend(again.clone());
    }
    all_pairs(&mut campaign, Verdict::Undecided { needed: None });
    let listed = pairs(&campaign);
    assert!(
        listed.contains("0 of 2") && listed.contains("all pairs"),
        "{listed}"
    );
    assert!(!listed.contains("kingston–"), "{listed}");
}

#[test]
fn the_section_of_a_card_states_once_what_its_layers_share() {
    let page = campaign_html(&campaign());
    let (_, cards) = page.split_once("Each card</h2>").unwrap();
    let first = cards.split("<details class=\"page\">").nth(1).unwrap();
    for once in ["<th scope=\"row\">Kernel", "Target, device and host"] {
        assert_eq!(first.matches(once).count(), 1, "{once}");
    }
    // Both layers have the same verdicts.
    assert!(first.contains("other uses as on the raw device"), "{first}");
}
