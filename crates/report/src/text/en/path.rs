//! Names and sentences about the path of an I/O.

use super::path_differences::others_requests;
use super::{counted, listed};
use crate::number;
use crate::text::{BecameText, SideTraffic};
use hakaru_model::io_path::{
    ClassGroup, DifferencePart, IoClass, IssuerKind, NoTraceCost, PathRefusal, TimePart, TraceCost,
};
use hakaru_model::job::Op;
use hakaru_model::units::Bytes;

/// Name of a class in a sentence.
pub(super) fn io_class(class: IoClass) -> &'static str {
    match class {
        IoClass::Data => "data",
        IoClass::Journal => "journal",
        IoClass::Fat1 => "first FAT",
        IoClass::Fat2 => "second FAT",
        IoClass::Directory => "directory",
        IoClass::FsInfo => "FSInfo sector",
        IoClass::Superblock => "superblock",
        IoClass::GroupDescriptors => "group descriptors",
        IoClass::Bitmap => "bitmaps",
        IoClass::InodeTable => "inode tables",
        IoClass::Checkpoint => "checkpoint",
        IoClass::SegmentTable => "segment table (SIT)",
        IoClass::NodeAddressTable => "node address table (NAT)",
        IoClass::SegmentSummary => "segment summary (SSA)",
        IoClass::Node => "node blocks",
        IoClass::Metadata => "metadata",
        IoClass::AllocatedSince => "files allocated meanwhile",
        IoClass::OtherPartition => "other partitions",
        IoClass::Unknown => "not attributed",
        IoClass::Flush => "cache flushes",
    }
}

pub(in crate::text) fn io_class_title(class: IoClass) -> String {
    let name = io_class(class);
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

pub(in crate::text) fn class_group(group: ClassGroup) -> &'static str {
    match group {
        ClassGroup::Data => "Data",
        ClassGroup::Journal => "Journal",
        ClassGroup::Metadata => "Metadata",
        ClassGroup::Fat => "FAT, FSInfo",
        ClassGroup::Directory => "Directory",
        ClassGroup::Unattributed => "Not attributed",
        ClassGroup::Flush => "Flush",
    }
}

pub(in crate::text) fn time_part(part: TimePart, journal: bool) -> &'static str {
    match part {
        TimePart::Metadata if !journal => "Device: metadata",
        TimePart::Flush => "Device: cache flush",
        TimePart::Data => "Device: data",
        TimePart::Metadata => "Device: journal, metadata",
        TimePart::WaitingBehind => "Waiting behind others",
        TimePart::BlockQueue => "Block queue",
        TimePart::WakeUp => "Wake-up",
        TimePart::JournalCommit => "Journal thread",
        TimePart::FileSystem => "File system, page cache (remainder)",
    }
}

/// A part of the time as the place where it went.
pub(super) fn into_part(part: TimePart, journal: bool) -> &'static str {
    match part {
        TimePart::Metadata if !journal => "the device's work on metadata",
        TimePart::Flush => "the device's cache flush",
        TimePart::Data => "the device's work on the data",
        TimePart::Metadata => "the device's work on journal and metadata",
        TimePart::WaitingBehind => "waiting behind other requests",
        TimePart::BlockQueue => "the block queue",
        TimePart::WakeUp => "completion and wake-up",
        TimePart::JournalCommit => "the journal thread",
        TimePart::FileSystem => "file system and page cache (the remainder)",
    }
}

pub(in crate::text) fn difference_part(part: DifferencePart, journal: bool) -> String {
    match part {
        DifferencePart::Device(class) => format!("Device: {}", io_class(class)),
        DifferencePart::Behind(class) => format!("Waiting behind: {}", io_class(class)),
        DifferencePart::Time(part) => time_part(part, journal).to_owned(),
    }
}

/// A part of a difference in a sentence.
pub(super) fn of_difference(part: DifferencePart, journal: bool) -> String {
    match part {
        DifferencePart::Device(class) => format!("{} on the device", io_class(class)),
        DifferencePart::Behind(class) => format!("waiting behind {}", others_requests(class)),
        DifferencePart::Time(part) => into_part(part, journal).to_owned(),
    }
}

