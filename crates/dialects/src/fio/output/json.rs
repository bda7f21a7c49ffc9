//! The JSON outputs, with fio's keys, key order and number types.
//!
//! Strict parsers distinguish `0` from `0.000000`, so each number is written in fio's form.

use super::distribution::{BATCHES, DEPTHS, LatencyShares, depth_shares};
use super::merge::{
    GroupOp, MergedSpread, OpTotals, ReportGroup, ReportedJob, groups, reports, share_of_group,
};
use super::normal::{busy_share, mean_over};
use super::percentile::PercentileSelection;
use super::search::{Steadiness, TargetNumbers};
use super::time::ctime;
use super::value::{JsonObject, JsonValue};
use super::view::{CpuIdleness, DiskView, RunView};
use crate::fio::UnifiedReporting;
use hakaru_model::facts::DiskStats;
use hakaru_model::histogram::{Histogram, folded_middle};
use hakaru_model::job::Op;
use hakaru_model::record::{Latency, Samples};
use hakaru_model::units::Nanos;

/// Nesting depth of a job: inside the list in the root object.
const JOB_INDENT: usize = 2;

/// Formats the results as `--output-format=json`, or as `json+` with histogram bins. Ends with a newline.
pub fn json(view: &RunView<'_>, plus: bool) -> String {
    let reports = reports(view);
    let groups = groups(&reports);
    let mut root = JsonObject::default();
    let time = ctime(view.shown_unix_ms, view.utc_offset_s);
    root.set("fio version", view.version)
        .set("timestamp", view.shown_unix_ms.div_euclid(1000))
        .set("timestamp_ms", view.shown_unix_ms)
        .set("time", time.as_str());
    if !view.global_options.is_empty() {
        root.set("global options", options(view.global_options));
    }
    let jobs = reports.iter().filter_map(|report| {
        let group = groups.iter().find(|group| group.number == report.group)?;
        Some(JsonJob::of(view, report, group, plus).written(JOB_INDENT))
    });
    root.set("jobs", JsonValue::List(jobs.collect()));
    if !view.disks.is_empty() {
        let disks = view.disks.iter().flat_map(|disk| disk_util(view, disk));
        root.set("disk_util", JsonValue::List(disks.collect()));
    }
    if let Some(idleness) = &view.idleness {
        root.set("cpu_idleness", cpu_idleness(idleness));
    }
    JsonValue::from(root).print()
}

/// The options as typed.
fn options(options: &[(String, String)]) -> JsonObject {
    let mut object = JsonObject::default();
    for (name, value) in options {
        object.set(name, value.as_str());
    }
    object
}

/// Context for the JSON of one job.
struct JsonJob<'a> {
    view: &'a RunView<'a>,
    report: &'a ReportedJob<'a>,
    group: &'a ReportGroup<'a>,
    plus: bool,
}

impl<'a> JsonJob<'a> {
    /// The JSON of one job.
    fn of(
        view: &'a RunView<'a>,
        report: &'a ReportedJob<'a>,
        group: &'a ReportGroup<'a>,
        plus: bool,
    ) -> JsonValue {
        let job = JsonJob {
            view,
            report,
            group,
            plus,
        };
        job.job()
    }

    fn job(&self) -> JsonValue {
        let report = self.report;
        let mut job = JsonObject::default();
        job.set("jobname", report.job.name.as_str())
            .set("groupid", report.group);
        if self.view.shows_sectors() {
            job.set("job_start", report.started_unix_ms);
        }
        job.set("error", report.shown_error().map_or(0, |error| error.errno))
            .set("eta", self.view.eta_s)
            .set("elapsed", self.view.elapsed.0.div_ceil(Nanos::SECOND.0));
        if !report.job.options.is_empty() {
            job.set("job options", options(&report.job.options));
        }
        self.operations(&mut job);
        self.host(&mut job);
        job.into()
    }

    fn operations(&self, job: &mut JsonObject) {
        let unified = self.report.extras.unified;
        if unified != UnifiedReporting::Mixed {
            for op in Op::ALL {
                job.set(
                    op.name(),
                    self.operation(&self.report.ops[op], &self.group.ops[op]),
                );
            }
            job.set("sync", self.sync());
        }
        if unified != UnifiedReporting::None {
            job.set(
                "mixed",
                self.operation(&self.report.mixed(), &self.group.mixed),
            );
        }
    }

