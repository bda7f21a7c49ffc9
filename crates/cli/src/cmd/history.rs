//! `hakaru history`: every run and verification of one card over time, and signs of wear.

use super::report::{Form, no_table};
use super::unreadable::Unreadable;
use super::{json, print, width};
use crate::exit::{Exit, not_there};
use crate::place;
use crate::sides;
use anyhow::{Result, bail};
use hakaru_model::facts::Identity;
use hakaru_model::integrity::Verification;
use hakaru_model::record::RunRecord;
use hakaru_store::Store;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Arguments of `hakaru history`.
#[derive(Debug, clap::Args)]
pub(crate) struct HistoryArgs {
    /// CID, serial number, world-wide name, model or label of the card, as `hakaru list` shows it
    #[arg(value_name = "CARD")]
    card: String,
    /// Write the history to FILE: HTML, or by its suffix Markdown (.md) or text (.txt); `-` for HTML on standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the history as JSON
    #[arg(long, conflicts_with = "output")]
    json: bool,
}

/// Prints the history of a card.
pub(crate) fn main(args: &HistoryArgs, db: Option<&Path>) -> Result<Exit> {
    let mut unreadable = Unreadable::default();
    let store = place::read(db)?;
    let verifications = unreadable.skip("verification", store.verifications(u32::MAX)?);
    let (mut records, verifications) = of_card(&store, &args.card, verifications, db)?;
    sides::number_jobs(&mut records, &mut Vec::new());
    let history = hakaru_analysis::history(&records, &verifications);
    if args.json {
        json::print(json::HISTORY, &history)?;
        return Ok(unreadable.exit());
    }
    let Some(path) = &args.output else {
        print(&hakaru_report::history_terminal(&history, width(), true))?;
        return Ok(unreadable.exit());
    };
    let page = match Form::of(None, Some(path)) {
        Form::Html => hakaru_report::history_html(&history),
        Form::Markdown => hakaru_report::history_markdown(&history),
        Form::Terminal => hakaru_report::history_terminal(&history, width(), false),
        Form::Csv | Form::Parquet => bail!(no_table()),
    };
    if place::is_stdout(Some(path)) {
        print(&page)?;
    } else {
        place::write_page(path, page.as_bytes())?;
        print(&format!("{}\n", path.display()))?;
    }
    Ok(unreadable.exit())
}

/// Most cards that an error names.
const MOST_NAMED: usize = 10;

/// Whether a name means this identity: one of its IDs, its label, its model, or its display name.
fn is_called(identity: &Identity, name: &str) -> bool {
    let model = identity
        .device
        .known()
        .and_then(|device| device.model.known());
    let names = identity.ids().into_iter().map(str::to_owned);
    let mut names = names
        .chain(identity.label.clone())
        .chain(model.cloned())
        .chain([identity.display_name()]);
    // Pages join a number and its unit by a no-break space, also in a name that is copied from there.
    let name = name.replace('\u{a0}', " ");
    names.any(|known| known.eq_ignore_ascii_case(&name))
}

/// Returns the runs and verifications of the card with this name, and of all others with one of its IDs, oldest first.
fn of_card(
    store: &Store,
    name: &str,
    verifications: Vec<Verification>,
    db: Option<&Path>,
) -> Result<(Vec<RunRecord>, Vec<Verification>)> {
    let records = match store.is_empty()? {
        true => Vec::new(),
        false => sides::chosen(&[], db)?,
    };
    let targets = || {
        let of_runs = records.iter().map(|record| &record.target);
        of_runs.chain(
            verifications
                .iter()
                .map(|verification| &verification.target),
        )
    };
    let called: Vec<&Identity> = targets().filter(|target| is_called(target, name)).collect();
    if called.is_empty() {
        let known: BTreeSet<String> = targets().map(Identity::display_name).collect();
        let more = known.len() > MOST_NAMED;
        let mut known: Vec<String> = known.into_iter().take(MOST_NAMED).collect();
        known.extend(more.then(|| "…".to_owned()));
        return Err(not_there(match known.is_empty() {
            true => both!(
                "no runs or verifications are stored yet; help: create one with `hakaru bench`",
                "測定も検証もまだ保存されていません; help: hakaru benchで測定してください"
            ),
            false => unknown_card(name, &known),
        }));
    }
    // A label may have been given to several cards: each is named by an ID then.
    let firsts: BTreeSet<&str> = called
        .iter()
        .filter_map(|target| target.ids().first().copied())
        .collect();
    if firsts.len() > 1 {
        let ids: Vec<&str> = firsts.into_iter().collect();
        bail!(
            both!("{name} stands for several cards; help: name one of the IDs {}", "{name}に該当するカードが複数あります; help: ID {}のいずれかを指定してください"; ids.join(", "))
        );
    }
    let ids: BTreeSet<String> = called
        .iter()
        .flat_map(|target| target.ids())
        .map(str::to_ascii_lowercase)
        .collect();
    let is_it = |target: &Identity| {
        let own = target.ids();
        match own.is_empty() {
            true => is_called(target, name),
            false => own.iter().any(|id| ids.contains(&id.to_ascii_lowercase())),
        }
    };
    let mut runs: Vec<RunRecord> = records
        .iter()
        .filter(|record| is_it(&record.target))
        .cloned()
        .collect();
    runs.sort_by(|a, b| (a.started_unix_ms, &a.id).cmp(&(b.started_unix_ms, &b.id)));
    let verifications = verifications
        .iter()
        .filter(|v| is_it(&v.target))
        .cloned()
        .collect();
    Ok((runs, verifications))
}

/// The error for a name that no stored card has.
fn unknown_card(name: &str, known: &[String]) -> String {
    both!(
        "no stored card is called {name}; help: name one of {}",
        "{name}というカードは保存されていません; help: {}のいずれかを指定してください";
        known.join(&both!(", ", "、"))
    )
}
