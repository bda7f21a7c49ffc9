//! The terse output: one line of semicolon-separated fields per reported job.

use super::distribution::{LatencyShares, depth_shares};
use super::merge::{
    GroupOp, OpTotals, ReportGroup, ReportedJob, groups, reports, share_of_whole_group,
};
use super::normal::busy_share;
use super::percentile::PercentileSelection;
use super::view::RunView;
use crate::fio::UnifiedReporting;
use hakaru_model::job::Op;
use hakaru_model::record::{Latency, Samples};

/// Number of percentile fields, used or not.
const PERCENTILES: usize = 20;

/// Formats one line per reported job in terse version 2, 3, 4 or 5; any other version is treated as 3.
pub fn terse(view: &RunView<'_>, version: u8) -> String {
    let version = if (2..=5).contains(&version) {
        version
    } else {
        3
    };
    let reports = reports(view);
    let groups = groups(&reports);
    let lines = reports.iter().filter_map(|report| {
        let group = groups.iter().find(|group| group.number == report.group)?;
        Some(line(view, report, group, version))
    });
    lines.collect()
}

fn line(
    view: &RunView<'_>,
    report: &ReportedJob<'_>,
    group: &ReportGroup<'_>,
    version: u8,
) -> String {
    let mut fields = TerseFields(vec![version.to_string()]);
    if version > 2 {
        fields.put(view.version);
    }
    let errno = report.fatal.map_or(0, |error| error.errno);
    fields.put(&report.job.name).put(report.group).put(errno);
    operations(&mut fields, report, group, version);
    host(&mut fields, report);
    if version > 2 {
        disks(&mut fields, view);
    }
    if report.continues_on_errors() {
        let first = report.first_error.map_or(0, |error| error.errno);
        fields.put(report.errors).put(first);
    }
    let mut line = fields.0.join(";");
    if let Some(description) = &report.extras.description {
        // Version 2 ends its line before the description; existing parsers depend on this.
        line += if version == 2 { "\n;" } else { ";" };
        line += description;
    }
    line + "\n"
}

/// CPU use, queue depths and the latency distribution.
fn host(fields: &mut TerseFields, report: &ReportedJob<'_>) {
    let cpu = &report.cpu;
    fields
        .put(format!("{:.6}%", report.cpu_share(cpu.user)))
        .put(format!("{:.6}%", report.cpu_share(cpu.system)))
        .put(cpu.ctx)
        .put(cpu.majf)
        .put(cpu.minf);
    for share in depth_shares(&report.depth.level, report.depth_total()) {
        fields.push(format!("{share:.1}%"));
    }
    let shares = LatencyShares::of(report);
    for share in shares.us_with_ns().iter().chain(&shares.ms) {
        fields.push(format!("{share:.2}%"));
    }
}

/// The output fields so far.
struct TerseFields(Vec<String>);

impl TerseFields {
    fn push(&mut self, field: String) {
        self.0.push(field);
    }

    fn put(&mut self, field: impl ToString) -> &mut TerseFields {
        self.0.push(field.to_string());
        self
    }
}

fn operations(
    fields: &mut TerseFields,
    report: &ReportedJob<'_>,
    group: &ReportGroup<'_>,
    version: u8,
) {
    let unified = report.extras.unified;
    if unified != UnifiedReporting::Mixed {
        let shown = if version == 3 {
            &[Op::Read, Op::Write][..]
        } else {
            &Op::ALL[..]
        };
        for &op in shown {
            operation(fields, report, &report.ops[op], &group.ops[op], version);
        }
    }
    if unified != UnifiedReporting::None {
        operation(fields, report, &report.mixed(), &group.mixed, version);
    }
}

fn operation(
    fields: &mut TerseFields,
    report: &ReportedJob<'_>,
    op: &OpTotals,
    group: &GroupOp,
    version: u8,
) {
    fields
        .put(op.bytes >> 10)
        .put(op.bytes_per_s() >> 10)
        .put(op.iops_whole())
        .put(op.runtime_ms);
    latency(fields, &op.slat.stat);
    latency(fields, &op.clat.stat);
    percentiles(fields, report, op);
    latency(fields, &op.lat.stat);
    samples(fields, op, group, version);
}

/// Bandwidth samples in KiB/s; version 5 also has IOPS samples.
fn samples(fields: &mut TerseFields, op: &OpTotals, group: &GroupOp, version: u8) {
    let (bw, iops) = (&op.bw, &op.iops);
    let share = match bw.count {
        0 => 0.0,
        _ => share_of_whole_group(bw, group),
    };
    fields
        .put(bw.min)
        .put(bw.max)
        .put(format!("{share:.6}%"))
        .put(format!("{:.6}", bw.mean))
        .put(format!("{:.6}", bw.deviation()));
    if version == 5 {
        fields
            .put(bw.count)
            .put(iops.min)
            .put(iops.max)
            .put(format!("{:.6}", iops.mean))
            .put(format!("{:.6}", iops.deviation()))
            .put(iops.count);
    }
}

/// Minimum and maximum in whole µs, mean and deviation in µs.
fn latency(fields: &mut TerseFields, stat: &Samples) {
    let (mean, deviation) = (stat.mean().unwrap_or(0.0), stat.deviation().unwrap_or(0.0));
    fields.put(stat.min / 1000).put(stat.max / 1000);
    fields
        .put(format!("{:.6}", mean / 1000.0))
        .put(format!("{:.6}", deviation / 1000.0));
}

/// Percentiles of total latency if requested, otherwise of completion latency, in whole
/// microseconds.
fn percentiles(fields: &mut TerseFields, report: &ReportedJob<'_>, op: &OpTotals) {
    let extras = report.extras;
    let shown: Option<&Latency> = match (extras.lat_percentiles, extras.clat_percentiles) {
        (true, _) => Some(&op.lat),
        (false, true) => Some(&op.clat),
        (false, false) => None,
    };
    let mut written = 0;
    if let Some(latency) = shown {
        let wanted = PercentileSelection::of(report.job);
        let values = latency
            .histogram
            .as_ref()
            .filter(|h| h.count() > 0)
            .map(|histogram| wanted.values(histogram));
        for (index, percent) in wanted.list.iter().take(PERCENTILES).enumerate() {
            let value = values
                .as_ref()
                .and_then(|values| values.get(index))
                .map_or(0, |ns| ns / 1000);
            fields.push(format!("{percent:.6}%={value}"));
            written += 1;
        }
    }
    (written..PERCENTILES).for_each(|_| fields.push("0%=0".to_owned()));
}

fn disks(fields: &mut TerseFields, view: &RunView<'_>) {
    for disk in view.disks.iter().map(|disk| &disk.stats) {
        fields
            .put(&disk.name)
            .put(disk.read_ios)
            .put(disk.write_ios)
            .put(disk.read_merges)
            .put(disk.write_merges);
        fields
            .put(disk.read_ticks.as_millis())
            .put(disk.write_ticks.as_millis())
            .put(disk.queued.as_millis());
        fields.push(format!("{:.2}%", busy_share(disk)));
    }
}
