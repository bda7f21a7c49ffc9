//! Anatomies, their advice, and predictions.

use super::counted;
use crate::number;
use crate::text::{AnatomyFact, AnatomyLabel};
use hakaru_model::anatomy::{CardProperty as P, DeclineReason as U, Experiment as E};
use hakaru_model::anatomy_record::CardAdvice;

pub(in crate::text) fn anatomy_label(label: AnatomyLabel) -> &'static str {
    use AnatomyLabel as L;
    match label {
        L::Property => "Property",
        L::Value => "Value",
        L::Interval => "99% interval",
        L::Evidence => "Evidence",
        L::Findings => "Findings",
        L::Advice => "How to format and use it",
        L::Trials => "The advice, measured",
        L::Cost => "What the anatomy cost",
        L::Experiment => "Experiment",
        L::Time => "Time",
        L::Read => "Read",
        L::Written => "Written",
        L::Copied => "Copied inside",
        L::Unit => "Allocation unit",
        L::Page => "Page",
        L::OpenUnits => "Open units",
        L::Cache => "Write cache",
        L::Reach => "Mapping reach",
        L::Unlimited => "no limit seen",
        L::NotKnown => "unknown",
        L::Latency => "Latency",
        L::Usual => "Default",
        L::Advised => "Advised",
        L::Ratio => "Advised / default",
        L::Workload => "Workload",
        L::Bandwidth => "Bandwidth",
        L::Iops => "IOPS",
        L::Median => "Median latency",
        L::P99 => "P99 latency",
        L::Measured => "measured",
        L::Yes => "yes",
        L::No => "no",
    }
}

pub(in crate::text) fn anatomy_of(name: &str) -> String {
    format!("Anatomy of {name}")
}

pub(in crate::text) fn card_property(property: P) -> &'static str {
    match property {
        P::Page => "Page",
        P::Unit => "Allocation unit",
        P::OpenUnits => "Open units",
        P::RandomUnits => "Open units for random writes",
        P::FatUnits => "Units of the FAT area",
        P::GathersWrites => "Gathers small sequential writes",
        P::DiscardFrees => "Discard closes a unit without copying",
        P::ParallelReads => "Parallel reads",
        P::MappingChunk => "Bytes per mapping entry",
        P::MappingSlots => "Mapping entries in the cache",
        P::CacheSize => "Write cache",
        P::ReadOverhead => "Fixed time of a read, host included",
        P::ReadSeek => "Extra time of a read elsewhere",
        P::Sense => "Time to sense a page",
        P::ReadRate => "Read rate",
        P::UnitCrossing => "Extra time of a read across units",
        P::MappingLoad => "Time to load a mapping entry",
        P::WriteOverhead => "Fixed time of a write, host included",
        P::WriteSeek => "Extra time of a write elsewhere",
        P::WriteRate => "Write rate to the flash",
        P::CacheRate => "Write rate into the cache",
        P::DrainRate => "Rate at which the idle card empties its cache",
        P::DrainDelay => "Idle time before it begins to",
        P::OpenCost => "Time to open a unit",
        P::CollectionTime => "Time to collect a unit",
        P::CollectionRate => "Copy rate of a collection",
        P::RandomWrite => "Extra time of a random write",
        P::WriteToRead => "Extra time of a read after a write",
        P::ReadToWrite => "Extra time of a write after a read",
        P::Flush => "Flush after a write",
        P::Discard => "Discard of a unit",
        P::ThrottleAfter => "Busy time until it throttles",
        P::ThrottlePercent => "Time of a throttled request",
        P::ThrottleRecovery => "Rest until it is fast again",
    }
}

pub(in crate::text) fn anatomy_experiment(experiment: E) -> &'static str {
    match experiment {
        E::Noise => "Noise of small reads",
        E::ReadSizes => "Reads by size",
        E::Boundaries => "Reads across boundaries",
        E::Mapping => "Random reads of more and more places",
        E::Depth => "Reads by queue depth",
        E::Heat => "Reads for minutes",
        E::LongWrite => "A long sequential write",
        E::WriteSizes => "Writes by size",
        E::OpenUnits => "Writes to more and more units",
        E::RandomUnits => "Random writes in open units",
        E::FatArea => "Writes to the first units",
        E::Discard => "Writes after discards",
        E::Mixing => "Reads, writes and flushes in turn",
        E::Recovery => "Writes after idle times",
    }
}

pub(in crate::text) fn anatomy_axis(experiment: E) -> &'static str {
    match experiment {
        E::ReadSizes | E::WriteSizes => "size of the request",
        E::Boundaries => "size whose boundary is crossed",
        E::Mapping => "number of places",
        E::Depth => "queue depth",
        E::Heat => "busy time, s",
        E::LongWrite => "bytes written",
        E::OpenUnits | E::RandomUnits | E::FatArea => "number of units",
        E::Recovery => "idle time, s",
        E::Noise | E::Discard | E::Mixing => "sample",
    }
}

