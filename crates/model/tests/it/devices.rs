//! Tests of device models, identities of devices, and their preparation.

use hakaru_model::campaign::{
    CampaignPoint, CardSummary, ClockOffset, DeviceSegment, FillContent, StepKind,
};
use hakaru_model::device_model::{DeviceModel, Flash, MappingCache, Noise, SlcCache, Throttle};
use hakaru_model::facts::{
    Bus, CardRegisters, DeviceIdentity, Fact, Filesystem, Identity, TargetKind, UnknownReason,
    is_placeholder,
};
use hakaru_model::price::Price;
use hakaru_model::units::{Bytes, BytesPerSec, Nanos};
use std::path::PathBuf;

fn flash() -> Flash {
    Flash {
        page: Bytes(16 << 10),
        sense: Nanos(0),
        gathers_writes: false,
        unit: Bytes(4 << 20),
        open: Nanos(0),
        unit_crossing: Nanos(0),
        open_units: 3,
        random_units: 0,
        random_write: Nanos(0),
        collection_rate: 20_000_000,
        fat_units: 0,
        mapping: Some(MappingCache {
            chunk: Bytes(1 << 20),
            slots: 7,
            load: Nanos(0),
        }),
        discard: Nanos(0),
        discard_frees: false,
    }
}

fn card() -> DeviceModel {
    DeviceModel {
        flash: Some(flash()),
        ..DeviceModel::plain("card", Bytes(1 << 30))
    }
}

fn flash_of(card: &mut DeviceModel) -> &mut Flash {
    card.flash.get_or_insert_with(flash)
}

fn mapping_of(card: &mut DeviceModel) -> &mut MappingCache {
    flash_of(card).mapping.as_mut().unwrap()
}

fn noise_of(card: &mut DeviceModel) -> &mut Noise {
    card.noise.get_or_insert_default()
}

