//! Formats iozone's output with its exact columns.

use super::figures::{FigureUnit, TestFigures};
use super::kind::{COLUMNS, IozoneTest};
use super::lower::IozoneStep;
use super::request::{IozoneMode, IozoneRequest};
use std::fmt::Write as _;

/// The two header lines of the table.
const TABLE_HEAD: &str = concat!(
    "                                                              ",
    "random    random     bkwd    record    stride                                    \n",
    "              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read",
    "   fwrite frewrite    fread  freread\n",
);

/// Column widths of the table. A skipped test leaves blanks; the last column is then one narrower.
const WIDTHS: [usize; COLUMNS] = [9, 9, 9, 9, 9, 9, 9, 10, 10, 9, 9, 9, 9];

/// Data for the header of an output, besides the request.
#[derive(Clone, Copy, Debug)]
pub struct HeadView<'a> {
    /// Version of hakaru.
    pub hakaru: &'a str,
    /// Start time in the format of `date` without a time zone.
    pub began: &'a str,
    /// The command line with the program name.
    pub command: &'a str,
    /// Description of the host, if requested.
    pub machine: &'a str,
}

/// Formats everything before the first result.
pub fn head(request: &IozoneRequest, view: &HeadView<'_>) -> String {
    let mut text = super::help::title(view.hakaru);
    let mut line = |words: &str| {
        let _ = writeln!(text, "\t{words}");
    };
    line(&format!("Run began: {}\n", view.began));
    if request.shows_machine() {
        line(&format!("Machine = {}", view.machine));
    }
    request.said.iter().for_each(|said| line(said));
    line(&format!("Command line used: {}", view.command));
    if request.unit == FigureUnit::KiloBytes {
        line("Output is in kBytes/sec");
    }
    let args = &request.args;
    line("Time Resolution = 0.000001 seconds.");
    let cache_kb = args.cache_kb.unwrap_or(1024);
    line(&format!("Processor cache size set to {cache_kb} kBytes."));
    let line_bytes = args.line_bytes.unwrap_or(32);
    line(&format!(
        "Processor cache line size set to {line_bytes} bytes."
    ));
    let stride = args.stride();
    line(&format!("File stride size set to {stride} * record size."));
    text + &mode_head(&request.mode)
}

/// The lines of the header that depend on the mode.
fn mode_head(mode: &IozoneMode) -> String {
    match mode {
        IozoneMode::Table { .. } => TABLE_HEAD.to_owned(),
        IozoneMode::Throughput {
            children,
            range: true,
            ..
        } => {
            let (min, max) = (children.iter().min(), children.iter().max());
            let (min, max) = (min.unwrap_or(&1), max.unwrap_or(&1));
            format!("\tMin process = {min} \n\tMax process = {max} \n")
        }
        IozoneMode::Throughput { .. } => String::new(),
    }
}

impl IozoneRequest {
    /// Returns `process` or `thread`.
    fn child_word(&self) -> &'static str {
        if self.args.threads {
            "thread"
        } else {
            "process"
        }
    }
}

/// Formats the header before the results of a group of children.
pub fn group_head(request: &IozoneRequest, cell: IozoneStep) -> String {
    let IozoneStep {
        children,
        size_kb,
        record_kb,
    } = cell;
    let word = request.child_word();
    let many = match (children, word) {
        (1, _) => "",
        (_, "process") => "es",
        _ => "s",
    };
    format!(
        "\tThroughput test with {children} {word}{many}\n\
         \tEach {word} writes a {size_kb} kByte file in {record_kb} kByte records\n"
    )
}

/// Spaces between the number of children and their name: older tests pad the number to two digits.
fn children_of(kind: IozoneTest, children: u32) -> String {
    use IozoneTest::{Fread, Fwrite, Read, Rewrite, Write};
    if matches!(kind, Write | Rewrite | Read | Fwrite | Fread) {
        format!("{children:2} {}", kind.workers())
    } else {
        format!("{children} {}", kind.workers())
    }
}

/// Formats the block of one test in throughput mode.
pub fn group_block(
    request: &IozoneRequest,
    kind: IozoneTest,
    cell: IozoneStep,
    figures: &TestFigures,
) -> String {
    let mut text = throughput_lines(request, kind, cell, figures);
    if request.args.cpu_use {
        text += &cpu_line(kind, figures);
    }
    if request.args.show_children {
        let unit = request.unit.amount();
        for (child, (moved, rate)) in figures.each.iter().enumerate() {
            let _ = writeln!(
                text,
                "\tChild[{child}] xfer count = {moved:10.2} {unit}, Throughput = {rate:10.2} {unit}/sec"
            );
        }
    }
    text
}

