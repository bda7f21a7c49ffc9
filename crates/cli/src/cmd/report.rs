//! `hakaru report`: writes reports on stored runs, verifications and anatomies from the store alone.

use super::card::{self, CardFormat};
use super::charts::{ChartArgs, ChartFormat, relinked, saved};
use super::unreadable::Unreadable;
use super::{json, print, width};
use crate::exit::{Exit, usage};
use crate::names;
use crate::place;
use anyhow::{Result, bail};
use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use hakaru_model::advice::RunFindings;
use hakaru_model::anatomy_record::AnatomyRecord;
use hakaru_model::finding::Summary;
use hakaru_model::integrity::Verification;
use hakaru_results::report::ReportJson;
use hakaru_store::Store;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Arguments of `hakaru report`.
#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// Labels, run ids or unique prefixes, each with all repeats of its series; `latest` for the newest, `latest:2` for the one before
    #[arg(required = true)]
    runs: Vec<String>,
    /// Format of the report [default: by the ending of the output, else html], or of the saved charts (svg, png)
    #[arg(long, value_parser = ReportFormat::of_runs())]
    format: Option<ReportFormat>,
    /// Print the figures and conclusions as JSON
    #[arg(long, conflicts_with_all = ["format", "charts"])]
    json: bool,
    /// Print the rate card to post in a forum, or write it as a picture
    #[arg(long, value_name = "FORMAT", conflicts_with_all = ["format", "charts", "json"])]
    card: Option<CardFormat>,
    /// TOML file with rules for uses; a rule replaces the built-in one with the same id
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    #[command(flatten)]
    charts: ChartArgs,
    /// Write to FILE; `-` for standard output [default: HTML beside the database, others to standard output]
    #[arg(long, short, value_name = "FILE", value_parser = place::page_path())]
    output: Option<PathBuf>,
}

/// Format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Plain text
    Terminal,
    /// One self-contained page
    Html,
    /// For an article or a wiki
    Markdown,
    /// For spreadsheets and scripts
    Csv,
    /// The same table, for data analysis tools
    Parquet,
}

/// Error for Parquet files of anything other than a campaign.
pub(crate) fn no_table() -> String {
    both!(
        "only `hakaru campaign report` writes Parquet; help: name a .html, .md, .csv or .txt file",
        "Parquetで書き出せるのはhakaru campaign reportだけです; help: .html、.md、.csv、.txtのファイルを指定してください"
    )
}

/// The value of `--format`: the format of the report, or of its saved charts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReportFormat {
    /// Format of the report
    Page(Form),
    /// Format of the saved charts
    Charts(ChartFormat),
}

impl ReportFormat {
    /// Returns the formats available for runs.
    fn of_runs() -> impl TypedValueParser<Value = ReportFormat> {
        let forms = Form::value_variants().iter();
        ReportFormat::among(forms.filter(|form| **form != Form::Parquet))
    }

    /// Returns the formats available for campaigns.
    pub(crate) fn of_campaigns() -> impl TypedValueParser<Value = ReportFormat> {
        ReportFormat::among(Form::value_variants().iter())
    }

    fn among(
        forms: impl Iterator<Item = &'static Form>,
    ) -> impl TypedValueParser<Value = ReportFormat> {
        let charts = ChartFormat::value_variants().iter();
        let names = forms.filter_map(Form::to_possible_value);
        let names = names.chain(charts.filter_map(ChartFormat::to_possible_value));
        PossibleValuesParser::new(names).try_map(|name| {
            let page = Form::from_str(&name, false).map(ReportFormat::Page);
            page.or_else(|_| ChartFormat::from_str(&name, false).map(ReportFormat::Charts))
        })
    }

    /// The format of the report, if it is given.
    pub(crate) fn page(self) -> Option<Form> {
        match self {
            ReportFormat::Page(form) => Some(form),
            ReportFormat::Charts(_) => None,
        }
    }

