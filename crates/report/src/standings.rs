//! A campaign for a terminal: who is where among the cards, what each layer costs, which promises were kept.
//!
//! The short of it; the pages have the charts, the percentiles and the circumstances.

use crate::campaign::merged_findings;
use crate::escape::{columns_of, plain};
use crate::findings::{self, ConclusionKind};
use crate::number::{self, MeanText};
use crate::terminal::{NARROWEST, TerminalStyle, hanging};
use crate::text;
use hakaru_model::advice::RunFindings;
use hakaru_model::campaign::{CampaignSummary, CardSummary, Ranking};
use hakaru_model::finding::{ClaimCheck, ClaimPart, Comparison, Summary, Verdict};

/// Gap between columns.
const GAP: usize = 2;

/// Caveats that are named one by one.
const CAVEATS: usize = 12;

/// Renders a campaign for a terminal of `width` columns.
pub fn campaign_terminal(summary: &CampaignSummary, width: usize) -> String {
    let width = width.max(NARROWEST);
    let ink = TerminalStyle { color: true };
    let mut out = head(summary, width, ink);
    out += &section("In short", &crate::campaign_in_short(summary), width, ink);
    let mut ranked = false;
    for layer in &summary.layers {
        let rankings: Vec<&Ranking> = summary
            .rankings
            .iter()
            .filter(|ranking| ranking.layer == *layer)
            .collect();
        if rankings.is_empty() {
            continue;
        }
        ranked |= rankings.iter().any(|ranking| ranking.places.len() > 1);
        out += &format!("\n{}\n", ink.bold(&plain(layer)));
        out += &grid(&standing_rows(summary, layer, &rankings), width, ink);
    }
    let mut legend =
        "MB/s of large blocks, IOPS of small ones: mean ± deviation over runs.".to_owned();
    if ranked {
        legend += " Cards that share a letter: no difference between them is shown (all comparisons of the campaign as one \
                   family, 5% false alarms).";
    }
    out += &format!("\n{}\n", ink.dim(&hanging("", &legend, width)));
    for part in [
        costs(summary, width, ink),
        conclusions(summary, width, ink),
        uses(summary, width, ink),
    ] {
        out += &part;
    }
    out + &limits_of_worth(summary, width, ink)
}

fn head(summary: &CampaignSummary, width: usize, ink: TerminalStyle) -> String {
    let CampaignSummary {
        id,
        name,
        about,
        runs,
        planned,
        cards,
        ..
    } = summary;
    let of = match planned {
        Some(planned) if planned == runs => String::new(),
        Some(planned) => format!(" of at most {planned}"),
        None => String::new(),
    };
    let unit = if *runs == 1 && of.is_empty() {
        "run"
    } else {
        "runs"
    };
    let line = format!(
        "{runs}{of} {unit} · {} · stored as {}",
        counted(cards.len(), "card"),
        plain(id)
    );
    let about = if about.is_empty() {
        String::new()
    } else {
        hanging("", &plain(about), width) + "\n"
    };
    format!("{}\n{about}{}\n", ink.bold(&plain(name)), ink.dim(&line))
}

fn counted(count: usize, thing: &str) -> String {
    if count == 1 {
        format!("1 {thing}")
    } else {
        format!("{count} {thing}s")
    }
}

/// Rows of cells; the first row is the head, the first column the names.
type Rows = Vec<Vec<String>>;

/// The cards through one layer, a column a workload.
fn standing_rows(summary: &CampaignSummary, layer: &str, rankings: &[&Ranking]) -> Rows {
    let name = |ranking: &Ranking| {
        let twins = rankings
            .iter()
            .filter(|other| other.phase == ranking.phase)
            .count()
            > 1;
        let op = if twins {
            format!(" ({})", ranking.op.name())
        } else {
            String::new()
        };
        let unit = if ranking.unit == "B/s" {
            "MB/s"
        } else {
            "IOPS"
        };
        format!("{}{op}, {unit}", plain(&ranking.phase))
    };
    let mut rows = vec![
        std::iter::once(String::new())
            .chain(rankings.iter().map(|r| name(r)))
            .collect::<Vec<_>>(),
    ];
    for (index, card) in summary.cards.iter().enumerate() {
        if !card.layers.iter().any(|of| of.layer == layer) {
            continue;
        }
        let cell = |ranking: &&Ranking| {
            let place = ranking
                .places
                .iter()
                .find(|place| place.card as usize == index);
            let Some(place) = place else {
                return "–".to_owned();
            };
            let unit = if ranking.unit == "B/s" { 1e6 } else { 1.0 };
            let spread = MeanText::of_parts(place.mean, place.deviation, unit);
            if ranking.places.len() > 1 {
                format!("{spread} ({})", place.letters)
            } else {
                spread.to_string()
            }
        };
        rows.push(
            std::iter::once(plain(&card.name))
                .chain(rankings.iter().map(cell))
                .collect(),
        );
    }
    rows
}

