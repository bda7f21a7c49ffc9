//! Converts a parsed job to the types of the model, where combinations of options take effect.

use super::error::FioErrorKind;
use super::invocation::JobExtras;
use super::options::NEVER;
use super::output::VERIFY_NOTES;
use super::spec::{FlowSpec, JobSpec, SteadySpec, ZoneSpec};
use hakaru_model::job::rules::{
    FlowShare, LatencyTarget, Logs, PatternPart, SteadyStateRule, Verify, VerifyMethod, ZoneResets,
    Zones,
};
use hakaru_model::job::{
    Access, BlockSize, BufferContent, DedupeRule, Distribution, IoEngine, Job, Op, PerOp, SizeSpec,
    Target,
};
use hakaru_model::rng::Rng;
use hakaru_model::units::{Bytes, Nanos};
use std::path::{Component, Path, PathBuf};

/// Default seed of jobs with repeatable offsets.
const USUAL_SEED: u64 = 0x89;

/// Converts a job to the model. `index` is its number among all jobs and seeds its random generator.
pub(crate) fn lower(
    spec: &JobSpec,
    index: u64,
    warnings: &mut Vec<String>,
) -> Result<(Job, JobExtras), FioErrorKind> {
    let mut job = spec.job.clone();
    let mut zones = spec.zones;
    let bad = |reason: String| FioErrorKind::BadJob {
        job: spec.job.name.clone(),
        reason,
    };
    set_access(&mut job, spec).map_err(bad)?;
    job.buffers.repeats = repeats(spec).map_err(bad)?;
    let FlowSpec { weight, id, sleep } = spec.flow;
    job.rate.flow = (weight > 0).then_some(FlowShare { id, weight, sleep });
    (job.target, job.files.unopened) = (target(spec).map_err(bad)?, unopened(spec));
    job.queue.batch_complete_max = spec.complete_max.unwrap_or(job.queue.batch_complete_min);
    job.queue.separate_submit = true;
    job.files.reserve_unflushed = true;
    job.files.empties_reserved = true;
    job.files.begin_refused = true;
    job.errors.accept_empty_reads = matches!(
        job.ioengine,
        IoEngine::Libaio | IoEngine::IoUring | IoEngine::Posixaio
    );
    job.queue.low_mark = job.queue.low_mark.min(job.queue.iodepth);
    job.seed = seed(spec, index);
    job.extent.draws_anew = spec.job.seed.is_some() || spec.repeatable == Some(false);
    buffers(&mut job, spec);
    times(&mut job, warnings);
    measure(&mut job, spec);
    flushes(&mut job, spec);
    count_zones(&mut job, &mut zones, spec).map_err(bad)?;
    rules(&mut job, spec, &zones, warnings).map_err(bad)?;
    note_foreign_options(spec, warnings);
    Ok((job, extras(spec)))
}

/// Adapts cache, flushes and layout of the files to the workload.
fn flushes(job: &mut Job, spec: &JobSpec) {
    job.files.invalidate &= !job.files.pre_read;
    if job.access.trim_before_write {
        // fio counts writes for `fsync` and `fdatasync` only in jobs that do not trim.
        (job.durability.fsync_every, job.durability.fdatasync_every) = (0, 0);
        job.durability.range_sync = None;
    }
    // Files of a mixed workload are laid out in full, even without reads.
    job.files.overwrite |= matches!(spec.rw.0, "rw" | "randrw" | "readwrite" | "randreadwrite");
}

/// Sets which I/Os the job issues: operations, offsets and sizes.
fn set_access(job: &mut Job, spec: &JobSpec) -> Result<(), String> {
    let access = access(spec)?;
    (job.block, job.block_rules.in_line) = blocks(spec, &access);
    job.block_align = align(spec, &access, &job.block)?;
    let mut every_block_once = job.access.every_block_once || spec.lfsr;
    // Offsets with their own alignment cannot cover each block exactly once, and neither can skewed ones.
    every_block_once &= job.block_align.is_none() && access.distribution == Distribution::Uniform;
    if spec.bs_by_order && access.random {
        job.block_align = job.block_align.or(align_by_order(spec, &access));
    }
    job.access = Access {
        every_block_once,
        ..access
    };
    Ok(())
}

