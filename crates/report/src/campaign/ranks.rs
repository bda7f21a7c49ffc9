//! Order of the cards for each use and by price.

use super::brief;
use super::tables::NONE;
use super::view::View;
use crate::document::{Document, DocumentBlock, TableStyle, part};
use crate::escape::plain;
use crate::number::{self, MeanText};
use crate::table::{self, DataTable};
use crate::{findings, text};
use hakaru_model::advice::{Advice, Fitness};
use hakaru_model::campaign::CardSummary;
use hakaru_model::price::Price;
use hakaru_model::rank::{UsePlace, UseRanking, ValuePlace, ValueRanking};

/// Rank and letters of a card for a use, such as `1 a`; `None` if it has no rank or no rival.
pub(super) fn rank_of(view: &View<'_>, layer: &str, card: usize, id: &str) -> Option<String> {
    let ranking = view.of.uses.iter();
    let ranking = ranking
        .into_iter()
        .find(|of| of.layer == layer && of.id == id)?;
    ranked(ranking).nth(1)?;
    let place = ranked(ranking).find(|place| place.card as usize == card)?;
    Some(number_and_letters(place.rank?, &place.letters))
}

/// A rank with its letters; without them if no order can be proven.
fn number_and_letters(rank: u32, letters: &str) -> String {
    match letters {
        "" => rank.to_string(),
        letters => format!("{rank} {letters}"),
    }
}

/// The cards that have a rank.
fn ranked(ranking: &UseRanking) -> impl Iterator<Item = &UsePlace> {
    ranking.places.iter().filter(|place| place.rank.is_some())
}

/// The best card for each use through a layer, in sentences; uses without one share the last sentence. Empty for a
/// single card.
pub(super) fn best(view: &View<'_>, layer: &str) -> Vec<(String, String)> {
    best_where(view, layer, |_| true)
}

/// Whether any card is suitable, at least with care.
pub(super) fn has_suitable(ranking: &UseRanking) -> bool {
    let first = ranked(ranking).next();
    first.is_some_and(|first| first.fitness != Some(Fitness::DoesNot))
}

/// As [`best`], for the uses that are wanted.
pub(super) fn best_where(
    view: &View<'_>,
    layer: &str,
    is_wanted: impl Fn(&UseRanking) -> bool,
) -> Vec<(String, String)> {
    let of_layer = view.of.uses.iter().filter(|of| of.layer == layer);
    let several = of_layer.filter(|ranking| ranking.places.len() > 1 && is_wanted(ranking));
    let (decided, open): (Vec<&UseRanking>, Vec<&UseRanking>) =
        several.partition(|ranking| ranked(ranking).next().is_some());
    let title = |ranking: &&UseRanking| plain(&text::use_title(&ranking.id, &ranking.title));
    let subject = |title: &str| view.with_layer(title, &plain(layer));
    let sentence = |of: &&UseRanking| (subject(&title(of)), best_for(view, of));
    let mut sentences: Vec<(String, String)> = decided.iter().map(sentence).collect();
    if !open.is_empty() {
        let titles: Vec<String> = open.iter().map(title).collect();
        let titles = text::enumerated(&titles);
        sentences.push((subject(&titles), text::no_best_card()));
    }
    sentences
}

/// The best card for a use, the reason, and the cards whose order is not proven.
pub(super) fn best_for(view: &View<'_>, ranking: &UseRanking) -> String {
    let Some(first) = ranked(ranking).next() else {
        return text::no_best_card();
    };
    let leading = letters(&first.letters);
    let shares = |place: &&UsePlace| {
        letters(&place.letters)
            .iter()
            .any(|letter| leading.contains(letter))
    };
    // Without a figure that the use needs, nothing is proven about the first card, which the missing figure says.
    let advice = advice_of(view, ranking, first);
    let is_complete = advice.is_none_or(|advice| advice.not_measured.is_empty());
    let level: Vec<String> = ranked(ranking)
        .skip(1)
        .filter(|place| is_complete && shares(place))
        .map(|place| view.name(place.card as usize).to_owned())
        .collect();
    let unranked: Vec<String> = ranking
        .places
        .iter()
        .filter(|place| place.rank.is_none())
        .map(|place| view.name(place.card as usize).to_owned())
        .collect();
    text::best_card(&text::BestCard {
        card: view.name(first.card as usize),
        reason: advice.map(findings::use_of),
        suitable: first.fitness != Some(Fitness::DoesNot),
        level: &level,
        ranked: ranked(ranking).count(),
        unranked: &unranked,
    })
}