/// Rows as columns that line up: names to the left, figures to the right; what is too wide for the terminal continues
/// below, names repeated.
fn grid(rows: &Rows, width: usize, ink: TerminalStyle) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let widest = |column: usize| {
        rows.iter()
            .map(|row| columns_of(&row[column]))
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(widest).collect();
    let mut parts: Vec<Vec<usize>> = vec![Vec::new()];
    let mut used = widths.first().copied().unwrap_or(0);
    for (column, wide) in widths.iter().enumerate().skip(1) {
        if used + GAP + wide > width && parts.last().is_some_and(|part| !part.is_empty()) {
            parts.push(Vec::new());
            used = widths[0];
        }
        used += GAP + wide;
        parts.last_mut().expect("there is always one").push(column);
    }
    let mut out = String::new();
    for (nth, part) in parts.iter().enumerate() {
        if nth > 0 {
            out.push('\n');
        }
        for (number, row) in rows.iter().enumerate() {
            let mut line = format!("{}{}", row[0], " ".repeat(widths[0] - columns_of(&row[0])));
            for &column in part {
                line += &" ".repeat(GAP + widths[column] - columns_of(&row[column]));
                line += &row[column];
            }
            let line = line.trim_end();
            out += &if number == 0 {
                ink.dim(line)
            } else {
                line.to_owned()
            };
            out.push('\n');
        }
    }
    out
}

/// What each layer leaves of the one that it is held against.
fn costs(summary: &CampaignSummary, width: usize, ink: TerminalStyle) -> String {
    let mut out = String::new();
    for layer in &summary.layers {
        let of_layer = |card: &CardSummary| -> Vec<Comparison> {
            card.costs
                .iter()
                .filter(|cost| cost.layer == *layer)
                .map(|cost| cost.comparison.clone())
                .collect()
        };
        let cards: Vec<(&CardSummary, Vec<Comparison>)> = summary
            .cards
            .iter()
            .map(|card| (card, of_layer(card)))
            .filter(|(_, costs)| !costs.is_empty())
            .collect();
        let mut quantities: Vec<&str> = Vec::new();
        for cost in cards.iter().flat_map(|(_, costs)| costs) {
            if !quantities.contains(&cost.quantity.as_str()) {
                quantities.push(&cost.quantity);
            }
        }
        if quantities.is_empty() {
            continue;
        }
        let mut rows: Rows = vec![
            std::iter::once(String::new())
                .chain(quantities.iter().map(|q| plain(q)))
                .collect(),
        ];
        for (card, costs) in &cards {
            let cell = |quantity: &&str| {
                costs
                    .iter()
                    .find(|cost| cost.quantity == *quantity)
                    .map_or_else(|| "–".to_owned(), share_left)
            };
            rows.push(
                std::iter::once(plain(&card.name))
                    .chain(quantities.iter().map(cell))
                    .collect(),
            );
        }
        let than = plain(&summary.reference_layer);
        let than = if than == "raw" {
            "the bare card".to_owned()
        } else {
            than
        };
        out += &format!(
            "\n{}\n",
            ink.bold(&format!("What {} leaves of {than}", plain(layer)))
        );
        out += &grid(&rows, width, ink);
    }
    if out.is_empty() {
        return out;
    }
    let legend = format!(
        "Ratio of the means with its 95 % interval, all of them at once; = same within 5%, ? undecided. {}",
        number::INTERVALS
    );
    out + &format!("{}\n", ink.dim(&hanging("", &legend, width)))
}

/// `0.85x [0.84, 0.86]`, with a sign where it proves nothing.
fn share_left(cost: &Comparison) -> String {
    let sign = match cost.verdict {
        Verdict::Different => "",
        Verdict::Equivalent => " =",
        Verdict::Undecided { .. } => " ?",
    };
    format!("{}{sign}", crate::compare::ratio(cost))
}

/// Promises card by card, and who sets the pace layer by layer.
fn conclusions(summary: &CampaignSummary, width: usize, ink: TerminalStyle) -> String {
    let mut out = String::new();
    let promises: Vec<(String, String)> = summary
        .cards
        .iter()
        .filter(|card| !card.claims.is_empty())
        .map(|card| {
            (
                plain(&card.name),
                card.claims
                    .iter()
                    .map(promise)
                    .collect::<Vec<_>>()
                    .join(", "),
            )
        })
        .collect();
    out += &section(
        text::conclusion_title(ConclusionKind::Claims),
        &promises,
        width,
        ink,
    );
    if !promises.is_empty() {
        let legend = text::claim_legend();
        out += &format!("{}\n", ink.dim(&hanging("", legend, width)));
    }
    let names: Vec<String> = summary.cards.iter().map(|card| plain(&card.name)).collect();
    let paces = summary.limits.iter().flat_map(|(layer, limit)| {
        let said = findings::limits_of(std::slice::from_ref(limit), &names);
        said.into_iter().map(|c| {
            (
                format!("{}, {}", plain(layer), c.about),
                format!("{}: {}", c.verdict, c.because),
            )
        })
    });
    out + &section(
        text::conclusion_title(ConclusionKind::Limits),
        &paces.collect::<Vec<_>>(),
        width,
        ink,
    )
}

