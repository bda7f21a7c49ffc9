//! `hakaru rank`: orders cards for each use, and by speed for the money.

use super::report::{Form, no_table};
use super::{json, print, width};
use crate::exit::{Ended, Exit, complain, not_there};
use crate::place;
use crate::sides::{self, NamedJobs};
use anyhow::{Result, anyhow, bail};
use hakaru_analysis::campaign::Circumstances;
use hakaru_model::advice::UseRule;
use hakaru_model::campaign::{CampaignSummary, CardSummary, LayerSummary, Weakness};
use hakaru_model::caveat::Caveat;
use hakaru_model::price::Price;
use hakaru_model::rank::{UseRanking, ValueRanking};
use hakaru_model::record::RunRecord;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Arguments of `hakaru rank`.
#[derive(Debug, clap::Args)]
pub(crate) struct RankArgs {
    /// Runs to rank: ids, names, files, or a selection: series=, card=, layer=, host=, date=, campaign=, workload= [default: all stored runs]
    #[arg(value_name = "SELECTION")]
    selection: Vec<String>,
    /// Rank for one use only, with the verdict on each card: os, database, docker, nas, sensors, camera, games, or a rule of --rules
    #[arg(long = "use", value_name = "ID")]
    use_id: Option<String>,
    /// Leave out cards that cost more than AMOUNT, and cards without a price
    #[arg(long, value_name = "AMOUNT[CURRENCY]")]
    under: Option<Price>,
    /// Store the price of the card with this label, such as kingston=680JPY; may be repeated. Prices in campaign files count too
    #[arg(long, value_name = "LABEL=AMOUNT[CURRENCY]", value_parser = labeled_price)]
    price: Vec<(String, Price)>,
    /// TOML file with rules for uses; a rule replaces the built-in one with the same id
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// Write the full comparison of the cards to FILE: HTML, or by its suffix Markdown (.md), CSV (.csv) or text (.txt); `-` for HTML on standard output
    #[arg(long, short, value_name = "FILE", value_parser = place::page_path())]
    output: Option<PathBuf>,
    /// Print the ranking as JSON
    #[arg(long)]
    json: bool,
}

/// Output of `hakaru rank --json`: the rows are those of the CSV form.
#[derive(Serialize)]
struct RankJson<'a> {
    uses: &'a [UseRanking],
    values: &'a [ValueRanking],
    rows: Vec<serde_json::Map<String, serde_json::Value>>,
}

/// Parses `LABEL=AMOUNT[CURRENCY]`.
fn labeled_price(text: &str) -> Result<(String, Price), String> {
    let parts = text.rsplit_once('=').filter(|(label, _)| !label.is_empty());
    let (label, price) = parts.ok_or_else(|| {
        both!(
            "expected LABEL=AMOUNT, such as kingston=680JPY",
            "LABEL=AMOUNTの形式で指定してください（例: kingston=680JPY）"
        )
    })?;
    let price = price.parse::<Price>().map_err(|error| error.to_string())?;
    Ok((label.to_owned(), price))
}

/// Ranks the cards and prints the result.
pub(crate) fn main(args: &RankArgs, db: Option<&Path>) -> Result<Exit> {
    let rules = crate::rules::load(args.rules.as_deref())?;
    check_use(args, &rules)?;
    let records = sides::chosen(&args.selection, db)?;
    if records.is_empty() {
        return Err(not_there(both!(
            "no completed runs are stored yet; help: create one with `hakaru bench`",
            "完了した測定がまだ保存されていません; help: hakaru benchで測定してください"
        )));
    }
    let campaigns: BTreeSet<String> = records
        .iter()
        .filter_map(|record| Some(record.campaign.as_ref()?.campaign.clone()))
        .collect();
    let mut summary = cards(records);
    let new = new_prices(args, &summary)?;
    stored_prices(&mut summary, &campaigns, db)?;
    for (card, price) in &new {
        set_price(&mut summary.cards[*card], price);
    }
    if !new.is_empty() {
        keep_prices(&new, &summary, db)?;
    }
    if let Some(limit) = &args.under {
        leave_out_dear(&mut summary, limit)?;
    }
    let found = std::mem::take(&mut summary.weaknesses);
    hakaru_analysis::campaign::conclude(&mut summary, &rules);
    summary.weaknesses.extend(found);
    if args.json {
        let json = RankJson {
            uses: &summary.uses,
            values: &summary.values,
            rows: json::rows(&hakaru_report::campaign_csv(&summary)),
        };
        return json::print(json::RANK, &json).map(|()| Exit::Ok);
    }
    let only = args.use_id.as_deref();
    let Some(path) = &args.output else {
        let text = hakaru_report::ranking_terminal(&summary, only, width(), true);
        return print(&text).map(|()| Exit::Ok);
    };
    let page = match Form::of(None, Some(path)) {
        Form::Html => hakaru_report::campaign_html(&summary),
        Form::Markdown => hakaru_report::campaign_markdown(&summary, None),
        Form::Csv => hakaru_report::campaign_csv(&summary),
        Form::Terminal => hakaru_report::ranking_terminal(&summary, only, width(), false),
        Form::Parquet => bail!(no_table()),
    };
    if place::is_stdout(Some(path)) {
        return print(&page).map(|()| Exit::Ok);
    }
    place::write_page(path, page.as_bytes())?;
    print(&format!("{}\n", path.display()))?;
    Ok(Exit::Ok)
}

