//! `hakaru compare`: two things side by side, in figures, ratios and words.

use super::report::{Form, NO_TABLE};
use super::{print, terminal_width, width};
use crate::exit::Exit;
use crate::imports;
use crate::place;
use crate::select::{self, Term};
use anyhow::{Result, bail};
use hakaru_analysis::compare::common_phases;
use hakaru_model::caveat::Caveat;
use hakaru_model::finding::{Estimate, LatencySummary, PhaseSummary, Summary};
use hakaru_model::job::Scenario;
use hakaru_model::record::RunRecord;
use hakaru_model::units::{Bytes, BytesPerSec, Iops, Nanos, Quantile};
use hakaru_report::plain;
use hakaru_store::{Filter, Store};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What to compare.
#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// First set of results: run ids, names, `latest` (the newest series), files or directories (comma-separated), or a selection: series=, card=, layer=, host=, date=, campaign=, workload=
    a: String,
    /// Second set of results, in the same form: ratios are B divided by A
    b: String,
    /// Also write the comparison to FILE: HTML, or by its suffix Markdown (.md), CSV (.csv) or text (.txt); `-` for HTML on standard output instead of the text
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Compares, and tells.
pub(crate) fn main(args: &CompareArgs, db: Option<&Path>) -> Result<Exit> {
    let mut stored = StoreSource {
        db,
        store: None,
        notes: BTreeSet::new(),
    };
    let sides = side(&args.a, &mut stored).and_then(|a| Ok((a, side(&args.b, &mut stored)?)));
    stored
        .notes
        .iter()
        .for_each(|note| anstream::eprintln!("note: {note}"));
    let (a, b) = sides?;
    let names = names(&a, &b, args);
    let names = (names.0.as_str(), names.1.as_str());
    let phases = common_phases(&a, &b);
    if phases.is_empty() {
        bail!(
            "{} and {} have no workload in common, so there is nothing to compare; `hakaru show` tells what each did",
            names.0,
            names.1
        );
    }
    let comparisons = hakaru_analysis::compare_summaries(&a, &b);
    let mut text = String::new();
    for (x, y) in &phases {
        text += &table(x, y, names);
        text.push('\n');
    }
    text += "What this proves\n\n";
    text += &hakaru_report::comparison_terminal(&comparisons, names, width());
    let tests = hakaru_report::comparison_tests_terminal(&comparisons, width());
    if !tests.is_empty() {
        text += &format!("\nThe tests behind it\n\n{tests}");
    }
    text += &caveats(&a, names.0);
    text += &caveats(&b, names.1);
    let Some(path) = &args.output else {
        return print(&text).map(|()| Exit::Ok);
    };
    let page = match Form::of(None, Some(path)) {
        Form::Html => hakaru_report::html_comparison(&a, &b, &comparisons),
        Form::Markdown => hakaru_report::comparison_page_markdown(&a, &b, &comparisons, names),
        Form::Csv => hakaru_report::comparison_csv(&comparisons, names),
        Form::Terminal => text.clone(),
        Form::Parquet => bail!(NO_TABLE),
    };
    if place::is_stdout(Some(path)) {
        return print(&page).map(|()| Exit::Ok);
    }
    let printed = print(&text);
    place::write_page(path, page.as_bytes())?;
    printed?;
    print(&format!("\nReport: {}\n", path.display()))?;
    Ok(Exit::Ok)
}

/// What both sides choose from: opened once, when one of them needs it, so that what there is to say of it is said once.
struct StoreSource<'a> {
    db: Option<&'a Path>,
    store: Option<Store>,
    notes: BTreeSet<String>,
}

impl StoreSource<'_> {
    fn store(&mut self) -> Result<&Store> {
        let store = match self.store.take() {
            Some(store) => store,
            None => place::read(self.db)?,
        };
        Ok(self.store.insert(store))
    }

    /// The runs of a thing by its name, else the run of that id alone; of `latest`, its series.
    fn named(&mut self, name: &str) -> Result<Vec<RunRecord>> {
        let store = self.store()?;
        if let Some(records) = of_thing(store, name)? {
            return Ok(records);
        }
        let found = super::report::find(store, name, name == "latest")?;
        if let [only] = &found[..] {
            let rows = store.runs(&Filter::default())?;
            let repeats = rows.iter().filter(|row| row.series == only.series).count();
            if repeats > 1 {
                let short = only.series.get(..8).unwrap_or(&only.series);
                let note = format!(
                    "{name} is one of {repeats} runs of its series; series={short} takes them all"
                );
                self.notes.insert(hakaru_report::plain(&note));
            }
        }
        Ok(found)
    }

    fn chosen(&mut self, terms: &[Term]) -> Result<Vec<RunRecord>> {
        let mut notes = std::mem::take(&mut self.notes);
        let runs = select::runs(self.store()?, terms, &mut notes);
        self.notes = notes;
        runs
    }
}

