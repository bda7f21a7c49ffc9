//! Tables of results (CSV), with a mapping from columns to quantities.
//!
//! A row is one rate of one target under one workload, possibly the mean of several runs. Does not read the mapping
//! from a file.

use super::units::{Kilo, Ranged, number};
use super::{ImportedRun, Shorten, SourceFormat, Unread, fio, one_phase, unstated};
use hakaru_model::caveat::Caveat;
use hakaru_model::job::{BlockSize, Job, Op, PerOp, Target};
use hakaru_model::record::{PhaseRecord, StopReason, WorkerRecord};
use hakaru_model::reported::{
    JobProperty, Reported, ReportedBlock, ReportedFigure, StatedRate, UnstatedJob, WorkerReport,
};
use hakaru_model::units::{Bytes, SizeSuffixes, parse_size};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Mapping of a table: the meaning of its columns, defaults for all rows, and definitions of workload names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ColumnMapping {
    /// Column separator [default: comma].
    pub separator: Option<char>,
    /// Column names, as in the header row.
    pub columns: ColumnNames,
    /// Defaults for rows that do not specify a value.
    pub fixed: WorkloadColumns,
    /// Unit of bandwidths without one: `MB/s`, `KiB/s`, …
    pub bandwidth_unit: Option<String>,
    /// Definitions of the names in the workload column.
    pub workloads: BTreeMap<String, WorkloadColumns>,
}

/// Column names by quantity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ColumnNames {
    /// The device under test; several columns are joined with blanks.
    pub target: Vec<String>,
    /// The host.
    pub host: Option<String>,
    /// Name of the workload.
    pub workload: Option<String>,
    /// The access pattern in fio's terms: `read`, `randwrite`, …
    pub rw: Option<String>,
    /// Block size.
    pub bs: Option<String>,
    /// Queue depth.
    pub iodepth: Option<String>,
    /// Bandwidth, or mean bandwidth.
    pub bandwidth: Option<String>,
    /// Standard deviation of the bandwidth.
    pub bandwidth_deviation: Option<String>,
    /// Unit of the bandwidth and its deviation.
    pub bandwidth_unit: Option<String>,
    /// I/Os per second, or mean IOPS.
    pub iops: Option<String>,
    /// Standard deviation of the IOPS.
    pub iops_deviation: Option<String>,
    /// Number of runs averaged in the row.
    pub runs: Option<String>,
    /// Source of the row.
    pub source: Option<String>,
}

/// Workload of a row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorkloadColumns {
    /// The access pattern in fio's terms.
    pub rw: Option<String>,
    /// Block size, such as `4KiB`.
    pub bs: Option<String>,
    /// Queue depth.
    pub iodepth: Option<u32>,
    /// Number of concurrent workers.
    pub numjobs: Option<u32>,
    /// Number of writes per `fsync`.
    pub fsync: Option<u32>,
    /// Whether the page cache was bypassed.
    pub direct: Option<bool>,
    /// Operation of the rate, if the access pattern has several.
    pub op: Option<String>,
}

/// Maximum accepted queue depth.
const DEEPEST: u32 = 32_768;

/// One parsed row.
#[derive(Clone, Debug, PartialEq)]
struct CsvRow {
    /// Line number, from 1.
    line: usize,
    /// The device under test.
    target: String,
    /// The host.
    host: String,
    /// Source of the row.
    source: String,
    /// Name of the workload.
    workload: String,
    /// Job that the row describes.
    job: Job,
    /// Operation of the rates.
    op: Op,
    /// Bytes per second.
    bytes_per_s: Option<StatedRate>,
    /// Completions per second.
    iops: Option<StatedRate>,
    /// Contradictions within the row.
    caveats: Vec<Caveat>,
    /// Figures as printed.
    figures: Vec<ReportedFigure>,
    /// Job properties that neither the row nor the mapping specifies.
    unstated: Vec<JobProperty>,
}