fn check_use(args: &RankArgs, rules: &[UseRule]) -> Result<()> {
    let Some(wanted) = &args.use_id else {
        return Ok(());
    };
    if rules.iter().any(|rule| rule.id == *wanted) {
        return Ok(());
    }
    let known: Vec<&str> = rules.iter().map(|rule| rule.id.as_str()).collect();
    complain(&anyhow!(
        both!("no rule for the use `{wanted}`: expected one of {}", "用途「{wanted}」の規則はありません（指定できる用途: {}）"; known.join(", "))
    ));
    Err(Ended(Exit::Usage).into())
}

/// A card as its runs name it.
struct RankedGroup {
    key: String,
    name: String,
    facts: Vec<(String, String)>,
    /// Runs by layer, in order of appearance.
    layers: Vec<(String, Vec<RunRecord>)>,
}

/// Groups the runs by card and layer, and summarizes each group.
fn cards(mut records: Vec<RunRecord>) -> CampaignSummary {
    records.sort_by(|a, b| (a.started_unix_ms, &a.id).cmp(&(b.started_unix_ms, &b.id)));
    let mut jobs = NamedJobs::new();
    sides::number_jobs(&mut records, &mut jobs);
    let mut circumstances = Circumstances::default();
    let runs = records.len() as u64;
    let mut groups: Vec<RankedGroup> = Vec::new();
    for record in records {
        let (key, name) = (key(&record), name(&record));
        if !record.caveats.contains(&Caveat::Simulated) {
            circumstances.note(&name, &record.target, &record.environment);
        }
        let layer = layer(&record);
        let group = match groups.iter().position(|group| group.key == key) {
            Some(known) => &mut groups[known],
            None => {
                groups.push(RankedGroup {
                    key,
                    name: String::new(),
                    facts: Vec::new(),
                    layers: Vec::new(),
                });
                groups.last_mut().expect("one was added")
            }
        };
        // The newest name counts.
        group.name = name;
        match group.layers.iter_mut().find(|(known, _)| *known == layer) {
            Some((_, of)) => of.push(record),
            None => group.layers.push((layer, vec![record])),
        }
    }
    let mut layers: Vec<String> = Vec::new();
    for (layer, _) in groups.iter().flat_map(|group| &group.layers) {
        if !layers.contains(layer) {
            layers.push(layer.clone());
        }
    }
    let mut weaknesses = circumstances.changes();
    weaknesses.extend(different_settings(&jobs));
    CampaignSummary {
        name: both!("Ranking of {}", "順位: {}"; super::counted(groups.len(), super::CountedNoun::Card)),
        layers,
        cards: groups.into_iter().map(card).collect(),
        runs,
        weaknesses,
        ..CampaignSummary::default()
    }
}

/// Identity of the card: a unique ID of the device with the variant of the campaign, otherwise its name.
fn key(record: &RunRecord) -> String {
    let point = record.campaign.as_ref();
    let variant = point.and_then(|point| point.card.split_once('#').map(|(_, variant)| variant));
    let id = record
        .target
        .ids()
        .first()
        .map(|id| id.to_ascii_lowercase());
    match (id, variant, point) {
        (Some(id), Some(variant), _) => format!("{id}#{variant}"),
        (Some(id), None, _) => id,
        (None, _, Some(point)) => point.card.clone(),
        (None, _, None) => record.target.display_name(),
    }
}

fn name(record: &RunRecord) -> String {
    record.target.display_name()
}

fn layer(record: &RunRecord) -> String {
    let of_point = record.campaign.as_ref().map(|point| point.layer.clone());
    let known = of_point.or_else(|| record.target.layer().map(str::to_owned));
    known.unwrap_or_else(|| both!("unknown layer", "不明なレイヤ"))
}

/// Returns the workloads whose names stand for several jobs.
fn different_settings(jobs: &NamedJobs) -> Option<Weakness> {
    let numbered = jobs.iter().filter_map(|(name, scenario)| {
        let asked = &scenario.phases.first()?.name;
        (asked != name).then(|| asked.clone())
    });
    let phases: BTreeSet<String> = numbered.collect();
    (!phases.is_empty()).then(|| Weakness::DifferentSettings {
        phases: phases.into_iter().collect(),
    })
}

fn card(group: RankedGroup) -> CardSummary {
    let RankedGroup {
        key,
        name,
        facts,
        layers,
    } = group;
    let layers = layers.into_iter().map(|(layer, records)| {
        let prepared = records.iter().filter_map(|record| record.campaign.as_ref());
        let prepared = prepared.map(|point| point.prepared.clone());
        LayerSummary {
            layer,
            prepared: prepared
                .into_iter()
                .find(|steps| !steps.is_empty())
                .unwrap_or_default(),
            summary: sides::summarized(&records),
            advice: Vec::new(),
        }
    });
    let layers: Vec<LayerSummary> = layers.collect();
    let summary = layers.first().map(|layer| &layer.summary);
    let raw = layers.iter().map(|layer| &layer.summary);
    let raw = raw
        .into_iter()
        .find(|of| of.target.filesystem.is_none())
        .or(summary);
    CardSummary {
        name,
        key,
        host: summary
            .map(|of| of.environment.hostname.clone())
            .unwrap_or_default(),
        printed: Vec::new(),
        facts,
        claims: raw
            .map(|of| hakaru_analysis::claims(of, &of.target))
            .unwrap_or_default(),
        layers,
        costs: Vec::new(),
    }
}

