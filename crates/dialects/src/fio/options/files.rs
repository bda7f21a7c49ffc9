//! Options of files: names, creation, sizes and zones.

use super::kind::{OptionKind, int};
use super::row::{FioOption, opt, put};
use super::workload::skew;
use crate::fio::spec::JobSpec;
use hakaru_model::job::rules::{AccessAdvice, FileLock, FileOrder, Lifetime};
use hakaru_model::job::{Distribution, Fallocate, SizeSpec};
use hakaru_model::units::Bytes;

pub(super) const TABLE: &[FioOption] = &[
    opt(
        "filename",
        OptionKind::Paths,
        "Files or devices, separated by colons; clones share them",
    )
    .works(put!(|job, value| job.filenames = value.paths())),
    opt(
        "directory",
        OptionKind::Paths,
        "Directories for the files; clones use them in turn",
    )
    .works(put!(|job, value| job.directories = value.paths())),
    opt(
        "filename_format",
        OptionKind::Text("$jobname.$jobnum.$filenum"),
        "Format of generated file names",
    )
    .default("$jobname.$jobnum.$filenum")
    .works(put!(
        |job, value| job.format = value.text().trim().to_owned()
    )),
    opt(
        "unique_filename",
        OptionKind::Bool,
        "Prefix file names with the address of the remote client",
    )
    .default("1")
    .accepted("remote clients are not supported"),
    opt(
        "opendir",
        OptionKind::Text("/srv/data"),
        "Use all files below a directory",
    )
    .refused("directories are not searched", "list the files in filename"),
    opt("lockfile", LOCKS, "Lock files during each I/O")
        .default("none")
        .works(put!(|job, value| job.job.files.lock = match value.word() {
            "exclusive" => FileLock::Exclusive,
            "readwrite" => FileLock::ReadWrite,
            _ => FileLock::None,
        })),
    opt(
        "nrfiles",
        OptionKind::Int {
            min: 0,
            max: 1_000_000,
        },
        "Number of files per clone without filename",
    )
    .alias(&["nr_files"])
    .default("1")
    .works(put!(|job, value| job.nrfiles = value.u32())),
    opt("openfiles", int(0), "Number of files open at the same time").works(put!(|job, value| {
        job.job.files.turns.open_files = Some(value.u32()).filter(|n| *n > 0)
    })),
    opt("file_service_type", ORDERS, "Order in which files are used")
        .default("roundrobin")
        .works(turns),
    opt(
        "create_serialize",
        OptionKind::Bool,
        "Create files one at a time across jobs",
    )
    .default("1")
    .accepted("files are always created one at a time"),
    opt(
        "create_fsync",
        OptionKind::Bool,
        "Sync files after creation",
    )
    .default("1")
    .accepted("files are always synced after creation"),
    opt(
        "create_on_open",
        OptionKind::Bool,
        "Create files when they are opened",
    )
    .default("0")
    .works(put!(
        |job, value| job.job.files.create_on_open = value.flag()
    )),
    opt(
        "create_only",
        OptionKind::Bool,
        "Only create the files, then exit",
    )
    .default("0")
    .works(put!(|job, value| job.job.files.create_only = value.flag())),
    opt(
        "allow_file_create",
        OptionKind::Bool,
        "Allow the job to create missing files",
    )
    .default("1")
    .works(put!(|job, value| job.job.files.allow_create = value.flag())),
    opt(
        "allow_mounted_write",
        OptionKind::Bool,
        "Allow writes to mounted devices",
    )
    .default("0")
    .harmless(&["0"])
    .refused("mounted devices are never written", "unmount it first"),
    opt(
        "pre_read",
        OptionKind::Bool,
        "Read the files into the page cache before the job",
    )
    .default("0")
    .works(put!(|job, value| job.job.files.pre_read = value.flag())),
    opt("unlink", OptionKind::Bool, "Delete the files after the job")
        .default("0")
        .works(put!(|job, value| job.job.files.unlink = value.flag())),
    opt(
        "unlink_each_loop",
        OptionKind::Bool,
        "Delete and recreate the files after each loop",
    )
    .default("0")
    .works(put!(
        |job, value| job.job.files.unlink_each_loop = value.flag()
    )),
    opt(
        "fallocate",
        FALLOCATE,
        "How to preallocate space for a file",
    )
    .default("native")
    .works(put!(|job, value| {
        job.job.files.fallocate = match value.word() {
            "none" | "0" => Fallocate::None,
            "keep" => Fallocate::Keep,
            "truncate" => Fallocate::Truncate,
            _ => Fallocate::Native,
        }
    })),
    opt(
        "fadvise_hint",
        ADVICE,
        "Access pattern passed to posix_fadvise",
    )
    .default("1")
    .works(put!(
        |job, value| job.job.files.advice = match value.word() {
            "0" => AccessAdvice::None,
            "random" => AccessAdvice::Random,
            "sequential" => AccessAdvice::Sequential,
            _ => AccessAdvice::AsJob,
        }
    )),
    opt(
        "write_hint",
        HINTS,
        "Expected data lifetime passed to the kernel (write hint)",
    )
    .works(put!(|job, value| {
        job.job.files.lifetime = match value.word() {
            "short" => Lifetime::Short,
            "medium" => Lifetime::Medium,
            "long" => Lifetime::Long,
            "extreme" => Lifetime::Extreme,
            _ => Lifetime::None,
        }
    })),
    opt(
        "size",
        OptionKind::SizeOrPercent,
        "Total size of the files of each clone",
    )
    .works(put!(|job, value| {
        job.counts.size = value.zones();
        job.job.extent.size = some_size(match value.size_spec() {
            SizeSpec::Percent(percent) => SizeSpec::Percent(percent.min(100)),
            size => size,
        });
    })),
    opt(
        "filesize",
        OptionKind::SizeOrRange,
        "Size of each file, or a range of random sizes",
    )
    .works(put!(|job, value| {
        let (min, max) = value.size_range();
        job.job.extent.filesize = Some(Bytes(min));
        job.job.extent.filesize_max = Some(Bytes(max)).filter(|max| max.0 > min);
    })),
    opt(
        "io_size",
        OptionKind::SizeOrPercent,
        "Bytes that each clone transfers, if different from size",
    )
    .alias(&["io_limit"])
    .works(put!(|job, value| {
        if matches!(value.size_spec(), SizeSpec::Percent(101..)) {
            return Err("io_size values greater than 100% aren't supported".to_owned());
        }
        job.counts.io_size = value.zones();
        job.job.extent.io_size = some_size(value.size_spec());
    })),
    opt(
        "fill_device",
        OptionKind::Bool,
        "Write until the file system or device is full",
    )
    .alias(&["fill_fs"])
    .default("0")
    .works(put!(|job, value| job.job.files.fill_device = value.flag())),
    opt(
        "file_append",
        OptionKind::Bool,
        "Start at the end of each file",
    )
    .default("0")
    .works(put!(|job, value| job.job.files.append = value.flag())),
    opt(
        "offset",
        OptionKind::SizeOrPercent,
        "Start offset in each file",
    )
    .alias(&["fileoffset"])
    .default("0")
    .works(put!(|job, value| {
        job.counts.offset = value.zones();
        job.job.extent.offset = value.size_spec();
    })),
    opt(
        "offset_increment",
        OptionKind::SizeOrPercent,
        "Distance between the start offsets of consecutive clones",
    )
    .default("0")
    .works(put!(|job, value| {
        job.counts.offset_increment = value.zones();
        job.job.extent.offset_increment = value.size_spec();
    })),
    opt(
        "offset_align",
        int(0),
        "Alignment of an offset given in percent",
    )
    .default("0")
    .works(put!(|job, value| job.job.extent.offset_align = value.u64())),
    opt(
        "number_ios",
        OptionKind::Int {
            min: 0,
            max: i64::MAX,
        },
        "End the job after N I/Os",
    )
    .default("0")
    .works(put!(
        |job, value| job.job.extent.number_ios = Some(value.u64()).filter(|n| *n > 0)
    )),
    opt("zonemode", ZONES, "Zone mode")
        .default("none")
        .works(put!(|job, value| job.zones.mode = Some(value.word()))),
    opt(
        "zonesize",
        OptionKind::Size { min: 0 },
        "Bytes to transfer in each zone",
    )
    .default("0")
    .with(
        "zonemode",
        put!(|job, value| job.zones.size = value.bytes()),
    ),
    opt(
        "zonerange",
        OptionKind::Size { min: 0 },
        "Size of a zone in bytes",
    )
    .default("0")
    .with(
        "zonemode",
        put!(|job, value| job.zones.range = value.bytes()),
    ),
    opt(
        "zonecapacity",
        OptionKind::Size { min: 0 },
        "Writable bytes of a zone",
    )
    .default("0")
    .with(
        "zonemode",
        put!(|job, value| job.zones.capacity = value.bytes()),
    ),
    opt(
        "zoneskip",
        OptionKind::SizeOrZones,
        "Bytes to skip between zones",
    )
    .default("0")
    .with(
        "zonemode",
        put!(|job, value| {
            job.counts.skip = value.zones();
            if let SizeSpec::Bytes(skip) = value.size_spec() {
                job.zones.skip = skip;
            }
        }),
    ),
    opt(
        "read_beyond_wp",
        OptionKind::Bool,
        "Also read beyond the write pointer of zones",
    )
    .default("0")
    .with(
        "zonemode",
        put!(|job, value| job.zones.read_beyond = value.flag()),
    ),
    opt(
        "max_open_zones",
        OptionKind::Int { min: 0, max: 4096 },
        "Maximum number of open zones",
    )
    .default("0")
    .with(
        "zonemode",
        put!(|job, value| job.zones.max_open = value.u32()),
    ),
    opt(
        "job_max_open_zones",
        OptionKind::Int { min: 0, max: 4096 },
        "Maximum number of open zones per job",
    )
    .default("0")
    .with(
        "zonemode",
        put!(|job, value| job.zones.max_open_each = value.u32()),
    ),
    opt(
        "ignore_zone_limits",
        OptionKind::Bool,
        "Ignore the open zone limits of the device",
    )
    .default("0")
    .with(
        "zonemode",
        put!(|job, value| job.zones.ignore_limits = value.flag()),
    ),
    opt(
        "zone_reset_threshold",
        FRACTION,
        "Fraction of written blocks at which zones are reset",
    )
    .default("0")
    .with(
        "zonemode",
        put!(|job, value| job.zones.reset_threshold = value.floats()[0]),
    ),
    opt(
        "zone_reset_frequency",
        FRACTION,
        "Frequency of zone resets, relative to writes",
    )
    .default("0")
    .with(
        "zonemode",
        put!(|job, value| job.zones.reset_frequency = value.floats()[0]),
    ),
    opt(
        "recover_zbd_write_error",
        OptionKind::Bool,
        "Read the write pointer again after a write error",
    )
    .default("0")
    .accepted("the write pointer is always read again after an error"),
    opt("fdp", OptionKind::Bool, "Use NVMe flexible data placement")
        .harmless(&["0"])
        .refused(
            "it belongs to the engine io_uring_cmd, which is not supported",
            "omit it",
        ),
    opt(
        "dataplacement",
        OptionKind::Choice(&[
            ("none", "none"),
            ("fdp", "flexible"),
            ("streams", "streams"),
        ]),
        "Type of data placement",
    )
    .harmless(&["none"])
    .refused(
        "it belongs to the engine io_uring_cmd, which is not supported",
        "omit it",
    ),
    opt(
        "plids",
        OptionKind::Text("1,2"),
        "Data placement identifiers",
    )
    .alias(&["fdp_pli"])
    .refused(
        "it belongs to the engine io_uring_cmd, which is not supported",
        "omit it",
    ),
    opt(
        "plid_select",
        OptionKind::Text("roundrobin"),
        "How to select the next placement identifier",
    )
    .alias(&["fdp_pli_select"])
    .refused(
        "it belongs to the engine io_uring_cmd, which is not supported",
        "omit it",
    ),
    opt(
        "plid_scheme",
        OptionKind::Text("file"),
        "File with placement identifiers by offset",
    )
    .alias(&["dp_scheme"])
    .refused(
        "it belongs to the engine io_uring_cmd, which is not supported",
        "omit it",
    ),
];