/// All records that one side names, as one summary.
fn side(names: &str, stored: &mut StoreSource<'_>) -> Result<Summary> {
    let mut records: Vec<RunRecord> = Vec::new();
    let words: Vec<&str> = names
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .collect();
    // A file may be called like a term.
    let term = |word: &&str| {
        if Path::new(word).exists() {
            None
        } else {
            Term::read(word)
        }
    };
    let terms: Vec<Term> = words.iter().filter_map(term).collect();
    if terms.len() == words.len() && !terms.is_empty() {
        records = stored.chosen(&terms)?;
    }
    for name in words.into_iter().filter(|word| term(word).is_none()) {
        let path = Path::new(name);
        let found = if path.exists() {
            imports::records_in(path)?
        } else {
            stored.named(name)?
        };
        if found.is_empty() {
            bail!(
                "no results were found in {name}; `hakaru import --dry-run {name}` tells what was not read, and why"
            );
        }
        for record in found {
            if records.iter().all(|known| known.id != record.id) {
                records.push(record);
            }
        }
    }
    records = select::narrow(records, &terms)?;
    if records.is_empty() {
        bail!(
            "`{names}` names nothing to compare: name runs, things or files, or what they have in common (card=…)"
        );
    }
    let pooled = pooled(&records);
    tell_apart(&mut records);
    let mut summary = hakaru_analysis::summarize(&records);
    count_the_rarest(&mut summary);
    summary.caveats.splice(0..0, pooled);
    if !terms.is_empty() {
        let called: Vec<&str> = terms.iter().map(|term| term.value.as_str()).collect();
        summary.target.label = Some(called.join(", "));
    }
    Ok(summary)
}

/// Runs of different workloads do not repeat one another: what counts is how often the rarest was run.
fn count_the_rarest(summary: &mut Summary) {
    let fewest = summary
        .phases
        .iter()
        .map(|phase| phase.bandwidth.values.len())
        .min()
        .unwrap_or(0) as u32;
    summary
        .caveats
        .retain(|caveat| !matches!(caveat, Caveat::FewRuns { .. }));
    if (1..hakaru_analysis::summarize::FEW_RUNS).contains(&fewest) {
        summary.caveats.push(Caveat::FewRuns { runs: fewest });
    }
}