/// Returns the mapping for a table with the standard column names.
pub fn mapping_of_header(header: &str) -> Option<ColumnMapping> {
    let cells = cells(header, ',');
    let has = |name: &str| cells.iter().find(|cell| *cell == name).cloned();
    let targets = ["target", "card", "layer"].into_iter();
    let columns = ColumnNames {
        target: targets.filter_map(has).collect(),
        host: has("host"),
        workload: has("workload"),
        rw: has("rw"),
        bs: has("bs"),
        iodepth: has("iodepth"),
        bandwidth: has("bandwidth"),
        bandwidth_deviation: has("bandwidth_deviation"),
        bandwidth_unit: has("bandwidth_unit"),
        iops: has("iops"),
        iops_deviation: has("iops_deviation"),
        runs: has("runs"),
        source: has("source"),
    };
    let rated = columns.bandwidth.is_some() || columns.iops.is_some();
    (rated && columns.rw.is_some()).then(|| ColumnMapping {
        columns,
        ..ColumnMapping::default()
    })
}

/// Reads the rows of a table; unreadable rows are returned with a reason.
fn rows(text: &str, mapping: &ColumnMapping) -> (Vec<CsvRow>, Vec<Unread>) {
    let separator = mapping.separator.unwrap_or(',');
    let mut lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let (mut rows, mut unread) = (Vec::new(), Vec::new());
    let Some((_, header)) = lines.next() else {
        return (rows, unread);
    };
    let header = cells(header.trim_start_matches('\u{feff}'), separator);
    let names = mapping.columns.named();
    for name in names.filter(|name| !header.contains(name)) {
        let why = format!("the table has no column `{name}`, which the mapping names");
        let text = header.join(",").shortened(60);
        unread.push(Unread { line: 1, text, why });
    }
    for (index, text) in lines {
        let line = index + 1;
        let reader = RowReader {
            mapping,
            header: &header,
            cells: &cells(text, separator),
        };
        let text = text.shortened(60);
        match reader.row(line) {
            Ok(row) => rows.push(row),
            Err(why) => unread.push(Unread { line, text, why }),
        }
    }
    (rows, unread)
}

impl ColumnNames {
    fn named(&self) -> impl Iterator<Item = &String> {
        let single = [
            &self.host,
            &self.workload,
            &self.rw,
            &self.bs,
            &self.iodepth,
            &self.bandwidth,
            &self.bandwidth_deviation,
            &self.bandwidth_unit,
            &self.iops,
            &self.iops_deviation,
            &self.runs,
            &self.source,
        ];
        self.target.iter().chain(single.into_iter().flatten())
    }
}

/// The cells of a row with the mapping that gives them meaning.
struct RowReader<'a> {
    mapping: &'a ColumnMapping,
    header: &'a [String],
    cells: &'a [String],
}