/// Name of a value, its largest valid value, and a function that sets it.
type Limit = (&'static str, u64, fn(&mut DeviceModel, u64));

fn small(value: u64) -> u32 {
    u32::try_from(value).unwrap()
}

const COUNTS: [Limit; 8] = [
    ("jitter_permille", 1000, |card, n| {
        card.jitter_permille = small(n)
    }),
    ("parallel_reads", 1024, |card, n| {
        card.parallel_reads = small(n)
    }),
    ("throttle.percent", 100_000, |card, n| {
        card.throttle = Some(Throttle {
            after: Nanos(1),
            percent: small(n),
            until: None,
        });
    }),
    ("noise.sigma_permille", 2000, |card, n| {
        noise_of(card).sigma_permille = small(n);
    }),
    ("noise.drift_permille", 999, |card, n| {
        noise_of(card).drift_permille = small(n);
    }),
    ("noise.stalls_per_million", 1_000_000, |card, n| {
        noise_of(card).stalls_per_million = small(n);
    }),
    ("flash.mapping.slots", 65_536, |card, n| {
        mapping_of(card).slots = small(n);
    }),
    ("flash.unit", 1_073_741_824, |card, n| {
        flash_of(card).unit = Bytes(n);
    }),
];

/// An hour in nanoseconds, the longest time of one cost.
const HOUR: u64 = 3_600_000_000_000;

const TIMES: [Limit; 14] = [
    ("read_overhead", HOUR, |card, n| {
        card.read_overhead = Nanos(n)
    }),
    ("write_overhead", HOUR, |card, n| {
        card.write_overhead = Nanos(n)
    }),
    ("read_seek", HOUR, |card, n| card.read_seek = Nanos(n)),
    ("write_seek", HOUR, |card, n| card.write_seek = Nanos(n)),
    ("write_to_read", HOUR, |card, n| {
        card.write_to_read = Nanos(n)
    }),
    ("read_to_write", HOUR, |card, n| {
        card.read_to_write = Nanos(n)
    }),
    ("flush", HOUR, |card, n| card.flush = Nanos(n)),
    ("noise.stall_mean", HOUR, |card, n| {
        noise_of(card).stall_mean = Nanos(n);
    }),
    ("flash.sense", HOUR, |card, n| {
        flash_of(card).sense = Nanos(n)
    }),
    ("flash.open", HOUR, |card, n| flash_of(card).open = Nanos(n)),
    ("flash.unit_crossing", HOUR, |card, n| {
        flash_of(card).unit_crossing = Nanos(n);
    }),
    ("flash.random_write", HOUR, |card, n| {
        flash_of(card).random_write = Nanos(n);
    }),
    ("flash.discard", HOUR, |card, n| {
        flash_of(card).discard = Nanos(n)
    }),
    ("flash.mapping.load", HOUR, |card, n| {
        mapping_of(card).load = Nanos(n)
    }),
];

#[test]
fn values_of_a_device_model_are_valid_up_to_their_limit() {
    for (name, limit, set) in COUNTS.into_iter().chain(TIMES) {
        let mut card = card();
        set(&mut card, limit);
        assert_eq!(card.check(), Ok(()), "{name}");
        set(&mut card, limit + 1);
        let why = card.check().unwrap_err();
        let wanted = format!("{name} is {}: the maximum is {limit}", limit + 1);
        assert_eq!(why, wanted);
    }
}

#[test]
fn values_of_a_device_model_that_divide_are_not_zero() {
    let changes: [Limit; 10] = [
        ("capacity", 1, |card, n| card.capacity = Bytes(n)),
        ("block_size", 1, |card, n| card.block_size = small(n)),
        ("read_rate", 1, |card, n| card.read_rate = n),
        ("write_rate", 1, |card, n| card.write_rate = n),
        ("flash.page", 1, |card, n| flash_of(card).page = Bytes(n)),
        ("flash.unit", 16 << 10, |card, n| {
            flash_of(card).unit = Bytes(n)
        }),
        ("flash.open_units", 1, |card, n| {
            flash_of(card).open_units = small(n)
        }),
        ("flash.collection_rate", 1, |card, n| {
            flash_of(card).collection_rate = n;
        }),
        ("flash.mapping.chunk", 1, |card, n| {
            mapping_of(card).chunk = Bytes(n);
        }),
        ("flash.mapping.slots", 1, |card, n| {
            mapping_of(card).slots = small(n)
        }),
    ];
    for (name, least, set) in changes {
        let mut card = card();
        set(&mut card, least);
        assert_eq!(card.check(), Ok(()), "{name}");
        set(&mut card, 0);
        let why = card.check().unwrap_err();
        assert_eq!(why, format!("{name} must be greater than 0"));
    }
}

#[test]
fn a_flash_unit_is_a_multiple_of_its_page() {
    for (pages, bytes, fits) in [(1, 0, true), (3, 0, true), (3, 1, false), (0, 512, false)] {
        let mut card = card();
        flash_of(&mut card).unit = Bytes((16 << 10) * pages + bytes);
        assert_eq!(card.check().is_ok(), fits, "{pages} {bytes}");
    }
}

#[test]
fn unusual_values_of_a_device_model_are_written() {
    let mut card = card();
    (card.write_to_read, card.read_to_write) = (Nanos(3), Nanos(7));
    card.parallel_reads = 2;
    card.cache = Some(SlcCache {
        size: Bytes(1 << 30),
        write_rate: 30_000_000,
        drain_rate: 5,
        drain_delay: Nanos(11),
    });
    let tree = serde_json::to_value(&card).unwrap();
    for (name, value) in [
        ("write_to_read", 3),
        ("read_to_write", 7),
        ("parallel_reads", 2),
    ] {
        assert_eq!(tree[name], value, "{name}");
    }
    assert_eq!(tree["cache"]["drain_delay"], 11);
    assert_eq!(serde_json::from_value::<DeviceModel>(tree).unwrap(), card);
}

#[test]
fn usual_values_of_a_device_model_are_omitted_and_restored() {
    let tree = serde_json::to_value(DeviceModel::plain("card", Bytes(1 << 30))).unwrap();
    for name in ["write_to_read", "read_to_write", "parallel_reads"] {
        assert_eq!(tree.get(name), None, "{name}");
    }
    let card: DeviceModel = serde_json::from_value(tree).unwrap();
    assert_eq!(card.parallel_reads, 1);
    assert_eq!(
        (card.write_to_read, card.read_to_write),
        (Nanos(0), Nanos(0))
    );
}

#[test]
fn a_card_announces_its_claimed_capacity() {
    let mut card = card();
    assert_eq!(card.announced(), Bytes(1 << 30));
    card.claimed_capacity = Some(Bytes(64 << 30));
    assert_eq!(card.announced(), Bytes(64 << 30));
}

fn known(text: &str) -> Fact<String> {
    Fact::Known(text.to_owned())
}

fn disk(model: Fact<String>, serial: Fact<String>) -> DeviceIdentity {
    DeviceIdentity {
        node: PathBuf::from("/dev/mmcblk0"),
        kname: "mmcblk0".to_owned(),
        model,
        serial,
        size: Bytes(8 << 30),
        logical_block: 512,
        physical_block: 512,
        rotational: Fact::default(),
        scheduler: Fact::default(),
        write_cache: Fact::default(),
        max_sectors_kb: Fact::default(),
        nr_requests: Fact::default(),
        discard_max: Fact::default(),
        zoned: Fact::default(),
        read_only: false,
        removable: false,
        firmware: Fact::default(),
        wwid: Fact::default(),
        aliases: Vec::new(),
        disk_sequence: Fact::default(),
        driver: Fact::default(),
        discard_granularity: Fact::default(),
        temperature_mc: Fact::default(),
        health: Fact::default(),
        bus: Bus::Software,
        card: None,
        chain: Vec::new(),
    }
}

fn identity(device: Fact<DeviceIdentity>) -> Identity {
    Identity {
        path: PathBuf::from("/mnt/card/file"),
        kind: TargetKind::File,
        filesystem: None,
        device,
        system_disk: false,
        label: None,
    }
}

#[test]
fn a_fact_is_its_value_or_its_reason() {
    let value = Fact::Known(7);
    let reason: Fact<i32> = Fact::Unknown(UnknownReason::Hidden);
    assert_eq!((value.known(), reason.known()), (Some(&7), None));
    assert_eq!(Fact::or_because(Some(7), UnknownReason::Hidden), value);
    assert_eq!(Fact::or_because(None, UnknownReason::Hidden), reason);
    assert_eq!(value.to_string(), "7");
    assert_eq!(reason.to_string(), "unknown (hidden)");
}

#[test]
fn a_target_is_named_by_label_model_node_or_path() {
    let unknown = || Fact::Unknown(UnknownReason::Hidden);
    for (device, name) in [
        (
            Fact::Known(disk(known("SD32G"), known("0x1234"))),
            "SD32G (0x1234)",
        ),
        (Fact::Known(disk(known("SD32G"), unknown())), "SD32G"),
        (
            Fact::Known(disk(unknown(), known("0x1234"))),
            "/dev/mmcblk0",
        ),
        (Fact::Unknown(UnknownReason::Hidden), "/mnt/card/file"),
    ] {
        let mut target = identity(device);
        assert_eq!(target.display_name(), name);
        target.label = Some("alpha".to_owned());
        assert_eq!(target.display_name(), "alpha");
    }
}

#[test]
fn ids_of_a_device_are_listed_without_placeholders() {
    let mut device = disk(known("SD32G"), known("0x12345678"));
    device.wwid = known("naa.5000c500a0b1c2d3");
    device.card = Some(CardRegisters {
        cid: known("035344534c3332478012345678014a00"),
        ..CardRegisters::default()
    });
    let of = |device: &DeviceIdentity| {
        let target = identity(Fact::Known(device.clone()));
        target
            .ids()
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let cid = "035344534c3332478012345678014a00";
    let wwid = "naa.5000c500a0b1c2d3";
    assert_eq!(of(&device), [cid, "0x12345678", wwid]);
    device.serial = known("0x00000000");
    assert_eq!(of(&device), [cid, wwid]);
    device.card = None;
    assert_eq!(of(&device), [wwid]);
    let hidden = identity(Fact::Unknown(UnknownReason::Hidden));
    assert!(hidden.ids().is_empty());
}

#[test]
fn short_or_repeated_characters_are_no_id() {
    for (id, placeholder) in [
        ("", true),
        ("a", true),
        ("ab", true),
        ("abc", true),
        ("abcd", false),
        ("abcde", false),
        ("0x123", true),
        ("0x1234", false),
        (" 12 ", true),
        (" 1234 ", false),
        ("0000", true),
        ("0x00000000", true),
        ("0x00000001", false),
        ("aaaaaaaa", true),
        ("aaaaaaab", false),
    ] {
        assert_eq!(is_placeholder(id), placeholder, "{id:?}");
    }
}

#[test]
fn the_layer_is_a_file_system_or_raw() {
    let simulated = || Fact::Unknown(UnknownReason::SimulatedCard);
    let hidden = || Fact::Unknown(UnknownReason::Hidden);
    for (device, kind, layer) in [
        (hidden(), TargetKind::BlockDevice, Some("raw")),
        (hidden(), TargetKind::File, None),
        (hidden(), TargetKind::Absent, None),
        (simulated(), TargetKind::File, Some("raw")),
        (simulated(), TargetKind::Other, Some("raw")),
    ] {
        let mut target = identity(device);
        target.kind = kind;
        assert_eq!(target.layer(), layer, "{target:?}");
        target.filesystem = Some(Filesystem {
            fs_type: "vfat".to_owned(),
            ..Filesystem::default()
        });
        assert_eq!(target.layer(), Some("vfat"));
    }
}

#[test]
fn a_host_time_is_moved_by_the_clock_offset() {
    let server_ms = |offset_ns, host_ms| {
        let clock = ClockOffset {
            offset_ns,
            uncertainty_ns: 0,
        };
        clock.to_server_ms(host_ms)
    };
    assert_eq!(server_ms(0, 1_700_000_000_123), 1_700_000_000_123);
    assert_eq!(server_ms(7_000_000, 100), 107);
    assert_eq!(server_ms(-3_000_000, 100), 97);
    assert_eq!(server_ms(86_400_000_000_000, 5), 86_400_005);
}

#[test]
fn repeats_from_two_million_are_traced() {
    for (repeat, traced) in [
        (0, false),
        (1_999_999, false),
        (2_000_000, true),
        (2_000_001, true),
    ] {
        let point = CampaignPoint {
            campaign: "id".to_owned(),
            card: "alpha".to_owned(),
            layer: "raw".to_owned(),
            workload: "seq-read".to_owned(),
            repeat,
            definition: String::new(),
            prepared: Vec::new(),
            laid_out: Bytes(0),
            assignment: None,
        };
        assert_eq!(point.is_traced(), traced, "{repeat}");
    }
}

#[test]
fn the_price_of_a_card_is_one_of_its_facts() {
    let fact = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let yen = Price {
        amount: 1480.0,
        currency: "JPY".to_owned(),
    };
    for (facts, price) in [
        (vec![], None),
        (vec![fact("shop", "1480 yen")], None),
        (
            vec![fact("shop", "7"), fact("price", "1480 yen")],
            Some(yen),
        ),
        (vec![fact("price", "a gift")], None),
    ] {
        let card = CardSummary {
            name: "campaign".to_owned(),
            key: "alpha".to_owned(),
            host: "pi5".to_owned(),
            printed: Vec::new(),
            facts,
            layers: Vec::new(),
            claims: Vec::new(),
            costs: Vec::new(),
        };
        assert_eq!(card.price(), price, "{:?}", card.facts);
    }
}

#[test]
fn a_segment_has_a_rate_unless_it_took_no_time() {
    let segment = |len, elapsed| DeviceSegment {
        offset: Bytes(0),
        len: Bytes(len),
        elapsed: Nanos(elapsed),
    };
    // 21 MB in half a second.
    let rate = segment(21_000_000, 500_000_000).rate();
    assert_eq!(rate, Some(BytesPerSec(42_000_000.0)));
    assert_eq!(segment(21_000_000, 0).rate(), None);
}

#[test]
fn filling_discarding_and_imaging_affect_the_whole_device() {
    let text = || "text".to_owned();
    let filled = StepKind::Filled {
        with: FillContent::Zeroes,
    };
    let (image, size) = (text(), Bytes(7));
    for (step, whole) in [
        (filled, true),
        (StepKind::Discarded { secure: false }, true),
        (StepKind::ImageWritten { image, size }, true),
        (StepKind::Partitioned, false),
        (StepKind::Formatted { command: vec![] }, false),
        (StepKind::DirectoryCreated { path: text() }, false),
        (StepKind::SpaceFilled { size }, false),
        (StepKind::CachesDropped, false),
        (StepKind::Described { what: text() }, false),
    ] {
        assert_eq!(step.is_of_whole_device(), whole, "{step:?}");
    }
}