/// The single letters of a letter display; a letter may have a number, as in `a1`.
fn letters(text: &str) -> Vec<&str> {
    let starts = text.char_indices().filter(|(_, c)| c.is_alphabetic());
    let starts: Vec<usize> = starts.map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let all = starts.iter().zip(ends);
    all.map(|(&start, end)| &text[start..end]).collect()
}

/// The advice behind a place.
pub(super) fn advice_of<'a>(
    view: &View<'a>,
    ranking: &UseRanking,
    place: &UsePlace,
) -> Option<&'a Advice> {
    let layer = view.through(place.card as usize, &ranking.layer)?;
    layer.advice.iter().find(|advice| advice.id == ranking.id)
}

/// One use in full: a row for each card with its rank, verdict, reasons and price.
pub(super) fn in_full(view: &View<'_>, ranking: &UseRanking) -> DataTable {
    let row = |place: &UsePlace| {
        let card = place.card as usize;
        let conclusion = advice_of(view, ranking, place).map(findings::use_of);
        let [verdict, because] = match &conclusion {
            Some(row) => [findings::verdict(row), row.because.clone()],
            None => [NONE; 2].map(str::to_owned),
        };
        let rank = place.rank.map_or(NONE.to_owned(), |rank| {
            number_and_letters(rank, &place.letters)
        });
        let price = view.of.cards.get(card).and_then(CardSummary::price);
        let price = price.map(|price| text::price(&price)).unwrap_or_default();
        vec![view.name(card).to_owned(), rank, verdict, because, price]
    };
    let rows = ranking.places.iter().map(row);
    DataTable::new(text::use_ranking_heads(), rows).without_empty_columns()
}

/// Speed for the money: a table for each layer.
pub(super) fn money(view: &View<'_>) -> Vec<DocumentBlock> {
    let mut blocks = Vec::new();
    for layer in &view.layers {
        let mut currencies: Vec<&str> = Vec::new();
        let of_layer = || view.of.values.iter().filter(|of| of.layer == *layer);
        for ranking in of_layer() {
            if !currencies.contains(&ranking.currency.as_str()) {
                currencies.push(&ranking.currency);
            }
        }
        for currency in currencies {
            let rankings: Vec<&ValueRanking> =
                of_layer().filter(|of| of.currency == currency).collect();
            let several = view.layers.len() > 1;
            blocks.extend(several.then(|| DocumentBlock::Title(plain(layer))));
            let table = money_table(view, &rankings);
            blocks.push(DocumentBlock::Table(TableStyle::Numbers, table));
        }
    }
    if !blocks.is_empty() {
        blocks.push(DocumentBlock::Quiet(text::money_legend()));
    }
    part(text::money_title(), blocks)
}

/// One row for each card with a price in this currency, in the order of the first figure.
fn money_table(view: &View<'_>, rankings: &[&ValueRanking]) -> DataTable {
    let mut cards: Vec<u32> = Vec::new();
    for place in rankings.iter().flat_map(|ranking| &ranking.places) {
        if !cards.contains(&place.card) {
            cards.push(place.card);
        }
    }
    let head = rankings.iter().map(|ranking| {
        let per = Price {
            amount: ranking.per,
            currency: ranking.currency.clone(),
        };
        text::per_money(ranking.figure, &per)
    });
    let row = |card: u32| {
        let price = view
            .of
            .cards
            .get(card as usize)
            .and_then(CardSummary::price);
        let price = price.map_or(NONE.to_owned(), |price| text::price(&price));
        let cells = rankings.iter().map(|ranking| {
            let mut places = ranking.places.iter();
            let place = places.find(|place| place.card == card);
            place.map_or(NONE.to_owned(), |place| value(ranking, place))
        });
        table::row(
            view.name(card as usize),
            std::iter::once(price).chain(cells),
        )
    };
    let head = table::row(
        text::card_column(),
        std::iter::once(text::price_head().to_owned()).chain(head),
    );
    DataTable::new(head, cards.into_iter().map(row))
}