impl<'a> RowReader<'a> {
    /// The text in a column, unless the table has no such column or the cell is empty.
    fn cell(&self, column: &Option<String>) -> Option<&'a str> {
        let mut names = self.header.iter();
        let place = names.position(|name| Some(name) == column.as_ref())?;
        let text = self.cells.get(place)?.trim();
        Some(text).filter(|text| !text.is_empty())
    }

    fn workload(&self) -> &'a str {
        self.cell(&self.mapping.columns.workload)
            .unwrap_or_default()
    }

    /// A property of the workload: from its definition, or the default for all rows.
    fn defined<T>(&self, pick: impl Fn(&'a WorkloadColumns) -> Option<T>) -> Option<T> {
        let named = self.mapping.workloads.get(self.workload());
        named.and_then(&pick).or_else(|| pick(&self.mapping.fixed))
    }

    fn row(&self, line: usize) -> Result<CsvRow, String> {
        let columns = &self.mapping.columns;
        let rw = self.cell(&columns.rw);
        let rw = rw.or_else(|| self.defined(|w| w.rw.as_deref()));
        let workload = self.workload();
        let rw = rw.ok_or_else(|| {
            format!("unknown workload `{workload}`: define its rw in the mapping")
        })?;
        let name = if workload.is_empty() { rw } else { workload };
        let (job, op, unstated) = self.job(name, rw)?;
        let text = |column| self.cell(column).unwrap_or_default().to_owned();
        let targets = columns.target.iter();
        let targets = targets.filter_map(|name| self.cell(&Some(name.clone())));
        let mut row = CsvRow {
            line,
            target: targets.collect::<Vec<_>>().join(" "),
            host: text(&columns.host),
            source: text(&columns.source),
            workload: name.to_owned(),
            job,
            op,
            bytes_per_s: None,
            iops: None,
            caveats: Vec::new(),
            figures: Vec::new(),
            unstated,
        };
        self.rates(&mut row)?;
        Ok(row)
    }

    /// The job that a row describes, the operation of its rates, and the properties that are not stated.
    fn job(&self, name: &str, rw: &str) -> Result<(Job, Op, Vec<JobProperty>), String> {
        // Tables write access patterns in upper or lower case.
        let access = fio::jobs_access(rw.trim().to_ascii_lowercase().as_str())
            .ok_or_else(|| format!("`{rw}` is not a fio rw value: expected one of {}", fio::RW))?;
        let usual = Op::ALL.into_iter().find(|&op| access.does(op));
        let op = match self.defined(|w| w.op.as_deref()) {
            Some(name) => hakaru_model::reported::op_named(name)
                .ok_or_else(|| format!("`{name}` is not an operation"))?,
            None => usual.unwrap_or(Op::Read),
        };
        let mut job = Job::new(name, Target::Nothing, access);
        let size = self.block_size()?;
        if let Some(size) = size {
            job.block = PerOp::all(BlockSize::Fixed(size));
        }
        let depth = self.depth()?;
        let direct = self.defined(|w| w.direct);
        let unstated = unstated(&[
            (JobProperty::BlockSize, size.is_some()),
            (JobProperty::QueueDepth, depth.is_some()),
            (JobProperty::Engine, false),
            (JobProperty::Direct, direct.is_some()),
        ]);
        job.queue.iodepth = depth.unwrap_or(1);
        job.numjobs = self.defined(|w| w.numjobs).unwrap_or(1).clamp(1, 4096);
        job.durability.fsync_every = self.defined(|w| w.fsync).unwrap_or(0);
        job.files.direct = direct.unwrap_or(false);
        Ok((job, op, unstated))
    }

    fn block_size(&self) -> Result<Option<Bytes>, String> {
        let bs = self.cell(&self.mapping.columns.bs);
        let Some(bs) = bs.or_else(|| self.defined(|w| w.bs.as_deref())) else {
            return Ok(None);
        };
        // In tables, `4k` means 4096 bytes.
        parse_size(bs, SizeSuffixes::Iec)
            .or_else(|_| parse_size(bs, SizeSuffixes::Fio1024))
            .map(Some)
            .map_err(|error| error.to_string())
    }

    fn depth(&self) -> Result<Option<u32>, String> {
        let depth = match self.cell(&self.mapping.columns.iodepth) {
            Some(text) => Some(
                text.parse()
                    .map_err(|_| format!("`{text}` is not a queue depth"))?,
            ),
            None => self.defined(|w| w.iodepth),
        };
        match depth {
            Some(depth) if !(1..=DEEPEST).contains(&depth) => Err(format!(
                "queue depth {depth} is out of range: expected 1 to {DEEPEST}"
            )),
            depth => Ok(depth),
        }
    }

    /// Number of runs averaged in the row.
    fn runs(&self) -> Result<u32, String> {
        let text = self.cell(&self.mapping.columns.runs).unwrap_or("1");
        match text.parse() {
            Ok(0) => {
                Err("the number of runs is 0: enter at least 1, or leave the cell empty".to_owned())
            }
            Ok(runs) => Ok(runs),
            Err(_) => Err(format!("`{text}` is not a number of runs")),
        }
    }

    /// A rate in a column, added to the figures of the row.
    fn figure(
        &self,
        row: &mut CsvRow,
        name: &str,
        column: &Option<String>,
        unit: Option<&str>,
    ) -> Result<Option<Ranged>, String> {
        let Some(text) = self.cell(column) else {
            return Ok(None);
        };
        let (value, own) =
            number(text).ok_or_else(|| format!("column of {name}: `{text}` is not a number"))?;
        let unit = unit.filter(|_| own.is_empty()).unwrap_or(own);
        if name.contains("bandwidth") && unit.is_empty() {
            return Err(format!(
                "{name} {text} has no unit: set it in the mapping (bandwidth_unit = \"MB/s\")"
            ));
        }
        let figure = ReportedFigure {
            name: name.to_owned(),
            value,
            unit: unit.to_owned(),
        };
        let ranged = Ranged::of(&figure, Kilo::Si)
            .ok_or_else(|| format!("`{unit}` is not a unit of {name}"))?;
        row.figures.push(figure);
        Ok(Some(ranged))
    }

    fn rates(&self, row: &mut CsvRow) -> Result<(), String> {
        let (columns, runs) = (&self.mapping.columns, self.runs()?);
        let unit = self.cell(&columns.bandwidth_unit);
        let unit = unit.or(self.mapping.bandwidth_unit.as_deref());
        let mut rate = |name: &str, column, unit| self.figure(row, name, column, unit);
        let bandwidth = rate("bandwidth", &columns.bandwidth, unit)?;
        let column = &columns.bandwidth_deviation;
        let deviation = rate("deviation of bandwidth", column, unit)?;
        let iops = rate("IOPS", &columns.iops, None)?;
        let iops_deviation = rate("deviation of IOPS", &columns.iops_deviation, None)?;
        if bandwidth.is_none() && iops.is_none() {
            return Err("neither bandwidth nor IOPS".to_owned());
        }
        let stated = |rate: Option<Ranged>, deviation: Option<Ranged>| {
            rate.map(|rate| StatedRate {
                mean: rate.value,
                deviation: deviation.map(|d| d.value),
                runs,
            })
        };
        row.bytes_per_s = stated(bandwidth, deviation);
        row.iops = stated(iops, iops_deviation);
        let block_known = !row.unstated.contains(&JobProperty::BlockSize);
        if let (BlockSize::Fixed(block), true) = (&row.job.block[row.op], block_known) {
            let both = bandwidth.zip(iops);
            let caveat = both.and_then(|(bandwidth, iops)| {
                fio::rate_contradiction(&row.workload, bandwidth, iops, *block)
            });
            row.caveats.extend(caveat);
            row.derive_missing_rate(*block);
        }
        Ok(())
    }
}