/// The lines of a test that show the children's and the parent's throughput.
fn throughput_lines(
    request: &IozoneRequest,
    kind: IozoneTest,
    cell: IozoneStep,
    figures: &TestFigures,
) -> String {
    use IozoneTest::{Fread, Fwrite, Read};
    let who = children_of(kind, cell.children);
    let unit = request.unit.amount();
    let word = request.child_word();
    // Short names need an extra tab to align with the others.
    let tabs = |short: bool| if short { "\t\t" } else { "\t" };
    let (first, second) = (
        tabs(kind == Read),
        tabs(matches!(kind, Read | Fwrite | Fread)),
    );
    let (children, parent) = (figures.children, figures.parent);
    let (min, max, avg) = (figures.min, figures.max, figures.avg);
    let min_xfer = figures.min_xfer;
    format!(
        "\n\tChildren see throughput for {who} {first}= {children:10.2} {unit}/sec\n\
         \tParent sees throughput for {who} {second}= {parent:10.2} {unit}/sec\n\
         \tMin throughput per {word} \t\t\t= {min:10.2} {unit}/sec \n\
         \tMax throughput per {word} \t\t\t= {max:10.2} {unit}/sec\n\
         \tAvg throughput per {word} \t\t\t= {avg:10.2} {unit}/sec\n\
         \tMin xfer \t\t\t\t\t= {min_xfer:10.2} {unit}\n"
    )
}

fn cpu_line(kind: IozoneTest, figures: &TestFigures) -> String {
    // iozone capitalizes the name of the first test here.
    let word = if kind == IozoneTest::Write {
        "Utilization"
    } else {
        "utilization"
    };
    let (wall, cpu, percent) = (figures.wall_s, figures.cpu_s, figures.cpu_percent());
    format!(
        "\tCPU {word}: Wall time {wall:8.3}    CPU time {cpu:8.3}    CPU utilization {percent:6.2} %\n"
    )
}

/// A table row that is printed test by test.
#[derive(Debug, Default)]
pub struct TableRow {
    next: usize,
}

impl TableRow {
    /// Starts a row: returns its text and its state.
    pub fn begin(cell: IozoneStep) -> (String, TableRow) {
        (
            format!("{:16}{:8}", cell.size_kb, cell.record_kb),
            TableRow::default(),
        )
    }

    /// Formats the value of a test, with blanks for skipped tests before it.
    pub fn value(&mut self, kind: IozoneTest, value: u64) -> String {
        let column = kind.column().unwrap_or(self.next);
        let mut text = self.blanks(column);
        let _ = write!(text, "{value:width$}", width = WIDTHS[column]);
        self.next = column + 1;
        text
    }

    /// Ends the row.
    pub fn end(&mut self) -> String {
        let mut text = self.blanks(COLUMNS);
        // The last column is one narrower if it is empty.
        text.pop();
        text + "\n"
    }

    fn blanks(&mut self, to: usize) -> String {
        let width: usize = WIDTHS
            .get(self.next..to)
            .map_or(0, |widths| widths.iter().sum());
        self.next = self.next.max(to);
        " ".repeat(width)
    }
}

/// All figures of a run by row or group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// Figures of each test, in the order measured.
    pub all: Vec<(IozoneStep, IozoneTest, TestFigures)>,
}

impl Results {
    /// The figures of a test in the first matching row or group.
    fn find(&self, kind: IozoneTest, at: impl Fn(&IozoneStep) -> bool) -> Option<&TestFigures> {
        let mut all = self.all.iter();
        all.find(|(cell, test, _)| *test == kind && at(cell))
            .map(|(.., figures)| figures)
    }
}

/// Formats everything after the last result.
pub fn tail(request: &IozoneRequest, results: &Results) -> String {
    let reports = if request.args.excel {
        reports(request, results)
    } else {
        Vec::new()
    };
    match request.mode {
        IozoneMode::Table { .. } => {
            let mut text = "\niozone test complete.\n".to_owned();
            if request.args.excel {
                text.push_str("Excel output is below:\n");
                reports
                    .iter()
                    .for_each(|report| text.push_str(&report_text(report)));
            }
            text
        }
        IozoneMode::Throughput { .. } => {
            let mut text = "\n\n".to_owned();
            if let Some(report) = reports.first() {
                text.push('\n');
                text.push_str(&throughput_text(report));
            }
            text + "\niozone test complete.\n"
        }
    }
}

/// One spreadsheet report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpreadsheetReport {
    /// Title lines.
    pub titles: Vec<String>,
    /// Column headers.
    pub heads: Vec<String>,
    /// Name and values of each row.
    pub rows: Vec<(String, Vec<Option<f64>>)>,
}