/// Settings that the model does not represent.
fn extras(spec: &JobSpec) -> JobExtras {
    let mut extras = spec.extras.clone();
    extras.seed_by_default = spec.job.seed.is_none() && spec.repeatable.is_none();
    extras.directories.clone_from(&spec.directories);
    extras.clat_percentiles &= spec.job.measure.clat && !spec.gtod_reduce;
    let by_order = || (block(spec, Op::Read), block(spec, Op::Write));
    extras.by_order = spec.bs_by_order.then(by_order);
    extras.rw = Some(match spec.rw.0 {
        "readwrite" => "rw",
        rw => rw,
    });
    extras
}

fn access(spec: &JobSpec) -> Result<Access, String> {
    let (word, number) = spec.rw;
    let random = word.starts_with("rand");
    let mut access = match word.strip_prefix("rand").unwrap_or(word) {
        "write" => Access::only(Op::Write, random),
        "trim" => Access::only(Op::Trim, random),
        "rw" | "readwrite" => Access::mixed(spec.read_percent.min(100), random),
        "trimwrite" => Access {
            trim_before_write: true,
            ..Access::only(Op::Write, random)
        },
        _ => Access::only(Op::Read, random),
    };
    let asked = &spec.job.access;
    (access.distribution, access.centre) = (asked.distribution.clone(), asked.centre);
    // 100% is what fio does without the option.
    access.percentage_random = asked
        .percentage_random
        .filter(|share| Op::ALL.iter().any(|op| share[*op] != 100));
    match (number, random) {
        (None, _) => {}
        (Some(run), true) => {
            access.run_length = u32::try_from(run.max(1))
                .map_err(|_| format!("rw={word}:{run}: the number of I/Os is too large"))?;
            access.run_identical = spec.identical;
        }
        (Some(stride), false) => access.stride = stride,
    }
    Ok(access)
}

/// The block size for an operation. `bssplit` overrides `bsrange`, which overrides `bs`, regardless of their order.
fn block(spec: &JobSpec, op: Op) -> BlockSize {
    if let Some(parts) = &spec.bs_split[op] {
        match parts.as_slice() {
            [(bytes, _)] => BlockSize::Fixed(Bytes(*bytes)),
            parts => BlockSize::Split(
                parts
                    .iter()
                    .map(|(bytes, percent)| (Bytes(*bytes), *percent))
                    .collect(),
            ),
        }
    } else if let Some((min, max)) = spec.bs_range[op] {
        match min == max {
            true => BlockSize::Fixed(Bytes(min)),
            false => BlockSize::Range {
                min: Bytes(min),
                max: Bytes(max),
            },
        }
    } else {
        BlockSize::Fixed(Bytes(spec.bs[op].unwrap_or(4096)))
    }
}

/// Block sizes by operation, and the size of the sequential I/Os of a random job if it differs.
fn blocks(spec: &JobSpec, access: &Access) -> (PerOp<BlockSize>, Option<BlockSize>) {
    let of = |op| block(spec, op);
    if spec.bs_by_order {
        let (in_line, random) = (of(Op::Read), of(Op::Write));
        return if access.random {
            (PerOp::all(random), Some(in_line))
        } else {
            (PerOp::all(in_line), None)
        };
    }
    (
        PerOp {
            read: of(Op::Read),
            write: of(Op::Write),
            trim: of(Op::Trim),
        },
        None,
    )
}

/// Alignment of random offsets with `bs_is_seq_rand`: fio still uses the size given for the operation, and in a mixed
/// workload the smaller of the two sizes.
fn align_by_order(spec: &JobSpec, access: &Access) -> Option<Bytes> {
    let mut used = Op::ALL.into_iter().filter(|&op| access.does(op));
    let (Some(op), None) = (used.next(), used.next()) else {
        return None;
    };
    Some(block(spec, op).min()).filter(|size| *size > block(spec, Op::Write).max())
}

