//! `hakaru list`: lists stored series, verifications and anatomies.

use super::unreadable::Unreadable;
use super::{json, print, terminal_width};
use crate::exit::Exit;
use crate::place;
use anyhow::Result;
use hakaru_report::{ListedSeries, text};
use hakaru_results::list::{
    ListJson, ListQuery, StoredSeries, anatomies, listed_anatomy, verifications, with_short_id,
};
use hakaru_store::Store;
use std::path::Path;

/// Arguments of `hakaru list`.
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Show only targets whose label or name contains TEXT
    #[arg(long, value_name = "TEXT")]
    target: Option<String>,
    /// Show at most N series
    #[arg(long, short = 'n', value_name = "N", default_value_t = 30)]
    limit: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints one line per series, the one stored last first.
pub(crate) fn main(args: &ListArgs, db: Option<&Path>) -> Result<Exit> {
    let store = place::read(db)?;
    let query = ListQuery {
        target: args.target.clone(),
        limit: args.limit,
        skip: 0,
    };
    let mut unreadable = Unreadable::default();
    let verifications = unreadable.skip("verification", verifications(&store, &query)?);
    let anatomies = unreadable.skip("anatomy", anatomies(&store, &query)?);
    let all = StoredSeries::all(&store, &query)?;
    if args.json {
        let list = ListJson::of(&store, &all, &verifications, &anatomies)?;
        json::print(json::LIST, &list)?;
        return Ok(unreadable.exit());
    }
    if all.is_empty() && verifications.is_empty() && anatomies.is_empty() {
        // Distinguish a filter without matches from an empty database.
        let said = text::nothing_listed(has_nothing(&store)?);
        print(&format!("{said}\n"))?;
        return Ok(unreadable.exit());
    }
    let series = all.iter().map(|series| series.listed(&store));
    let series = series.collect::<Result<Vec<ListedSeries>>>()?;
    let verifications = verifications.iter().map(|of| with_short_id(&store, of));
    let verifications = verifications.collect::<Result<Vec<_>>>()?;
    let anatomies = anatomies.iter().map(|of| listed_anatomy(&store, of));
    let anatomies = anatomies.collect::<Result<Vec<_>>>()?;
    // Do not wrap lines that go to a file.
    let width = terminal_width().unwrap_or(usize::MAX);
    print(&hakaru_report::list_terminal(
        &series,
        &verifications,
        &anatomies,
        width,
        true,
    ))?;
    Ok(unreadable.exit())
}

/// Whether a database has no results of any kind.
fn has_nothing(store: &Store) -> Result<bool> {
    Ok(store.is_empty()? && store.count_verifications()? == 0 && store.count_anatomies()? == 0)
}
