//! Texts of comparisons of hosts by the same cards.

use crate::text::{HostEffectKind, Language, en, ja, language};
use hakaru_model::host_comparison::DifferenceCause;

texts! {
    /// Title of the part about hosts.
    pub(crate) fn hosts_title() -> &'static str;
    /// How the table of causes is computed.
    pub(crate) fn hosts_about() -> &'static str;
    /// Title of the tables with the figures of all cards and hosts.
    pub(crate) fn hosts_every_figure() -> &'static str;
    /// Columns: workload, cause, hosts, cards, parts of the variation.
    pub(crate) fn hosts_heads() -> [&'static str; 5];
    /// Cause of the differences between the same cards on several hosts.
    /// `proven`: the dimension that is not the cause differs all the same, by less than 5%.
    pub(crate) fn difference_cause(cause: DifferenceCause, proven: bool) -> String;
    /// The fastest and the slowest of several, with their ratio.
    pub(crate) fn faster_than(fast: &str, slow: &str, ratio: &str) -> String;
    /// What the hosts do to the same cards in these workloads: the faster and the slower host, and the smallest and largest
    /// gain in percent.
    pub(crate) fn host_effect(kind: HostEffectKind, hosts: (&str, &str), works: &[String], gains: (&str, &str)) -> String;
    /// Effects of the hosts as a sentence.
    pub(crate) fn host_effects(parts: &[String]) -> String;
    /// Sentence about cards that were measured on one host each; `each` lists the cards with their
    /// hosts, unless there are many.
    pub(crate) fn cards_on_other_hosts(each: &[String]) -> String;
    /// A card with the host it was measured on.
    pub(crate) fn card_on_host(card: &str, host: &str) -> String;
    /// Row of the ratios over all cards.
    pub(crate) fn all_together(cards: usize) -> String;
    /// Column of ratios to something.
    pub(crate) fn ratio_to(first: &str) -> String;
}