fn align(
    spec: &JobSpec,
    access: &Access,
    block: &PerOp<BlockSize>,
) -> Result<Option<Bytes>, String> {
    let used = Op::ALL
        .into_iter()
        .filter(|&op| access.does(op))
        .map(|op| spec.align[op]);
    let mut given: Vec<Option<u64>> = used.collect();
    given.dedup();
    // As in fio, the alignment that all block sizes have anyway changes nothing.
    let own = |align: &u64| Op::ALL.iter().any(|&op| block[op].min().0 != *align);
    match given.as_slice() {
        [] => Ok(None),
        [one] => Ok(one.filter(|one| access.random && own(one)).map(Bytes)),
        _ => Err(
            "different blockalign values for reads, writes and trims are not supported: use \
        a single value"
                .to_owned(),
        ),
    }
}

fn target(spec: &JobSpec) -> Result<Target, String> {
    if spec.job.ioengine == IoEngine::Null {
        return Ok(Target::Nothing);
    }
    if spec.filenames.is_empty() {
        let format = file_format(spec);
        let (directories, nrfiles) = (spec.directories.clone(), spec.nrfiles);
        let name = format.replace("$jobname", &spec.job.name);
        if !directories.is_empty() && leaves_directory(Path::new(&name)) {
            return Err(format!(
                "its files `{name}` would be outside of the given directory: use a name or \
                filename_format without `..`, or name the files with filename"
            ));
        }
        return Ok(Target::Formatted {
            directories,
            format,
            nrfiles,
        });
    }
    if spec.filenames.iter().any(|name| name == Path::new("-")) {
        return Err(
            "filename=- (standard input or output) is not supported: name a file or device"
                .to_owned(),
        );
    }
    // Named files go into the first directory, even with absolute names: fio concatenates the two as text.
    let place = |name: &PathBuf| match spec.directories.first() {
        None => name.clone(),
        Some(directory) => directory.join(name.strip_prefix("/").unwrap_or(name)),
    };
    Ok(Target::Paths(spec.filenames.iter().map(place).collect()))
}

/// Whether a path below a directory leads out of it. As in fio, it is below it even if it begins with `/`.
fn leaves_directory(path: &Path) -> bool {
    let depths = path.components().scan(0i32, |depth, part| {
        *depth += match part {
            Component::ParentDir => -1,
            Component::Normal(_) => 1,
            _ => 0,
        };
        Some(*depth)
    });
    depths.min().is_some_and(|least| least < 0)
}

/// File name format of a job that names no files.
fn file_format(spec: &JobSpec) -> String {
    // `name=` inside a section renames the job, but not its files.
    let section = spec
        .section
        .as_ref()
        .filter(|section| **section != spec.job.name);
    section.map_or(spec.format.clone(), |section| {
        spec.format.replace("$jobname", section)
    })
}

/// File names of a job with `ioengine=null` if it has several files or names one. It opens none, but distributes its
/// I/O among them.
fn unopened(spec: &JobSpec) -> Vec<String> {
    let format = file_format(spec);
    let usual = spec.nrfiles == 1 && format == JobSpec::default().format;
    match spec.job.ioengine {
        IoEngine::Null if !spec.filenames.is_empty() => {
            let names = spec.filenames.iter();
            names.map(|name| name.display().to_string()).collect()
        }
        IoEngine::Null if !usual => (0..spec.nrfiles)
            .map(|number| format.replace("$filenum", &number.to_string()))
            .collect(),
        _ => Vec::new(),
    }
}

/// The seed of a job. A repeatable job derives it from its index, so that no two jobs use the same offsets. Other jobs
/// use the seed of the scenario, which the caller draws.
fn seed(spec: &JobSpec, index: u64) -> Option<u64> {
    let given = spec
        .job
        .seed
        .or(spec.repeatable.unwrap_or(true).then_some(USUAL_SEED))?;
    Some(Rng::fork(given, index).next_u64())
}