/// Things by what they are called, and how that is read off a run.
type Kind = (&'static str, fn(&RunRecord) -> String);

/// A side may put different things together; then their differences are in its spread.
fn pooled(records: &[RunRecord]) -> Vec<Caveat> {
    let kinds: [Kind; 3] = [
        ("cards", |record| {
            record
                .campaign
                .as_ref()
                .map_or_else(|| record.target.display_name(), |p| p.card.clone())
        }),
        ("layers", |record| {
            record
                .campaign
                .as_ref()
                .map(|point| point.layer.clone())
                .unwrap_or_default()
        }),
        ("hosts", |record| record.environment.hostname.clone()),
    ];
    let counted = kinds.into_iter().map(|(what, of)| {
        let different: BTreeSet<String> = records
            .iter()
            .map(of)
            .filter(|name| !name.is_empty())
            .collect();
        (what, different.len() as u32)
    });
    let several = counted.filter(|(_, count)| *count > 1);
    several
        .map(|(what, count)| Caveat::Pooled {
            count,
            what: what.to_owned(),
        })
        .collect()
}

/// The runs of a thing by its name; `None` when nothing has that name.
fn of_thing(store: &Store, name: &str) -> Result<Option<Vec<RunRecord>>> {
    let rows = store.runs(&Filter {
        target: Some(name.to_owned()),
        ..Filter::default()
    })?;
    let ids: Vec<&str> = rows
        .iter()
        .rev()
        .filter(|row| row.target == name)
        .map(|row| row.id.as_str())
        .collect();
    let records = ids
        .iter()
        .map(|id| store.run(id))
        .collect::<Result<Vec<_>, _>>()?;
    Ok((!records.is_empty()).then_some(records))
}

/// Phases of different runs are told apart by their names: where one name stands for different jobs, it gets a number.
fn tell_apart(records: &mut [RunRecord]) {
    let mut known: Vec<(String, Scenario)> = Vec::new();
    for record in records {
        for index in 0..record.phases.len() {
            let Some(asked) = record
                .scenario
                .phases
                .get(index)
                .filter(|p| p.name == record.phases[index].name)
            else {
                continue;
            };
            let base = asked.name.clone();
            let alone = Scenario {
                name: String::new(),
                seed: 0,
                phases: vec![asked.clone()],
            };
            let same = |(_, other): &&(String, Scenario)| imports::same_jobs(other, &alone);
            let name = match known.iter().find(same) {
                Some((name, _)) => name.clone(),
                None => {
                    let before = known
                        .iter()
                        .filter(|(_, other)| other.phases[0].name == base)
                        .count();
                    let name = if before == 0 {
                        base
                    } else {
                        format!("{base} ({})", before + 1)
                    };
                    known.push((name.clone(), alone));
                    name
                }
            };
            record.phases[index].name.clone_from(&name);
            record.scenario.phases[index].name = name;
        }
    }
}

/// What the sides are called: by what was measured, and where that is the same, by what was typed.
fn names(a: &Summary, b: &Summary, args: &CompareArgs) -> (String, String) {
    let short = |typed: &str| {
        Path::new(typed)
            .file_stem()
            .map_or(typed.to_owned(), |s| s.to_string_lossy().into_owned())
    };
    let (x, y) = (a.target.display_name(), b.target.display_name());
    let named =
        |summary: &Summary, typed: &str| summary.target.label.is_some() || !typed.contains(',');
    let told = x != y && !x.is_empty() && !y.is_empty() && named(a, &args.a) && named(b, &args.b);
    let (x, y) = if told {
        (x, y)
    } else {
        (short(&args.a), short(&args.b))
    };
    match (x == y, args.a == args.b) {
        (false, _) => (x, y),
        // Files of one name in two folders, or a run and the same run.
        (true, false) => (args.a.clone(), args.b.clone()),
        (true, true) => (format!("{x} (first)"), format!("{y} (second)")),
    }
}

/// One figure of one side.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shown {
    /// A figure.
    One(f64),
    /// The lowest and the highest of figures that cannot be put together, such as percentiles of several runs.
    Range(f64, f64),
}

impl Shown {
    fn one(self) -> Option<f64> {
        match self {
            Shown::One(value) => Some(value),
            Shown::Range(..) => None,
        }
    }

    fn text(self, show: fn(f64) -> String) -> String {
        match self {
            Shown::One(value) => show(value),
            Shown::Range(low, high) => format!("{} to {}", show(low), show(high)),
        }
    }
}

/// One figure of both sides.
struct CompareRow {
    name: String,
    a: Option<Shown>,
    b: Option<Shown>,
    show: fn(f64) -> String,
}