impl CsvRow {
    /// The words and figures of the row.
    fn block(&self) -> ReportedBlock {
        let mut block = ReportedBlock::new("row");
        for (name, text) in [
            ("target", &self.target),
            ("host", &self.host),
            ("source", &self.source),
            ("workload", &self.workload),
        ] {
            if !text.is_empty() {
                block.word(name, text);
            }
        }
        block.figures.clone_from(&self.figures);
        block
    }

    /// With a single block size, each rate follows from the other.
    fn derive_missing_rate(&mut self, block: Bytes) {
        let follows = |rate: StatedRate, by: f64| StatedRate {
            mean: rate.mean * by,
            deviation: rate.deviation.map(|d| d * by),
            ..rate
        };
        let size = block.0.max(1) as f64;
        let (bytes_per_s, iops) = (self.bytes_per_s, self.iops);
        self.iops = iops.or_else(|| bytes_per_s.map(|rate| follows(rate, 1.0 / size)));
        self.bytes_per_s = bytes_per_s.or_else(|| iops.map(|rate| follows(rate, size)));
    }
}

/// Converts the rows of a table to runs of one phase each.
pub fn import(text: &str, mapping: &ColumnMapping) -> (Vec<ImportedRun>, Vec<Unread>) {
    let (rows, unread) = rows(text, mapping);
    (rows.into_iter().map(run).collect(), unread)
}