/// Data with an explicit pattern or compression is not scrambled.
fn buffers(job: &mut Job, spec: &JobSpec) {
    // The pattern of `verify_pattern` is written even if verification is disabled.
    if let (Some("0"), [PatternPart::Bytes(bytes)], BufferContent::Random) = (
        spec.verify.method,
        &spec.verify.pattern[..],
        &job.buffers.fill,
    ) {
        job.buffers.fill = BufferContent::Pattern(bytes.clone());
    }
    if matches!(job.buffers.fill, BufferContent::Compressible(_)) {
        job.buffers.compress_chunk.get_or_insert(Bytes(512));
    }
    job.buffers.refill |= job.buffers.repeats.percent > 0;
    let kept = matches!(
        job.buffers.fill,
        BufferContent::Zero | BufferContent::Pattern(_)
    );
    job.buffers.scramble &= !kept && !job.buffers.refill;
    job.buffers.refill &= !kept;
}

fn repeats(spec: &JobSpec) -> Result<DedupeRule, String> {
    let (percent, set) = spec.dedupe;
    if spec.dedupe_global && !spec.dedupe_in_set {
        return Err("dedupe_global needs dedupe_mode=working_set".to_owned());
    }
    let working_set_percent = spec.dedupe_in_set.then_some(set);
    Ok(DedupeRule {
        percent,
        working_set_percent,
        shared: spec.dedupe_global,
        sharers: 0,
    })
}

fn times(job: &mut Job, warnings: &mut Vec<String>) {
    if job.timing.time_based && job.timing.runtime.is_none() {
        warnings.push(format!(
            "job `{}`: time_based has no effect without runtime",
            job.name
        ));
        job.timing.time_based = false;
    }
    if !job.timing.time_based && job.timing.runtime == Some(NEVER) {
        job.timing.runtime = None;
    }
    let rate = &mut job.rate;
    if rate.thinktime == Nanos(0) {
        rate.thinktime_blocks = 0;
    } else if rate.thinktime_iotime == Nanos(0) {
        rate.thinktime_blocks = rate.thinktime_blocks.max(1);
    }
}

fn measure(job: &mut Job, spec: &JobSpec) {
    let measure = &mut job.measure;
    if spec.gtod_reduce {
        (measure.clat, measure.slat, measure.lat, measure.intervals) = (false, false, false, false);
    }
    measure.lat_histogram = spec.extras.lat_percentiles && measure.lat;
    measure.slat_histogram = spec.extras.slat_percentiles && measure.slat;
    let logs = &spec.extras.logs;
    let average = Some(logs.avg_msec).filter(|ms| *ms > 0);
    let logged = logs.bw.is_some() || logs.iops.is_some();
    // Bandwidth and IOPS samples use the windows of their logs. Based on observed behavior.
    let windows = [Some(logs.bwavgtime_ms), Some(logs.iopsavgtime_ms)]
        .into_iter()
        .flatten()
        .filter(|ms| *ms > 0)
        .min();
    measure.tick = Nanos::from_millis(average.filter(|_| logged).or(windows).unwrap_or(500));
    job.measure.logs = Logs {
        samples: logged || logs.lat.is_some(),
        window: average.map(Nanos::from_millis),
        max_value: logs.max_value,
        both_values: logs.both_values,
        histogram: Some(logs.hist_msec)
            .filter(|ms| logs.hist.is_some() && *ms > 0)
            .map(Nanos::from_millis),
        coarseness: logs.hist_coarseness,
    };
}

/// Rejects a minimum rate above the maximum rate.
fn least_rates(job: &Job) -> Result<(), String> {
    let (rate, least) = (&job.rate, &job.termination.minimum_rate);
    let kinds = [
        ("rate_min", "rate", &least.bytes_per_s, &rate.bytes_per_s),
        ("rate_iops_min", "rate_iops", &least.iops, &rate.iops),
    ];
    for (min_name, name, min, max) in kinds {
        for op in Op::ALL {
            let (Some(min), Some(max)) = (min[op], max[op]) else {
                continue;
            };
            if 0 < max && max < min {
                let of = ["reads", "writes", "trims"][op as usize];
                return Err(format!(
                    "minimum rate exceeds rate: {min_name} for {of} is {min}, {name} is {max}"
                ));
            }
        }
    }
    Ok(())
}

