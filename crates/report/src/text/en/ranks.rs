//! Order of cards for uses and by price.

use super::answers::{thing, things};
use super::{claims::figure, counted, listed};
use crate::campaign::amount;
use crate::text::{BestCard, capital};
use hakaru_model::figure::Figure;
use hakaru_model::price::Price;

/// Maximum number of names in a list; more are only counted.
const NAMED: usize = 4;

fn cards(names: &[String]) -> String {
    match names.len() {
        n if n > NAMED => counted(n as u64, thing()),
        _ => listed(names),
    }
}

pub(in crate::text) fn best_card(best: &BestCard<'_>) -> String {
    let BestCard {
        card,
        reason,
        suitable,
        level,
        ranked,
        unranked,
    } = best;
    let mut text = match (suitable, unranked.is_empty()) {
        (true, _) => format!("best: {card}"),
        (false, true) => format!("none is suitable; closest: {card}"),
        (false, false) => {
            let lack = if unranked.len() == 1 { "lacks" } else { "lack" };
            let others = match ranked {
                1 => format!("{card} is not suitable"),
                _ => format!("the others are not suitable, closest: {card}"),
            };
            format!("undecided: {} {lack} figures; {others}", cards(unranked))
        }
    };
    if let Some(reason) = reason {
        let is_said = !suitable && *ranked == 1 && !unranked.is_empty();
        let verdict = match is_said {
            true => String::new(),
            false => format!("{}; ", reason.verdict),
        };
        text += &format!(" ({verdict}weakest figure: {})", reason.because);
    }
    if !level.is_empty() {
        text += &format!("; not proven better than {}", cards(level));
    }
    if *suitable && !unranked.is_empty() {
        text += &format!(
            "; not ranked, because figures are missing: {}",
            cards(unranked)
        );
    }
    text
}

pub(in crate::text) fn no_best_card() -> String {
    format!("no {} can be ranked: figures are missing", thing())
}

pub(in crate::text) fn use_ranking_heads() -> [&'static str; 5] {
    [super::card_column(), "Rank", "Verdict", "Reason", "Price"]
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

pub(in crate::text) fn money_legend() -> String {
    format!(
        "Mean ± deviation over runs, divided by the price. {} that share a letter: no difference is proven (all figures \
         of this section as one family).",
        capital(things())
    )
}

pub(in crate::text) fn best_title() -> String {
    "Best for each use".to_owned()
}

pub(in crate::text) fn use_ranks_legend() -> String {
    format!(
        "Numbers: rank for the use, by the figure that falls shortest of what good needs. {} that share a letter: their \
         order is not proven (all uses and pairs as one family); without letters, figures are missing, and no order is proven",
        capital(things())
    )
}

pub(in crate::text) fn left_out_by_price(cards: &[String], limit: &Price) -> String {
    format!(
        "Not ranked, because of the limit of {}: {}",
        amount(limit),
        listed(cards)
    )
}

pub(in crate::text) fn ranking_title(cards: usize) -> String {
    format!("Ranking of {}", counted(cards as u64, thing()))
}
