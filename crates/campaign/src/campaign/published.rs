//! Reads published results from a CSV file: means and standard deviations, used like stored results.
//!
//! The file has a header line and these columns in any order, without quoted fields: `card`, `layer`, `workload`,
//! `runs`, `bw_mean`, `bw_stdev`, `bw_unit`, `iops_mean`, `iops_stdev`, and optionally `host`. Values that such a
//! table lacks (percentiles, single runs) stay unknown. If bandwidth and IOPS contradict each other, a note reports
//! it and the figures are kept as published.

mod consistency;

use super::measurements::{CardMeasurements, LayerMeasurements};
use super::spec::{Campaign, CampaignWorkload};
use consistency::{contradiction, units, whole_iops};
use hakaru_analysis::estimate::{estimate, published};
use hakaru_analysis::stats::SampleMoments;
use hakaru_model::facts::{Environment, Fact, Filesystem, Identity, TargetKind, UnknownReason};
use hakaru_model::finding::{
    Estimate, JobDescription, PhaseDetail, PhaseSummary, Summary, SummaryOrigin, WorkloadShape,
};
use hakaru_model::job::{BlockSize, Job, Op, SizeSpec};
use hakaru_model::units::{Bytes, Nanos};
use hakaru_report::both;
use std::path::PathBuf;

/// An error in a table, with its line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", at_line(*line, message))]
pub struct TableError {
    /// Line number, from 1.
    pub line: usize,
    /// The error.
    pub message: String,
}

fn at_line(line: usize, message: &str) -> String {
    both!("line {line}: {message}", "{line}行目: {message}")
}

/// A parsed table.
#[derive(Clone, Debug, Default)]
pub struct PublishedTable {
    /// Its cards.
    pub cards: Vec<CardMeasurements>,
    /// Notes about inconsistent figures.
    pub notes: Vec<String>,
    /// Number of rows whose card, layer or workload is not in the campaign.
    pub foreign: u64,
}

/// Columns that the header must have.
const COLUMNS: [&str; 3] = ["card", "layer", "workload"];

/// A row of the table.
struct PublishedRow<'a> {
    card: &'a str,
    host: &'a str,
    layer: &'a str,
    runs: u32,
    bandwidth: Estimate,
    iops: Estimate,
    /// Bandwidth as published, in `unit`.
    printed: &'a str,
    unit: &'a str,
    workload: &'a CampaignWorkload,
}

/// Reads the rows that belong to a campaign; `source` is the display name of the table.
///
/// # Errors
/// [`TableError`] at the first invalid line.
pub fn table(text: &str, source: &str, campaign: &Campaign) -> Result<PublishedTable, TableError> {
    let mut lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    let cells = |line| str::split(line, ',').map(str::trim).collect::<Vec<&str>>();
    let head = lines.next().map(|(_, line)| cells(line));
    let head = head.unwrap_or_default();
    if let Some(absent) = COLUMNS.iter().find(|column| !head.contains(*column)) {
        return Err(TableError {
            line: 1,
            message: both!(
                "the header has no column `{absent}`; help: it needs {}",
                "見出し行に列{absent}なし; help: 必要な列: {}";
                COLUMNS.join(", ")
            ),
        });
    }
    let mut found = PublishedTable::default();
    let mut rows = Vec::new();
    for (index, line) in lines {
        let failed = |message: String| TableError {
            line: index + 1,
            message,
        };
        let columns = TableColumns {
            head: &head,
            cells: &cells(line),
        };
        match row(&columns, campaign).map_err(failed)? {
            Some(row) => rows.push(row),
            None => found.foreign += 1,
        }
    }
    found.notes = units(&mut rows);
    found.notes.extend(whole_iops(&mut rows));
    found.notes.extend(rows.iter().filter_map(contradiction));
    found.cards = cards(&rows, source, campaign);
    Ok(found)
}

struct TableColumns<'c, 'a> {
    head: &'c [&'a str],
    cells: &'c [&'a str],
}