    /// The format of the charts, if it is given.
    pub(crate) fn charts(self) -> Option<ChartFormat> {
        match self {
            ReportFormat::Page(_) => None,
            ReportFormat::Charts(format) => Some(format),
        }
    }
}

impl Form {
    /// Returns the requested format, otherwise the format of the file extension, otherwise HTML.
    pub(crate) fn of(asked: Option<Form>, output: Option<&Path>) -> Form {
        let ending = output
            .and_then(|path| path.extension()?.to_str())
            .map(str::to_ascii_lowercase);
        asked.unwrap_or(match ending.as_deref() {
            Some("md" | "markdown") => Form::Markdown,
            Some("csv") => Form::Csv,
            Some("parquet") => Form::Parquet,
            Some("txt") => Form::Terminal,
            _ => Form::Html,
        })
    }
}

fn summaries(store: &Store, names: &[String], unreadable: &mut Unreadable) -> Result<Vec<Summary>> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for name in names {
        let series = names::series_named(store, name)?;
        names::note_several(store, name, &series)?;
        for series in series {
            if seen.insert(series.clone()) {
                let found = store.readable_series(&series)?;
                let records = unreadable.skip_some("run", found)?;
                all.push(super::summarize(store, &records)?);
            }
        }
    }
    Ok(all)
}

/// Writes the report.
pub(crate) fn main(args: &ReportArgs, db: Option<&Path>) -> Result<Exit> {
    let store = place::read(db)?;
    if let [only] = args.runs.as_slice()
        && let Some(verification) = place::verification(&store, only)?
    {
        return of_verification(args, &store, &verification);
    }
    if let [only] = args.runs.as_slice()
        && let Some(record) = hakaru_results::lookup::only_anatomy(&store, only)?
    {
        return of_anatomy(args, &store, &record);
    }
    let mut unreadable = Unreadable::default();
    let mut summaries = summaries(&store, &args.runs, &mut unreadable)?;
    if let Some(format) = args.card {
        card::post(&store, &summaries, format, args.output.as_deref())?;
        return Ok(unreadable.exit());
    }
    hakaru_analysis::compare_traced(&mut summaries, 0);
    let references = super::reference::load(&store);
    let rules = crate::rules::load(args.rules.as_deref())?;
    let findings = summaries.iter();
    let findings = findings.map(|summary| super::findings_by(summary, &references, &rules));
    let findings: Vec<RunFindings> = findings.collect();
    if args.json {
        let body = ReportJson::of(&summaries, &findings);
        json::write(args.output.as_deref(), json::REPORT, &body)?;
        return Ok(unreadable.exit());
    }
    let charts = hakaru_report::charts(&summaries);
    let chart_format = args.format.and_then(ReportFormat::charts);
    let source = hakaru_report::chart_source(&summaries);
    args.charts.save(&charts, chart_format, source)?;
    if let (Some(directory), Some(_), None) = (&args.charts.charts, chart_format, &args.output) {
        print(&saved(&charts, directory))?;
        return Ok(unreadable.exit());
    }
    let links = args.charts.linked(args.output.as_deref());
    let form = Form::of(
        args.format.and_then(ReportFormat::page),
        args.output.as_deref(),
    );
    let text = match form {
        Form::Markdown => {
            let page = hakaru_report::markdown_with(&summaries, &findings, links.as_deref());
            relinked(page, &charts, chart_format)
        }
        Form::Csv => hakaru_report::csv_with(&summaries, &findings),
        Form::Html => hakaru_report::html_with(&summaries, &findings),
        Form::Terminal => {
            let all = summaries.iter().zip(&findings);
            let all = all.map(|(s, found)| hakaru_report::terminal_with(s, found, width(), false));
            all.collect::<Vec<_>>().join("\n")
        }
        Form::Parquet => bail!(no_table()),
    };
    let Some(first) = summaries.first() else {
        bail!(both!("no runs named", "測定が指定されていません"))
    };
    write(args, &store, form, &first.series, &text)?;
    Ok(unreadable.exit())
}