    fn operation(&self, op: &OpTotals, group: &GroupOp) -> JsonObject {
        let extras = self.report.extras;
        let mut object = JsonObject::default();
        object
            .set("io_bytes", op.bytes)
            .set("io_kbytes", op.bytes >> 10)
            .set("bw_bytes", op.bytes_per_s())
            .set("bw", op.bytes_per_s() >> 10)
            .set("iops", op.iops_exact())
            .set("runtime", op.runtime_ms)
            .set("total_ios", op.ios)
            .set("short_ios", op.short)
            .set("drop_ios", 0u64)
            .set("slat_ns", self.latency(&op.slat, extras.slat_percentiles))
            .set("clat_ns", self.latency(&op.clat, extras.clat_percentiles))
            .set("lat_ns", self.latency(&op.lat, extras.lat_percentiles));
        samples(&mut object, &op.bw, &op.iops, group);
        object
    }

    fn sync(&self) -> JsonObject {
        let mut object = JsonObject::default();
        object
            .set("total_ios", self.report.syncs)
            .set("lat_ns", self.latency(&self.report.sync, true));
        object
    }

    /// Minimum, maximum, mean and deviation; percentiles and bins if requested and not empty.
    fn latency(&self, latency: &Latency, percentiles: bool) -> JsonObject {
        let stat: &Samples = &latency.stat;
        let mut object = JsonObject::default();
        object
            .set("min", stat.min)
            .set("max", stat.max)
            .set("mean", stat.mean().unwrap_or(0.0))
            .set("stddev", stat.deviation().unwrap_or(0.0))
            .set("N", stat.count);
        let histogram = latency
            .histogram
            .as_ref()
            .filter(|h| percentiles && h.count() > 0);
        if let Some(histogram) = histogram {
            object.set("percentile", self.percentiles(histogram));
            if self.plus {
                object.set("bins", bins(histogram));
            }
        }
        object
    }

    fn percentiles(&self, histogram: &Histogram) -> JsonObject {
        let wanted = PercentileSelection::of(self.report.job);
        let mut object = JsonObject::default();
        for (percent, value) in wanted.list.iter().zip(wanted.values(histogram)) {
            object.set(&format!("{percent:.6}"), value);
        }
        object
    }

    /// CPU use, depths, latency distribution, errors and the latency target.
    fn host(&self, job: &mut JsonObject) {
        let report = self.report;
        let cpu = &report.cpu;
        job.set("job_runtime", report.job_runtime.as_millis())
            .set("usr_cpu", report.cpu_share(cpu.user))
            .set("sys_cpu", report.cpu_share(cpu.system))
            .set("ctx", cpu.ctx)
            .set("majf", cpu.majf)
            .set("minf", cpu.minf);
        self.distributions(job);
        if !report.did_something() {
            // For a job that issued nothing, fio prints no more.
            return;
        }
        if report.continues_on_errors() {
            let first = report.first_error.map_or(0, |error| error.errno);
            job.set("total_err", report.errors)
                .set("first_error", first);
        }
        let target = TargetNumbers::of(report);
        job.set("latency_depth", target.depth)
            .set("latency_target", target.target_ns)
            .set("latency_percentile", target.percentile)
            .set("latency_window", target.window_us);
        if let Some(description) = &report.extras.description {
            job.set("desc", description.as_str());
        }
        if let Some(steady) = Steadiness::of(report) {
            job.set("steadystate", steadystate(&steady));
        }
    }

    /// Distributions of queue depths, batch sizes and latencies.
    fn distributions(&self, job: &mut JsonObject) {
        let depth = &self.report.depth;
        let level = depth_shares(&depth.level, self.report.depth_total());
        let submit = depth_shares(&depth.submit, depth.submit_calls);
        let complete = depth_shares(&depth.complete, depth.complete_calls);
        job.set("iodepth_level", shares_by_name(DEPTHS.iter().zip(level)))
            .set("iodepth_submit", shares_by_name(BATCHES.iter().zip(submit)))
            .set(
                "iodepth_complete",
                shares_by_name(BATCHES.iter().zip(complete)),
            );
        let rows = LatencyShares::of(self.report).by_unit();
        for (key, row) in ["latency_ns", "latency_us", "latency_ms"]
            .into_iter()
            .zip(rows)
        {
            job.set(key, shares_by_name(row));
        }
    }
}

