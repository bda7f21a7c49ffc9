//! Options of the access pattern: direction, mixes, randomness, caches and syncs.

use super::kind::{OptionKind, OptionValue, int};
use super::row::{FioOption, opt, put};
use crate::fio::lists::floats;
use crate::fio::spec::JobSpec;
use hakaru_model::job::rules::RangeSync;
use hakaru_model::job::{AbsoluteZone, Distribution, RelativeZone};
use hakaru_model::units::{Bytes, SizeSuffixes, parse_size};

pub(super) const TABLE: &[FioOption] = &[
    opt(
        "rw",
        DIRECTIONS,
        "Type of I/O: operations, sequential or random",
    )
    .alias(&["readwrite"])
    .default("read")
    .works(put!(|job, value| job.rw = value.numbered())),
    opt(
        "rw_sequencer",
        OptionKind::Choice(&[
            ("sequential", "sequential offsets"),
            (
                "identical",
                "the same \
            offset",
            ),
        ]),
        "Offsets of the I/Os between two random offsets (`rw=randread:8`)",
    )
    .default("sequential")
    .works(put!(
        |job, value| job.identical = value.word() == "identical"
    )),
    opt(
        "rwmixread",
        PERCENT,
        "Percentage of reads in a mixed workload",
    )
    .default("50")
    .works(put!(|job, value| job.read_percent = value.u32())),
    opt(
        "rwmixwrite",
        PERCENT,
        "Percentage of writes in a mixed workload",
    )
    .default("50")
    .works(put!(
        |job, value| job.read_percent = 100 - value.u32().min(100)
    )),
    opt(
        "direct",
        OptionKind::Bool,
        "Bypass the page cache \
        (O_DIRECT)",
    )
    .default("0")
    .works(put!(|job, value| job.job.files.direct = value.flag())),
    opt(
        "buffered",
        OptionKind::Bool,
        "Use the page cache: the opposite of direct",
    )
    .default("1")
    .works(put!(|job, value| job.job.files.direct = !value.flag())),
    opt(
        "atomic",
        OptionKind::Bool,
        "Write each block atomically (RWF_ATOMIC; pvsync2 with direct)",
    )
    .default("0")
    .works(put!(|job, value| job.job.files.atomic = value.flag())),
    opt(
        "invalidate",
        OptionKind::Bool,
        "Drop the files from the page cache before the job",
    )
    .default("1")
    .works(put!(|job, value| job.job.files.invalidate = value.flag())),
    opt(
        "overwrite",
        OptionKind::Bool,
        "Write the files completely before a job that writes",
    )
    .default("0")
    .works(put!(|job, value| job.job.files.overwrite = value.flag())),
    opt("sync", SYNCS, "Open files with O_SYNC or O_DSYNC")
        .default("none")
        .works(put!(|job, value| {
            let durability = &mut job.job.durability;
            durability.sync = matches!(value.word(), "sync" | "1");
            durability.dsync = value.word() == "dsync";
        })),
    opt("fsync", int(0), "Call fsync after every N writes")
        .default("0")
        .works(put!(
            |job, value| job.job.durability.fsync_every = value.u32()
        )),
    opt("fdatasync", int(0), "Call fdatasync after every N writes")
        .default("0")
        .works(put!(
            |job, value| job.job.durability.fdatasync_every = value.u32()
        )),
    opt(
        "end_fsync",
        OptionKind::Bool,
        "Call fsync after the last \
        write",
    )
    .default("0")
    .works(put!(
        |job, value| job.job.durability.end_fsync = value.flag()
    )),
    opt(
        "fsync_on_close",
        OptionKind::Bool,
        "Call fsync when a file is closed",
    )
    .default("0")
    .works(put!(
        |job, value| job.job.durability.fsync_on_close = value.flag()
    )),
    opt(
        "sync_file_range",
        OptionKind::Text("write:8"),
        "Call sync_file_range after every N \
        writes",
    )
    .works(range_sync),
    opt(
        "write_barrier",
        int(0),
        "Issue a write barrier every N writes",
    )
    .alias(&["barrier"])
    .default("0")
    .accepted(
        "Linux has no write barriers since 2.6.37; fio accepts the option without \
        effect",
    ),
    opt(
        "randrepeat",
        OptionKind::Bool,
        "Use the same random offsets in each run",
    )
    .default("1")
    .works(put!(|job, value| job.repeatable = Some(value.flag()))),
    opt(
        "allrandrepeat",
        OptionKind::Bool,
        "Use the same random numbers in each \
        run",
    )
    .default("0")
    .works(put!(|job, value| job.repeatable = job
        .repeatable
        .filter(|_| !value.flag())
        .or(value.flag().then_some(true)))),
    opt(
        "randseed",
        OptionKind::Int {
            min: 0,
            max: i64::MAX,
        },
        "Seed of the random number \
        generators",
    )
    .default("0x89")
    .works(put!(|job, value| job.job.seed = Some(value.u64()))),
    opt(
        "norandommap",
        OptionKind::Flag,
        "Draw offsets without a map of used blocks: some blocks \
        repeat, some are never used",
    )
    .works(put!(
        |job, value| job.job.access.every_block_once = !value.flag()
    )),
    opt(
        "softrandommap",
        OptionKind::Bool,
        "Continue without a block map if there is not enough \
        memory",
    )
    .default("0")
    .accepted("no block map is needed to use each block once"),
    opt(
        "random_generator",
        OptionKind::Choice(&[
            ("tausworthe", "a strong generator"),
            ("lfsr", "a shift register"),
            ("tausworthe64", "64-bit variant for large block counts"),
        ]),
        "Random generator; lfsr uses each block once even with norandommap",
    )
    .default("tausworthe")
    .works(put!(|job, value| job.lfsr = value.word() == "lfsr")),
    opt(
        "random_distribution",
        DISTRIBUTIONS,
        "Distribution of random offsets",
    )
    .default("random")
    .works(distribution),
    opt(
        "percentage_random",
        OptionKind::PerOpInt { min: 0, max: 100 },
        "Percentage of random \
        offsets in a random workload",
    )
    .default("100,100,100")
    .works(put!(|job, value| {
        job.job.access.percentage_random =
            Some(value.ints().map(|percent| percent.unwrap_or(100) as u32))
    })),
    opt(
        "random_sequence_stride",
        int(0),
        "Interval between generated numbers",
    )
    .harmless(&["0"])
    .refused(
        "offsets follow rw and random_distribution",
        "use rw=read:SIZE for gaps of a \
            fixed size",
    ),
    opt(
        "sprandom",
        OptionKind::Bool,
        "Precondition a drive with random writes",
    )
    .harmless(&["0"])
    .refused(
        "the method is not supported",
        "write the whole drive, then at random, before \
        measuring",
    ),
    opt("spr_num_regions", int(0), "Number of sprandom regions").goes_with("sprandom"),
    opt(
        "spr_op",
        OptionKind::Text("0.15"),
        "Over-provisioning that sprandom \
        assumes",
    )
    .goes_with("sprandom"),
    opt(
        "spr_cache_size",
        OptionKind::Size { min: 0 },
        "Cache size that sprandom \
        assumes",
    )
    .goes_with("sprandom"),
    opt("num_range", int(0), "Ranges per trim command")
        .default("1")
        .harmless(&["1"])
        .refused("each trim has one range", "omit it"),
    opt(
        "unified_rw_reporting",
        UNIFIED,
        "Report reads, writes and trims \
        together",
    )
    .default("none")
    .works(put!(|job, value| {
        use crate::fio::UnifiedReporting;
        job.extras.unified = match value.word() {
            "mixed" | "1" => UnifiedReporting::Mixed,
            "both" | "2" => UnifiedReporting::Both,
            _ => UnifiedReporting::None,
        }
    })),
];

