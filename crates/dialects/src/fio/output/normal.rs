//! The text output: results of each job, each group and the disks.
//!
//! Does not include output before the run (`start`) or during it (`eta`).

use super::distribution::{BATCHES, DEPTHS, LatencyShares, depth_shares};
use super::merge::{GroupOp, OpTotals, ReportGroup, ReportedJob, groups, reports, share_of_group};
use super::number::{Style, latency};
use super::percentile::PercentileSelection;
use super::search::{Steadiness, TargetNumbers};
use super::time::ctime;
use super::view::{CpuIdleness, DiskView, RunView};
use crate::fio::UnifiedReporting;
use hakaru_model::facts::DiskStats;
use hakaru_model::histogram::Histogram;
use hakaru_model::job::Op;
use hakaru_model::record::{FailureKind, IoError, Latency};
use std::fmt::Write;

/// Formats the results as text. Starts with the newline that ends the status line, or an empty line
/// if there was none.
pub fn normal(view: &RunView<'_>) -> String {
    let reports = reports(view);
    let groups = groups(&reports);
    let mut out = NormalText(String::from("\n"));
    for report in &reports {
        if let Some(group) = groups.iter().find(|group| group.number == report.group) {
            out.report(view, report, group);
        }
    }
    for group in &groups {
        out.group(group);
    }
    out.disks(view);
    if let Some(idleness) = &view.idleness {
        out.idleness(idleness);
    }
    out.0
}

/// The output text so far.
struct NormalText(String);

/// Appends a line; writing to memory cannot fail.
macro_rules! line {
    ($out:expr, $($arg:tt)*) => {{ let _ = writeln!($out.0, $($arg)*); }};
}

