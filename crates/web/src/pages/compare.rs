//! Comparison of sets of results, which a link names.

use super::show_kept;
use crate::access::Viewer;
use crate::context::AppState;
use crate::frame::{Content, NavItem};
use crate::html::{Html, in_link};
use anyhow::bail;
use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use hakaru_model::finding::Summary;
use hakaru_results::compare::{MOST_SETS, PairOfSets, compared, side_names};
use hakaru_results::list::{ListQuery, StoredSeries};
use hakaru_results::sides::ResultSource;
use hakaru_store::{RunTerm, Store};

/// Values of a kind that the form offers.
const OFFERED: usize = 200;
/// Latest series that the form offers.
const LATEST: u32 = 20;
/// Longest text of all sets.
const LONGEST: usize = 4096;

pub(crate) async fn compare(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    RawQuery(query): RawQuery,
) -> Response {
    let query = query.unwrap_or_default();
    let key = format!("compare {query}");
    show_kept(&state, viewer, NavItem::Compare, key, move |_, store| {
        let sets = sets(&query)?;
        match sets.len() {
            0 | 1 => pick(store, &sets),
            _ => comparison(store, &sets),
        }
    })
    .await
}

/// Returns the sets of a query. A form sends the parts of each set (`a.card=x&a.layer=ext4&b.card=y`), and a link sends
/// sets (`set=card=x,layer=ext4&set=card=y`).
pub(crate) fn sets(query: &str) -> anyhow::Result<Vec<String>> {
    if query.len() > LONGEST {
        bail!(both!("the selection is too long", "選択の指定が長すぎます"));
    }
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let pairs = pairs.map(|(name, value)| (decoded(name), decoded(value)));
    let mut sets: Vec<String> = Vec::new();
    let mut of_form = [Vec::new(), Vec::new()];
    for (name, value) in pairs {
        let value = value.trim();
        if value.is_empty() {
            continue;
        }
        match name.split_once('.') {
            None if name == "set" => sets.push(value.to_owned()),
            // A comma divides the terms of a set.
            Some((side @ ("a" | "b"), kind)) => {
                let value = value.replace(',', " ");
                of_form[usize::from(side == "b")].push(match kind {
                    "name" => value,
                    kind => format!("{kind}={value}"),
                });
            }
            _ => {}
        }
    }
    sets.extend(
        of_form
            .into_iter()
            .filter(|terms| !terms.is_empty())
            .map(|terms| terms.join(",")),
    );
    if sets.len() > MOST_SETS {
        bail!(
            both!("cannot compare {} sets: the maximum is {MOST_SETS}", "{}組は比較できません（最大{MOST_SETS}組）"; sets.len())
        );
    }
    Ok(sets)
}