impl<'a> TableColumns<'_, 'a> {
    fn get(&self, name: &str) -> Option<&'a str> {
        let place = self.head.iter().position(|head| *head == name)?;
        self.cells
            .get(place)
            .copied()
            .filter(|cell| !cell.is_empty())
    }

    fn needed(&self, name: &str) -> Result<&'a str, String> {
        self.get(name).ok_or_else(|| missing(name))
    }

    fn number(&self, name: &str) -> Result<Option<f64>, String> {
        let Some(text) = self.get(name) else {
            return Ok(None);
        };
        let number = text
            .parse::<f64>()
            .ok()
            .filter(|n| n.is_finite() && *n >= 0.0);
        number.map(Some).ok_or_else(|| {
            both!(
                "column `{name}`: `{text}` is not a number of 0 or more",
                "列{name}: 「{text}」は0以上の数値ではありません"
            )
        })
    }

    /// Returns the estimate that the columns of a mean and a deviation give, in units of `factor`.
    fn estimate(
        &self,
        runs: u32,
        mean: &str,
        deviation: &str,
        factor: f64,
    ) -> Result<Estimate, String> {
        let of = self.number(mean)?.ok_or_else(|| missing(mean))? * factor;
        let deviation = self.number(deviation)?.map(|d| d * factor);
        let moments = deviation.and_then(|d| SampleMoments::new(runs as usize, of, d));
        let single = || {
            estimate(&[of])
                .ok_or_else(|| both!("`{mean}` is not finite", "{mean}が有限の値ではありません"))
        };
        let rounding = self.get(mean).map_or(0.0, half_a_digit) * factor;
        moments.map_or_else(single, |moments| Ok(published(&moments, rounding)))
    }
}

fn missing(column: &str) -> String {
    both!(
        "the column `{column}` is missing or empty",
        "列{column}がないか、空です"
    )
}

fn row<'a>(
    columns: &TableColumns<'_, 'a>,
    campaign: &'a Campaign,
) -> Result<Option<PublishedRow<'a>>, String> {
    let (card, layer) = (columns.needed("card")?, columns.needed("layer")?);
    let name = columns.needed("workload")?;
    let workload = campaign.workloads.iter().find(|of| of.name == name);
    let has_card = campaign.cards.iter().any(|known| known.label == card);
    let has_layer = campaign.layers.iter().any(|known| known.name == layer);
    let Some(workload) = workload.filter(|_| has_card && has_layer) else {
        return Ok(None);
    };
    let runs = columns.needed("runs")?.parse().ok().filter(|n| *n > 0);
    let runs =
        runs.ok_or_else(|| both!("runs must be greater than 0", "runsには1以上の値が必要です"))?;
    let unit = columns.needed("bw_unit")?;
    let factor = factor(unit).ok_or_else(|| {
        both!(
            "`{unit}` is not a unit of bandwidth: expected MB/s, MiB/s, KB/s or KiB/s",
            "「{unit}」はスループットの単位ではありません（MB/s、MiB/s、KB/s、KiB/s）"
        )
    })?;
    Ok(Some(PublishedRow {
        card,
        host: columns.get("host").unwrap_or_default(),
        layer,
        runs,
        bandwidth: columns.estimate(runs, "bw_mean", "bw_stdev", factor)?,
        iops: columns.estimate(runs, "iops_mean", "iops_stdev", 1.0)?,
        printed: columns.needed("bw_mean")?,
        unit,
        workload,
    }))
}

/// Returns half of the last digit of a published number: 0.05 for `12.3`, 0.5 for `120`.
fn half_a_digit(printed: &str) -> f64 {
    let decimals = printed
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len());
    0.5 * 10f64.powi(-(decimals.min(300) as i32))
}

/// Returns the bytes per second of a unit.
fn factor(unit: &str) -> Option<f64> {
    Some(match unit {
        "B/s" => 1.0,
        "KB/s" | "kB/s" => 1e3,
        "MB/s" => 1e6,
        "KiB/s" => 1024.0,
        "MiB/s" => 1_048_576.0,
        _ => return None,
    })
}

/// Returns the bandwidth that follows from the IOPS and the block size.
fn implied(row: &PublishedRow<'_>) -> Option<f64> {
    let (job, op) = job_of(row.workload)?;
    Some(row.iops.mean * job.block[op].max().0 as f64)
}

/// Returns the first job of a workload and its operation.
fn job_of(workload: &CampaignWorkload) -> Option<(&hakaru_model::job::Job, Op)> {
    let job = workload.scenario.phases.first()?.jobs.first()?;
    Op::ALL
        .into_iter()
        .find(|&op| job.access.does(op))
        .map(|op| (job, op))
}

