//! `hakaru compare`: compares sets of results side by side, with figures, ratios and verdicts.

use super::charts::{ChartArgs, ChartFormat, relinked};
use super::report::{Form, no_table};
use super::{json, print, terminal_width, width};
use crate::exit::{Ended, Exit, complain};
use crate::place;
use crate::sides::sides;
use anyhow::{Result, anyhow, bail};
use hakaru_analysis::compare::common_phases;
use hakaru_model::advice::RunFindings;
use hakaru_model::campaign::{AS_MEASURED, CampaignSummary, CardSummary, LayerSummary};
use hakaru_model::finding::{PhaseSummary, Summary};
use hakaru_report::PairReport;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Arguments of `hakaru compare`.
#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// Sets of results, at least two: run ids, names, `latest` (the newest series), files or directories (comma-separated), or a selection: series=, card=, layer=, host=, date=, campaign=, workload=; of two sets, ratios are the second divided by the first
    #[arg(value_name = "SET", required = true, num_args = 2..)]
    sets: Vec<String>,
    /// Also write the comparison to FILE: HTML, or by its suffix Markdown (.md), CSV (.csv) or text (.txt); `-` for HTML on standard output instead of the text
    #[arg(long, short, value_name = "FILE", value_parser = place::page_path())]
    output: Option<PathBuf>,
    /// Format of the saved charts
    #[arg(long, requires = "charts")]
    format: Option<ChartFormat>,
    #[command(flatten)]
    charts: ChartArgs,
    /// Print the comparison as JSON
    #[arg(long)]
    json: bool,
}

/// Compares the sides and prints the result.
pub(crate) fn main(args: &CompareArgs, db: Option<&Path>) -> Result<Exit> {
    if args.sets.len() > MOST {
        complain(&anyhow!(
            both!("cannot compare {} sets: the maximum is {MOST}", "{}組は比較できません（最大{MOST}組）"; args.sets.len())
        ));
        return Err(Ended(Exit::Usage).into());
    }
    let sides = sides(&args.sets, db)?;
    let names = names(&sides, args);
    let page = match <[Summary; 2]>::try_from(sides) {
        Ok(mut both) => {
            hakaru_analysis::compare_traced(&mut both, 0);
            pair(both, &names, args)?
        }
        Err(sides) => many(sides, &names, args)?,
    };
    write(args, &page)
}

/// Maximum number of sets: more pairs than a reader can follow.
const MOST: usize = 64;

/// A comparison as a terminal shows it, and in the requested form.
struct Page {
    text: String,
    file: Option<String>,
    json: Option<String>,
}

/// Output of `hakaru compare --json`: the rows are those of the CSV form.
#[derive(Serialize)]
struct CompareJson<'a> {
    sides: &'a [String],
    series: Vec<json::SeriesHead<'a>>,
    rows: Vec<serde_json::Map<String, serde_json::Value>>,
}

fn write(args: &CompareArgs, page: &Page) -> Result<Exit> {
    let text = page.json.as_ref().unwrap_or(&page.text);
    let (Some(path), Some(file)) = (&args.output, &page.file) else {
        return print(text).map(|()| Exit::Ok);
    };
    if place::is_stdout(Some(path)) {
        return print(file).map(|()| Exit::Ok);
    }
    let printed = print(text);
    place::write_page(path, file.as_bytes())?;
    printed?;
    if args.json {
        return Ok(Exit::Ok);
    }
    print(&format!(
        "\n{}\n",
        hakaru_report::text::report_at(&path.display().to_string())
    ))?;
    Ok(Exit::Ok)
}

