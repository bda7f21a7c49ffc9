//! Resolves the cards of a campaign file, and their order.

use super::super::file::{CampaignFile, CardEntry, CardOrder, FileError, SimulateEntry};
use super::super::spec::{Card, CardLocation};
use super::entries::{ResolveContext, not_empty, unique};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::finding::Claim;
use hakaru_report::both;
use std::collections::BTreeSet;
use toml::Spanned;

/// Returns the cards of the file; a file without cards has one in a reader.
pub(super) fn cards(
    entries: &[CardEntry],
    around: &ResolveContext<'_>,
) -> Result<Vec<Card>, FileError> {
    if entries.is_empty() {
        return Ok(vec![card(0, &CardEntry::default(), around)?]);
    }
    let cards = entries.iter().enumerate();
    let mut cards: Vec<Card> = cards
        .map(|(index, entry)| card(index, entry, around))
        .collect::<Result<_, _>>()?;
    super::hosts::distinguish_by_host(&mut cards);
    let labels = cards.iter().map(|card| card.label.as_str());
    let spans = entries
        .iter()
        .map(|entry| entry.label.as_ref().map(Spanned::span));
    unique(labels.zip(spans), |label| {
        both!(
            "duplicate label \"{label}\": their results could not be distinguished",
            "ラベル「{label}」が重複しています（結果を区別できません）"
        )
    })?;
    same_card_twice(&cards, entries)?;
    Ok(cards)
}

/// Rejects two cards with the same ID and no variant that distinguishes them.
fn same_card_twice(cards: &[Card], entries: &[CardEntry]) -> Result<(), FileError> {
    let mut seen = BTreeSet::new();
    for (card, entry) in cards.iter().zip(entries) {
        let Some(id) = &card.id else { continue };
        if !seen.insert((id, &card.variant)) {
            let message = both!(
                "two cards have the ID {id}; help: give each a variant, such as \"1-bit\" and \
                \"4-bit\", to distinguish them",
                "2枚のカードのIDがどちらも{id}です; help: \"1-bit\"と\"4-bit\"のようにvariantを付けて区別してください"
            );
            return Err(FileError {
                message,
                span: entry.id.as_ref().map(Spanned::span),
            });
        }
    }
    Ok(())
}

/// Returns the order of the cards; every order except sequential needs cards that can be present at the same time.
pub(super) fn card_order(file: &CampaignFile, cards: &[Card]) -> Result<CardOrder, FileError> {
    let Some(written) = &file.card_order else {
        return Ok(CardOrder::Sequential);
    };
    let order = *written.get_ref();
    let pairs = cards
        .iter()
        .enumerate()
        .flat_map(|(i, a)| cards[i + 1..].iter().map(move |b| (a, b)));
    let mut excluded = pairs.filter_map(|(a, b)| Some((a, b, shared_place(a, b)?)));
    match excluded.next().filter(|_| order.takes_turns()) {
        None => Ok(order),
        Some((a, b, shared)) => {
            let message = both!(
                "cards cannot take turns (card-order = \"{}\"): `{}` and `{}` are {shared}, so they \
                are never present together; help: remove card-order, and use recheck = true to detect \
                host drift",
                "カードを交互に測定できません（card-order = \"{}\"）。「{}」と「{}」は{shared}のため、同時に接続できません; \
                help: card-orderを省き、ホストのドリフトはrecheck = trueで調べてください";
                order.name(),
                a.label,
                b.label
            );
            Err(FileError::at(written, message))
        }
    }
}

/// Describes why two cards cannot be present at the same time; `None` if they can.
fn shared_place(a: &Card, b: &Card) -> Option<String> {
    use CardLocation::{Folder, Reader};
    if a.host != b.host && !is_one_id(a, b) {
        return None;
    }
    match (&a.location, &b.location) {
        (Reader { node: Some(one) }, Reader { node: Some(other) }) if one == other => {
            Some(both!("both at {}", "どちらも{}"; one.display()))
        }
        (Folder(one), Folder(other)) if one == other => {
            Some(both!("both in {}", "どちらも{}"; one.display()))
        }
        (Reader { .. }, Reader { .. }) if is_one_id(a, b) => Some(both!("one card", "同じカード")),
        _ => None,
    }
}

fn is_one_id(a: &Card, b: &Card) -> bool {
    a.id.as_ref()
        .zip(b.id.as_ref())
        .is_some_and(|(a, b)| a.eq_ignore_ascii_case(b))
}

/// Returns whether the first card is measured again; alternating cards need no recheck.
pub(super) fn rechecks(file: &CampaignFile, order: CardOrder) -> Result<bool, FileError> {
    let Some(written) = &file.recheck else {
        return Ok(false);
    };
    if *written.get_ref() && order.takes_turns() {
        let message = both!(
            "recheck is for cards that are measured one after another: card-order = \"{}\" \
            already spreads host drift over all cards; help: remove one of the two",
            "recheckはカードを1枚ずつ順に測定するときに使います。card-order = \"{}\"ではホストのドリフトがすでに\
            全カードに分散します; help: どちらかを省いてください";
            order.name()
        );
        return Err(FileError::at(written, message));
    }
    Ok(*written.get_ref())
}

