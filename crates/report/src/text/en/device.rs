//! Facts about devices.

use crate::text::HealthCounter;
use hakaru_model::units::Bytes;

pub(in crate::text) fn health_warning(text: &str) -> String {
    text.to_owned()
}

pub(in crate::text) fn enumerated(items: &[impl AsRef<str>]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    items.join(", ")
}

pub(in crate::text) fn size_in_bytes(size: Bytes, decimal: &str) -> String {
    format!("{size} ({decimal}, {} bytes)", size.0)
}

pub(in crate::text) fn health_share(percent: u64, of: HealthCounter) -> String {
    format!("{percent}% of its {}", of.text())
}

pub(in crate::text) fn health_count(value: &str, of: HealthCounter) -> String {
    format!("{value} {}", of.text())
}

pub(in crate::text) fn queue_length(requests: u32) -> String {
    format!("{requests} requests")
}

pub(in crate::text) fn discard_in_units(unit: Bytes) -> String {
    format!("offered, in units of {unit}")
}

pub(in crate::text) fn negotiated(mbps: u64) -> String {
    format!("{mbps} Mbit/s, negotiated")
}

pub(in crate::text) fn ceiling(megabytes: &str) -> String {
    format!("{megabytes} MB/s: faster it cannot be")
}

pub(in crate::text) fn card_registers(by_hand: &[String]) -> String {
    match by_hand {
        [] => "Card".to_owned(),
        given => format!("Card ({} given by hand)", given.join(", ")),
    }
}

pub(in crate::text) fn class_demands(class: &str, megabytes: u32) -> String {
    format!("{class}: writes {megabytes} MB/s at least")
}

pub(in crate::text) fn application_class_demands(class: u32, reads: u32, writes: u32) -> String {
    format!(
        "A{class}: {reads} random reads, {writes} random writes a second at least, 10 MB/s sustained"
    )
}

pub(in crate::text) fn spare_blocks_run_out(state: &str) -> String {
    format!("spare blocks are running out ({state})")
}

pub(in crate::text) fn host_slowed_down(throttled: &str) -> String {
    format!("the host was slowed down: {throttled}")
}

pub(in crate::text) fn claim_out_of_reach(claimed: u32, most: &str) -> String {
    format!("the card claims {claimed} MB/s, but this bus allows {most} MB/s at most")
}