/// The figures of one workload, each with its ratio.
fn table(a: &PhaseSummary, b: &PhaseSummary, names: (&str, &str)) -> String {
    let runs = |phase: &PhaseSummary| phase.bandwidth.values.len();
    // A phase may be called as what it does.
    let op = if a.phase == a.op.name() {
        String::new()
    } else {
        format!(" {}", a.op.name())
    };
    let mut out = format!("{}{op}: {}\n", plain(&a.phase), plain(&a.workload));
    let ns = |v: f64| Nanos(v.round() as u64).to_string();
    let rate = |v: f64| BytesPerSec(v).to_string();
    let both =
        |of: fn(&PhaseSummary) -> Option<f64>| (of(a).map(Shown::One), of(b).map(Shown::One));
    let mut rows = Vec::new();
    let mut row = |name: &str, (a, b): (Option<Shown>, Option<Shown>), show: fn(f64) -> String| {
        rows.push(CompareRow {
            name: name.to_owned(),
            a,
            b,
            show,
        });
    };
    row("bandwidth", both(|p| Some(p.bandwidth.mean)), rate);
    row("IOPS", both(|p| Some(p.iops.mean)), |v| Iops(v).to_string());
    row(
        "latency, mean",
        both(|p| p.latency.as_ref().map(|l| l.mean_ns)),
        ns,
    );
    for (name, q) in [
        ("P95", Quantile::P95),
        ("P99", Quantile::P99),
        ("P99.9", Quantile::P999),
    ] {
        let of = |p: &PhaseSummary| percentile(p.latency.as_ref(), &p.detail.latency_by_run, q);
        row(&format!("latency, {name}"), (of(a), of(b)), ns);
    }
    row(
        "fsync, mean",
        both(|p| p.sync.as_ref().map(|l| l.mean_ns)),
        ns,
    );
    for (name, q) in [
        ("P95", Quantile::P95),
        ("P99", Quantile::P99),
        ("P99.9", Quantile::P999),
    ] {
        let of = |p: &PhaseSummary| percentile(p.sync.as_ref(), &p.detail.sync_by_run, q);
        row(&format!("fsync, {name}"), (of(a), of(b)), ns);
    }
    row(
        "moved in all",
        both(|p| Some(p.detail.moved_in_all.0 as f64).filter(|&n| n > 0.0)),
        |v| Bytes(v as u64).to_string(),
    );
    row(
        "bandwidth over time, least",
        both(|p| p.sustained.as_ref().map(|s| s.min.0)),
        rate,
    );
    row(
        "bandwidth over time, most",
        both(|p| p.sustained.as_ref().map(|s| s.max.0)),
        rate,
    );
    row(
        "bandwidth over time, deviation",
        both(|p| p.sustained.as_ref().map(|s| s.deviation.0)),
        rate,
    );
    let mut lines = vec![[
        String::new(),
        plain(names.0),
        plain(names.1),
        "ratio".to_owned(),
    ]];
    lines.push([
        "runs".to_owned(),
        format!("n = {}", runs(a)),
        format!("n = {}", runs(b)),
        String::new(),
    ]);
    for CompareRow { name, a, b, show } in rows
        .into_iter()
        .filter(|row| row.a.is_some() || row.b.is_some())
    {
        let cell = |shown: Option<Shown>| shown.map_or("–".to_owned(), |shown| shown.text(show));
        let one = |shown: Option<Shown>| shown.and_then(Shown::one);
        let ratio = one(a)
            .zip(one(b))
            .filter(|(a, _)| *a > 0.0)
            .map_or("–".to_owned(), |(a, b)| ratio(b / a));
        lines.push([name, cell(a), cell(b), ratio]);
    }
    let widest = |column: usize| {
        lines
            .iter()
            .map(|line| line[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: [usize; 4] = std::array::from_fn(widest);
    for [name, a, b, ratio] in &lines {
        let line = format!(
            "  {name:<0$}  {a:>1$}  {b:>2$}  {ratio:>3$}",
            widths[0], widths[1], widths[2], widths[3]
        );
        out += line.trim_end();
        out.push('\n');
    }
    out
}

/// The merged percentile. Percentiles that other programs printed cannot be merged: of several runs, from the lowest to
/// the highest.
fn percentile(
    merged: Option<&LatencySummary>,
    by_run: &[(Quantile, Estimate)],
    q: Quantile,
) -> Option<Shown> {
    let merged = merged
        .and_then(|l| l.quantiles.iter().find(|(other, _)| *other == q))
        .map(|(_, value)| value.0 as f64);
    let of_runs = || {
        let (_, estimate) = by_run.iter().find(|(other, _)| *other == q)?;
        let low = estimate.values.iter().copied().reduce(f64::min)?;
        let high = estimate.values.iter().copied().reduce(f64::max)?;
        Some(if low < high {
            Shown::Range(low, high)
        } else {
            Shown::One(low)
        })
    };
    merged.map(Shown::One).or_else(of_runs)
}

/// `6.31x`, `0.43x`, `120x`.
fn ratio(value: f64) -> String {
    if value >= 1e15 {
        return format!("{value:.2e}x");
    }
    let decimals = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.decimals$}x")
}

fn caveats(summary: &Summary, name: &str) -> String {
    if summary.caveats.is_empty() {
        return String::new();
    }
    // What goes into a file is not broken into lines.
    let width = terminal_width().unwrap_or(usize::MAX);
    let line = |text: String| format!("{}\n", hakaru_report::wrapped("  ", &plain(&text), width));
    let lines: String = summary
        .caveats
        .iter()
        .map(|caveat| line(hakaru_report::text::caveat(caveat)))
        .collect();
    format!("\nCaveats of {}\n{lines}", plain(name))
}