pub(in crate::text) fn all_properties_unknown(count: usize, because: &str) -> String {
    format!("All {count} properties are unknown: {because}.")
}

pub(in crate::text) fn property_unknown(reason: &U, rough: Option<&str>) -> String {
    match reason {
        U::NotMeasured => "not measured".to_owned(),
        U::ReadOnly => "needs writes, which were not permitted".to_owned(),
        U::Unsupported => "the device does not support the command".to_owned(),
        U::Noisy { relative_error, .. } => {
            let percent = number::percent(*relative_error);
            match rough {
                Some(rough) => format!("too noisy: {rough} ± {percent}%"),
                None => format!("too noisy: ± {percent}%"),
            }
        }
        U::Busy { slow } => format!(
            "the host or the device was busy: {}% of small reads took over 3 times the median",
            number::percent(*slow)
        ),
        U::NoModel { share } => format!(
            "the device fits no model: the best one does not explain {}% of the requests",
            number::percent(*share)
        ),
        U::Drift { spread } => format!(
            "the speed of the device wandered by ± {}%",
            number::percent(*spread)
        ),
        U::Heat => "the device throttled and did not cool down in time".to_owned(),
        U::Ambiguous => "two values explain the measurements equally well".to_owned(),
        U::Contradiction => "two experiments disagree".to_owned(),
        U::SoftLimit { low, high } => format!(
            "the limit is not sharp: between {} and {}",
            number::limit(*low),
            number::limit(*high)
        ),
        U::Needs(property) => format!(
            "cannot be told without: {}",
            card_property(*property).to_lowercase()
        ),
        U::Budget => "the budget of written bytes or of time was spent".to_owned(),
        U::TooSmall => "the target is too small".to_owned(),
    }
}

pub(in crate::text) fn property_absent(property: P, up_to: &str) -> String {
    match property {
        P::OpenUnits | P::MappingSlots | P::ParallelReads | P::CacheSize | P::Page | P::Unit => {
            format!("none seen up to {up_to}")
        }
        P::ThrottleAfter => format!("does not throttle within {up_to}"),
        P::ThrottlePercent | P::ThrottleRecovery => "does not throttle".to_owned(),
        _ => format!("none, less than {up_to}"),
    }
}

pub(in crate::text) fn anatomy_fact(fact: &AnatomyFact<'_>) -> String {
    match fact {
        AnatomyFact::OpenUnits { units, size: "" } => {
            format!(
                "This card keeps {} open for writing.",
                counted(*units, "unit")
            )
        }
        AnatomyFact::OpenUnits { units, size } => format!(
            "This card keeps {} of {size} open for writing.",
            counted(*units, "unit")
        ),
        AnatomyFact::TooManyWriters { writers, factor } => format!(
            "{writers} files written in turn make writes of 64 KiB {factor} times slower: data, log and the metadata \
             of the file system each count as one."
        ),
        AnatomyFact::NoLimit { up_to } => {
            format!("Writing to {up_to} places in turn does not slow this card down.")
        }
        AnatomyFact::RandomUnits { units: 0, .. } => {
            "Each write out of order copies the rest of its unit.".to_owned()
        }
        AnatomyFact::RandomUnits { units, of } => format!(
            "Random writes are cheap in {units} of the {}.",
            counted(*of, "open unit")
        ),
        AnatomyFact::Cache { size, fast, slow } => {
            format!("The first {size} are written at {fast}, the rest at {slow}.")
        }
        AnatomyFact::NoCache { up_to } => {
            format!("Writes do not slow down within {up_to}: no cache was seen.")
        }
        AnatomyFact::Reach { size, load } => format!(
            "Random reads over more than {size} wait {load} longer, because the card has to load its mapping."
        ),
        AnatomyFact::Throttles { after, percent } => format!(
            "It throttles after {after} of work: requests then take {percent}% of their usual time."
        ),
        AnatomyFact::Reads { rate, latency } => {
            format!("It reads at {rate}; a small read takes {latency}.")
        }
        AnatomyFact::Unknown { count, of } => {
            format!("{count} of {of} properties cannot be told; the table says why.")
        }
    }
}

pub(in crate::text) fn open_units_legend(fat: u64, random: u64, linear: u64) -> String {
    let parts = [
        (fat, "of the FAT area"),
        (random, "for writes in any order"),
        (linear, "for writes in order"),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    format!("Open units from left to right: {}.", parts.join(", "))
}

pub(in crate::text) fn anatomy_empty() -> &'static str {
    "Nothing can be told about this card."
}