fn rules(
    job: &mut Job,
    spec: &JobSpec,
    zones: &ZoneSpec,
    warnings: &mut Vec<String>,
) -> Result<(), String> {
    let mixed = matches!(spec.rw.0, "rw" | "readwrite" | "randrw");
    // A mixed workload that never writes reads data of unknown origin, so it is not verified.
    job.verify = verify(spec, warnings)?.filter(|_| !mixed || job.access.does(Op::Write));
    if let Some(verify) = job.verify.as_mut().filter(|_| !job.access.does(Op::Write)) {
        // A job that reads verifies immediately, even with `do_verify`.
        verify.read_back = true;
    }
    least_rates(job)?;
    if job.block_rules.unaligned && job.files.direct {
        warnings.push("bs_unaligned may not work with raw io".to_owned());
    }
    job.termination.exit.ends = spec.exitall.then_some(spec.exit_what);
    set_search(job, spec)?;
    job.access.zones = self::zones(zones, spec, warnings)?;
    let logs = &spec.extras.logs;
    if logs.issued && (logs.lat.is_none() || !logs.offset) {
        return Err("log_issue_time needs write_lat_log and log_offset=1".to_owned());
    }
    if job.files.atomic && (job.ioengine != IoEngine::Pvsync2 || !job.files.direct) {
        return Err("atomic needs ioengine=pvsync2 and direct=1".to_owned());
    }
    fill_device(job, warnings)
}

/// Sets the search for a steady state and for a queue depth.
fn set_search(job: &mut Job, spec: &JobSpec) -> Result<(), String> {
    job.termination.steady = steady(&spec.steady)?;
    if let Some(steady) = &mut job.termination.steady {
        steady.together = job.group_reporting;
        // Steady-state samples are sums of ticks, so a tick must not exceed the interval.
        job.measure.tick = job.measure.tick.min(steady.interval);
    }
    job.rate.latency_target = spec.latency.target.map(|target| LatencyTarget {
        target,
        window: spec.latency.window,
        percentile: spec.latency.percentile,
        keep_running: spec.latency.keep_running,
    });
    Ok(())
}

/// A sequential write job fills the device. For a read-only job without a size, the device is filled beforehand.
fn fill_device(job: &mut Job, warnings: &mut Vec<String>) -> Result<(), String> {
    let writes = job.access.does(Op::Write);
    if !job.files.fill_device || writes && !job.access.random {
        return Ok(());
    }
    if !writes {
        if job.extent.size.is_some() || job.extent.filesize.is_some() {
            warnings.push(format!(
                "job `{}`: fill_device has no effect on reads with a size",
                job.name
            ));
            job.files.fill_device = false;
        }
        return Ok(());
    }
    Err(
        "fill_device=1 is not supported with random writes: fill the file in a job with rw=write \
    and fill_device=1, and run this job after it with stonewall, the same filename and no \
    fill_device"
            .to_owned(),
    )
}

fn verify(spec: &JobSpec, warnings: &mut Vec<String>) -> Result<Option<Verify>, String> {
    let Some(method) = verify_method(spec)? else {
        return match spec.verify.rules.only {
            true => Err("verify_only needs verify".to_owned()),
            false => Ok(None),
        };
    };
    if !spec.job.replay.read.is_empty() {
        let why = "a log does not contain the written data";
        return Err(format!("verify is not supported with read_iolog: {why}"));
    }
    if spec.verify.rules.only && spec.job.timing.time_based {
        return Err("verify_only cannot be time_based: it checks the written data once".to_owned());
    }
    let rules = Verify {
        method,
        fill: spec.verify.pattern.clone(),
        sorted: spec.lfsr,
        ..spec.verify.rules.clone()
    };
    warn_of_verify(spec, &rules, warnings);
    Ok(Some(rules))
}

