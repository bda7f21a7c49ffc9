//! Options of measuring and reporting: latencies, percentiles, logs, errors.

use super::kind::{OptionKind, int};
use super::{FioOption, opt, put};
use hakaru_model::job::PerOp;
use hakaru_model::job::rules::IgnoredErrors;
use hakaru_model::units::Quantile;

const PLAIN: &str = "logs are written as text";
const LOG_NAME: OptionKind = OptionKind::OptionalText("seqread");

const WINDOW_VALUES: OptionKind = OptionKind::Choice(&[
    ("avg", "their mean"),
    ("0", ""),
    ("max", "the largest"),
    ("1", ""),
    ("both", "the mean, then the largest in a column of its own"),
]);

pub(super) const TABLE: &[FioOption] = &[
    opt(
        "clat_percentiles",
        OptionKind::Bool,
        "Reports percentiles of completion latency",
    )
    .default("1")
    .works(put!(|job, value| job.extras.clat_percentiles = value.flag())),
    opt(
        "lat_percentiles",
        OptionKind::Bool,
        "Reports percentiles of total latency",
    )
    .default("0")
    .works(put!(|job, value| job.extras.lat_percentiles = value.flag())),
    opt(
        "slat_percentiles",
        OptionKind::Bool,
        "Reports percentiles of submission latency",
    )
    .default("0")
    .works(put!(|job, value| job.extras.slat_percentiles = value.flag())),
    opt(
        "percentile_list",
        OptionKind::Floats {
            min: 0.0,
            max: 100.0,
            most: 20,
        },
        "Which percentiles to report",
    )
    .default("1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99")
    .works(put!(|job, value| {
        // fio reports them in ascending order, whatever the order given, and leaves out 0.
        let mut percents = value.floats().to_vec();
        percents.sort_by(f64::total_cmp);
        percents.dedup();
        let quantiles = percents
            .iter()
            .filter(|p| **p > 0.0)
            .filter_map(|p| Quantile::new(p / 100.0).ok());
        job.job.measure.percentiles = quantiles.collect();
    })),
    opt(
        "significant_figures",
        OptionKind::Int { min: 1, max: 10 },
        "Digits of numbers in the text result",
    )
    .default("4")
    .works(put!(
        |job, value| job.extras.significant_figures = value.u32()
    )),
    opt("disable_lat", OptionKind::Bool, "Keeps no total latency")
        .default("0")
        .works(put!(|job, value| job.job.measure.lat = !value.flag())),
    opt(
        "disable_clat",
        OptionKind::Bool,
        "Keeps no completion latency",
    )
    .default("0")
    .works(put!(|job, value| job.job.measure.clat = !value.flag())),
    opt(
        "disable_slat",
        OptionKind::Bool,
        "Keeps no submission latency",
    )
    .default("0")
    .works(put!(|job, value| job.job.measure.slat = !value.flag())),
    opt(
        "disable_bw_measurement",
        OptionKind::Bool,
        "Keeps no bandwidth over time",
    )
    .alias(&["disable_bw"])
    .default("0")
    .works(put!(|job, value| job.job.measure.intervals = !value.flag())),
    opt(
        "gtod_reduce",
        OptionKind::Bool,
        "Keeps no latencies and no bandwidth over time",
    )
    .default("0")
    .works(put!(|job, value| job.gtod_reduce = value.flag())),
    opt(
        "stats",
        OptionKind::Bool,
        "Whether the job is in the result",
    )
    .default("1")
    .works(put!(|job, value| job.extras.stats = value.flag())),
    opt(
        "disk_util",
        OptionKind::Bool,
        "Whether disk statistics are in the result",
    )
    .default("1")
    .works(put!(|job, value| job.extras.disk_util = value.flag())),
    opt(
        "bwavgtime",
        int(0),
        "Milliseconds of a sample of the bandwidth",
    )
    .default("500")
    .works(put!(|job, value| job.extras.logs.bwavgtime_ms = value.u64())),
    opt(
        "iopsavgtime",
        int(0),
        "Milliseconds of a sample of the IOPS",
    )
    .default("500")
    .works(put!(
        |job, value| job.extras.logs.iopsavgtime_ms = value.u64()
    )),
    opt("write_bw_log", LOG_NAME, "Writes a log of the bandwidth").works(put!(|job, value| {
        job.extras.logs.bw = Some(value.text().to_owned())
    })),
    opt("write_iops_log", LOG_NAME, "Writes a log of the IOPS").works(put!(|job, value| job
        .extras
        .logs
        .iops =
        Some(value.text().to_owned()))),
    opt("write_lat_log", LOG_NAME, "Writes logs of the latencies").works(put!(|job, value| {
        job.extras.logs.lat = Some(value.text().to_owned())
    })),
    opt(
        "write_hist_log",
        LOG_NAME,
        "Writes a log of histograms of completion latency",
    )
    .works(put!(
        |job, value| job.extras.logs.hist = Some(value.text().to_owned())
    )),
    opt(
        "log_avg_msec",
        int(0),
        "Milliseconds that lines of a log are averaged over; 0 logs each I/O",
    )
    .default("0")
    .with(
        "write_bw_log",
        put!(|job, value| job.extras.logs.avg_msec = value.u64()),
    ),
    opt(
        "log_hist_msec",
        int(0),
        "Milliseconds between histograms in a log",
    )
    .default("0")
    .with(
        "write_hist_log",
        put!(|job, value| job.extras.logs.hist_msec = value.u64()),
    ),
    opt(
        "log_hist_coarseness",
        OptionKind::Int { min: 0, max: 6 },
        "How many bins of these histograms are joined",
    )
    .default("0")
    .with(
        "write_hist_log",
        put!(|job, value| job.extras.logs.hist_coarseness = value.u32()),
    ),
    opt(
        "log_max_value",
        WINDOW_VALUES,
        "What a log has of the latencies of log_avg_msec",
    )
    .alias(&["log_window_value"])
    .default("avg")
    .with(
        "write_lat_log",
        put!(|job, value| {
            job.extras.logs.max_value = matches!(value.word(), "max" | "1");
            job.extras.logs.both_values = value.word() == "both";
        }),
    ),
    opt(
        "log_offset",
        OptionKind::Bool,
        "Logs the offset of each I/O",
    )
    .default("0")
    .with(
        "write_bw_log",
        put!(|job, value| job.extras.logs.offset = value.flag()),
    ),
    opt(
        "log_prio",
        OptionKind::Bool,
        "Logs the priority of each I/O",
    )
    .default("0")
    .with(
        "write_bw_log",
        put!(|job, value| job.extras.logs.prio = value.flag()),
    ),
    opt(
        "log_issue_time",
        OptionKind::Bool,
        "Logs when each I/O was issued",
    )
    .default("0")
    .with(
        "write_lat_log",
        put!(|job, value| job.extras.logs.issued = value.flag()),
    ),
    opt(
        "per_job_logs",
        OptionKind::Bool,
        "Puts the number of the job into the names of logs",
    )
    .default("1")
    .with(
        "write_bw_log",
        put!(|job, value| job.extras.logs.per_job = value.flag()),
    ),
    opt(
        "log_unix_epoch",
        OptionKind::Bool,
        "Counts times in logs from 1970",
    )
    .with(
        "write_bw_log",
        put!(|job, value| job.extras.logs.unix_epoch = value.flag()),
    ),
    opt(
        "log_alternate_epoch",
        OptionKind::Bool,
        "Counts times in logs from the start of a clock",
    )
    .with(
        "write_bw_log",
        put!(|job, value| job.extras.logs.unix_epoch = value.flag()),
    ),
    opt(
        "log_alternate_epoch_clock_id",
        int(0),
        "Which clock that is",
    )
    .with("log_alternate_epoch", |_, value| match value.int() {
        0 => Ok(()),
        _ => Err("only clock 0, which counts from 1970, is supported".to_owned()),
    }),
    opt(
        "log_entries",
        OptionKind::Int {
            min: 1024,
            max: 1 << 20,
        },
        "Lines of a log that memory is kept for at first",
    )
    .default("1024")
    .accepted("memory for logs is taken before the run"),
    opt(
        "log_compression",
        OptionKind::Size { min: 0 },
        "Compresses logs in memory",
    )
    .accepted("logs are kept small as they are"),
    opt(
        "log_compression_cpus",
        OptionKind::Indices,
        "Processors that compress logs",
    )
    .goes_with("log_compression"),
    opt(
        "log_store_compressed",
        OptionKind::Bool,
        "Compresses log files",
    )
    .harmless(&["0"])
    .refused(PLAIN, "compress them afterwards"),
    opt(
        "block_error_percentiles",
        OptionKind::Bool,
        "Reports after how many trims blocks fail",
    )
    .default("0")
    .harmless(&["0"])
    .refused(
        "errors are listed one by one",
        "read the errors of the stored run",
    ),
    opt(
        "continue_on_error",
        ERRORS,
        "Goes on after errors of these operations",
    )
    .default("none")
    .works(put!(|job, value| {
        let (read, write, trim) = match value.word() {
            "read" => (true, false, false),
            "write" => (false, true, false),
            "io" | "all" | "1" => (true, true, true),
            _ => (false, false, false),
        };
        job.job.errors.continue_on = PerOp { read, write, trim };
        job.job.errors.continue_on_mismatch = matches!(value.word(), "verify" | "all" | "1");
    })),
    opt(
        "ignore_error",
        OptionKind::Errors,
        "Errors that are counted and gone over",
    )
    .works(put!(|job, value| {
        let [read, write, verify] = value.errors();
        job.job.errors.ignored = IgnoredErrors {
            read,
            write,
            verify,
        };
    })),
    opt(
        "error_dump",
        OptionKind::Bool,
        "Tells of each error as it comes",
    )
    .default("0")
    .accepted("the first errors of each job are told and kept always"),
];

const ERRORS: OptionKind = OptionKind::Choice(&[
    ("none", "no"),
    ("read", "of reads"),
    ("write", "of writes"),
    ("io", "of all"),
    ("verify", "of verification"),
    ("all", "of all, verification included"),
    ("0", "as none"),
    ("1", "as all"),
]);