fn steadystate(steady: &Steadiness<'_>) -> JsonObject {
    let record = steady.record;
    let list = |values: &[u64]| {
        JsonValue::List(steady.window(values).into_iter().map(Into::into).collect())
    };
    let mut data = JsonObject::default();
    data.set("bw_mean", steady.mean(&record.bytes_per_s))
        .set("iops_mean", steady.mean(&record.iops))
        .set("iops", list(&record.iops))
        .set("bw", list(&record.bytes_per_s));
    let unit = if steady.percent { "%" } else { "" };
    let mut object = JsonObject::default();
    object
        .set(
            "ss",
            format!("{}:{:.6}{unit}", steady.word(), steady.limit).as_str(),
        )
        .set("duration", steady.rule.window.0.div_ceil(Nanos::SECOND.0))
        .set("attained", u64::from(record.attained))
        .set(
            "criterion",
            format!("{:.6}{unit}", record.criterion).as_str(),
        )
        .set("max_deviation", record.max_deviation)
        .set("slope", record.slope)
        .set("data", data);
    object
}

/// Bandwidth samples in KiB/s and IOPS samples.
fn samples(object: &mut JsonObject, bw: &MergedSpread, iops: &MergedSpread, group: &GroupOp) {
    let share = match bw.count {
        0 => 0.0,
        _ => share_of_group(bw, group),
    };
    object
        .set("bw_min", bw.min)
        .set("bw_max", bw.max)
        .set("bw_agg", share)
        .set("bw_mean", bw.mean)
        .set("bw_dev", bw.deviation())
        .set("bw_samples", bw.count)
        .set("iops_min", iops.min)
        .set("iops_max", iops.max)
        .set("iops_mean", iops.mean)
        .set("iops_stddev", iops.deviation())
        .set("iops_samples", iops.count);
}

fn bins(histogram: &Histogram) -> JsonObject {
    let mut object = JsonObject::default();
    for (index, &count) in histogram
        .fold()
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0)
    {
        object.set(&folded_middle(index).to_string(), count);
    }
    object
}

fn shares_by_name(shares: impl IntoIterator<Item = (impl AsRef<str>, f64)>) -> JsonObject {
    let mut object = JsonObject::default();
    for (name, share) in shares {
        object.set(name.as_ref(), share);
    }
    object
}

fn cpu_idleness(idleness: &CpuIdleness) -> JsonObject {
    let mut object = JsonObject::default();
    object.set("system", idleness.system);
    for &(number, percent) in &idleness.per_cpu {
        object.set(&format!("cpu-{number}"), percent);
    }
    object
        .set("unit_mean", idleness.unit_mean_us)
        .set("unit_stddev", idleness.unit_deviation_us);
    object
}

/// The device with the means over its members, followed by each member.
fn disk_util(view: &RunView<'_>, disk: &DiskView) -> Vec<JsonValue> {
    let mut device = one_disk(view, &disk.stats);
    if !disk.members.is_empty() {
        let members = &disk.members;
        let mean = |f: fn(&DiskStats) -> u64| mean_over(members, f);
        device
            .set("aggr_read_ios", mean(|d| d.read_ios))
            .set("aggr_write_ios", mean(|d| d.write_ios))
            .set("aggr_read_merges", mean(|d| d.read_merges))
            .set("aggr_write_merge", mean(|d| d.write_merges))
            .set("aggr_read_ticks", mean(|d| d.read_ticks.as_millis()))
            .set("aggr_write_ticks", mean(|d| d.write_ticks.as_millis()))
            .set("aggr_in_queue", mean(|d| d.queued.as_millis()))
            .set(
                "aggr_util",
                members.iter().map(busy_share).fold(0.0, f64::max),
            );
    }
    let members = disk
        .members
        .iter()
        .map(|member| one_disk(view, member).into());
    std::iter::once(device.into()).chain(members).collect()
}

fn one_disk(view: &RunView<'_>, stats: &DiskStats) -> JsonObject {
    let mut object = JsonObject::default();
    object
        .set("name", stats.name.as_str())
        .set("read_ios", stats.read_ios)
        .set("write_ios", stats.write_ios);
    if view.shows_sectors() {
        object
            .set("read_sectors", stats.read_sectors)
            .set("write_sectors", stats.write_sectors);
    }
    object
        .set("read_merges", stats.read_merges)
        .set("write_merges", stats.write_merges)
        .set("read_ticks", stats.read_ticks.as_millis())
        .set("write_ticks", stats.write_ticks.as_millis())
        .set("in_queue", stats.queued.as_millis())
        .set("util", busy_share(stats));
    object
}