/// Decodes a part of a query; invalid UTF-8 becomes replacement characters.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, more @ ..] = rest {
        rest = more;
        let escaped = match (first, more) {
            (b'%', [high, low, ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                digit(high)
                    .zip(digit(low))
                    .map(|(high, low)| (high * 16 + low) as u8)
            }
            _ => None,
        };
        match (escaped, first) {
            (Some(byte), _) => {
                bytes.push(byte);
                rest = &more[2..];
            }
            (None, b'+') => bytes.push(b' '),
            (None, byte) => bytes.push(*byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads the sets from the database alone: a name never stands for a file.
///
/// # Errors
/// If a set stands for no run, or the database cannot be read.
pub(crate) fn sides(store: &Store, sets: &[String]) -> anyhow::Result<Vec<Summary>> {
    ResultSource::of_store(store).sides(sets)
}

fn comparison(store: &Store, sets: &[String]) -> anyhow::Result<Content> {
    let mut sides = sides(store, sets)?;
    let names = side_names(&sides, sets);
    let mut last = Html::new();
    let change = both!("Change the selection", "選択を変更");
    let query: Vec<String> = sets
        .iter()
        .map(|set| format!("set={}", in_link(set)))
        .collect();
    let query = query.join("&");
    put!(
        last,
        "<p class=\"act\"><a class=\"btn\" href=\"/compare\">",
        (change),
        "</a>\n<a class=\"btn\" href=\"/api/v1/compare?",
        (query),
        "\">JSON</a></p>\n"
    );
    let page = match &mut sides[..] {
        [_, _] => {
            hakaru_analysis::compare_traced(&mut sides, 0);
            let pair = PairOfSets::of([&sides[0], &sides[1]], [&names[0], &names[1]])?;
            hakaru_report::comparison_html_with(&pair.report())
        }
        _ => hakaru_report::campaign_html(&compared(sides, &names)?),
    };
    Ok(Content::report(&page, &Html::new(), &last))
}

/// The form that picks two sets.
fn pick(store: &Store, known: &[String]) -> anyhow::Result<Content> {
    let mut main = Html::new();
    let how = both!(
        "Choose two cards or two series. More conditions select results by label, layer, host, campaign or date.",
        "2枚のカードか2つの測定シリーズを選ぶ。ラベル、レイヤ、ホスト、キャンペーン、日付でも絞り込める。"
    );
    put!(main, "<p>", (how), "</p>\n");
    if !known.is_empty() {
        let more = both!(
            "The first set is chosen. Choose the second one.",
            "1組目は選択済み。2組目を選ぶ。"
        );
        put!(
            main,
            "<p role=\"status\"><strong>",
            (more),
            "</strong></p>\n"
        );
    }
    main.raw("<form action=\"/compare\">\n");
    let none = || String::new();
    let kinds = [
        (
            "label",
            both!("Label", "ラベル"),
            RunTerm::Label {
                name: none(),
                series: Vec::new(),
            },
        ),
        (
            "card",
            both!("Card", "カード"),
            RunTerm::Card {
                name: none(),
                series: Vec::new(),
            },
        ),
        ("layer", both!("Layer", "レイヤ"), RunTerm::Layer(none())),
        ("host", both!("Host", "ホスト"), RunTerm::Host(none())),
        (
            "campaign",
            both!("Campaign", "キャンペーン"),
            RunTerm::Campaign(none()),
        ),
    ];
    let mut offered = Vec::new();
    for (kind, name, term) in kinds {
        offered.push((kind, name, store.values_of(&term, &[], OFFERED)?));
    }
    let latest = latest(store)?;
    for (side, legend, known) in [
        ("a", both!("First set", "1組目"), known),
        ("b", both!("Second set", "2組目"), &[]),
    ] {
        let series = series_choice(side, &latest, known);
        main.push(&set_fields(side, &legend, &series, &offered, known));
    }
    let go = both!("Compare", "比較する");
    put!(main, "<button class=\"btn p\">", (go), "</button></form>\n");
    Ok(Content::own(&NavItem::Compare.name(), &Html::new(), &main))
}

/// The fields of one set: cards and series, and the other conditions in a part that opens.
fn set_fields(
    side: &str,
    legend: &str,
    series: &Html,
    offered: &[(&'static str, String, Vec<String>)],
    known: &[String],
) -> Html {
    let mut html = Html::new();
    put!(
        html,
        "<fieldset><legend>",
        (legend),
        "</legend><div class=\"pick\">\n"
    );
    let offered = offered.iter().filter(|(_, _, values)| !values.is_empty());
    let (cards, others): (Vec<_>, Vec<_>) = offered.partition(|(kind, ..)| *kind == "card");
    for (kind, name, values) in cards {
        html.push(&choice(side, (kind, name), values, known));
    }
    let more = both!("More conditions", "その他の条件");
    html.push(series);
    put!(
        html,
        "</div><details><summary>",
        (more),
        "</summary><div class=\"pick\">\n"
    );
    for (kind, name, values) in others {
        html.push(&choice(side, (kind, name), values, known));
    }
    let date = both!(
        "Date, such as 2026-11 or 2026-11-01..2026-11-05",
        "日付（例: 2026-11、2026-11-01..2026-11-05）"
    );
    put!(
        html,
        "<label class=\"field\"><span>",
        (date),
        "</span><input name=\"",
        (side),
        ".date\" maxlength=\"30\"></label>\n"
    );
    html.raw("</div></details></fieldset>\n");
    html
}

/// Returns the latest series: terms with descriptions.
fn latest(store: &Store) -> anyhow::Result<Vec<(String, String)>> {
    let query = ListQuery {
        limit: LATEST,
        ..ListQuery::default()
    };
    let described = |series: StoredSeries| {
        let first = &series.first;
        let started = super::results::minutes(first.started_unix_ms);
        let name = format!(
            "{} {} {} {started}",
            first.target, first.layer, first.scenario
        );
        (first.series.clone(), name)
    };
    Ok(StoredSeries::all(store, &query)?
        .into_iter()
        .map(described)
        .collect())
}

fn series_choice(side: &str, latest: &[(String, String)], known: &[String]) -> Html {
    let mut html = Html::new();
    let name = both!("Series", "測定シリーズ");
    put!(
        html,
        "<label class=\"field\"><span>",
        (name),
        "</span><select name=\"",
        (side),
        ".series\"><option value=\"\">–</option>\n"
    );
    let terms = known.iter().flat_map(|set| set.split(','));
    let known = terms.filter_map(|term| term.strip_prefix("series="));
    let known: Vec<&str> = known.collect();
    // A link can name a series that is not among the latest.
    let older = known
        .iter()
        .filter(|id| latest.iter().all(|(of, _)| of != *id));
    let older = older.map(|id| (*id, *id));
    let latest = latest
        .iter()
        .map(|(id, described)| (&id[..], &described[..]));
    for (id, described) in older.chain(latest) {
        put!(html, "<option value=\"", (id), "\"");
        html.raw(if known.contains(&id) {
            " selected>"
        } else {
            ">"
        });
        put!(html, (described), "</option>\n");
    }
    html.raw("</select></label>\n");
    html
}

/// A choice of values of a kind; a term of a known set is chosen.
fn choice(side: &str, (kind, name): (&str, &str), values: &[String], known: &[String]) -> Html {
    let mut html = Html::new();
    put!(
        html,
        "<label class=\"field\"><span>",
        (name),
        "</span><select name=\"",
        (side),
        ".",
        (kind),
        "\"><option value=\"\">–</option>\n"
    );
    for value in values {
        let term = format!("{kind}={}", value.replace(',', " "));
        let is_known = known.iter().any(|set| set.split(',').any(|of| of == term));
        html.raw(if is_known {
            "<option selected>"
        } else {
            "<option>"
        });
        put!(html, (value), "</option>\n");
    }
    html.raw("</select></label>\n");
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: after one of two choices, the form was empty again and did not say what it lacked.
    #[test]
    fn a_form_with_one_set_keeps_it_and_asks_for_the_other() {
        let offered = ["even".to_owned(), "a, b".to_owned()];
        let of = |known: &[String]| choice("a", ("card", "Card"), &offered, known).into_string();
        let chosen = "<option selected>";
        assert!(of(&sets("a.card=even").unwrap()).contains(&format!("{chosen}even<")));
        assert!(of(&sets("a.card=a,+b").unwrap()).contains(&format!("{chosen}a, b<")));
        assert!(!of(&sets("a.label=even").unwrap()).contains(chosen));
        let latest = [("new".to_owned(), "today".to_owned())];
        let series = |known: &str| series_choice("a", &latest, &[known.to_owned()]).into_string();
        assert!(series("series=new").contains("value=\"new\" selected>today<"));
        assert!(series("series=old").contains("value=\"old\" selected>old<"));
        assert!(!series("card=even").contains("selected"));
        let store = Store::empty("x.db").unwrap();
        let page = |known: &[String]| format!("{:?}", pick(&store, known).unwrap());
        let asks = "Choose the second one";
        assert!(!page(&[]).contains(asks) && page(&["card=even".to_owned()]).contains(asks));
    }

    #[test]
    fn a_query_holds_the_sets() {
        let of = |query: &str| sets(query).unwrap();
        assert_eq!(
            of("set=card%3Dx%2Clayer%3Dext4&set=y"),
            ["card=x,layer=ext4", "y"]
        );
        assert_eq!(
            of("a.card=San+Disk&a.layer=ext4&a.host=&b.label=%E6%97%A5,1"),
            ["card=San Disk,layer=ext4", "label=日 1"]
        );
        assert!(of("").is_empty() && of("x=1&a=2&c.card=3").is_empty());
        assert!(sets(&"set=x&".repeat(65)).is_err() && sets(&"x".repeat(5000)).is_err());
        assert_eq!(decoded("%zz%4"), "%zz%4");
        assert_eq!(decoded("%ff"), "\u{fffd}");
    }
}