pub(super) const PERCENT: OptionKind = OptionKind::Int { min: 0, max: 100 };
const DIRECTIONS: OptionKind = OptionKind::Numbered(&[
    ("read", "sequential reads"),
    ("write", "sequential writes"),
    ("trim", "sequential trims"),
    ("randread", "random reads"),
    ("randwrite", "random writes"),
    ("randtrim", "random trims"),
    ("rw", "sequential reads and writes"),
    ("readwrite", "as rw"),
    ("randrw", "random reads and writes"),
    ("trimwrite", "sequential trims, each followed by a write"),
    ("randtrimwrite", "random trims, each followed by a write"),
]);
const SYNCS: OptionKind = OptionKind::Choice(&[
    ("none", "no"),
    ("0", "as none"),
    ("sync", "O_SYNC"),
    ("1", "as sync"),
    ("dsync", "O_DSYNC"),
]);
const DISTRIBUTIONS: OptionKind = OptionKind::Tagged(&[
    ("random", "evenly"),
    ("zipf", "Zipf with the given theta"),
    ("pareto", "Pareto with the given power"),
    (
        "normal",
        "normal with the given deviation in percent of the file",
    ),
    (
        "zoned",
        "percentages of accesses to percentages of the file, such as zoned:60/10:40/90",
    ),
    (
        "zoned_abs",
        "percentages of accesses to sizes, such as zoned_abs:60/1g:40/4g",
    ),
]);
const UNIFIED: OptionKind = OptionKind::Choice(&[
    ("none", "separately"),
    ("mixed", "as one"),
    ("both", "both"),
    ("0", "as none"),
    ("1", "as mixed"),
    ("2", "as both"),
]);