/// Groups the rows by card and layer.
fn cards(rows: &[PublishedRow<'_>], source: &str, campaign: &Campaign) -> Vec<CardMeasurements> {
    let mut cards: Vec<CardMeasurements> = Vec::new();
    for row in rows {
        let PublishedRow {
            card, host, layer, ..
        } = *row;
        let known = cards
            .iter()
            .position(|of| of.key == card && of.host == host);
        let known = known.unwrap_or_else(|| {
            let name = card.to_owned();
            cards.push(CardMeasurements::new(campaign, card, name, card, host));
            cards.len() - 1
        });
        let layers = &mut cards[known].layers;
        let known = layers.iter().position(|of| of.layer == layer);
        let known = known.unwrap_or_else(|| {
            layers.push(LayerMeasurements {
                layer: layer.to_owned(),
                summary: summary(row, source, campaign),
                prepared: Vec::new(),
                rounds: Vec::new(),
            });
            layers.len() - 1
        });
        layers[known].summary.phases.extend(phase(row));
    }
    cards
}

/// Returns the summary of a card through a layer, without phases.
fn summary(row: &PublishedRow<'_>, source: &str, campaign: &Campaign) -> Summary {
    Summary {
        series: format!("published-{}-{}", row.card, row.layer),
        runs: vec!["published".to_owned()],
        scenario: campaign.name.clone(),
        started_unix_ms: 0,
        last_started_unix_ms: 0,
        origin: SummaryOrigin::Published {
            source: source.to_owned(),
        },
        target: target(row),
        environment: Environment {
            hostname: row.host.to_owned(),
            ..Environment::default()
        },
        phases: Vec::new(),
        caveats: Vec::new(),
        caveat_phases: Default::default(),
        overhead_ns: None,
        paths: Vec::new(),
        annotations: Default::default(),
        traced: Vec::new(),
        prepared: Vec::new(),
        path_differences: Vec::new(),
    }
}

fn target(row: &PublishedRow<'_>) -> Identity {
    let (kind, filesystem) = match row.layer {
        "raw" => (TargetKind::BlockDevice, None),
        layer => {
            let filesystem = Filesystem {
                fs_type: layer.to_owned(),
                ..Filesystem::default()
            };
            (TargetKind::File, Some(filesystem))
        }
    };
    Identity {
        path: PathBuf::from(row.card),
        kind,
        filesystem,
        device: Fact::Unknown(UnknownReason::NotInPublishedTable),
        system_disk: false,
        label: Some(row.card.to_owned()),
    }
}

fn phase(row: &PublishedRow<'_>) -> Option<PhaseSummary> {
    let (job, op) = job_of(row.workload)?;
    let shape = shape(job, op);
    let order = match shape.random {
        true => "random",
        false => "sequential",
    };
    let (op_name, block, depth) = (op.name(), shape.block, shape.iodepth);
    Some(PhaseSummary {
        phase: row.workload.name.clone(),
        op,
        workload: format!("{order} {op_name}, {block}, queue depth {depth}"),
        bandwidth: row.bandwidth.clone(),
        iops: row.iops.clone(),
        latency: None,
        sync: None,
        timelines: Vec::new(),
        sustained: None,
        amplification: None,
        errors: 0,
        detail: PhaseDetail {
            jobs: vec![JobDescription {
                op: Some(op),
                random: Some(shape.random),
                block: Some(BlockSize::Fixed(block)),
                iodepth: Some(depth),
                numjobs: 1,
                ..JobDescription::default()
            }],
            shape: Some(shape),
            headline: hakaru_analysis::headline(&row.bandwidth, &row.iops),
            measured: job.timing.runtime.unwrap_or(Nanos(0)),
            moved: Bytes(0),
            stated_runs: row.bandwidth.values.is_empty().then_some(row.runs),
            ..PhaseDetail::default()
        },
    })
}

fn shape(job: &Job, op: Op) -> WorkloadShape {
    WorkloadShape {
        random: job.access.random,
        read_percent: job.access.mix.read,
        block: job.block[op].max(),
        iodepth: job.effective_depth(),
        workers: job.numjobs,
        sync_every: job.durability.fsync_every,
        sync_open: job.durability.sync,
        direct: job.files.direct,
        extent: match job.extent.size {
            Some(SizeSpec::Bytes(size)) => Some(size),
            _ => None,
        },
    }
}
