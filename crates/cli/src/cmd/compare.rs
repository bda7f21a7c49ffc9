//! `hakaru compare`: compares sets of results side by side, with figures, ratios and verdicts.

use super::charts::{ChartArgs, ChartFormat, relinked};
use super::report::{Form, no_table};
use super::{json, print, terminal_width, width};
use crate::exit::{Ended, Exit, complain};
use crate::place;
use crate::sides::sides;
use anyhow::{Result, anyhow, bail};
use hakaru_model::finding::Summary;
use hakaru_results::compare::{CompareJson, MOST_SETS, PairOfSets, compared, side_names};
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
    if args.sets.len() > MOST_SETS {
        complain(&anyhow!(
            both!("cannot compare {} sets: the maximum is {MOST_SETS}", "{}組は比較できません（最大{MOST_SETS}組）"; args.sets.len())
        ));
        return Err(Ended(Exit::Usage).into());
    }
    let sides = sides(&args.sets, db)?;
    let names = side_names(&sides, &args.sets);
    let page = match <[Summary; 2]>::try_from(sides) {
        Ok(mut both) => {
            hakaru_analysis::compare_traced(&mut both, 0);
            pair(both, &names, args)?
        }
        Err(sides) => many(sides, &names, args)?,
    };
    write(args, &page)
}

/// A comparison as a terminal shows it, and in the requested form.
struct Page {
    text: String,
    file: Option<String>,
    json: Option<String>,
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
    let pair = PairOfSets::of([&a, &b], [&both[0], &both[1]])?;
    let charts = hakaru_report::comparison_charts(&a, &b, &pair.comparisons);
    if args.charts.charts.is_some() {
        let source = hakaru_report::chart_source(&[a.clone(), b.clone()]);
        args.charts.save(&charts, args.format, source)?;
    }
    let links = args.charts.linked(args.output.as_deref());
    // Do not wrap lines that go to a file.
    let width = terminal_width().unwrap_or(usize::MAX);
    let report = pair.report();
    let text = |color: bool| hakaru_report::comparison_terminal(&report, width, color);
    let form = args.output.as_ref().map(|path| Form::of(None, Some(path)));
    let file = match form {
        None => None,
        Some(Form::Html) => Some(hakaru_report::comparison_html_with(&report)),
        Some(Form::Markdown) => {
            let page = hakaru_report::comparison_markdown_with(&report, links.as_deref());
            Some(relinked(page, &charts, args.format))
        }
        Some(Form::Csv) => Some(pair.csv()),
        Some(Form::Terminal) => Some(text(false)),
        Some(Form::Parquet) => bail!(no_table()),
    };
    let json = args
        .json
        .then(|| json::text(json::COMPARE, &pair.json(both)));
    Ok(Page {
        text: text(true),
        file,
        json: json.transpose()?,
    })
}

/// Compares more than two sides.
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
    let json = args
        .json
        .then(|| json::text(json::COMPARE, &CompareJson::of_sets(&summary, names)));
    Ok(Page {
        text,
        file,
        json: json.transpose()?,
    })
}
