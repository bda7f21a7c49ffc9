//! Tests of the device report.

use super::*;
use crate::escape::columns_of;
use crate::facts::throttled;
use hakaru_model::facts::{ChainLink, LinkRole, TargetKind, UnknownReason};

fn known<T>(value: T) -> Fact<T> {
    Fact::Known(value)
}

fn text(value: &str) -> Fact<String> {
    Fact::Known(value.to_owned())
}

fn hidden<T>() -> Fact<T> {
    Fact::Unknown(UnknownReason::Text(
        "USB readers hide the registers of the card".to_owned(),
    ))
}

fn card() -> CardRegisters {
    CardRegisters {
        cid: text("0353445345333247804a5b6c7d0137e1"),
        csd: text("400e00325b590000edc87f800a4040c3"),
        scr: text("0235844300000000"),
        ssr: text(&"80000000040000000400900f05391e00".repeat(4)),
        maker: text("SanDisk"),
        oem: text("SD"),
        name: text("SE32G"),
        revision: text("8.0"),
        serial: text("0x4a5b6c7d"),
        date: text("2019-07"),
        card_type: text("SD"),
        speed_class: known(10),
        uhs_grade: known(3),
        video_class: known(30),
        app_class: known(1),
        allocation_unit: known(Bytes(4 << 20)),
        spec: text("SD 5.0"),
        device_type: Fact::Unknown(UnknownReason::Text(
            "an SD card does not report it".to_owned(),
        )),
        life_time: Fact::Unknown(UnknownReason::Text(
            "an SD card does not report it".to_owned(),
        )),
        pre_eol: Fact::Unknown(UnknownReason::Text(
            "an SD card does not report it".to_owned(),
        )),
        oddities: Vec::new(),
    }
}

fn behind_a_reader() -> CardRegisters {
    CardRegisters {
        cid: hidden(),
        maker: hidden(),
        name: hidden(),
        date: hidden(),
        ssr: hidden(),
        ..card()
    }
}

fn device(bus: Bus, card: Option<CardRegisters>) -> DeviceIdentity {
    DeviceIdentity {
        node: "/dev/mmcblk0".into(),
        kname: "mmcblk0".to_owned(),
        model: text("SanDisk SE32G"),
        serial: text("0x4a5b6c7d"),
        size: Bytes(31_914_983_424),
        logical_block: 512,
        physical_block: 512,
        rotational: known(false),
        scheduler: text("mq-deadline"),
        write_cache: text("write through"),
        max_sectors_kb: known(512),
        nr_requests: known(64),
        discard_max: known(Bytes(1 << 30)),
        zoned: text("none"),
        read_only: false,
        removable: false,
        firmware: Fact::Unknown(UnknownReason::OnlyRevision),
        wwid: Fact::Unknown(UnknownReason::NoWwnInSysfs),
        aliases: vec!["mmc-SE32G_0x4a5b6c7d".to_owned()],
        disk_sequence: known(9),
        driver: text("sdhci-iproc"),
        discard_granularity: known(Bytes(4 << 20)),
        temperature_mc: Fact::Unknown(UnknownReason::NoDiskSensor),
        health: Fact::Unknown(UnknownReason::WearOnlyInRegisters),
        bus,
        card,
        chain: vec![link("mmcblk0", LinkRole::Disk)],
    }
}

fn link(name: &str, role: LinkRole) -> ChainLink {
    ChainLink {
        name: name.to_owned(),
        role,
        beside: false,
    }
}

fn mmc(clock_hz: u64) -> Bus {
    let ceiling = known(clock_hz / 2);
    Bus::Mmc {
        width_bits: known(4),
        clock_hz: known(clock_hz),
        timing: text("sd high-speed"),
        ceiling,
    }
}

fn identity(device: Fact<DeviceIdentity>) -> Identity {
    let path = "/dev/mmcblk0".into();
    Identity {
        path,
        kind: TargetKind::BlockDevice,
        filesystem: None,
        device,
        system_disk: false,
        label: None,
    }
}