/// The method of verification; `None` if the job does not verify.
fn verify_method(spec: &JobSpec) -> Result<Option<VerifyMethod>, String> {
    // A pattern alone is verified as well, after a header.
    let usual = match spec.verify.pattern[..] {
        [] => "0",
        _ => "pattern_hdr",
    };
    let word = spec.verify.method.unwrap_or(usual);
    let pattern = || match spec.verify.pattern.is_empty() {
        true => Err(format!("verify={word} needs verify_pattern")),
        false => Ok(spec.verify.pattern.clone()),
    };
    Ok(Some(match word {
        "0" => return Ok(None),
        "pattern" => VerifyMethod::Pattern(pattern()?),
        "pattern_hdr" => VerifyMethod::PatternHeader(pattern()?),
        "null" => VerifyMethod::Null,
        word => checksum(word).unwrap_or(VerifyMethod::Header),
    }))
}

/// The checksum with this name.
fn checksum(name: &str) -> Option<VerifyMethod> {
    Some(match name {
        "crc32c" | "crc32c-intel" => VerifyMethod::Crc32c,
        "crc32" => VerifyMethod::Crc32,
        "crc64" => VerifyMethod::Crc64,
        "crc16" => VerifyMethod::Crc16,
        "crc7" => VerifyMethod::Crc7,
        "md5" => VerifyMethod::Md5,
        "sha1" => VerifyMethod::Sha1,
        "sha256" => VerifyMethod::Sha256,
        "sha512" => VerifyMethod::Sha512,
        "sha3-224" => VerifyMethod::Sha3_224,
        "sha3-256" => VerifyMethod::Sha3_256,
        "sha3-384" => VerifyMethod::Sha3_384,
        "sha3-512" => VerifyMethod::Sha3_512,
        "xxhash" => VerifyMethod::Xxhash,
        _ => return None,
    })
}

/// Adds the warnings about verification that fio also prints.
fn warn_of_verify(spec: &JobSpec, rules: &Verify, warnings: &mut Vec<String>) {
    let writes = spec.rw.0.contains("write") || spec.rw.0.contains("rw");
    if !writes || !rules.read_back {
        return;
    }
    let [never, others] = VERIFY_NOTES;
    if spec.job.timing.time_based && spec.job.timing.runtime.is_some() && rules.backlog == 0 {
        warnings.push(never.to_owned());
    }
    if spec.job.numjobs > 1 && !spec.filenames.is_empty() {
        warnings.push(others.to_owned());
    }
}

fn steady(spec: &SteadySpec) -> Result<Option<SteadyStateRule>, String> {
    let Some((word, limit)) = spec.criterion else {
        return Ok(None);
    };
    if spec.duration == Nanos(0) {
        return Ok(None);
    }
    if spec.interval == Nanos(0) || spec.interval > spec.duration {
        return Err(
            "steadystate_check_interval must be between 1 s and steadystate_duration".to_owned(),
        );
    }
    let (iops, slope) = (word.starts_with("iops"), word.ends_with("_slope"));
    let SteadySpec {
        duration: window,
        ramp,
        interval,
        ..
    } = *spec;
    Ok(Some(SteadyStateRule {
        iops,
        slope,
        limit,
        window,
        ramp,
        interval,
        together: false,
    }))
}

