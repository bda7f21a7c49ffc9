//! `--card`: the rate card of a series to post, as text, Markdown or a picture.

use super::{charts, print};
use crate::place;
use crate::{exit::usage, fonts};
use anyhow::Result;
use clap::ValueEnum;
use hakaru_model::finding::Summary;
use hakaru_store::Store;
use std::path::Path;

/// Format of a card on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CardFormat {
    /// Plain text, for a forum
    Text,
    /// Markdown, for an issue or a wiki
    Md,
    /// A picture
    Png,
}

/// Prints the cards of these series, or writes them to a file. A picture is written beside the database by default.
pub(crate) fn post(
    store: &Store,
    summaries: &[Summary],
    format: CardFormat,
    output: Option<&Path>,
) -> Result<()> {
    let text = match format {
        CardFormat::Text => hakaru_report::card_text,
        CardFormat::Md => hakaru_report::card_markdown,
        CardFormat::Png => return post_pictures(store, summaries, output),
    };
    let cards: Vec<String> = summaries.iter().filter_map(text).collect();
    let cards = cards.join("\n");
    match output.filter(|path| !place::is_stdout(Some(path))) {
        Some(path) => place::write_page(path, cards.as_bytes()),
        None => print(&cards),
    }
}

fn post_pictures(store: &Store, summaries: &[Summary], output: Option<&Path>) -> Result<()> {
    if place::is_stdout(output) {
        return Err(usage(both!(
            "a picture cannot be printed; help: name a .png file with --output",
            "画像は標準出力に書き出せません; help: --outputで.pngファイルを指定してください"
        )));
    }
    if output.is_some() && summaries.len() > 1 {
        return Err(usage(both!(
            "--output names one picture, but there are several series; help: omit it",
            "--outputで指定できる画像は1つですが、測定シリーズが複数あります; help: 省いてください"
        )));
    }
    let fonts = fonts::for_charts();
    for summary in summaries {
        let Some(drawn) = hakaru_report::card_png(summary, &fonts) else {
            continue;
        };
        let picture = drawn.map_err(|error| charts::not_drawn("card", error))?;
        let path = place::report_path(store, output, &summary.series, "png")?;
        place::write_page(&path, &picture.data)?;
        charts::note_missing(&picture.missing);
        print(&format!("{}\n", path.display()))?;
    }
    Ok(())
}