const FRACTION: OptionKind = OptionKind::Floats {
    min: 0.0,
    max: 1.0,
    most: 1,
};
const LOCKS: OptionKind = OptionKind::Choice(&[
    ("none", "no locks"),
    ("exclusive", "one at a time"),
    ("readwrite", "many readers or one writer"),
]);
const ORDERS: OptionKind = OptionKind::Tagged(&[
    ("roundrobin", "round robin; `:n` for n I/Os per file"),
    (
        "sequential",
        "one file after another; `:n` for n I/Os per file",
    ),
    ("random", "uniformly random; `:n` for n I/Os per file"),
    ("zipf", "Zipf distribution with the given theta"),
    ("pareto", "Pareto distribution with the given power"),
    (
        "normal",
        "normal distribution with the given deviation in percent",
    ),
    ("gauss", "as normal"),
]);
const FALLOCATE: OptionKind = OptionKind::Choice(&[
    ("native", "fallocate, if the file system supports it"),
    ("none", "not at all"),
    ("posix", "as native"),
    ("keep", "fallocate without growing the file"),
    ("truncate", "set only the file size"),
    ("0", "as none"),
    ("1", "as posix"),
]);
const ADVICE: OptionKind = OptionKind::Choice(&[
    ("0", "nothing"),
    ("1", "according to the workload"),
    ("random", "random"),
    ("sequential", "sequential"),
]);
const HINTS: OptionKind = OptionKind::Choice(&[
    ("none", "no lifetime"),
    ("short", "short"),
    ("medium", "medium"),
    ("long", "long"),
    ("extreme", "very long"),
]);
const ZONES: OptionKind = OptionKind::Choice(&[
    ("none", "no"),
    ("strided", "one zone after another, with gaps"),
    ("zbd", "zones of a zoned block device"),
]);

