//! Converts a campaign file to a valid campaign: defaults, jobs of the suite, fio job files, classes.
//!
//! Callers pass functions for reading files and for parsing fio job files, because this crate does neither.

mod cards;
mod entries;
mod hosts;
mod layers;
mod workloads;

pub use entries::ResolveContext;

use super::file::{CampaignFile, FileError, LayerEntry, RepeatRule};
use super::spec::{Campaign, CampaignFilter, CampaignWorkload};
use crate::session::TraceExtent;
use hakaru_model::units::Nanos;
use hakaru_report::both;
use toml::Spanned;

/// Parses and validates a campaign file.
///
/// # Errors
/// [`FileError`] with the position of the invalid text.
pub fn campaign(text: &str, around: &ResolveContext<'_>) -> Result<Campaign, FileError> {
    resolve(CampaignFile::parse(text)?, text, around)
}

/// Validates a parsed file, which may have been modified since; `text` is its source.
///
/// # Errors
/// [`FileError`] with the position of the invalid text.
pub fn resolve(
    file: CampaignFile,
    text: &str,
    around: &ResolveContext<'_>,
) -> Result<Campaign, FileError> {
    let written: toml::Table = toml::from_str(text).unwrap_or_default();
    let mut keys = written.iter();
    keys.try_for_each(|(key, value)| no_commands(key, value))?;
    let id = id(&file)?;
    let hosts = hosts::hosts(&file)?;
    let cards = cards::cards(&file.card, around)?;
    let card_order = cards::card_order(&file, &cards)?;
    let recheck = cards::rechecks(&file, card_order)?;
    let layers = layers::layers(&file.layer, &written, &cards)?;
    let workloads = workloads::workloads(&file, &written, around)?;
    let steady = steady(&file, &workloads)?;
    let campaign = Campaign {
        id,
        name: file.name.get_ref().clone(),
        about: file.about,
        seed: file.seed.unwrap_or(1),
        repeats: file.repeats,
        steady,
        order: file.order,
        card_order,
        recheck,
        trace: file.trace.map(|trace| match trace.whole {
            true => TraceExtent::Whole,
            false => TraceExtent::AfterCost,
        }),
        cool_down: file.cool_down.map_or(Nanos(0), |time| time.0),
        hosts,
        cards,
        layers,
        preparation: file.preparation,
        workloads,
        limits: file.limits,
        only: CampaignFilter::default(),
    };
    not_too_many_runs(&campaign, &file.name)?;
    each_card_has_a_layer(&campaign, &file.layer)?;
    Ok(campaign)
}

/// Returns the indexes of the workloads that must be steady before the rounds end.
fn steady(file: &CampaignFile, workloads: &[CampaignWorkload]) -> Result<Vec<usize>, FileError> {
    let index = |name: &Spanned<String>| {
        let rule = matches!(file.repeats, RepeatRule::Steady { .. });
        let found = workloads
            .iter()
            .position(|workload| workload.name == *name.get_ref());
        match found.filter(|_| rule) {
            Some(index) => Ok(index),
            None if rule => Err(FileError::at(
                name,
                both!(
                    "`steady`: no workload is called `{}`",
                    "steady: ワークロード「{}」はありません";
                    name.get_ref()
                ),
            )),
            None => Err(FileError::at(
                name,
                both!(
                    "`steady` needs repeats = {{ until = \"steady\" }}",
                    "steadyにはrepeats = {{ until = \"steady\" }}が必要です"
                ),
            )),
        }
    };
    file.steady.iter().map(index).collect()
}

/// Returns the ID under which the runs are stored.
fn id(file: &CampaignFile) -> Result<String, FileError> {
    let id = match &file.id {
        Some(id) => checked_id(id)?,
        None => slug(file.name.get_ref()),
    };
    match id.is_empty() {
        false => Ok(id),
        true => Err(FileError::at(
            &file.name,
            both!(
                "a campaign name needs a letter or a digit: its runs are stored under it",
                "キャンペーンの名前には半角の英字か数字が必要です（測定を保存するIDになります）。日本語だけの名前にはidも指定してください"
            ),
        )),
    }
}

fn not_too_many_runs(campaign: &Campaign, name: &Spanned<String>) -> Result<(), FileError> {
    let runs = campaign.count();
    match runs > MOST_RUNS {
        false => Ok(()),
        true => Err(FileError::at(
            name,
            both!(
                "{runs} runs are too many: the maximum is {MOST_RUNS}",
                "測定{runs}回は多すぎます（最大{MOST_RUNS}回）"
            ),
        )),
    }
}

fn each_card_has_a_layer(campaign: &Campaign, entries: &[LayerEntry]) -> Result<(), FileError> {
    let mut cards = (0..campaign.cards.len()).zip(&campaign.cards);
    match cards.find(|(index, _)| campaign.layers_of(*index).next().is_none()) {
        None => Ok(()),
        Some((_, card)) => Err(FileError {
            message: both!(
                "no layer can be measured on the card `{}`",
                "カード「{}」で測定できるレイヤがありません";
                card.label
            ),
            span: entries.first().map(|layer| layer.fs.span()),
        }),
    }
}

/// Rejects control characters that a terminal would interpret: campaign files come from strangers, and their names
/// are printed. Line breaks are allowed only in prose and job files.
fn no_commands(key: &str, value: &toml::Value) -> Result<(), FileError> {
    let lines = matches!(key, "about" | "fio-text");
    let commands = |c: &char| {
        let is_break = lines && matches!(c, '\n' | '\t' | '\r');
        (c.is_control() && !is_break) || changes_direction(*c)
    };
    let found = match value {
        toml::Value::String(text) => text.chars().find(commands),
        toml::Value::Array(values) => {
            return values.iter().try_for_each(|value| no_commands(key, value));
        }
        toml::Value::Table(table) => {
            return table
                .iter()
                .try_for_each(|(key, value)| no_commands(key, value));
        }
        _ => None,
    };
    match key.chars().find(commands).or(found) {
        None => Ok(()),
        Some(c) => Err(FileError {
            message: both!(
                "`{}` contains the control character U+{:04X}; help: remove it",
                "「{}」に制御文字U+{:04X}があります; help: 削除してください";
                key.escape_debug(),
                c as u32
            ),
            span: None,
        }),
    }
}

/// Whether a character changes the direction of text, which can make a name look like another one.
fn changes_direction(c: char) -> bool {
    matches!(c, '\u{200E}' | '\u{200F}' | '\u{061C}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Maximum number of runs; a larger number is assumed to be a typing error.
const MOST_RUNS: u64 = 1_000_000;

/// Returns the letters, digits and dashes of a name in lower case.
pub fn slug(name: &str) -> String {
    let dashed: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .collect();
    dashed
        .split('-')
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("-")
        .chars()
        .take(60)
        .collect()
}

/// Whether a text is 1 to 60 letters, digits, dashes, underscores or dots: a part of file names and of commands.
pub fn is_plain_name(text: &str) -> bool {
    let sound = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    (1..=60).contains(&text.len()) && text.chars().all(sound)
}

fn checked_id(id: &Spanned<String>) -> Result<String, FileError> {
    if is_plain_name(id.get_ref()) {
        return Ok(id.get_ref().clone());
    }
    Err(FileError::at(
        id,
        both!(
            "an ID is 1 to 60 letters, digits, `-`, `_` or `.`",
            "idは英字、数字、-、_、.の1〜60文字です"
        ),
    ))
}