fn run(row: CsvRow) -> ImportedRun {
    let mut report = WorkerReport {
        members: row.job.numjobs,
        ..WorkerReport::default()
    };
    report.ops[row.op].bytes_per_s = row.bytes_per_s;
    report.ops[row.op].iops = row.iops;
    let reported = Reported {
        blocks: vec![row.block()],
        workers: vec![report],
        unstated: vec![UnstatedJob {
            phase: 0,
            job: 0,
            properties: row.unstated,
        }],
        zone_assumed: false,
    };
    let mut phase = PhaseRecord {
        name: row.workload.clone(),
        ..PhaseRecord::default()
    };
    phase.workers.push(WorkerRecord {
        name: row.workload.clone(),
        stop: StopReason::Done,
        ..WorkerRecord::default()
    });
    let scenario = one_phase(&row.workload, vec![row.job]);
    let source = Some(row.source).filter(|source| !source.is_empty());
    let program = source.unwrap_or_else(|| "table".to_owned());
    ImportedRun {
        label: Some(row.target).filter(|target| !target.is_empty()),
        caveats: row.caveats,
        lines: (row.line, row.line),
        ..ImportedRun::new(SourceFormat::Csv, program, scenario, vec![phase], reported)
    }
}

/// Splits a line into cells (RFC 4180): quoted cells may contain separators, and two quotes are
/// one.
fn cells(line: &str, separator: char) -> Vec<String> {
    let mut cells = Vec::new();
    let mut cell = String::new();
    let mut quoted = false;
    let mut rest = line.trim_end_matches('\r').chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' if quoted && rest.peek() == Some(&'"') => {
                cell.push('"');
                rest.next();
            }
            '"' => quoted = !quoted,
            c if c == separator && !quoted => cells.push(std::mem::take(&mut cell)),
            c => cell.push(c),
        }
    }
    cells.push(cell);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping() -> ColumnMapping {
        let some = |name: &str| Some(name.to_owned());
        let workload = |rw: &str, bs: &str| WorkloadColumns {
            rw: some(rw),
            bs: some(bs),
            ..WorkloadColumns::default()
        };
        ColumnMapping {
            columns: ColumnNames {
                target: vec!["card".into(), "layer".into()],
                workload: some("workload"),
                bandwidth: some("bw_mean"),
                bandwidth_deviation: some("bw_stdev"),
                bandwidth_unit: some("bw_unit"),
                iops: some("iops_mean"),
                runs: some("runs"),
                ..ColumnNames::default()
            },
            workloads: [("rand-read-4k".to_owned(), workload("randread", "4k"))].into(),
            ..ColumnMapping::default()
        }
    }

    const MIB: f64 = 1_048_576.0;
    const HEAD: &str = "card,layer,workload,runs,bw_mean,bw_stdev,bw_unit,iops_mean\n";

    #[test]
    fn a_row_becomes_a_rate_with_its_runs() {
        let (rows, unread) = rows(
            &format!("{HEAD}\"king, ston\",vfat,rand-read-4k,10,7.7,0.1,MiB/s,1973\n"),
            &mapping(),
        );
        assert_eq!(unread, []);
        let row = &rows[0];
        assert_eq!(
            (row.target.as_str(), row.caveats.len()),
            ("king, ston vfat", 0)
        );
        assert_eq!(
            row.bytes_per_s,
            Some(StatedRate {
                mean: 7.7 * MIB,
                deviation: Some(0.1 * MIB),
                runs: 10
            })
        );
        assert_eq!(row.iops.unwrap().mean, 1973.0);
    }

    #[test]
    fn a_unit_slip_is_found_by_the_other_column() {
        let (wrong, _) = rows(
            &format!("{HEAD}kingston,vfat,rand-read-4k,10,7.7,0,KB/s,1973\n"),
            &mapping(),
        );
        let text = format!("{:?}", wrong[0].caveats[0]);
        assert!(
            text.contains("7.70 kB/s")
                && text.contains("8.08 MB/s")
                && text.contains("prefix is probably wrong"),
            "{text}"
        );
        let (rows, _) = rows(
            &format!("{HEAD}kingston,vfat,rand-read-4k,10,7.7,0,MB/s,1973\n"),
            &mapping(),
        );
        assert!(
            format!("{:?}", rows[0].caveats[0]).contains("MiB/s for MB/s"),
            "{:?}",
            rows[0].caveats
        );
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let text = format!(
            "{HEAD}a,b,other,1,5,0,MB/s,5\na,b,rand-read-4k,1,nan,0,MB/s,5\na,b,rand-read-4k,1,5,0,,5\na,b,rand-read-4k,many,5,0,MB/s,5\na\n"
        );
        let (rows, unread) = rows(&text, &mapping());
        assert!(rows.is_empty());
        let why: Vec<&str> = unread.iter().map(|u| u.why.as_str()).collect();
        assert!(
            why[0].contains("`other`") && why[1].contains("`nan`") && why[2].contains("no unit"),
            "{why:?}"
        );
        assert!(why[3].contains("`many`") && why.len() == 5, "{why:?}");
        let strange = ColumnMapping {
            columns: ColumnNames {
                iops: Some("IO/s".into()),
                ..mapping().columns
            },
            ..mapping()
        };
        assert!(rows_unread(HEAD, &strange)[0].why.contains("`IO/s`"));
    }

    fn rows_unread(text: &str, mapping: &ColumnMapping) -> Vec<Unread> {
        rows(text, mapping).1
    }

    /// Regression: these were read as a sequential read, a depth of 1, and a mean over 0 runs.
    #[test]
    fn what_is_no_rw_depth_or_count_is_no_row() {
        let text = "target,rw,bs,iodepth,runs,iops\n\
            a,RandRead,4k,4,2,5\na,randraed,4k,1,1,5\na,read,4k,deep,1,5\na,read,4k,0,1,5\na,read,4k,1,0,5\n";
        let (rows, unread) = rows(
            text,
            &mapping_of_header(text.lines().next().unwrap()).unwrap(),
        );
        assert_eq!(rows.len(), 1);
        assert!(rows[0].job.access.random && rows[0].job.queue.iodepth == 4);
        let why: Vec<&str> = unread.iter().map(|u| u.why.as_str()).collect();
        assert!(
            why[0].contains("`randraed`") && why[0].contains("randread,"),
            "{why:?}"
        );
        assert!(
            why[1].contains("`deep`") && why[2].contains("expected 1 to 32768"),
            "{why:?}"
        );
        assert!(
            why[3].contains("number of runs is 0") && why.len() == 4,
            "{why:?}"
        );
    }

    #[test]
    fn plain_tables_need_no_mapping() {
        let text = "target,rw,bs,bandwidth,bandwidth_unit\nmy card,randwrite,4KiB,1.5,MB/s\n";
        let mapping = mapping_of_header(text.lines().next().unwrap()).unwrap();
        let (runs, unread) = import(text, &mapping);
        assert_eq!((runs.len(), unread.len()), (1, 0));
        assert_eq!(
            runs[0].reported.workers[0]
                .ops
                .write
                .iops
                .unwrap()
                .mean
                .round(),
            366.0
        );
        assert_eq!(mapping_of_header("a,b,c"), None);
    }
}