/// The error message of an errno, without the number that Rust appends.
pub(super) fn error_text(errno: i32) -> String {
    let text = std::io::Error::from_raw_os_error(errno).to_string();
    text.split(" (os error")
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// Output of `--idle-prof=calibrate`.
pub fn calibration(mean_us: f64, deviation_us: f64) -> String {
    format!("CPU idleness:\n  unit work: mean={mean_us:.2}us, stddev={deviation_us:.2}\n")
}

/// The source file and function that fio names for an error.
pub(super) fn place_of(kind: FailureKind) -> (&'static str, &'static str) {
    match kind {
        FailureKind::RateMissed { .. } | FailureKind::IopsMissed { .. } => {
            ("backend.c", "check_min_rate")
        }
        FailureKind::TooSlow { .. } => ("io_u.c", "max latency exceeded"),
        _ => ("io_u.c", "io_u error"),
    }
}

impl NormalText {
    fn report(&mut self, view: &RunView<'_>, report: &ReportedJob<'_>, group: &ReportGroup<'_>) {
        // Only the error of a job that did not start is shown.
        if !report.did_something() && (report.fatal.is_none() || report.pid == 0) {
            return;
        }
        self.header(view, report);
        if report.extras.unified == UnifiedReporting::Mixed {
            self.operation(report, "mixed", &report.mixed(), &group.mixed);
        } else {
            for op in Op::ALL {
                self.operation(report, op.name(), &report.ops[op], &group.ops[op]);
            }
        }
        if report.extras.unified == UnifiedReporting::Both {
            self.operation(report, "mixed", &report.mixed(), &group.mixed);
        }
        self.latency_shares(report);
        if report.sync.stat.count > 0 {
            line!(self, "  fsync/fdatasync/sync_file_range:");
            self.latency("sync", &report.sync);
            if let Some(histogram) = &report.sync.histogram {
                self.percentiles("sync", histogram, &PercentileSelection::of(report.job));
            }
        }
        self.rest(report);
    }

    fn header(&mut self, view: &RunView<'_>, report: &ReportedJob<'_>) {
        let error = report
            .shown_error()
            .map_or("err= 0".to_owned(), |error| header_error(report, error));
        let (name, group, jobs) = (&report.job.name, report.group, report.members);
        let when = ctime(view.shown_unix_ms, view.utc_offset_s);
        line!(
            self,
            "{name}: (groupid={group}, jobs={jobs}): {error}: pid={}: {when}",
            report.pid
        );
        if let Some(description) = &report.extras.description {
            line!(self, "  Description  : [{description}]");
        }
    }

    fn operation(&mut self, report: &ReportedJob<'_>, name: &str, op: &OpTotals, group: &GroupOp) {
        if op.runtime_ms == 0 {
            return;
        }
        let style = Style::of(report.extras);
        let (iops, bytes_per_s) = (style.count(op.iops_whole()), op.bytes_per_s());
        let (bw, other) = (style.rate(bytes_per_s), style.other_rate(bytes_per_s));
        let (size, ms) = (style.size(op.bytes), op.runtime_ms);
        // Only writes reset zones; fio also prints trims since 3.39, but not in older versions.
        let resets = match name {
            "write" | "trim" => format!("; {} zone resets", op.zone_resets),
            _ => String::new(),
        };
        line!(
            self,
            "  {name}: IOPS={iops}, BW={bw} ({other})({size}/{ms}msec){resets}"
        );
        self.latency("slat", &op.slat);
        self.latency("clat", &op.clat);
        self.latency(" lat", &op.lat);
        self.percentiles_of_op(report, op);
        self.samples(report, op, group);
    }

    /// Percentiles of the latencies for which they are requested.
    fn percentiles_of_op(&mut self, report: &ReportedJob<'_>, op: &OpTotals) {
        let wanted = PercentileSelection::of(report.job);
        let latencies = [
            ("slat", report.extras.slat_percentiles, &op.slat),
            ("clat", report.extras.clat_percentiles, &op.clat),
            ("lat", report.extras.lat_percentiles, &op.lat),
        ];
        for (name, _, latency) in latencies.into_iter().filter(|(_, asked, _)| *asked) {
            if let Some(histogram) = latency.histogram.as_ref().filter(|h| h.count() > 0) {
                self.percentiles(name, histogram, &wanted);
            }
        }
    }

    /// Formats `    clat (usec): min=809, max=22931, avg=1866.03, stdev=780.41`.
    fn latency(&mut self, name: &str, latency_of: &Latency) {
        let stat = &latency_of.stat;
        let (Some(mean), Some(deviation)) = (stat.mean(), stat.deviation()) else {
            return;
        };
        // A larger unit is used only if no relevant precision is lost. Based on observed output.
        let (unit, scale) = UNITS[unit_of(stat.min, stat.max, deviation)];
        let (min, max) = (latency(stat.min / scale), latency(stat.max / scale));
        let (mean, deviation) = (mean / scale as f64, deviation / scale as f64);
        line!(
            self,
            "    {name} ({unit}): min={min}, max={max}, avg={mean:5.2}, stdev={deviation:5.2}"
        );
    }

    /// Names and values in columns, as many as fit in 80 characters.
    fn percentiles(&mut self, name: &str, histogram: &Histogram, wanted: &PercentileSelection) {
        let mut values = wanted.values(histogram);
        let min = values.iter().copied().min().unwrap_or(0);
        let max = values.iter().copied().max().unwrap_or(0);
        let steps = unit_of(min, max, f64::INFINITY);
        line!(self, "    {name} percentiles ({}):", UNITS[steps].0);
        for value in &mut values {
            *value = (0..steps).fold(*value, |value, _| value.div_ceil(1000));
        }
        let widths = values.iter().map(|value| value.to_string().len());
        let width = widths.max().unwrap_or(0).max(5);
        let (decimals, name_width) = (wanted.decimals, wanted.decimals + 3);
        let cells = wanted.list.iter().zip(values);
        let cells: Vec<String> = cells
            .map(|(percent, value)| format!(" {percent:name_width$.decimals$}th=[{value:width$}]"))
            .collect();
        let columns = (73 / (name_width + width + 7)).max(1);
        let rows = cells
            .chunks(columns)
            .map(|row| format!("     |{}", row.join(",")));
        line!(self, "{}", rows.collect::<Vec<_>>().join(",\n"));
    }

    /// Bandwidth and IOPS samples.
    fn samples(&mut self, report: &ReportedJob<'_>, op: &OpTotals, group: &GroupOp) {
        let OpTotals { bw, iops, .. } = op;
        if bw.count > 0 {
            let base = u64::from(report.extras.kb_base.max(1));
            let large = bw.mean > (base * base) as f64;
            let unit = match (large, base) {
                (true, _) => "MiB/s",
                (false, 1000) => " kB/s",
                (false, _) => "KiB/s",
            };
            let scale = if large { base } else { 1 };
            let (min, max, mean) = (bw.min / scale, bw.max / scale, bw.mean / scale as f64);
            let (deviation, percent) = (bw.deviation() / scale as f64, share_of_group(bw, group));
            line!(
                self,
                "   bw (  {unit}): min={min:5}, max={max:5}, per={percent:.2}%, avg={mean:5.2}, stdev={deviation:5.2}, samples={}",
                bw.count
            );
        }
        if iops.count > 0 {
            let (min, max, mean, deviation) = (iops.min, iops.max, iops.mean, iops.deviation());
            line!(
                self,
                "   iops        : min={min:5}, max={max:5}, avg={mean:5.2}, stdev={deviation:5.2}, samples={}",
                iops.count
            );
        }
    }

    /// Formats `  lat (usec)   : 250=31.66%, 500=68.34%, 750=0.01%`, five per line.
    fn latency_shares(&mut self, report: &ReportedJob<'_>) {
        let rows = LatencyShares::of(report).by_unit();
        for ((unit, _), row) in UNITS.into_iter().zip(rows) {
            let shown = row.iter().filter(|(_, share)| *share > 0.0);
            let cells: Vec<String> = shown
                .map(|(name, share)| format!("{name}={share:.2}%"))
                .collect();
            for five in cells.chunks(5) {
                line!(self, "  lat ({unit})   : {}", five.join(", "));
            }
        }
    }

    /// CPU use, depths, counts and the latency target.
    fn rest(&mut self, report: &ReportedJob<'_>) {
        let cpu = &report.cpu;
        let (user, system) = (report.cpu_share(cpu.user), report.cpu_share(cpu.system));
        let (ctx, majf, minf) = (cpu.ctx, cpu.majf, cpu.minf);
        line!(
            self,
            "  cpu          : usr={user:.2}%, sys={system:.2}%, ctx={ctx}, majf={majf}, minf={minf}"
        );
        self.depths(report);
        self.counts(report);
        let TargetNumbers {
            depth,
            target_ns,
            window_us,
            percentile,
        } = TargetNumbers::of(report);
        line!(
            self,
            "     latency   : target={target_ns}, window={window_us}, percentile={percentile:.2}%, depth={depth}"
        );
        if let Some(steady) = Steadiness::of(report) {
            line!(self, "  steadystate  : {}", steady.line());
        }
    }

    /// Distributions of queue depths and batch sizes.
    fn depths(&mut self, report: &ReportedJob<'_>) {
        let depth = &report.depth;
        let level = depth_shares(&depth.level, report.depth_total());
        line!(self, "  IO depths    : {}", depth_row(DEPTHS, level));
        let submit = depth_shares(&depth.submit, depth.submit_calls);
        line!(self, "     submit    : {}", depth_row(BATCHES, submit));
        let complete = depth_shares(&depth.complete, depth.complete_calls);
        line!(self, "     complete  : {}", depth_row(BATCHES, complete));
    }

    /// Numbers of I/Os and errors.
    fn counts(&mut self, report: &ReportedJob<'_>) {
        let [read, write, trim] = Op::ALL.map(|op| &report.ops[op]);
        line!(
            self,
            "     issued rwts: total={},{},{},{} short={},{},{},0 dropped=0,0,0,0",
            read.ios,
            write.ios,
            trim.ios,
            report.syncs,
            read.short,
            write.short,
            trim.short
        );
        if report.continues_on_errors() {
            let errno = report.first_error.map_or(0, |first| first.errno);
            let (total, text) = (report.errors, error_text(errno));
            line!(
                self,
                "     errors    : total={total}, first_error={errno}/<{text}>"
            );
        }
    }

    fn group(&mut self, group: &ReportGroup<'_>) {
        line!(self, "\nRun status group {} (all jobs):", group.number);
        for op in Op::ALL {
            self.group_op(group, &op.name().to_uppercase(), &group.ops[op]);
        }
        self.group_op(group, "MIXED", &group.mixed);
    }

    fn group_op(&mut self, group: &ReportGroup<'_>, name: &str, op: &GroupOp) {
        if op.run_ms.1 == 0 {
            return;
        }
        let style = Style::of(group.extras);
        let (all, (slow, fast)) = (op.bytes_per_s(), op.bw);
        line!(
            self,
            "{name:>7}: bw={} ({}), {}-{} ({}-{}), io={} ({}), run={}-{}msec",
            style.rate(all),
            style.other_rate(all),
            style.rate(slow),
            style.rate(fast),
            style.other_rate(slow),
            style.other_rate(fast),
            style.size(op.bytes),
            style.other_size(op.bytes),
            op.run_ms.0,
            op.run_ms.1
        );
    }

    fn disks(&mut self, view: &RunView<'_>) {
        if view.disks.is_empty() {
            return;
        }
        line!(self, "\nDisk stats (read/write):");
        for DiskView { stats, members } in &view.disks {
            match members.is_empty() {
                true => line!(self, "  {}", disk_line(view, stats)),
                false => line!(
                    self,
                    "    {}{}",
                    disk_line(view, stats),
                    aggregate_line(view, members)
                ),
            }
            for member in members {
                line!(self, "  {}", disk_line(view, member));
            }
        }
    }

    fn idleness(&mut self, idleness: &CpuIdleness) {
        line!(self, "\nCPU idleness:\n  system: {:.2}%", idleness.system);
        if !idleness.per_cpu.is_empty() {
            let each: Vec<String> = idleness
                .per_cpu
                .iter()
                .map(|(_, percent)| format!("{percent:.2}%"))
                .collect();
            line!(self, "  percpu: {}", each.join(", "));
        }
        line!(
            self,
            "  unit work: mean={:.2}us, stddev={:.2}",
            idleness.unit_mean_us,
            idleness.unit_deviation_us
        );
    }
}

/// The error of a job, as its header shows it.
fn header_error(report: &ReportedJob<'_>, error: &IoError) -> String {
    let errno = error.errno;
    // fio prints a source file and line here, which hakaru does not have.
    let (file, func) = match (error.mismatches.is_empty(), report.fatal.is_some()) {
        (false, false) => return format!("err={errno:>2} ()"),
        (false, true) => ("io_u.c", "io_u_sync_complete"),
        (true, _) => place_of(error.kind),
    };
    let text = error_text(errno);
    format!("err={errno:>2} (file:{file}:0, func={func}, error={text})")
}

const UNITS: [(&str, u64); 3] = [("nsec", 1), ("usec", 1_000), ("msec", 1_000_000)];

/// Index in [`UNITS`] of the unit for latencies in ns with these bounds and standard deviation.
fn unit_of(min: u64, max: u64, deviation: f64) -> usize {
    match (min, max) {
        (2_000_001.., 100_000_000..) if deviation > 1_000_000.0 => 2,
        (2_001.., 100_000..) if deviation > 1_000.0 => 1,
        _ => 0,
    }
}

fn depth_row(names: [&str; 7], shares: [f64; 7]) -> String {
    let cells: Vec<String> = names
        .iter()
        .zip(shares)
        .map(|(name, share)| format!("{name}={share:.1}%"))
        .collect();
    cells.join(", ")
}

fn disk_line(view: &RunView<'_>, disk: &DiskStats) -> String {
    let DiskStats {
        name,
        read_ios,
        read_merges,
        read_sectors,
        write_ios,
        write_merges,
        write_sectors,
        ..
    } = disk;
    let sectors = match view.shows_sectors() {
        true => format!(" sectors={read_sectors}/{write_sectors},"),
        false => String::new(),
    };
    format!(
        "{name}: ios={read_ios}/{write_ios},{sectors} merge={read_merges}/{write_merges}, ticks={}/{}, in_queue={}, util={:.2}%",
        disk.read_ticks.as_millis(),
        disk.write_ticks.as_millis(),
        disk.queued.as_millis(),
        busy_share(disk)
    )
}

/// The means over the members of an array.
fn aggregate_line(view: &RunView<'_>, members: &[DiskStats]) -> String {
    let mean = |f: fn(&DiskStats) -> u64| mean_over(members, f);
    let sectors = match view.shows_sectors() {
        true => format!(
            " aggsectors={}/{},",
            mean(|d| d.read_sectors),
            mean(|d| d.write_sectors)
        ),
        false => String::new(),
    };
    format!(
        ", aggrios={}/{},{sectors} aggrmerge={}/{}, aggrticks={}/{}, aggrin_queue={}, aggrutil={:.2}%",
        mean(|d| d.read_ios),
        mean(|d| d.write_ios),
        mean(|d| d.read_merges),
        mean(|d| d.write_merges),
        mean(|d| d.read_ticks.as_millis()),
        mean(|d| d.write_ticks.as_millis()),
        mean(|d| d.queued.as_millis()),
        members.iter().map(busy_share).fold(0.0, f64::max)
    )
}

/// The mean of a counter over several devices, rounded down.
pub(super) fn mean_over(disks: &[DiskStats], counter: fn(&DiskStats) -> u64) -> u64 {
    disks.iter().map(counter).sum::<u64>() / disks.len().max(1) as u64
}

/// Time with at least one request in flight, in percent of the time between the two samples.
pub(super) fn busy_share(disk: &DiskStats) -> f64 {
    if disk.elapsed.0 == 0 {
        0.0
    } else {
        (disk.busy.0 as f64 * 100.0 / disk.elapsed.0 as f64).min(100.0)
    }
}