/// `✓ A1 (1667 IOPS)`: of a promise with one figure, what was measured.
fn promise(check: &ClaimCheck) -> String {
    let sign = findings::claim_sign(check.verdict);
    let figure = match &check.parts[..] {
        [
            ClaimPart {
                figure,
                measured: Some(measured),
                ..
            },
        ] => {
            format!(
                " ({} {})",
                number::significant(measured.value),
                figure.unit()
            )
        }
        _ => String::new(),
    };
    format!("{sign} {}{figure}", text::claim(check.claim))
}

/// Names and what is said of each, under a title; nothing where there is nothing.
fn section(title: &str, lines: &[(String, String)], width: usize, ink: TerminalStyle) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let widest = lines
        .iter()
        .map(|(name, _)| columns_of(name))
        .max()
        .unwrap_or(0);
    let line = |(name, text): &(String, String)| {
        let lead = format!("{name}{}  ", " ".repeat(widest - columns_of(name)));
        hanging(&lead, text, width) + "\n"
    };
    format!(
        "\n{}\n{}",
        ink.bold(title),
        lines.iter().map(line).collect::<String>()
    )
}

/// What each card is good for through each layer, as signs.
fn uses(summary: &CampaignSummary, width: usize, ink: TerminalStyle) -> String {
    let mut titles: Vec<String> = Vec::new();
    let mut lines: Vec<(String, Vec<(String, &str)>)> = Vec::new();
    for card in &summary.cards {
        for layer in &card.layers {
            let all = RunFindings {
                advice: layer.advice.clone(),
                ..RunFindings::default()
            };
            let found: Vec<(String, &str)> = findings::uses(&all)
                .into_iter()
                .map(|c| (c.about, c.sign))
                .collect();
            for (title, _) in found
                .iter()
                .filter(|(title, _)| !titles.contains(title))
                .cloned()
                .collect::<Vec<_>>()
            {
                titles.push(title);
            }
            if !found.is_empty() {
                lines.push((
                    format!("{}, {}", plain(&card.name), plain(&layer.layer)),
                    found,
                ));
            }
        }
    }
    if titles.is_empty() {
        return String::new();
    }
    let mut rows: Rows = vec![
        std::iter::once(String::new())
            .chain(titles.iter().cloned())
            .collect(),
    ];
    for (name, found) in lines {
        let cell = |title: &String| {
            found
                .iter()
                .find(|(known, _)| known == title)
                .map_or_else(|| "?".to_owned(), |(_, sign)| (*sign).to_owned())
        };
        rows.push(
            std::iter::once(name)
                .chain(titles.iter().map(cell))
                .collect(),
        );
    }
    let legend = ink.dim(&hanging("", text::fitness_legend(), width));
    format!(
        "\n{}\n{}{legend}\n",
        ink.bold(text::conclusion_title(ConclusionKind::Uses)),
        grid(&rows, width, ink)
    )
}

/// Caveats, runs that do not count, and what else limits the worth of the figures.
fn limits_of_worth(summary: &CampaignSummary, width: usize, ink: TerminalStyle) -> String {
    let CampaignSummary {
        failed,
        other_definition,
        weaknesses,
        notes,
        cards,
        ..
    } = summary;
    let mut lines: Vec<String> = weaknesses
        .iter()
        .map(|weakness| plain(&text::weakness(weakness)))
        .collect();
    lines.extend(notes.iter().map(|note| plain(note)));
    if !failed.is_empty() {
        let first = &failed[0];
        let (point, because) = (plain(&first.point), plain(&first.because));
        lines.push(format!(
            "{} did not come to an end and do not count, first: {point} ({because})",
            failed.len()
        ));
    }
    if *other_definition > 0 {
        lines.push(format!(
            "{other_definition} stored runs were measured in another way, and do not count"
        ));
    }
    let subjects: Vec<(String, &Summary)> = cards
        .iter()
        .flat_map(|card| card.layers.iter().map(move |layer| (card, layer)))
        .map(|(card, layer)| {
            let name = format!("{}, {}", plain(&card.name), plain(&layer.layer));
            (name, &layer.summary)
        })
        .collect();
    let mut caveats: Vec<String> = merged_findings(&subjects)
        .into_iter()
        .map(|(lead, said)| match lead.is_empty() {
            true => said,
            false => format!("{lead}: {said}"),
        })
        .collect();
    let more = caveats.len().saturating_sub(CAVEATS);
    caveats.truncate(CAVEATS);
    lines.extend(caveats);
    if more > 0 {
        let (caveats, stand) = if more == 1 {
            ("caveat", "stands")
        } else {
            ("caveats", "stand")
        };
        lines.push(format!("{more} more {caveats} {stand} in the report"));
    }
    let lines: String = lines
        .iter()
        .map(|line| format!("{}\n", ink.yellow(&hanging("! ", line, width))))
        .collect();
    if lines.is_empty() {
        lines
    } else {
        format!("\n{lines}")
    }
}