/// Treats a size of 0 as not given.
fn some_size(size: SizeSpec) -> Option<SizeSpec> {
    Some(size).filter(|size| !matches!(size, SizeSpec::Bytes(Bytes(0)) | SizeSpec::Percent(0)))
}

fn turns(job: &mut JobSpec, value: &super::kind::OptionValue) -> Result<(), String> {
    let (word, tag) = (value.word(), value.tag());
    let run = || match tag.map(|text| text.trim().parse::<u32>()) {
        None => Ok(1),
        Some(Ok(run @ 1..=1_000_000_000)) => Ok(run),
        _ => Err(format!(
            "`{}` is not a number of I/Os greater than 0",
            tag.unwrap_or_default()
        )),
    };
    let turns = &mut job.job.files.turns;
    (turns.order, turns.run_length) = match (word, skew(word, tag)?) {
        (_, Some(Distribution::Zipf(theta))) => (FileOrder::Zipf(theta), 1),
        (_, Some(Distribution::Pareto(power))) => (FileOrder::Pareto(power), 1),
        (_, Some(Distribution::Normal(deviation))) => (FileOrder::Normal(deviation), 1),
        ("sequential", _) => (FileOrder::Sequential, run()?),
        ("random", _) => (FileOrder::Random, run()?),
        _ => (FileOrder::RoundRobin, run()?),
    };
    Ok(())
}