pub(in crate::text) fn traced_operation(op: Option<Op>, with_sync: bool) -> String {
    match (op, with_sync) {
        (None, _) => "fsync".to_owned(),
        (Some(op), false) => op.name().to_owned(),
        (Some(op), true) => format!("{} with its fsync", op.name()),
    }
}

/// Layer as the place of a sentence: `On ext4`.
fn on_layer(layer: Option<&str>) -> String {
    match layer {
        Some(layer) => format!("On {layer}"),
        None => "On the raw device".to_owned(),
    }
}

pub(in crate::text) fn became(of: &BecameText<'_>) -> String {
    let size = of.size.map_or(String::new(), |size| format!("{size} "));
    let known = of.classes.iter().filter(|(_, requests)| *requests >= 0.005);
    let (rare, often): (Vec<_>, Vec<_>) = known.partition(|(_, requests)| *requests < RARE);
    let mut classes: Vec<String> = often
        .into_iter()
        .map(|&(class, requests)| how_often(class, requests))
        .collect();
    let rare: Vec<String> = rare
        .into_iter()
        .map(|(class, _)| class_in_sentence(*class))
        .collect();
    if !rare.is_empty() {
        classes.push(format!("occasionally {}", rare.join(" or ")));
    }
    let classes = match classes.is_empty() {
        true => String::new(),
        false => format!(": {}", listed(&classes)),
    };
    format!(
        "{}, each {size}{} became {} and {} at the device{classes}",
        on_layer(of.layer),
        of.op.name(),
        requests_per_io(of.requests),
        Bytes(of.bytes.round() as u64)
    )
}

/// `2.3 requests`, with enough digits for merged requests. A mean has a decimal place, and then a plural.
fn requests_per_io(requests: f64) -> String {
    let digits = if requests < 0.95 { 2 } else { 1 };
    format!("{requests:.digits$} requests")
}

/// Requests per I/O below which a class occurs only occasionally.
const RARE: f64 = 0.1;

/// Class of requests as a part of a sentence: `the directory`.
fn class_in_sentence(class: IoClass) -> String {
    match class {
        IoClass::Unknown => "requests that are not attributed".to_owned(),
        class => format!("the {}", io_class(class)),
    }
}

/// `the journal twice`, `the directory (0.25 per I/O)`
fn how_often(class: IoClass, requests: f64) -> String {
    let name = class_in_sentence(class);
    match requests {
        r if (r - 1.0).abs() < 0.05 => name,
        // Data is not repeated, but divided.
        r if r > 1.0 && class == IoClass::Data => {
            format!("{name} in {} requests", number::significant(r))
        }
        r if (r - 2.0).abs() < 0.05 => format!("{name} twice"),
        r => format!("{name} ({} per I/O)", number::exact(r, 2)),
    }
}

pub(in crate::text) fn time_went(
    operation: &str,
    percentile: &str,
    parts: &[(TimePart, f64)],
    journal: bool,
) -> String {
    let shares: Vec<String> = parts
        .iter()
        .map(|&(part, share)| {
            let part = into_part(part, journal);
            format!("{}% into {part}", number::percent(share))
        })
        .collect();
    let Some((first, more)) = shares.split_first() else {
        return String::new();
    };
    let first = first.replacen(
        "% into",
        &format!("% of the time of a {percentile} {operation} went into"),
        1,
    );
    match more.is_empty() {
        true => first,
        false => format!("{first}, {}", listed(more)),
    }
}

pub(in crate::text) fn no_requests() -> &'static str {
    "No request of the application reached the device while the phase was traced."
}

pub(in crate::text) fn as_sentences(said: &[String]) -> String {
    let said: Vec<String> = said.iter().map(|said| format!("{said}.")).collect();
    said.join(" ")
}

pub(in crate::text) fn no_flushes(disk: &str) -> String {
    format!(
        "The kernel sends no cache flushes to {disk}, because it reports a write-through cache; an fsync waits for the \
         writes only"
    )
}