/// Parses `wait_before,write:8`: flags of the call, and the number of writes between calls.
fn range_sync(job: &mut JobSpec, value: &OptionValue) -> Result<(), String> {
    let text = value.text().trim();
    let (words, every) = text
        .rsplit_once(':')
        .ok_or("missing number; for example write:8")?;
    let every = every
        .trim()
        .parse()
        .map_err(|_| format!("`{every}` is not a number of writes"))?;
    let mut sync = RangeSync {
        every,
        wait_before: false,
        write: false,
        wait_after: false,
    };
    for word in words.split([',', ':']) {
        match word.trim() {
            "wait_before" => sync.wait_before = true,
            "write" => sync.write = true,
            "wait_after" => sync.wait_after = true,
            other => {
                return Err(format!(
                    "`{other}` is not one of wait_before, write and wait_after"
                ));
            }
        }
    }
    job.job.durability.range_sync = Some(sync).filter(|sync| sync.every > 0);
    Ok(())
}

fn distribution(job: &mut JobSpec, value: &OptionValue) -> Result<(), String> {
    let (word, tag) = (value.word(), value.tag());
    let rules = if job.extras.kb_base == 1000 {
        SizeSuffixes::Fio1000
    } else {
        SizeSuffixes::Fio1024
    };
    // The second number is the position of the center.
    let (number, centre) = match tag.and_then(|tag| tag.split_once(':')) {
        Some((number, centre)) => (Some(number), Some(centre)),
        None => (tag, None),
    };
    let access = &mut job.job.access;
    access.centre = None;
    access.distribution = match word {
        "zoned" => Distribution::Zoned(zones(tag.unwrap_or_default())?),
        "zoned_abs" => Distribution::ZonedAbs(absolute_zones(tag.unwrap_or_default(), rules)?),
        _ => {
            let skewed = skew(word, number)?;
            if skewed.is_some() {
                access.centre = centre.map(place).transpose()?.flatten();
            }
            skewed.unwrap_or_default()
        }
    };
    Ok(())
}

/// Parses the center of a distribution as a fraction of the file; -1 means unset.
fn place(text: &str) -> Result<Option<f64>, String> {
    if text.trim() == "-1" {
        return Ok(None);
    }
    let [share] = floats(text, 0.0, 1.0, 1)?[..] else {
        return Err(format!("`{text}` is not a single number"));
    };
    Ok(Some(share))
}

/// Parses a skewed distribution with its optional number. `None` for other distributions.
pub(super) fn skew(word: &str, number: Option<&str>) -> Result<Option<Distribution>, String> {
    let number = |default: f64, max: f64| match number {
        None | Some("") => Ok(default),
        Some(text) => floats(text, 0.0, max, 1).map(|numbers| numbers[0]),
    };
    Ok(Some(match word {
        "zipf" => match number(1.1, 100.0)? {
            1.0 => return Err("theta must not be 1".to_owned()),
            theta => Distribution::Zipf(theta),
        },
        "pareto" => match number(0.2, 1.0)? {
            0.0 | 1.0 => return Err("expected a power between 0 and 1".to_owned()),
            power => Distribution::Pareto(power),
        },
        "normal" | "gauss" => Distribution::Normal(number(0.0, 100.0)?),
        _ => return Ok(None),
    }))
}