pub(in crate::text) fn anatomy_incomplete(done: u64, of: u64) -> String {
    format!(
        "Incomplete: {done} of {of} experiments have ended; `hakaru anatomy --resume` continues"
    )
}

pub(in crate::text) fn card_advice(advice: &CardAdvice) -> String {
    match advice {
        CardAdvice::PartitionStart { align } => {
            format!("Begin partitions at a multiple of {align}.")
        }
        CardAdvice::Cluster { size } => {
            let sectors = size.0 / 512;
            format!("Clusters of {size} for vfat and exFAT: `mkfs.vfat -s {sectors}`.")
        }
        CardAdvice::FatArea { size } => {
            format!("vfat: keep both FATs within the first {size}, which are always open.")
        }
        CardAdvice::Ext4 {
            stride,
            stripe_width,
            small_journal,
        } => {
            let journal = match small_journal {
                true => "; with so few open units, a small journal (`-J size=4`) or none",
                false => "",
            };
            format!("ext4: `mkfs.ext4 -E stride={stride},stripe-width={stripe_width}`{journal}.")
        }
        CardAdvice::F2fs {
            segments,
            active_logs,
        } => {
            let logs = active_logs.map_or(String::new(), |logs| {
                format!(", mounted with `active_logs={logs}`")
            });
            format!("f2fs: `mkfs.f2fs -s {segments} -z 1`{logs}.")
        }
        CardAdvice::Writers { most } => {
            format!(
                "Write at most {} at a time; the metadata of the file system is already counted.",
                counted(*most, "file")
            )
        }
        CardAdvice::Discard { worthwhile: true } => {
            "Discard: worthwhile, because it closes units without copying.".to_owned()
        }
        CardAdvice::Discard { worthwhile: false } => {
            "Discard: not while files are written, because it saves no copying or takes long; `fstrim` at night is enough."
                .to_owned()
        }
        CardAdvice::FillLevel {
            needs: Some(property),
            ..
        } => format!(
            "Fill level: cannot be told, because a property is unknown: {}.",
            card_property(*property).to_lowercase()
        ),
        CardAdvice::FillLevel {
            free: Some(free),
            collection: Some(collection),
            ..
        } => format!(
            "Fill level: keep at least {free} free in whole units, one for each that can be open. With less, a write may \
             have to close a partly used unit, which takes {}. The spare area is unknown, because no experiment fills the card.",
            number::nanos(collection.0 as f64)
        ),
        CardAdvice::FillLevel { .. } => "Fill level: scattered free space costs nothing, because no limit of open units \
             was seen. The spare area is unknown, because no experiment fills the card."
            .to_owned(),
        CardAdvice::Bursts { size, rest } => {
            let rest = rest.map_or(String::new(), |rest| {
                format!("; a full cache is empty again after {}", number::nanos(rest.0 as f64))
            });
            format!("Bursts up to {size} are fast{rest}.")
        }
    }
}

pub(in crate::text) fn advice_gain(ratio: f64, low: f64, high: f64) -> String {
    let [times, low_text, high_text] = [ratio, low, high].map(number::significant);
    let verdict = match (low > 1.0, high < 1.0) {
        (true, _) => "faster",
        (_, true) => "slower",
        _ => "no difference shown",
    };
    format!("{times}× ({low_text} to {high_text}): {verdict}")
}

pub(in crate::text) fn anatomy_intervals() -> &'static str {
    "Sizes and counts are chosen among candidates and exact if given. Times and rates have a 99% interval; what is \
     wider than ± 5.5% counts as unknown."
}

pub(in crate::text) fn anatomy_noise(sigma: &str, drift: &str, latency: &str) -> String {
    format!(
        "Small reads at one place took {latency} with a spread of {sigma}%; the drift in either direction was {drift}%."
    )
}

pub(in crate::text) fn not_predictable(property: P) -> String {
    format!(
        "no prediction: unknown: {}",
        card_property(property).to_lowercase()
    )
}

pub(in crate::text) fn prediction_note() -> &'static str {
    "Predicted for an idle card with an empty cache, with 95% intervals. The engine ran each job on the device model."
}

pub(in crate::text) fn prediction_score(inside: u64, of: u64) -> String {
    format!(
        "{inside} of {} measured inside of the interval",
        counted(of, "figure")
    )
}

pub(in crate::text) fn prediction_miss(
    phase: &str,
    label: AnatomyLabel,
    measured: &str,
    low: &str,
    high: &str,
) -> String {
    let label = anatomy_label(label);
    format!(
        "{phase}: {label} was {measured}, and the prediction was {low} to {high}: the model lacks something"
    )
}