fn pi() -> Environment {
    Environment {
        hostname: "raspberrypi".to_owned(),
        kernel: "Linux 6.1.21-v8+".to_owned(),
        arch: "aarch64".to_owned(),
        board: text("Raspberry Pi 4 Model B Rev 1.4"),
        cpu: text("Cortex-A72"),
        cpu_count: 4,
        memory: Bytes(3_978_645_504),
        throttled: known(0x5_0005),
        clock: "monotonic".to_owned(),
        ..Environment::default()
    }
}

fn shown(identity: &Identity, ceiling: Option<BytesPerSec>, by_hand: &[String]) -> String {
    let content = ["whole device: vfat `CARD`, 29.7 GiB".to_owned()];
    let environment = pi();
    let known = TargetInfo {
        identity,
        environment: &environment,
        ceiling,
        by_hand,
        content: Some(&content),
        state: Some("free"),
        runs_system: false,
    };
    let text = device_terminal(&known, 80, false);
    assert!(text.lines().all(|line| columns_of(line) <= 80), "{text}");
    text
}

#[test]
fn a_card_in_a_pi() {
    let identity = identity(known(device(mmc(50_000_000), Some(card()))));
    insta::assert_snapshot!(shown(&identity, Some(BytesPerSec(25e6)), &[]));
}

#[test]
fn reasons_that_many_facts_share_are_said_once() {
    let odd = CardRegisters {
        oddities: vec!["the serial number is very low (960)".to_owned()],
        ..behind_a_reader()
    };
    let identity = identity(known(device(
        Bus::Usb {
            speed_mbps: known(480),
        },
        Some(odd),
    )));
    let text = shown(&identity, Some(BytesPerSec(60e6)), &["CSD".to_owned()]);
    assert!(text.contains("Card (CSD given by hand)"), "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(
        words.matches("hide the registers of the card)").count(),
        1,
        "{text}"
    );
    assert!(
        text.contains("! the serial number is very low (960)"),
        "{text}"
    );
}

#[test]
fn flags_of_a_pi_are_put_in_words() {
    assert_eq!(throttled(0), None);
    assert_eq!(
        throttled(0x5_0005).as_deref(),
        Some("under-voltage, throttled now")
    );
    assert_eq!(
        throttled(0x8_0000).as_deref(),
        Some("temperature limit reached since the start, not now")
    );
}

#[test]
fn a_list_fits_its_terminal() {
    let usb = device(
        Bus::Usb {
            speed_mbps: known(480),
        },
        Some(behind_a_reader()),
    );
    let file = "/home/somebody/images/a-very-long-name-of-an-image.img".to_owned();
    let looped = DeviceIdentity {
        node: "/dev/loop0".into(),
        model: Fact::Unknown(UnknownReason::NoHardware),
        chain: vec![link("loop0", LinkRole::Loop { file })],
        ..device(Bus::Software, None)
    };
    let all =
        [device(mmc(50_000_000), Some(card())), usb, looped].map(|device| identity(known(device)));
    let states = [
        "the system runs from it",
        "mounted at /media/somebody/my card",
        "free",
    ];
    let disks = all.iter().zip(states);
    let disks = disks.map(|(identity, state)| Listed { identity, state });
    let disks: Vec<_> = disks.collect();
    let text = disks_terminal(&disks, &pi(), 80, false);
    assert!(text.lines().all(|line| columns_of(line) <= 80), "{text}");
    insta::assert_snapshot!(text);
    assert!(disks_terminal(&[], &pi(), 80, false).starts_with("No disk can be seen here."));
}

#[test]
fn foreign_names_do_not_command_the_terminal() {
    let hostile = DeviceIdentity {
        model: text("a\x1b[31m\r\nb"),
        ..device(mmc(1), Some(card()))
    };
    let identity = identity(known(hostile));
    let list = disks_terminal(
        &[Listed {
            identity: &identity,
            state: "\x07",
        }],
        &pi(),
        80,
        false,
    );
    let all = shown(&identity, None, &[]) + &list;
    assert!(!all.chars().any(|c| c.is_control() && c != '\n'), "{all:?}");
}