/// Returns the given prices with the indexes of their cards.
fn new_prices<'a>(
    args: &'a RankArgs,
    summary: &CampaignSummary,
) -> Result<Vec<(usize, &'a Price)>> {
    let mut found = Vec::new();
    for (label, price) in &args.price {
        let same = |card: &CardSummary| {
            card.name.eq_ignore_ascii_case(label) || card.key.eq_ignore_ascii_case(label)
        };
        let Some(card) = summary.cards.iter().position(same) else {
            let names = summary.cards.iter().map(|card| card.name.as_str());
            let names: Vec<&str> = names.collect();
            return Err(not_there(
                both!("--price: no card {label}: expected one of {}", "--price: カード{label}はありません（指定できるカード: {}）"; names.join(", ")),
            ));
        };
        found.push((card, price));
    }
    Ok(found)
}

/// Adds the prices of the database, or else of the campaign files in it, to the facts of their cards.
fn stored_prices(
    summary: &mut CampaignSummary,
    campaigns: &BTreeSet<String>,
    db: Option<&Path>,
) -> Result<()> {
    let store = place::read_or_empty(db)?;
    let mut of_files = Vec::new();
    for campaign in campaigns {
        of_files.extend(super::campaign::prices(campaign, &store)?);
    }
    for card in &mut summary.cards {
        let mut price = store.price(&card.key)?;
        if price.is_none() {
            price = store.price(&card.name)?;
        }
        let of_file = || of_files.iter().find(|(label, _)| *label == card.name);
        let price = price.or_else(|| of_file().map(|(_, price)| price.clone()));
        if let Some(price) = price {
            set_price(card, &price);
        }
    }
    Ok(())
}

/// Stores new prices under the IDs of their cards.
fn keep_prices(
    new: &[(usize, &Price)],
    summary: &CampaignSummary,
    db: Option<&Path>,
) -> Result<()> {
    let mut store = place::open(db)?;
    for (card, price) in new {
        store.set_price(&summary.cards[*card].key, price)?;
    }
    Ok(())
}

fn set_price(card: &mut CardSummary, price: &Price) {
    card.facts.retain(|(name, _)| name != CardSummary::PRICE);
    card.facts
        .push((CardSummary::PRICE.to_owned(), price.to_string()));
}

/// Removes cards that cost more than a limit, or whose price is unknown, and notes them.
fn leave_out_dear(summary: &mut CampaignSummary, limit: &Price) -> Result<()> {
    let within = |card: &CardSummary| {
        card.price().is_some_and(|price| {
            let same = limit.currency.is_empty() || limit.currency == price.currency;
            same && price.amount <= limit.amount
        })
    };
    let currencies: BTreeSet<String> = summary
        .cards
        .iter()
        .filter_map(|card| Some(card.price()?.currency))
        .collect();
    if limit.currency.is_empty() && currencies.len() > 1 {
        let currencies: Vec<String> = currencies.into_iter().collect();
        complain(&anyhow!(
            both!("--under={}: prices are in {}; help: name the currency, such as --under={}{}", "--under={}: 価格の通貨は{}です; help: --under={}{}のように通貨を指定してください"; limit.amount,
            currencies.join(", "),
            limit.amount,
            currencies[0])
        ));
        return Err(Ended(Exit::Usage).into());
    }
    let (kept, left): (Vec<CardSummary>, Vec<CardSummary>) = std::mem::take(&mut summary.cards)
        .into_iter()
        .partition(within);
    summary.cards = kept;
    if summary.cards.is_empty() {
        return Err(not_there(
            both!("no card with a price of at most {}; help: name prices with --price=LABEL=AMOUNT", "価格が{}以下のカードはありません; help: --price=LABEL=AMOUNTで価格を指定してください"; hakaru_report::text::price(limit)),
        ));
    }
    let named = left.iter().map(|card| match card.price() {
        Some(price) => format!("{} ({})", card.name, hakaru_report::text::price(&price)),
        None => both!("{} (no price)", "{}（価格なし）"; card.name),
    });
    let named: Vec<String> = named.collect();
    if !named.is_empty() {
        summary
            .notes
            .push(hakaru_report::text::left_out_by_price(&named, limit));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_have_a_label_and_an_amount() {
        let (label, price) = labeled_price("a=b=1,480 yen").unwrap();
        assert_eq!((label.as_str(), price.amount), ("a=b", 1480.0));
        for wrong in ["kingston", "=680", "kingston=", "kingston=free"] {
            assert!(labeled_price(wrong).is_err(), "{wrong}");
        }
    }
}