/// Writes a report where the options say; `id` names the file beside the database.
fn write(args: &ReportArgs, store: &Store, form: Form, id: &str, text: &str) -> Result<()> {
    let output = args.output.as_deref();
    if place::is_stdout(output) || output.is_none() && form != Form::Html {
        return print(text);
    }
    let path = place::write_report(store, output, id, text)?;
    print(&format!("{}\n", path.display()))
}

/// Writes the report of an anatomy.
fn of_anatomy(args: &ReportArgs, store: &Store, record: &AnatomyRecord) -> Result<Exit> {
    if args.card.is_some() {
        return Err(usage(both!(
            "an anatomy has no rate card; help: omit --card",
            "カードの構造に結果カードはありません; help: --cardを省いてください"
        )));
    }
    if args.json {
        super::anatomy::print_stored(store, record, true)?;
        return Ok(Exit::Ok);
    }
    let charts = hakaru_report::anatomy_charts(record);
    let chart_format = args.format.and_then(ReportFormat::charts);
    args.charts.save(&charts, chart_format, String::new())?;
    if let (Some(directory), Some(_), None) = (&args.charts.charts, chart_format, &args.output) {
        print(&saved(&charts, directory))?;
        return Ok(Exit::Ok);
    }
    let form = Form::of(
        args.format.and_then(ReportFormat::page),
        args.output.as_deref(),
    );
    let names = store.annotations(&record.id)?;
    let advice = hakaru_campaign::anatomy::advise(&record.anatomy);
    let text = match form {
        Form::Html => hakaru_report::anatomy_html(record, &advice, &names),
        Form::Markdown => hakaru_report::anatomy_markdown(record, &advice, &names),
        Form::Terminal => hakaru_report::anatomy_terminal(record, &advice, &names, width(), false),
        Form::Csv | Form::Parquet => bail!(both!(
            "an anatomy has no table of runs; help: use --json, or name a .html, .md or .txt file",
            "カードの構造に測定の表はありません; help: --jsonを使うか、.html、.md、.txtのファイルを指定してください"
        )),
    };
    write(args, store, form, &record.id, &text)?;
    Ok(Exit::Ok)
}

/// Writes the report of a verification: HTML or Markdown with the speed map, or the speed map as CSV rows.
fn of_verification(args: &ReportArgs, store: &Store, verification: &Verification) -> Result<Exit> {
    if args.card.is_some() {
        return Err(usage(both!(
            "a verification has no rate card; help: omit --card",
            "検証結果に結果カードはありません; help: --cardを省いてください"
        )));
    }
    if args.json {
        let raw = store.raw_verification(&verification.id)?;
        json::print(json::VERIFICATION, &raw)?;
        return Ok(Exit::Ok);
    }
    let charts = hakaru_report::verification_charts(verification);
    let chart_format = args.format.and_then(ReportFormat::charts);
    args.charts.save(&charts, chart_format, String::new())?;
    if let (Some(directory), Some(_), None) = (&args.charts.charts, chart_format, &args.output) {
        print(&saved(&charts, directory))?;
        return Ok(Exit::Ok);
    }
    let form = Form::of(
        args.format.and_then(ReportFormat::page),
        args.output.as_deref(),
    );
    let names = store.annotations(&verification.id)?;
    let text = match form {
        Form::Csv => hakaru_report::verification_csv(verification),
        Form::Html => hakaru_report::verification_html(verification, &names),
        Form::Markdown => hakaru_report::verification_markdown(verification, &names),
        Form::Terminal => {
            hakaru_report::verification_terminal(verification, &names, width(), false)
        }
        Form::Parquet => bail!(no_table()),
    };
    write(args, store, form, &verification.id, &text)?;
    Ok(Exit::Ok)
}