/// Compares two sides.
fn pair([a, b]: [Summary; 2], both: &[String], args: &CompareArgs) -> Result<Page> {
    let names = (both[0].as_str(), both[1].as_str());
    let phases = common_phases(&a, &b);
    if phases.is_empty() {
        bail!(
            both!("cannot compare {} and {}: they have no workload in common; help: `hakaru show` lists \
            the workloads of each", "{}と{}は比較できません（共通のワークロードなし）; help: それぞれのワークロードはhakaru showで確認してください"; names.0,
            names.1)
        );
    }
    let comparisons = hakaru_analysis::compare_summaries(&a, &b);
    let conclusion = hakaru_analysis::conclude_pair(&phases, &comparisons);
    let rules = hakaru_analysis::default_rules();
    let advised = |summary: &Summary| RunFindings {
        advice: hakaru_analysis::advise(summary, &rules),
        ..RunFindings::default()
    };
    let findings = [advised(&a), advised(&b)];
    let charts = hakaru_report::comparison_charts(&a, &b, &comparisons);
    if args.charts.charts.is_some() {
        let source = hakaru_report::chart_source(&[a.clone(), b.clone()]);
        args.charts.save(&charts, args.format, source)?;
    }
    let links = args.charts.linked(args.output.as_deref());
    // Do not wrap lines that go to a file.
    let width = terminal_width().unwrap_or(usize::MAX);
    let report = PairReport {
        sides: (&a, &b),
        names,
        phases: &phases,
        comparisons: &comparisons,
        findings: &findings,
        conclusion: conclusion.as_ref(),
    };
    let text = |color: bool| hakaru_report::comparison_terminal(&report, width, color);
    let csv = || hakaru_report::comparison_csv(&comparisons, names, &b.path_differences);
    let form = args.output.as_ref().map(|path| Form::of(None, Some(path)));
    let file = match form {
        None => None,
        Some(Form::Html) => Some(hakaru_report::comparison_html_with(&report)),
        Some(Form::Markdown) => {
            let page = hakaru_report::comparison_markdown_with(&report, links.as_deref());
            Some(relinked(page, &charts, args.format))
        }
        Some(Form::Csv) => Some(csv()),
        Some(Form::Terminal) => Some(text(false)),
        Some(Form::Parquet) => bail!(no_table()),
    };
    let json = CompareJson {
        sides: both,
        series: vec![json::SeriesHead::of(&a), json::SeriesHead::of(&b)],
        rows: json::rows(&csv()),
    };
    let json = args.json.then(|| json::text(json::COMPARE, &json));
    Ok(Page {
        text: text(true),
        file,
        json: json.transpose()?,
    })
}

/// Compares more than two sides: each is treated as a card, so that all pairs are one family of tests.
fn many(sides: Vec<Summary>, names: &[String], args: &CompareArgs) -> Result<Page> {
    let summary = compared(sides, names)?;
    let charts = hakaru_report::campaign_charts(&summary);
    if args.charts.charts.is_some() {
        let source = hakaru_report::campaign_chart_source(&summary);
        args.charts.save(&charts, args.format, source)?;
    }
    let links = args.charts.linked(args.output.as_deref());
    let form = args.output.as_ref().map(|path| Form::of(None, Some(path)));
    let file = match form {
        None => None,
        Some(Form::Html) => Some(hakaru_report::campaign_html(&summary)),
        Some(Form::Markdown) => {
            let page = hakaru_report::campaign_markdown(&summary, links.as_deref());
            Some(relinked(page, &charts, args.format))
        }
        Some(Form::Csv) => Some(hakaru_report::campaign_csv(&summary)),
        Some(Form::Terminal) => Some(hakaru_report::campaign_terminal(&summary, width(), false)),
        Some(Form::Parquet) => bail!(no_table()),
    };
    let text = hakaru_report::campaign_terminal(&summary, width(), true);
    let heads = summary.cards.iter().flat_map(|card| &card.layers);
    let json = CompareJson {
        sides: names,
        series: heads.map(|of| json::SeriesHead::of(&of.summary)).collect(),
        rows: json::rows(&hakaru_report::campaign_csv(&summary)),
    };
    let json = args.json.then(|| json::text(json::COMPARE, &json));
    Ok(Page {
        text,
        file,
        json: json.transpose()?,
    })
}