pub(in crate::text) fn host_amplification(op: Op, ratio: f64) -> String {
    let ratio = number::significant(ratio);
    match op {
        Op::Write => format!(
            "{ratio} bytes reached the device for each byte written: a lower bound of the write amplification, because \
             the host cannot see what the device writes internally"
        ),
        op => format!(
            "{ratio} bytes at the device for each byte of the application's {}s",
            op.name()
        ),
    }
}

pub(in crate::text) fn merged_bios(merges: u64, bios: u64) -> String {
    let (merges, bios) = (number::grouped(merges), counted(bios, "bio"));
    format!("The block layer merged {merges} of {bios} into earlier requests")
}

pub(in crate::text) fn split_bios(splits: u64) -> String {
    let splits = counted(splits, "request");
    format!("{splits} are parts of bios that were too large for the device")
}

pub(in crate::text) fn other_issuers(
    kind: IssuerKind,
    bytes: Bytes,
    names: &[&str],
) -> Option<String> {
    let who = listed(names);
    Some(match kind {
        IssuerKind::Worker | IssuerKind::Journal => return None,
        IssuerKind::Kernel => {
            format!("{bytes} were queued by kernel threads ({who}), as writeback")
        }
        IssuerKind::OwnProcess => {
            format!("{bytes} were queued by other threads of this program ({who})")
        }
        IssuerKind::OtherProcess => format!("{bytes} came from other processes ({who})"),
    })
}

pub(in crate::text) fn traced_run() -> &'static str {
    "Traced run: its figures are not pooled with those of other runs"
}

pub(in crate::text) fn events_lost(share: f64, lost: u64, counted_events: u64) -> String {
    format!(
        "Incomplete: {}% of the events were lost ({} of {}); requests and bytes are too low, and times may be wrong",
        number::percent(share),
        number::grouped(lost),
        number::grouped(counted_events)
    )
}

pub(in crate::text) fn events_complete(lost: u64, events: u64, uncounted: bool) -> String {
    if uncounted && lost == 0 {
        return format!(
            "no loss among {} is reported by the buffers",
            counted(events, "event")
        );
    }
    format!(
        "{} of {} lost",
        number::grouped(lost),
        counted(events, "event")
    )
}

pub(in crate::text) fn trace_cost(cost: &TraceCost) -> String {
    let value = |share: f64| number::exact(share * 100.0, 1);
    let pairs = counted(u64::from(cost.pairs), "interleaved pair");
    if !cost.is_known() {
        return format!(
            "The cost of tracing is not measurable in this run: latencies vary too much between segments (95% interval \
             {} to {}% from {pairs}); they include it",
            number::exact((cost.mean - cost.margin) * 100.0, 0),
            number::exact((cost.mean + cost.margin) * 100.0, 0)
        );
    }
    format!(
        "Tracing cost {} ± {}% of the latency ({pairs}, 95% interval)",
        value(cost.mean),
        value(cost.margin)
    )
}

pub(in crate::text) fn trace_cost_unknown(because: Option<NoTraceCost>) -> String {
    let because = match because {
        None => return "The cost of tracing was not measured: latencies include it".to_owned(),
        Some(NoTraceCost::Short { expected, needed }) => {
            format!("the phase was too short ({expected} left, {needed} needed)")
        }
        Some(NoTraceCost::UnknownLength) => {
            "the length of the phase was not known in advance".to_owned()
        }
        Some(NoTraceCost::FewIos) => "too few I/Os completed".to_owned(),
        Some(NoTraceCost::Ended) => {
            "the phase ended meanwhile, so that the path is that of its last traced segment"
                .to_owned()
        }
        Some(NoTraceCost::Whole) => "the whole phase was to be traced".to_owned(),
        Some(NoTraceCost::NotSwitched) => {
            "the kernel did not switch the recording off and on".to_owned()
        }
        Some(NoTraceCost::SlowSwitching) => {
            "switching the recording off and on takes too long here".to_owned()
        }
    };
    format!("The cost of tracing was not measured, because {because}; latencies include it")
}

