//! Order of cards for uses and by price.

use super::{claims::figure, counted, listed};
use crate::campaign::amount;
use crate::text::BestCard;
use hakaru_model::figure::Figure;
use hakaru_model::price::Price;

/// Maximum number of names in a list; more are only counted.
const NAMED: usize = 4;

fn cards(names: &[String]) -> String {
    match names.len() {
        n if n > NAMED => counted(n as u64, "card"),
        _ => listed(names),
    }
}

pub(in crate::text) fn best_card(best: &BestCard<'_>) -> String {
    let BestCard {
        card,
        reason,
        suitable,
        level,
        unranked,
    } = best;
    let mut text = match suitable {
        true => format!("best: {card}"),
        false => format!("none is suitable; best: {card}"),
    };
    if let Some(reason) = reason {
        text += &format!(" ({}: {})", reason.verdict, reason.because);
    }
    if !level.is_empty() {
        text += &format!("; not proven better than {}", cards(level));
    }
    if !unranked.is_empty() {
        text += &format!(
            "; not ranked, because figures are missing: {}",
            cards(unranked)
        );
    }
    text
}

pub(in crate::text) fn no_best_card() -> &'static str {
    "no card can be ranked: figures are missing"
}

pub(in crate::text) fn use_ranking_heads() -> [&'static str; 5] {
    ["Card", "Rank", "Verdict", "Reason", "Price"]
}

pub(in crate::text) fn price_head() -> &'static str {
    "Price"
}

pub(in crate::text) fn price(price: &Price) -> String {
    amount(price)
}

pub(in crate::text) fn per_money(of: Figure, per: &Price) -> String {
    format!("{}, {} per {}", figure(of), of.unit(), amount(per))
}

pub(in crate::text) fn money_title() -> &'static str {
    "Speed for the money"
}

pub(in crate::text) fn money_legend() -> &'static str {
    "Mean ± deviation over runs, divided by the price. Cards that share a letter: no difference is proven (all figures \
     of this section as one family)."
}

pub(in crate::text) fn best_title() -> &'static str {
    "Best for each use"
}

pub(in crate::text) fn use_ranks_legend() -> &'static str {
    "Numbers: rank for the use, by the figure that falls shortest of what good needs. Cards that share a letter: their \
     order is not proven (all uses and pairs as one family)"
}

pub(in crate::text) fn left_out_by_price(cards: &[String], limit: &Price) -> String {
    format!(
        "Not ranked, because of the limit of {}: {}",
        amount(limit),
        listed(cards)
    )
}

pub(in crate::text) fn ranking_title(cards: usize) -> String {
    format!("Ranking of {}", counted(cards as u64, "card"))
}