/// Splits a list of zones into pairs.
fn parts(text: &str) -> Result<Vec<(&str, &str)>, String> {
    if text.contains(',') {
        return Err(
            "zones per operation are not supported (as in fio): use a single list".to_owned(),
        );
    }
    let halves = |part| str::split_once(part, '/').ok_or("expected zones such as 60/10:40/90");
    let parts = text.split(':').map(halves).collect::<Result<Vec<_>, _>>()?;
    if parts.len() > 256 {
        return Err(format!("{} zones: the maximum is 256", parts.len()));
    }
    Ok(parts)
}

fn percent(word: &str) -> Result<Option<f64>, String> {
    match word.trim() {
        "" => Ok(None),
        digits => floats(digits, 0.0, 100.0, 1).map(|numbers| Some(numbers[0])),
    }
}

/// Parses `60/10:30/20:10/70`: percent of accesses and percent of the file. Omitted values are filled evenly.
fn zones(text: &str) -> Result<Vec<RelativeZone>, String> {
    let mut pairs = Vec::new();
    for (access, size) in parts(text)? {
        pairs.push((percent(access)?, percent(size)?));
    }
    let accesses = fill(pairs.iter().map(|pair| pair.0).collect(), "accesses")?;
    let sizes = fill(pairs.iter().map(|pair| pair.1).collect(), "the file")?;
    let zone = |(access_percent, size_percent)| RelativeZone {
        access_percent,
        size_percent,
    };
    Ok(accesses.into_iter().zip(sizes).map(zone).collect())
}

/// Parses `60/1g:40/4g`: percent of accesses, and sizes.
fn absolute_zones(text: &str, rules: SizeSuffixes) -> Result<Vec<AbsoluteZone>, String> {
    let (mut accesses, mut sizes) = (Vec::new(), Vec::new());
    for (access, size) in parts(text)? {
        accesses.push(percent(access)?);
        sizes.push(parse_size(size.trim(), rules).map_err(|error| error.to_string())?);
    }
    if sizes.iter().all(|size| *size == Bytes(0)) {
        return Err("its zones have no size".to_owned());
    }
    let zone = |(access_percent, size)| AbsoluteZone {
        access_percent,
        size,
    };
    Ok(fill(accesses, "accesses")?
        .into_iter()
        .zip(sizes)
        .map(zone)
        .collect())
}

fn fill(percents: Vec<Option<f64>>, of: &str) -> Result<Vec<f64>, String> {
    let given: f64 = percents.iter().flatten().sum();
    let open = percents.iter().filter(|percent| percent.is_none()).count();
    if given > 100.0 + 1e-9 || open == 0 && (given - 100.0).abs() > 1e-9 {
        return Err(format!(
            "the percentages of {of} add up to {given}, not 100"
        ));
    }
    let share = (100.0 - given) / open.max(1) as f64;
    Ok(percents
        .into_iter()
        .map(|percent| percent.unwrap_or(share))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_add_up() {
        let read = |text: &str| {
            zones(text).map(|zones| {
                zones
                    .iter()
                    .map(|z| (z.access_percent, z.size_percent))
                    .collect()
            })
        };
        assert_eq!(
            read("60/10:30/20:8/30:2/40"),
            Ok(vec![(60.0, 10.0), (30.0, 20.0), (8.0, 30.0), (2.0, 40.0)])
        );
        assert_eq!(
            read("50/5:30/15:20/"),
            Ok(vec![(50.0, 5.0), (30.0, 15.0), (20.0, 80.0)])
        );
        assert!(zones("60/10:30/20").unwrap_err().contains("add up to 90"));
        assert!(zones("60/10:50/90").unwrap_err().contains("add up to 110"));
        assert!(zones("").is_err() && zones("60").is_err());
        assert!(
            zones("60/10:40/90,50/50:50/50")
                .unwrap_err()
                .contains("per operation")
        );
        let read = |text: &str| absolute_zones(text, SizeSuffixes::Fio1024);
        let two = [(60.0, 1 << 20), (40.0, 4096)].map(|(access_percent, size)| AbsoluteZone {
            access_percent,
            size: Bytes(size),
        });
        assert_eq!(read("60/1m:40/4k"), Ok(two.to_vec()));
        assert!(read("60/1m:30/1m").unwrap_err().contains("add up to 90"));
        assert!(
            read("60/1m:40/").is_err() && read("100/0").is_err() && read("60/10%:40/90%").is_err()
        );
    }
}