pub(in crate::text) fn foreign_threads() -> &'static str {
    "The events have thread IDs of another PID namespace, so I/Os of this run cannot be told from those of others; run \
     outside the container"
}

pub(in crate::text) fn recorded_by_ftrace() -> &'static str {
    "Recorded through a private ftrace instance"
}

pub(in crate::text) fn classified_early(requests: u64) -> String {
    format!(
        "{} were classified by the layout known at that time: blocks allocated later may be missing from their class",
        counted(requests, "request")
    )
}

pub(in crate::text) fn operations_limited(operations: u64) -> String {
    format!(
        "Times are those of the first {}, because more do not fit in memory",
        counted(operations, "operation")
    )
}

pub(in crate::text) fn unmatched(completions: u64, requests: u64) -> String {
    format!(
        "{} without a completion and {} without a bio: their times or origins are unknown",
        counted(completions, "request"),
        counted(requests, "request")
    )
}

pub(in crate::text) fn counters_differ(op: Op, traced: Bytes, counted_bytes: Bytes) -> String {
    let done = if op == Op::Read { "read" } else { "written" };
    format!("The requests sum to {traced} {done}, and the counters of the disk to {counted_bytes}")
}

pub(in crate::text) fn device_on_host(disk: &str) -> String {
    format!(
        "{disk} is served by a thread of this host: device time includes that thread, and the file or server below"
    )
}

pub(in crate::text) fn bio_device(disk: &str) -> String {
    format!(
        "{disk} takes bios without requests: nothing is merged or queued, and device time includes the driver"
    )
}

pub(in crate::text) fn traffic_differs(
    slow: &SideTraffic<'_>,
    fast: &SideTraffic<'_>,
) -> Option<String> {
    let bytes = format!(
        "{} against {} bytes for each byte of the application",
        number::significant(slow.bytes),
        number::significant(fast.bytes)
    );
    let requests = format!(
        "{} instead of {}",
        requests_per_io(slow.requests),
        requests_per_io(fast.requests).trim_end_matches(" requests")
    );
    let (more_bytes, more_requests) = (slow.bytes / fast.bytes, slow.requests / fast.requests);
    if !more_bytes.is_finite() || !more_requests.is_finite() {
        return None;
    }
    Some(match (more_bytes > 1.05, more_requests > 1.05) {
        (true, _) => format!(
            "{} moves {}x as many bytes as {}: {bytes}, in {requests}",
            slow.name,
            number::significant(more_bytes),
            fast.name
        ),
        (false, true) if more_bytes < 0.95 => format!(
            "{} moves fewer bytes ({bytes}) and is slower, because each I/O is {requests}",
            slow.name
        ),
        (false, true) => format!(
            "{} moves the same bytes in more requests: {requests}",
            slow.name
        ),
        (false, false) => return None,
    })
}

pub(in crate::text) fn path_refusal(refusal: PathRefusal) -> String {
    let why = match refusal {
        PathRefusal::NotTraced => "Times are not compared: no side was traced",
        PathRefusal::OneSideTraced => {
            "Times are not compared: only one side was traced, and tracing costs time"
        }
        PathRefusal::EventsLost => {
            "Times are not compared: over 0.1% of the events of one side were lost"
        }
        PathRefusal::NoCommonOperation => {
            "Times are not compared: the sides have no kind of operation in common"
        }
        PathRefusal::NotRepresentative { traced, measured } => {
            return format!(
                "Times are not compared: the traced runs differ by {}x, but the measured runs differ by {}x; \
                 trace more repeats",
                number::significant(traced),
                number::significant(measured)
            );
        }
    };
    why.to_owned()
}

pub(in crate::text) fn from_counters() -> &'static str {
    "What the counters of the disk say"
}

pub(in crate::text) fn not_traced() -> (&'static str, &'static str) {
    (
        "This run was not traced: the path of its I/Os is unknown",
        "help: measure with bench --trace, [trace] in a campaign, or hakaru fio --hakaru-trace",
    )
}
