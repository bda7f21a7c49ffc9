//! Tests of the selection of events, with the formats of older kernels.

use super::super::*;
use crate::recorder::fixtures::Kernel;

/// Writes the formats of a kernel as tracefs has them, except those of a system.
fn tracefs_of(kernel: &str, except: &str) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (name, text) in Kernel::named(kernel).texts() {
        let spec = EVENTS.iter().find(|spec| spec.name == name);
        let Some(spec) = spec.filter(|spec| spec.system != except) else {
            continue;
        };
        let directory = root.path().join("events").join(spec.system).join(name);
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("format"), text).unwrap();
    }
    root
}

fn selected(root: &tempfile::TempDir, disk: &DiskFacts, events: EventSet) -> Vec<(String, String)> {
    let options = RecorderOptions {
        events,
        filesystem: Some(fixtures::FILESYSTEM),
        ..RecorderOptions::default()
    };
    let tracefs = Tracefs::at(root.path());
    let selection = select(&tracefs, disk, &options, &mut Decoder::new(None)).unwrap();
    let named = selection.iter().map(|event| {
        let filter = event.filter.to_str().unwrap();
        (event.spec().name.to_owned(), filter.to_owned())
    });
    named.collect()
}

fn card() -> DiskFacts {
    DiskFacts {
        number: DiskNumber {
            major: 179,
            minor: 0,
        },
        name: "mmcblk0".to_owned(),
        mmc_host: Some("mmc0".to_owned()),
        ..DiskFacts::default()
    }
}

#[test]
fn selects_the_events_that_concern_a_card() {
    let root = tracefs_of("6.1 on 32-bit ARM", "none");
    let lean = selected(&root, &card(), EventSet::Lean);
    let of_block = |(name, _): &&(String, String)| name.starts_with("block_");
    let of_block: Vec<_> = lean.iter().filter(of_block).cloned().collect();
    let disk = format!("dev == {}", 179 << 20);
    // Three for each request; the others are rare.
    let names = [
        "block_bio_queue",
        "block_rq_issue",
        "block_rq_complete",
        "block_split",
        "block_rq_requeue",
        "block_rq_error",
    ];
    assert_eq!(of_block, names.map(|name| (name.to_owned(), disk.clone())));
    let has = |name: &str| lean.iter().any(|(event, _)| event == name);
    assert!(has("mmc_request_done") && has("jbd2_end_commit"));

    let minimal = selected(&root, &card(), EventSet::Minimal);
    let without_bios = lean.iter().filter(|(name, _)| name != "block_bio_queue");
    assert_eq!(minimal, without_bios.cloned().collect::<Vec<_>>());

    let full = selected(&root, &card(), EventSet::Full);
    let filter = |name: &str| {
        let event = full.iter().find(|(event, _)| event == name);
        event.map(|(_, filter)| filter.as_str())
    };
    assert_eq!(filter("mmc_request_done"), Some("name == \"mmc0\""));
    let partition = format!("dev == {}", (179 << 20) + 2);
    for name in ["jbd2_start_commit", "f2fs_submit_write_bio"] {
        assert_eq!(filter(name), Some(partition.as_str()));
    }
    assert_eq!(filter("block_plug"), Some(""));
    // Neither of this disk, nor of this kernel.
    assert_eq!(filter("scsi_dispatch_cmd_start"), None);
    assert_eq!(filter("writeback_start"), None);
    assert_eq!(filter("block_bio_complete"), None);
}

#[test]
fn selects_bios_where_there_are_no_requests() {
    let root = tracefs_of("5.10", "none");
    let disk = DiskFacts {
        bio_based: true,
        ..DiskFacts::default()
    };
    let lean = selected(&root, &disk, EventSet::Lean);
    // Without requests, bios are all there is.
    assert_eq!(selected(&root, &disk, EventSet::Minimal), lean);
    let names: Vec<_> = lean.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names[..3],
        ["block_bio_queue", "block_bio_complete", "block_split"]
    );
    assert!(!names.iter().any(|name| name.starts_with("block_rq")));
}

#[test]
fn names_the_events_that_a_kernel_lacks() {
    let root = tracefs_of("6.1 on 32-bit ARM", "block");
    let tracefs = Tracefs::at(root.path());
    let options = RecorderOptions::default();
    let missing = select(&tracefs, &card(), &options, &mut Decoder::new(None));
    let names = ["block_bio_queue", "block_rq_issue", "block_rq_complete"];
    assert_eq!(
        missing.err(),
        Some(TraceError::MissingEvents {
            names: names.map(str::to_owned).to_vec()
        })
    );
}
