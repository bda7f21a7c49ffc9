//! The rate card to post: as text in the manner of CrystalDiskMark and KDiskMark, as Markdown, and as a picture.

use super::{RateCard, RateCell, RateRow, rate_card};
use crate::escape::{columns_of, padded, plain};
use crate::png::{self, ChartFonts, PngError, PngPicture};
use crate::{markdown, svg, text, time};
use hakaru_model::finding::Summary;

/// Number of rows of a card to post.
const ROWS: usize = 5;

/// The first row of each kind of workload; other rows fill it up.
fn five(rows: Vec<RateRow>) -> Vec<RateRow> {
    if rows.len() <= ROWS {
        return rows;
    }
    let is_first = |nth: usize| rows[..nth].iter().all(|row| row.name != rows[nth].name);
    let first = (0..rows.len()).filter(|&nth| is_first(nth));
    let further = (0..rows.len()).filter(|&nth| !is_first(nth));
    let mut kept: Vec<usize> = first.chain(further).take(ROWS).collect();
    kept.sort_unstable();
    let rows = rows.into_iter().enumerate();
    let rows = rows.filter(|(nth, _)| kept.contains(nth));
    rows.map(|(_, row)| row).collect()
}

/// A rate card with the facts that a reader elsewhere needs.
struct PostedCard {
    card: RateCard,
    /// Name and size of the target.
    title: String,
    /// Test, kernel, date and program.
    facts: String,
}

impl PostedCard {
    fn of(summary: &Summary) -> Option<PostedCard> {
        let mut card = rate_card(summary)?;
        card.rows = five(card.rows);
        let device = summary.target.device.known().map(|device| device.size);
        let size = device.or(summary.target.filesystem.as_ref().map(|fs| fs.size));
        let size = size.filter(|size| size.0 > 0).map(|size| size.to_string());
        let title = [Some(card.title.clone()), size];
        let date = (summary.started_unix_ms > 0).then(|| time::utc(summary.started_unix_ms));
        let facts = [
            plain(&summary.scenario),
            plain(&summary.environment.kernel),
            date.unwrap_or_default(),
            plain(&text::origin(&summary.origin)),
        ];
        let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
        Some(PostedCard {
            title: title.into_iter().flatten().collect::<Vec<_>>().join(", "),
            facts: facts.join(" · "),
            card,
        })
    }
}

/// The rate card of a series as text for a forum; `None` if the series has no results.
pub fn card_text(summary: &Summary) -> Option<String> {
    let posted = PostedCard::of(summary)?;
    let [_, read, write] = text::rate_card_head();
    let rows = &posted.card.rows;
    let names = rows.iter().map(|row| columns_of(&row.name));
    let shapes = rows.iter().map(|row| columns_of(&row.shape));
    let (name, shape) = (names.max().unwrap_or(0), shapes.max().unwrap_or(0));
    let part = |head: &str, cell: fn(&RateRow) -> Option<&RateCell>| {
        let cells = rows.iter().filter_map(|row| Some((row, cell(row)?)));
        let cells: Vec<_> = cells
            .map(|(row, cell)| (row, with_deviation(cell), cell.notes.join(", ")))
            .collect();
        let figures = cells.iter().map(|(_, figure, _)| columns_of(figure));
        let wide = figures.max().unwrap_or(0);
        let mut lines = format!("[{head}]\n");
        for (row, figure, notes) in &cells {
            let (label, settings) = (padded(&row.name, name), padded(&row.shape, shape));
            let blanks = wide - columns_of(figure);
            let notes = match notes.as_str() {
                "" => String::new(),
                notes => format!("  [{notes}]"),
            };
            lines += &format!("  {label}  {settings}  {:blanks$}{figure}{notes}\n", "");
        }
        match cells.is_empty() {
            true => String::new(),
            false => lines + "\n",
        }
    };
    let parts = part(read, |row| row.read.as_ref()) + &part(write, |row| row.write.as_ref());
    let head = [&posted.title, &posted.card.about];
    let head: String = head.map(|line| format!("{line}\n")).concat();
    let widest = head.lines().chain(parts.lines()).map(columns_of).max();
    let rule = "-".repeat(widest.unwrap_or(0)) + "\n";
    Some(format!("{rule}{head}{rule}{parts}{}\n", posted.facts))
}

fn with_deviation(cell: &RateCell) -> String {
    match &cell.deviation {
        Some(deviation) => format!("{} ± {deviation}", cell.figure),
        None => cell.figure.clone(),
    }
}

/// The rate card of a series as Markdown; `None` if the series has no results.
pub fn card_markdown(summary: &Summary) -> Option<String> {
    let posted = PostedCard::of(summary)?;
    let escaped = crate::escape::markdown;
    Some(format!(
        "**{}**  \n{}\n\n{}\n{}\n",
        escaped(&posted.title),
        escaped(&posted.card.about),
        markdown::numbers(&posted.card.table()),
        escaped(&posted.facts)
    ))
}

/// The rate card of a series as a standalone SVG document; `None` if the series has no results.
pub fn card_svg(summary: &Summary) -> Option<String> {
    let posted = PostedCard::of(summary)?;
    let PostedCard { card, title, facts } = posted;
    Some(svg::rate_card(&card, title, facts))
}

/// The rate card of a series as PNG; `None` if the series has no results.
///
/// # Errors
/// If there is no font.
pub fn card_png(summary: &Summary, fonts: &ChartFonts) -> Option<Result<PngPicture, PngError>> {
    Some(png::of_svg(&card_svg(summary)?, fonts))
}