fn card(index: usize, entry: &CardEntry, around: &ResolveContext<'_>) -> Result<Card, FileError> {
    not_empty(entry.label.as_ref(), "label")?;
    let location = location(entry, around)?;
    let classes = entry.classes.iter().map(class);
    let mut printed: Vec<Claim> = classes.collect::<Result<_, _>>()?;
    printed.extend(entry.read.map(|speed| Claim::ReadSpeed(speed.0)));
    printed.extend(entry.write.map(|speed| Claim::WriteSpeed(speed.0)));
    let id = entry.id.as_ref().map(|id| id.get_ref().trim().to_owned());
    let price = entry.price.iter();
    let price = price.map(|price| ("price".to_owned(), price.clone()));
    Ok(Card {
        label: entry.label.as_ref().map_or_else(
            || default_label(index, &location),
            |label| label.get_ref().clone(),
        ),
        id: id.filter(|id| !id.is_empty() && id != "ask"),
        location,
        host: entry.host.as_ref().map(|host| host.get_ref().clone()),
        variant: entry.variant.clone(),
        printed,
        facts: price.chain(entry.facts.clone()).collect(),
    })
}

/// Returns the location of a card.
fn location(entry: &CardEntry, around: &ResolveContext<'_>) -> Result<CardLocation, FileError> {
    match (&entry.device, &entry.folder, &entry.simulate) {
        (node, None, None) => Ok(CardLocation::Reader { node: node.clone() }),
        (None, Some(folder), None) => Ok(CardLocation::Folder(folder.clone())),
        (None, None, Some(file)) => Ok(CardLocation::Sim(Box::new(device_model(file, around)?))),
        _ => {
            let message = both!(
                "device, folder and simulate exclude each other; help: use only one of them",
                "device、folder、simulateは同時に使えません; help: 1つだけ指定してください"
            );
            let simulate = entry.simulate.as_ref().map(Spanned::span);
            let span = simulate.or_else(|| entry.label.as_ref().map(Spanned::span));
            Err(FileError { message, span })
        }
    }
}

fn default_label(index: usize, location: &CardLocation) -> String {
    match location {
        CardLocation::Reader { .. } => format!("card {}", index + 1),
        CardLocation::Folder(folder) => folder.display().to_string(),
        CardLocation::Sim(model) => model.name.clone(),
    }
}

/// Reads the model of a simulated card.
fn device_model(
    entry: &Spanned<SimulateEntry>,
    around: &ResolveContext<'_>,
) -> Result<DeviceModel, FileError> {
    let failed = |message: String| FileError::at(entry, message);
    let bad = |why: String| {
        failed(match entry.get_ref() {
            SimulateEntry::File(file) => {
                let file = file.display();
                both!(
                    "{file} is not a device model: {why}",
                    "{file}はデバイスモデルではありません: {why}"
                )
            }
            SimulateEntry::Model(_) => both!(
                "simulate is not a device model: {why}",
                "simulateはデバイスモデルではありません: {why}"
            ),
        })
    };
    let model: DeviceModel = match entry.get_ref() {
        SimulateEntry::File(file) => {
            let text = (around.read_file)(file).map_err(failed)?;
            hakaru_model::json::from_str(&text).map_err(|error| bad(error.to_string()))?
        }
        SimulateEntry::Model(table) => {
            let model = table.clone().try_into();
            model.map_err(|error| bad(error.to_string()))?
        }
    };
    model.check().map_err(bad)?;
    Ok(model)
}

/// Class prefix, its valid numbers, and the resulting claim.
type PerformanceClass = (&'static str, &'static [u32], fn(u32) -> Claim);

const CLASSES: [PerformanceClass; 4] = [
    ("C", &[2, 4, 6, 10], Claim::SpeedClass),
    ("U", &[1, 3], Claim::UhsGrade),
    ("V", &[6, 10, 30, 60, 90], Claim::VideoClass),
    ("A", &[1, 2], Claim::AppClass),
];

/// Parses a class: `C10`, `U3`, `V30`, `A1`.
fn class(text: &Spanned<String>) -> Result<Claim, FileError> {
    let found = CLASSES.iter().find_map(|(letter, numbers, claim)| {
        let number: u32 = text.get_ref().strip_prefix(letter)?.parse().ok()?;
        numbers.contains(&number).then(|| claim(number))
    });
    found.ok_or_else(|| {
        FileError::at(
            text,
            both!(
                "`{}` is not an SD card class: expected C2 to C10, U1, U3, V6 to V90, A1 or A2",
                "「{}」はSDカードのクラスではありません（C2〜C10、U1、U3、V6〜V90、A1、A2）";
                text.get_ref()
            ),
        )
    })
}
