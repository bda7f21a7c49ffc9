//! Comparisons of hosts by the same cards.

use super::{listed, span};
use crate::text::HostEffectKind;
use hakaru_model::host_comparison::DifferenceCause;

pub(in crate::text) fn hosts_title() -> &'static str {
    "Host or card?"
}

pub(in crate::text) fn hosts_about() -> &'static str {
    "The same cards on several hosts. Ratios are geometric means over all cards or all hosts; their intervals hold together \
     in 95% of campaigns (Satterthwaite, Bonferroni). The last part of the variation depends on the combination of host and \
     card, or is variation between runs."
}

pub(in crate::text) fn hosts_every_figure() -> &'static str {
    "Every card on every host"
}

pub(in crate::text) fn hosts_heads() -> [&'static str; 5] {
    [
        "Workload",
        "Cause of the difference",
        "Hosts, same cards",
        "Cards, same hosts",
        "Variation: host / card / rest",
    ]
}

pub(in crate::text) fn difference_cause(cause: DifferenceCause, proven: bool) -> String {
    let words = match (cause, proven) {
        (DifferenceCause::Host, true) => "the host; cards differ, by less than 5%",
        (DifferenceCause::Host, false) => {
            "the host; a difference of the cards is small or not proven"
        }
        (DifferenceCause::Card, true) => "the card; hosts differ, by less than 5%",
        (DifferenceCause::Card, false) => {
            "the card; a difference of the hosts is small or not proven"
        }
        (DifferenceCause::HostAndCard, _) => "both: hosts differ, and cards differ",
        (DifferenceCause::Combination, _) => {
            "the combination: how much hosts differ depends on the card"
        }
        (DifferenceCause::NotProven, _) => "no difference is proven",
        (DifferenceCause::TooFewRuns, _) => "unknown: a single run each; use at least 3 repeats",
    };
    words.to_owned()
}

pub(in crate::text) fn host_effect(
    kind: HostEffectKind,
    (fast, slow): (&str, &str),
    works: &[String],
    (least, most): (&str, &str),
) -> String {
    let works = listed(works);
    match kind {
        HostEffectKind::Faster(_) => {
            let gain = span(least, most);
            format!("{fast} is on average {gain}% faster than {slow} for {works}")
        }
        HostEffectKind::Minor => format!("the hosts differ on average by less than 5% for {works}"),
        HostEffectKind::NotProven => {
            format!("a difference of the hosts is small or not proven for {works}")
        }
        HostEffectKind::ByCard => format!("which host is faster depends on the card for {works}"),
    }
}

pub(in crate::text) fn host_effects(parts: &[String]) -> String {
    format!("With the same cards, {}.", parts.join("; "))
}

pub(in crate::text) fn cards_on_other_hosts(each: &[String]) -> String {
    let list = match each {
        [] => String::new(),
        each => format!(" ({})", each.join(", ")),
    };
    format!("No card was measured on two hosts{list}: a difference may be one of the hosts.")
}

pub(in crate::text) fn card_on_host(card: &str, host: &str) -> String {
    format!("{card} on {host}")
}

pub(in crate::text) fn faster_than(fast: &str, slow: &str, ratio: &str) -> String {
    format!("{fast} is {ratio} as fast as {slow}")
}

pub(in crate::text) fn all_together(cards: usize) -> String {
    match cards {
        1 => "ratio of the hosts".to_owned(),
        _ => "all cards, ratio of the hosts".to_owned(),
    }
}

pub(in crate::text) fn ratio_to(first: &str) -> String {
    format!("ratio to {first}")
}