/// Converts a number of zones to bytes.
fn count_zones(job: &mut Job, zones: &mut ZoneSpec, spec: &JobSpec) -> Result<(), String> {
    let bytes = |name: &str, count: Option<u64>| {
        let bytes = count.map(|count| bytes_of_zones(zones, name, count));
        bytes.transpose()
    };
    let some = |bytes: Option<Bytes>| bytes.filter(|bytes| bytes.0 > 0).map(SizeSpec::Bytes);
    let (counts, extent) = (spec.counts, &mut job.extent);
    extent.size = some(bytes("size", counts.size)?).or(extent.size);
    extent.io_size = some(bytes("io_size", counts.io_size)?).or(extent.io_size);
    let offset = bytes("offset", counts.offset)?;
    extent.offset = offset.map_or(extent.offset, SizeSpec::Bytes);
    let increment = bytes("offset_increment", counts.offset_increment)?;
    extent.offset_increment = increment.map_or(extent.offset_increment, SizeSpec::Bytes);
    // `zoneskip` is ignored without zones.
    let has_zones = !matches!(zones.mode, None | Some("none"));
    let skip = bytes("zoneskip", counts.skip.filter(|_| has_zones))?;
    zones.skip = skip.unwrap_or(zones.skip);
    Ok(())
}

fn bytes_of_zones(zones: &ZoneSpec, name: &str, count: u64) -> Result<Bytes, String> {
    match (zones.mode, zones.size) {
        (None | Some("none"), _) => Err(format!(
            "{name}={count}z is a number of zones, but there are no zones: add zonemode"
        )),
        (_, Bytes(0)) => Err(format!("{name}={count}z needs zonesize")),
        (_, size) => size
            .0
            .checked_mul(count)
            .map(Bytes)
            .ok_or_else(|| format!("{name}={count}z is too large")),
    }
}

fn zones(spec: &ZoneSpec, job: &JobSpec, warnings: &mut Vec<String>) -> Result<Zones, String> {
    match spec.mode.unwrap_or("none") {
        "strided" if spec.size == Bytes(0) => Err("zonemode=strided needs zonesize".to_owned()),
        "strided" => Ok(Zones::Strided {
            range: some(spec.range).unwrap_or(spec.size),
            size: spec.size,
            skip: spec.skip,
        }),
        "zbd" => Ok(device_zones(spec)),
        _ if spec.size > Bytes(0) => Err(
            "zonesize goes with zonemode=strided or zonemode=zbd, and --zonemode=none and \
             --zonesize are not compatible: add zonemode=strided, or leave zonesize out"
                .to_owned(),
        ),
        _ => {
            warn_of_zones(spec, job, warnings);
            Ok(Zones::None)
        }
    }
}

/// The size, unless it is 0 for "not given".
fn some(size: Bytes) -> Option<Bytes> {
    (size.0 > 0).then_some(size)
}

fn device_zones(spec: &ZoneSpec) -> Zones {
    Zones::Device {
        size: some(spec.size),
        capacity: some(spec.capacity),
        skip: spec.skip,
        max_open: spec.max_open,
        max_open_each: spec.max_open_each,
        read_beyond_write_pointer: spec.read_beyond,
        ignore_limits: spec.ignore_limits,
        resets: (spec.reset_frequency > 0.0).then(|| ZoneResets {
            threshold_millionths: (spec.reset_threshold * 1e6) as u32,
            every: (1.0 / spec.reset_frequency).round().clamp(1.0, 1e9) as u32,
        }),
    }
}

/// Adds a warning for each zone option that has no effect without a zone mode.
fn warn_of_zones(spec: &ZoneSpec, job: &JobSpec, warnings: &mut Vec<String>) {
    let skips = spec.skip > Bytes(0) || job.counts.skip.is_some_and(|count| count > 0);
    let options = [
        ("zoneskip", skips),
        ("zonerange", spec.range > Bytes(0)),
        ("zonecapacity", spec.capacity > Bytes(0)),
    ];
    for (name, _) in options.into_iter().filter(|(_, given)| *given) {
        let job = &job.job.name;
        warnings.push(format!(
            "job `{job}`: {name} has no effect without zonemode"
        ));
    }
}

fn note_foreign_options(spec: &JobSpec, warnings: &mut Vec<String>) {
    let engine = spec.job.ioengine.name();
    for (name, engines) in &spec.engine_options {
        if !engines.contains(&engine) {
            warnings.push(format!(
                "job `{}`: {name} applies to {}, and has no effect with {engine}",
                spec.job.name,
                engines.join(", ")
            ));
        }
    }
}