/// A value with its deviation, and its letters if several cards have one.
fn value(ranking: &ValueRanking, place: &ValuePlace) -> String {
    let spread = MeanText::of_parts(place.value, place.deviation, 1.0);
    match ranking.places.len() {
        0 | 1 => spread.to_string(),
        _ => format!("{spread} ({})", place.letters),
    }
}

/// Formats an amount of money for sentences and tables.
pub(crate) fn amount(price: &Price) -> String {
    let amount = number::limit(price.amount);
    match price.currency.is_empty() {
        true => amount,
        false => format!("{amount} {}", plain(&price.currency)),
    }
}

/// The ranking of cards for a terminal: for each use and by price, or one use in full.
pub(super) fn document(view: &View<'_>, only: Option<&str>) -> Document {
    let cards = view.names.len();
    let mut blocks = match only {
        Some(id) => one_use(view, id),
        None => {
            let best = view.layers.iter().flat_map(|layer| best(view, layer));
            let best = vec![DocumentBlock::Facts(best.collect())];
            let mut blocks = part(text::best_title(), best);
            blocks.extend(brief::uses(view));
            blocks
        }
    };
    blocks.extend(money(view));
    blocks.push(DocumentBlock::Caveats(brief::caveats(view)));
    Document {
        title: text::ranking_title(cards),
        under: vec![(String::new(), text::runs(view.of.runs))],
        blocks,
    }
}

/// The ranking for one use, layer by layer.
fn one_use(view: &View<'_>, id: &str) -> Vec<DocumentBlock> {
    let rankings = view.of.uses.iter().filter(|ranking| ranking.id == id);
    let blocks = rankings.flat_map(|ranking| {
        let title = view.with_layer(
            &plain(&text::use_title(&ranking.id, &ranking.title)),
            &plain(&ranking.layer),
        );
        let mut facts = Vec::new();
        if ranking.places.len() > 1 {
            facts.push((String::new(), best_for(view, ranking)));
        }
        let table = DocumentBlock::Table(TableStyle::Words, in_full(view, ranking));
        let legend = DocumentBlock::Quiet(text::use_ranks_legend());
        part(title, vec![DocumentBlock::Facts(facts), table, legend])
    });
    blocks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_sets_say_sets() {
        use crate::text::{ComparedThing, Language, with_compared, with_language};
        let five: Vec<String> = (0..5).map(|n| format!("no. {n}")).collect();
        let all = || {
            let best = text::best_card(&text::BestCard {
                card: "a",
                reason: None,
                suitable: false,
                level: &five,
                ranked: 6,
                unranked: &five,
            });
            let parts = [
                best,
                text::ranking_title(3),
                text::no_best_card(),
                text::money_legend(),
                text::use_ranks_legend(),
                text::best_title(),
                text::use_ranking_heads().join(" "),
            ];
            parts.join("\n")
        };
        let sets = with_compared(ComparedThing::Sets, all);
        assert!(!sets.to_lowercase().contains("card"), "{sets}");
        assert!(sets.contains("not proven better than 5 sets"), "{sets}");
        with_language(Language::Japanese, || {
            let sets = with_compared(ComparedThing::Sets, all);
            assert!(!sets.contains("カード") && !sets.contains('枚'), "{sets}");
        });
    }

    #[test]
    fn without_all_figures_the_closest_card_is_undecided() {
        let said = |ranked: usize, unranked: &[String]| {
            text::best_card(&text::BestCard {
                card: "a",
                reason: None,
                suitable: false,
                level: &[],
                ranked,
                unranked,
            })
        };
        assert_eq!(said(2, &[]), "none is suitable; closest: a");
        let lacking = ["b".to_owned()];
        assert_eq!(
            said(2, &lacking),
            "undecided: b lacks figures; the others are not suitable, closest: a"
        );
        // Regression: a single card was "the others".
        assert_eq!(
            said(1, &lacking),
            "undecided: b lacks figures; a is not suitable"
        );
    }

    #[test]
    fn a_letter_may_have_a_number() {
        assert_eq!(letters("abc"), ["a", "b", "c"]);
        assert_eq!(letters("za1b12"), ["z", "a1", "b12"]);
        assert_eq!(letters(""), Vec::<&str>::new());
    }
}
