//! Texts of the charts of the path of an I/O.

use super::counted;
use crate::number;
use crate::text::IoSteps;
use hakaru_model::job::Op;
use hakaru_model::units::Bytes;

pub(in crate::text) fn path_title(target: &str) -> String {
    format!("Path of an I/O: {target}")
}

pub(in crate::text) fn class_of_op(class: &str, op: Op) -> String {
    format!("{class}, {}", op.name())
}

pub(in crate::text) fn flow_title(side: &str, ratio: f64) -> String {
    let ratio = number::significant(ratio);
    format!("{side}: {ratio} bytes for each byte of the application")
}

pub(in crate::text) fn flow_note() -> &'static str {
    "Width of a band: bytes per byte of the application, on one scale in all pictures of the page. Figures: bytes and \
     requests at the device."
}

pub(in crate::text) fn flow_foot(moved: Bytes, ratio: f64) -> String {
    let ratio = number::significant(ratio);
    format!("{moved} at the device, {ratio} per byte asked")
}

pub(in crate::text) fn without_bytes(requests: u64) -> String {
    format!("no bytes · {}", number::grouped(requests))
}

pub(in crate::text) fn changed_bios(merges: u64, splits: u64) -> String {
    match (merges, splits) {
        (0, 0) => String::new(),
        (0, splits) => format!("{} split", number::grouped(splits)),
        (merges, _) => format!("{} merged", number::grouped(merges)),
    }
}

pub(in crate::text) fn asked_ios(op: Op, count: u64, size: Option<Bytes>) -> String {
    let ios = counted(count, op.name());
    match size {
        Some(size) => format!("{ios} of {size}"),
        None => ios,
    }
}

pub(in crate::text) fn counted_bios(bios: u64) -> String {
    counted(bios, "bio")
}

pub(in crate::text) fn counted_requests(requests: u64) -> String {
    counted(requests, "request")
}

pub(in crate::text) fn counted_commands(commands: u64) -> String {
    counted(commands, "command")
}

pub(in crate::text) fn shares_title() -> &'static str {
    "Where the time went"
}

pub(in crate::text) fn shares_note(full: bool) -> String {
    let what = "Critical path: the parts of a bar add up to the measured latency; median and P99 are means of the \
                operations next to the percentile.";
    match full {
        true => format!(
            "{what} Each bar is 100% of its time, because the times differ too much for one axis."
        ),
        false => what.to_owned(),
    }
}

pub(in crate::text) fn addresses_title(side: &str) -> String {
    match side.is_empty() {
        true => "Addresses over time".to_owned(),
        false => format!("Addresses over time, {side}"),
    }
}

pub(in crate::text) fn addresses_note(drawn: u64, of: u64) -> String {
    let (few, all) = (number::grouped(drawn), number::grouped(of.max(drawn)));
    let chosen = match drawn < of {
        true => ", chosen at random in each class",
        false => "",
    };
    format!(
        "Address of each request over time; at the right, what lies there. {few} of {all} requests drawn{chosen}."
    )
}

pub(in crate::text) fn sizes_title(share: f64, side: &str, size: &str) -> String {
    format!(
        "{}% of the requests{side} are {size}",
        number::percent(share)
    )
}

pub(in crate::text) fn sizes_note() -> &'static str {
    "Requests by size. Outline: as the application asked; filled: as they reached the device."
}

pub(in crate::text) fn reached_and_asked(reached: u64, asked: u64) -> String {
    let (reached, asked) = (number::grouped(reached), number::grouped(asked));
    format!("{reached} at the device, {asked} asked")
}

pub(in crate::text) fn up_to(size: Bytes) -> String {
    format!("up to {size}")
}

pub(in crate::text) fn io_steps(on_vfat: bool) -> IoSteps {
    IoSteps {
        title: "Path of an I/O, step by step (not measured)",
        head: ["Step", "What it can change"],
        steps: [
            [
                "Application → VFS: system call",
                match on_vfat {
                    true => {
                        "its time on the processor; direct I/O bypasses the page cache, except writes of vfat beyond the \
                         initialized part of a file"
                    }
                    false => "its time on the processor; direct I/O bypasses the page cache",
                },
            ],
            match on_vfat {
                true => [
                    "VFS → vfat: file offset to clusters",
                    "a search of the FAT; writes of the FAT, directory entries and FSINFO; zeros for holes",
                ],
                false => [
                    "VFS → file system: file offset to blocks",
                    "a search of its tables; writes of tables, directories and a journal",
                ],
            },
            [
                "File system → block layer: bio",
                "a bio for each piece of a fragmented file",
            ],
            [
                "Block layer → scheduler: merge, split, request",
                "fewer requests if neighbors merge, more if they exceed a limit; waiting in the queue",
            ],
            [
                "Driver → bus: MMC or other command",
                "time for the command, the data and the interrupt",
            ],
            [
                "Card: controller and flash",
                "small writes to other places, such as tables, make it open other blocks and copy data (garbage collection)",
            ],
        ],
    }
}
