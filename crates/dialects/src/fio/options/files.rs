//! Options of files: their names, how they come to be, their sizes and zones.

use super::kind::{OptionKind, int};
use super::workload::skew;
use super::{FioOption, opt, put};
use crate::fio::spec::JobSpec;
use hakaru_model::job::rules::{AccessAdvice, FileLock, FileOrder, Lifetime};
use hakaru_model::job::{Distribution, Fallocate, SizeSpec};
use hakaru_model::units::Bytes;

pub(super) const TABLE: &[FioOption] = &[
    opt(
        "filename",
        OptionKind::Paths,
        "Files or devices to work on, separated by colons; clones share them",
    )
    .works(put!(|job, value| job.filenames = value.paths())),
    opt(
        "directory",
        OptionKind::Paths,
        "Folders in front of the file names; clones take turns",
    )
    .works(put!(|job, value| job.directories = value.paths())),
    opt(
        "filename_format",
        OptionKind::Text("$jobname.$jobnum.$filenum"),
        "How file names are made up",
    )
    .default("$jobname.$jobnum.$filenum")
    .works(put!(
        |job, value| job.format = value.text().trim().to_owned()
    )),
    opt(
        "unique_filename",
        OptionKind::Bool,
        "Puts the address of a remote client in front of file names",
    )
    .default("1")
    .accepted("there are no remote clients"),
    opt(
        "opendir",
        OptionKind::Text("/srv/data"),
        "Works on all files below a folder",
    )
    .refused(
        "folders are not searched for files",
        "list the files in filename",
    ),
    opt("lockfile", LOCKS, "Locks files around each I/O")
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
        "Files of each clone, where filename is not given",
    )
    .alias(&["nr_files"])
    .default("1")
    .works(put!(|job, value| job.nrfiles = value.u32())),
    opt(
        "openfiles",
        int(0),
        "Files that are worked on at the same time; the next has its turn when one is done",
    )
    .works(put!(
        |job, value| job.job.files.turns.open_files = Some(value.u32()).filter(|n| *n > 0)
    )),
    opt("file_service_type", ORDERS, "Which file comes next")
        .default("roundrobin")
        .works(turns),
    opt(
        "create_serialize",
        OptionKind::Bool,
        "Makes the files of several jobs one after another",
    )
    .default("1")
    .accepted("files are made one after another always"),
    opt(
        "create_fsync",
        OptionKind::Bool,
        "Syncs files when they are made",
    )
    .default("1")
    .accepted("files are synced when they are made always"),
    opt(
        "create_on_open",
        OptionKind::Bool,
        "Makes files only when they are opened",
    )
    .default("0")
    .works(put!(
        |job, value| job.job.files.create_on_open = value.flag()
    )),
    opt(
        "create_only",
        OptionKind::Bool,
        "Makes the files and does nothing else",
    )
    .default("0")
    .works(put!(|job, value| job.job.files.create_only = value.flag())),
    opt(
        "allow_file_create",
        OptionKind::Bool,
        "Whether files that are missing may be made",
    )
    .default("1")
    .works(put!(|job, value| job.job.files.allow_create = value.flag())),
    opt(
        "allow_mounted_write",
        OptionKind::Bool,
        "Writes to devices that are mounted",
    )
    .default("0")
    .harmless(&["0"])
    .refused("a mounted device is never written to", "unmount it first"),
    opt(
        "pre_read",
        OptionKind::Bool,
        "Reads files in full before the job",
    )
    .default("0")
    .works(put!(|job, value| job.job.files.pre_read = value.flag())),
    opt(
        "unlink",
        OptionKind::Bool,
        "Removes files when the job has ended",
    )
    .default("0")
    .works(put!(|job, value| job.job.files.unlink = value.flag())),
    opt(
        "unlink_each_loop",
        OptionKind::Bool,
        "Removes files between loops, and makes them anew",
    )
    .default("0")
    .works(put!(
        |job, value| job.job.files.unlink_each_loop = value.flag()
    )),
    opt(
        "fallocate",
        FALLOCATE,
        "How space is reserved when a file is made",
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
        "What the kernel is told of the order of I/O",
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
        "How long the kernel is told that the data will live",
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
        "Bytes each clone works on, over all its files",
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
        "Size of each file, or a range each is drawn from",
    )
    .works(put!(|job, value| {
        let (min, max) = value.size_range();
        job.job.extent.filesize = Some(Bytes(min));
        job.job.extent.filesize_max = Some(Bytes(max)).filter(|max| max.0 > min);
    })),
    opt(
        "io_size",
        OptionKind::SizeOrPercent,
        "Bytes each clone transfers, where it is not as much as size",
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
        "Writes until there is no space left",
    )
    .alias(&["fill_fs"])
    .default("0")
    .works(put!(|job, value| job.job.files.fill_device = value.flag())),
    opt(
        "file_append",
        OptionKind::Bool,
        "Begins at the end of each file",
    )
    .default("0")
    .works(put!(|job, value| job.job.files.append = value.flag())),
    opt(
        "offset",
        OptionKind::SizeOrPercent,
        "Where in each file to begin",
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
        "How much further each clone begins than the one before",
    )
    .default("0")
    .works(put!(|job, value| {
        job.counts.offset_increment = value.zones();
        job.job.extent.offset_increment = value.size_spec();
    })),
    opt(
        "offset_align",
        int(0),
        "What an offset in hundredths is rounded to",
    )
    .default("0")
    .works(put!(|job, value| job.job.extent.offset_align = value.u64())),
    opt(
        "number_ios",
        OptionKind::Int {
            min: 0,
            max: i64::MAX,
        },
        "Ends the job after so many I/Os",
    )
    .default("0")
    .works(put!(
        |job, value| job.job.extent.number_ios = Some(value.u64()).filter(|n| *n > 0)
    )),
    opt("zonemode", ZONES, "Whether I/O keeps to zones")
        .default("none")
        .works(put!(|job, value| job.zones.mode = Some(value.word()))),
    opt(
        "zonesize",
        OptionKind::Size { min: 0 },
        "Bytes transferred in a zone",
    )
    .default("0")
    .with(
        "zonemode",
        put!(|job, value| job.zones.size = value.bytes()),
    ),
    opt("zonerange", OptionKind::Size { min: 0 }, "Bytes of a zone")
        .default("0")
        .with(
            "zonemode",
            put!(|job, value| job.zones.range = value.bytes()),
        ),
    opt(
        "zonecapacity",
        OptionKind::Size { min: 0 },
        "Bytes of a zone that can be written",
    )
    .default("0")
    .with(
        "zonemode",
        put!(|job, value| job.zones.capacity = value.bytes()),
    ),
    opt(
        "zoneskip",
        OptionKind::SizeOrZones,
        "Bytes left out between zones",
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
        "Reads zones also where nothing was written",
    )
    .default("0")
    .with(
        "zonemode",
        put!(|job, value| job.zones.read_beyond = value.flag()),
    ),
    opt(
        "max_open_zones",
        OptionKind::Int { min: 0, max: 4096 },
        "Zones that are written at the same time",
    )
    .default("0")
    .with(
        "zonemode",
        put!(|job, value| job.zones.max_open = value.u32()),
    ),
    opt(
        "job_max_open_zones",
        OptionKind::Int { min: 0, max: 4096 },
        "Zones that one worker writes at the same time",
    )
    .default("0")
    .with(
        "zonemode",
        put!(|job, value| job.zones.max_open_each = value.u32()),
    ),
    opt(
        "ignore_zone_limits",
        OptionKind::Bool,
        "Lets more zones be open than the device says",
    )
    .default("0")
    .with(
        "zonemode",
        put!(|job, value| job.zones.ignore_limits = value.flag()),
    ),
    opt(
        "zone_reset_threshold",
        FRACTION,
        "Share of written blocks from which zones are emptied",
    )
    .default("0")
    .with(
        "zonemode",
        put!(|job, value| job.zones.reset_threshold = value.floats()[0]),
    ),
    opt(
        "zone_reset_frequency",
        FRACTION,
        "How often a zone is emptied then, counted in writes",
    )
    .default("0")
    .with(
        "zonemode",
        put!(|job, value| job.zones.reset_frequency = value.floats()[0]),
    ),
    opt(
        "recover_zbd_write_error",
        OptionKind::Bool,
        "Asks the device for its write pointer after an error",
    )
    .default("0")
    .accepted("the device is asked for its write pointer after each error"),
    opt(
        "fdp",
        OptionKind::Bool,
        "Places writes by the data placement of NVMe",
    )
    .harmless(&["0"])
    .refused(
        "it belongs to the engine io_uring_cmd, which is not built in",
        "leave it out",
    ),
    opt(
        "dataplacement",
        OptionKind::Choice(&[
            ("none", "none"),
            ("fdp", "flexible"),
            ("streams", "streams"),
        ]),
        "Places writes",
    )
    .harmless(&["none"])
    .refused(
        "it belongs to the engine io_uring_cmd, which is not built in",
        "leave it out",
    ),
    opt(
        "plids",
        OptionKind::Text("1,2"),
        "Identifiers data is placed under",
    )
    .alias(&["fdp_pli"])
    .refused(
        "it belongs to the engine io_uring_cmd, which is not built in",
        "leave it out",
    ),
    opt(
        "plid_select",
        OptionKind::Text("roundrobin"),
        "Which of these identifiers comes next",
    )
    .alias(&["fdp_pli_select"])
    .refused(
        "it belongs to the engine io_uring_cmd, which is not built in",
        "leave it out",
    ),
    opt(
        "plid_scheme",
        OptionKind::Text("file"),
        "File of identifiers by offset",
    )
    .alias(&["dp_scheme"])
    .refused(
        "it belongs to the engine io_uring_cmd, which is not built in",
        "leave it out",
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
    ("roundrobin", "in turn; `:n` makes n I/Os a turn"),
    (
        "sequential",
        "one after the other is done; `:n` makes n I/Os a turn",
    ),
    ("random", "drawn evenly; `:n` makes n I/Os a turn"),
    ("zipf", "drawn by Zipf with the given theta"),
    ("pareto", "drawn by Pareto with the given power"),
    (
        "normal",
        "drawn by a normal distribution with the given deviation in hundredths",
    ),
    ("gauss", "as normal"),
]);
const FALLOCATE: OptionKind = OptionKind::Choice(&[
    ("native", "fallocate, where the file system has it"),
    ("none", "not at all"),
    ("posix", "as native"),
    ("keep", "fallocate without growing the file"),
    ("truncate", "only the size is set"),
    ("0", "as none"),
    ("1", "as posix"),
]);
const ADVICE: OptionKind = OptionKind::Choice(&[
    ("0", "nothing"),
    ("1", "what the job does"),
    ("random", "random"),
    ("sequential", "sequential"),
]);
const HINTS: OptionKind = OptionKind::Choice(&[
    ("none", "no particular time"),
    ("short", "short"),
    ("medium", "medium"),
    ("long", "long"),
    ("extreme", "very long"),
]);
const ZONES: OptionKind = OptionKind::Choice(&[
    ("none", "no"),
    ("strided", "one zone after another, with gaps"),
    ("zbd", "the zones of a zoned block device"),
]);

/// A size of nothing is no size.
fn some_size(size: SizeSpec) -> Option<SizeSpec> {
    Some(size).filter(|size| !matches!(size, SizeSpec::Bytes(Bytes(0)) | SizeSpec::Percent(0)))
}

fn turns(job: &mut JobSpec, value: &super::OptionValue) -> Result<(), String> {
    let (word, tag) = (value.word(), value.tag());
    let run = || match tag.map(|text| text.trim().parse::<u32>()) {
        None => Ok(1),
        Some(Ok(run @ 1..=1_000_000_000)) => Ok(run),
        _ => Err(format!(
            "`{}` is not a number of I/Os from 1 on",
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