/// Returns the comparison of these sides, whose common phases get the names of the first side that has them.
fn compared(sides: Vec<Summary>, names: &[String]) -> Result<CampaignSummary> {
    let mut summaries: Vec<Summary> = Vec::new();
    for mut summary in sides {
        for known in &summaries {
            rename(&mut summary, known);
        }
        summaries.push(summary);
    }
    let kind = |phase: &PhaseSummary| (phase.phase.clone(), phase.op);
    let mut seen = BTreeSet::new();
    let mut shared = false;
    for summary in &summaries {
        let kinds: BTreeSet<_> = summary.phases.iter().map(kind).collect();
        shared |= kinds.iter().any(|kind| seen.contains(kind));
        seen.extend(kinds);
    }
    if !shared {
        bail!(
            both!("cannot compare {}: no two of them have a workload in common; help: `hakaru show` \
            lists the workloads of each", "{}は比較できません（どの2つにも共通のワークロードなし）; help: それぞれのワークロードはhakaru showで確認してください"; names.join(", "))
        );
    }
    let runs = summaries
        .iter()
        .map(|summary| summary.runs.len() as u64)
        .sum();
    let cards = summaries
        .into_iter()
        .zip(names)
        .map(|(summary, name)| card(name, summary));
    let mut all = CampaignSummary {
        name: names.join(", "),
        layers: vec![AS_MEASURED.to_owned()],
        of_sets: true,
        cards: cards.collect(),
        runs,
        ..CampaignSummary::default()
    };
    hakaru_analysis::campaign::conclude(&mut all, &hakaru_analysis::default_rules());
    Ok(all)
}

fn card(name: &str, summary: Summary) -> CardSummary {
    let claims = hakaru_analysis::claims(&summary, &summary.target);
    CardSummary {
        name: name.to_owned(),
        key: name.to_owned(),
        host: summary.environment.hostname.clone(),
        printed: Vec::new(),
        facts: Vec::new(),
        layers: vec![LayerSummary {
            layer: AS_MEASURED.to_owned(),
            summary,
            prepared: Vec::new(),
            advice: Vec::new(),
        }],
        claims,
        costs: Vec::new(),
    }
}

/// Gives the phases of a summary the names of the same workloads of another, if no name is equal.
fn rename(summary: &mut Summary, known: &Summary) {
    let common = common_phases(known, summary);
    let names = common
        .iter()
        .map(|(a, b)| (b.phase.clone(), b.op, a.phase.clone()));
    let names: Vec<_> = names.collect();
    for phase in &mut summary.phases {
        let of_phase =
            |(name, op, _): &&(String, _, String)| *name == phase.phase && *op == phase.op;
        if let Some((_, _, name)) = names.iter().find(of_phase) {
            phase.phase.clone_from(name);
        }
    }
}

/// Returns the names of the sides: the targets, or the arguments if target names are equal or missing.
fn names(sides: &[Summary], args: &CompareArgs) -> Vec<String> {
    let typed = &args.sets;
    let differ = |names: &[String]| {
        let once: BTreeSet<&String> = names.iter().collect();
        once.len() == names.len()
    };
    let targets: Vec<String> = sides
        .iter()
        .map(|side| side.target.display_name())
        .collect();
    let named =
        |(side, typed): (&Summary, &String)| side.target.label.is_some() || !typed.contains(',');
    let all_named =
        targets.iter().all(|name| !name.is_empty()) && sides.iter().zip(typed).all(named);
    if all_named && differ(&targets) {
        return targets;
    }
    let short = |typed: &String| {
        let stem = Path::new(typed).file_stem();
        stem.map_or(typed.to_owned(), |stem| stem.to_string_lossy().into_owned())
    };
    let short: Vec<String> = typed.iter().map(short).collect();
    if differ(&short) {
        return short;
    }
    // For example files of one name in two directories.
    if differ(typed) {
        return typed.clone();
    }
    match &short[..] {
        [a, b] => vec![
            both!("{a} (first)", "{a}（1つ目）"),
            both!("{b} (second)", "{b}（2つ目）"),
        ],
        all => (1..)
            .zip(all)
            .map(|(nth, name)| format!("{name} ({nth})"))
            .collect(),
    }
}