/// The spreadsheet reports: one per test in auto mode, one for all tests in throughput mode.
pub fn reports(request: &IozoneRequest, results: &Results) -> Vec<SpreadsheetReport> {
    match &request.mode {
        IozoneMode::Table { rows } => {
            let speed = |figures: &TestFigures| figures.in_table(request.unit) as f64;
            let report =
                |&kind: &IozoneTest| table_report(results, rows, kind, kind.report(), &speed);
            let mut all: Vec<SpreadsheetReport> = request.kinds.iter().map(report).collect();
            if request.args.cpu_use {
                let cpu = |figures: &TestFigures| (figures.cpu_percent() * 100.0).round() / 100.0;
                let of = |&kind: &IozoneTest| {
                    let name = format!("{} CPU utilization", kind.report());
                    table_report(results, rows, kind, &name, &cpu)
                };
                all.extend(request.kinds.iter().map(of));
            }
            all
        }
        IozoneMode::Throughput {
            children,
            record_kb,
            ..
        } => vec![throughput_report(request, results, children, *record_kb)],
    }
}

/// The children's throughput of each test, by number of children.
fn throughput_report(
    request: &IozoneRequest,
    results: &Results,
    children: &[u32],
    record_kb: u64,
) -> SpreadsheetReport {
    let value = |kind: IozoneTest, count: u32| {
        let figures = results.find(kind, |cell| cell.children == count);
        figures.map(|figures| figures.children)
    };
    let row = |&kind: &IozoneTest| {
        let values = children.iter().map(|&count| value(kind, count));
        (kind.excel().to_owned(), values.collect())
    };
    let unit = if request.unit == FigureUnit::Ops {
        "ops"
    } else {
        "kBytes"
    };
    SpreadsheetReport {
        titles: vec![
            "Throughput report Y-axis is type of test X-axis is number of processes".to_owned(),
            format!("Record size = {record_kb} kBytes "),
            format!("Output is in {unit}/sec"),
        ],
        heads: children.iter().map(u32::to_string).collect(),
        rows: request.kinds.iter().map(row).collect(),
    }
}

/// One value per row and record size, titled `name`.
fn table_report(
    results: &Results,
    rows: &[(u64, u64)],
    kind: IozoneTest,
    name: &str,
    of: &dyn Fn(&TestFigures) -> f64,
) -> SpreadsheetReport {
    let sorted = |mut all: Vec<u64>| {
        all.sort_unstable();
        all.dedup();
        all
    };
    let records = sorted(rows.iter().map(|row| row.1).collect());
    let value = |size: u64, record: u64| {
        let at = |cell: &IozoneStep| (cell.size_kb, cell.record_kb) == (size, record);
        results.find(kind, at).map(of)
    };
    let row = |size: u64| {
        let values = records.iter().map(|&record| value(size, record));
        (size.to_string(), values.collect())
    };
    let sizes = sorted(rows.iter().map(|row| row.0).collect());
    SpreadsheetReport {
        titles: vec![format!("{name} report")],
        heads: records.iter().map(u64::to_string).collect(),
        rows: sizes.into_iter().map(row).collect(),
    }
}

/// ```text
/// "Writer report"
///         "4"  "8"
/// "64"   173944  180000
/// ```
fn report_text(report: &SpreadsheetReport) -> String {
    let mut text = String::from("\n");
    for title in &report.titles {
        let _ = writeln!(text, "\"{title}\"");
    }
    let heads: Vec<String> = report
        .heads
        .iter()
        .map(|head| format!("\"{head}\""))
        .collect();
    let _ = writeln!(text, "        {}", heads.join("  "));
    for (name, values) in &report.rows {
        let _ = write!(text, "\"{name}\"  ");
        let measured = values
            .iter()
            .rposition(Option::is_some)
            .map_or(0, |last| last + 1);
        for value in &values[..measured] {
            // A 0 marks a missing value if a larger size was measured.
            let _ = write!(text, " {} ", value.unwrap_or(0.0));
        }
        text.push('\n');
    }
    text
}

fn throughput_text(report: &SpreadsheetReport) -> String {
    let mut text = String::new();
    for title in &report.titles {
        let _ = writeln!(text, "\"{title}\"");
    }
    text.push('\n');
    for (name, values) in &report.rows {
        let _ = write!(text, "\"{name:>15} \"");
        for value in values.iter().flatten() {
            let _ = write!(text, " {value:10.2} ");
        }
        text.push_str("\n\n");
    }
    text
}
