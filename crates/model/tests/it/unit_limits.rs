//! Exact values of quantities at the limits of their ranges: parsing, printing and rounding.

use hakaru_model::histogram::{Histogram, folded_middle};
use hakaru_model::rng::Rng;
use hakaru_model::units::{
    Bytes, BytesPerSec, Iops, Nanos, Quantile, SizeError, SizeSuffixes, parse_size,
};

#[test]
fn quantiles_need_a_minimum_number_of_samples() {
    // The smallest n with p^n <= 0.025, where p is the quantile or its distance from 1, whichever is larger.
    for (share, least) in [
        (0.5, 6),
        (0.95, 72),
        (0.05, 72),
        (0.99, 368),
        (0.01, 368),
        (0.999, 3688),
    ] {
        let quantile = Quantile::new(share).unwrap();
        let found = [0, least - 1, least, least + 1].map(|n| quantile.has_enough(n));
        assert_eq!(found, [false, false, true, true], "{share}");
    }
}

#[test]
fn quantiles_convert_to_fractions_and_percent() {
    for (quantile, share, percent) in [
        (Quantile::MEDIAN, 0.5, 50.0),
        (Quantile::P95, 0.95, 95.0),
        (Quantile::P99, 0.99, 99.0),
        (Quantile::P999, 0.999, 99.9),
    ] {
        assert_eq!((quantile.share(), f64::from(quantile)), (share, share));
        assert!((quantile.percent() - percent).abs() < 1e-9, "{share}");
        assert_eq!(Quantile::try_from(share), Ok(quantile));
    }
    for share in [0.0, 1.0] {
        assert_eq!(Quantile::new(share).unwrap().share(), share);
    }
    for share in [-0.1, 1.1, f64::NAN] {
        assert!(Quantile::try_from(share).is_err(), "{share}");
    }
}

#[test]
fn times_convert_to_seconds_and_whole_milliseconds() {
    assert_eq!(Nanos::from_millis(7), Nanos(7_000_000));
    assert_eq!(Nanos::from_secs(3), Nanos(3_000_000_000));
    assert_eq!(Nanos::from_secs(1), Nanos::SECOND);
    assert_eq!(Nanos(2_500_000_000).as_secs_f64(), 2.5);
    let millis = [0, 999_999, 1_000_000, 7_999_999].map(|ns| Nanos(ns).as_millis());
    assert_eq!(millis, [0, 0, 1, 7]);
}

#[test]
fn rates_are_bytes_per_second() {
    let rate = |bytes, nanos| Bytes(bytes).per(Nanos(nanos)).map(|rate| rate.0);
    assert_eq!(rate(300, 2_000_000_000), Some(150.0));
    assert_eq!(rate(7, 500_000_000), Some(14.0));
    assert_eq!(rate(0, 3), Some(0.0));
    assert_eq!((rate(7, 0), rate(0, 0)), (None, None));
}

#[test]
fn whole_mib_keeps_small_sizes_and_rounds_down() {
    const MIB: u64 = 1 << 20;
    for (bytes, whole) in [
        (0, 0),
        (7, 7),
        (MIB - 1, MIB - 1),
        (MIB, MIB),
        (MIB + 1, MIB),
        (3 * MIB - 1, 2 * MIB),
    ] {
        assert_eq!(Bytes(bytes).whole_mib(), Bytes(whole), "{bytes}");
    }
    assert_eq!(Bytes(MIB - 1).to_type_in(), "1048575 bytes");
    assert_eq!(Bytes(3 * MIB + 5).to_type_in(), "3 MiB (3145728 bytes)");
}

#[test]
fn sizes_print_with_the_largest_suitable_unit() {
    for (bytes, binary, decimal) in [
        (0, "0 B", "0 B"),
        (1, "1 B", "1 B"),
        (999, "999 B", "999 B"),
        (1_000, "1000 B", "1 kB"),
        (1_023, "1023 B", "1.02 kB"),
        (1_024, "1 KiB", "1.02 kB"),
        (9_728, "9.50 KiB", "9.73 kB"),
        (9_999, "9.76 KiB", "10.0 kB"),
        (10_240, "10 KiB", "10.2 kB"),
        (10_752, "10.5 KiB", "10.8 kB"),
        (102_656, "100 KiB", "103 kB"),
        (31_900_000_000, "29.7 GiB", "31.9 GB"),
        (1 << 40, "1 TiB", "1.10 TB"),
        (3 << 50, "3 PiB", "3.38 PB"),
        (1 << 60, "1 EiB", "1.15 EB"),
    ] {
        assert_eq!(Bytes(bytes).to_string(), binary);
        assert_eq!(Bytes(bytes).decimal(), decimal);
        let (figure, unit) = Bytes(bytes).figure_and_unit();
        assert_eq!(binary.split_once(' '), Some((figure.as_str(), unit)));
    }
}

#[test]
fn rates_and_times_print_with_a_suitable_unit() {
    for (iops, text) in [
        (0.0, "0"),
        (0.25, "0.25"),
        (7.0, "7"),
        (7.25, "7.25"),
        (99.9, "99.9"),
        (100.0, "100"),
        (1_489.2, "1489"),
        (9.99, "9.99"),
        (9.996, "10.0"),
        (99.94, "99.9"),
        (99.96, "100"),
        (9_999.4, "9999"),
        (9_999.5, "10.0 k"),
        (20_000.0, "20 k"),
        (99_960.0, "100 k"),
        (999_499.0, "999 k"),
        (999_500.0, "1.00 M"),
        (2_500_000.0, "2.50 M"),
    ] {
        assert_eq!(Iops(iops).to_string(), text);
    }
    for (nanos, text) in [
        (0, "0 ns"),
        (999, "999 ns"),
        (1_000, "1 µs"),
        (9_994, "9.99 µs"),
        (9_999, "10.0 µs"),
        (99_940, "99.9 µs"),
        (99_960, "100 µs"),
        (999_000, "999 µs"),
        (999_499, "999 µs"),
        (999_500, "1.00 ms"),
        (999_999, "1.00 ms"),
        (1_000_000, "1 ms"),
        (9_999_999, "10.0 ms"),
        (999_000_000, "999 ms"),
        (999_499_999, "999 ms"),
        (999_500_000, "1.00 s"),
        (999_999_999, "1.00 s"),
        (1_000_000_000, "1 s"),
        (9_999_999_999, "10.0 s"),
        (61_500_000_000, "61.5 s"),
    ] {
        assert_eq!(Nanos(nanos).to_string(), text);
    }
    assert_eq!(BytesPerSec(0.0).to_string(), "0 B/s");
    assert_eq!(BytesPerSec(1_250_000.0).to_string(), "1.25 MB/s");
    assert_eq!(format!("{:>9}|", Iops(7.0)), "        7|");
    assert_eq!(format!("{:>9}|", BytesPerSec(7.0)), "    7 B/s|");
    assert_eq!(format!("{:>9}|", Bytes(7)), "      7 B|");
}

#[test]
fn sizes_are_parsed_up_to_64_bits() {
    let parse = |text| parse_size(text, SizeSuffixes::Iec);
    assert_eq!(parse("18446744073709551615"), Ok(Bytes(u64::MAX)));
    assert_eq!(parse("16383PiB"), Ok(Bytes(16_383 << 50)));
    for text in [
        "18446744073709551616",
        "99999999999999999999999",
        "18446744073709551616.5",
        "16384PiB",
        "16384.5PiB",
    ] {
        assert_eq!(parse(text), Err(SizeError::TooLarge(text.into())), "{text}");
    }
    assert_eq!(parse("2.5TiB"), Ok(Bytes(5 << 39)));
    assert_eq!(parse("0.5 PB"), Ok(Bytes(500_000_000_000_000)));
    assert_eq!(parse("7B"), Ok(Bytes(7)));
    for text in ["", "B", ".", "1.2.3", "-1", "lots"] {
        assert_eq!(parse(text), Err(SizeError::NoNumber(text.into())), "{text}");
    }
    for (text, unit) in [
        ("7EiB", "EiB"),
        ("7kx", "kx"),
        ("7Bit", "Bit"),
        ("0x10", "x10"),
    ] {
        let unknown = SizeError::UnknownUnit {
            text: text.to_owned(),
            unit: unit.to_owned(),
        };
        assert_eq!(parse(text), Err(unknown));
    }
}

#[test]
fn decimal_sizes_are_not_a_byte_short() {
    for (text, rules, bytes) in [
        ("64.1GB", SizeSuffixes::Iec, 64_100_000_000),
        ("8.2TB", SizeSuffixes::Iec, 8_200_000_000_000),
        ("2.01kB", SizeSuffixes::Iec, 2_010),
        ("32.3kB", SizeSuffixes::Iec, 32_300),
        ("64.1G", SizeSuffixes::Fio1000, 64_100_000_000),
        ("32.3k", SizeSuffixes::Fio1000, 32_300),
        ("1.", SizeSuffixes::Iec, 1),
        (".5kB", SizeSuffixes::Iec, 500),
        ("0.9999", SizeSuffixes::Iec, 0),
        ("1.0009765624999 KiB", SizeSuffixes::Iec, 1_024),
        ("1.0009765625 KiB", SizeSuffixes::Iec, 1_025),
        (
            "18446744073709551615.9",
            SizeSuffixes::Iec,
            18_446_744_073_709_551_615,
        ),
        (
            "16383.9999999999999999999 PiB",
            SizeSuffixes::Iec,
            18_446_744_073_709_551_615,
        ),
    ] {
        assert_eq!(parse_size(text, rules), Ok(Bytes(bytes)), "{text}");
    }
    for (text, bytes) in [
        (format!("2.{}kB", "9".repeat(10_000)), 2_999),
        (format!("{}2.5kB", "0".repeat(10_000)), 2_500),
        (format!(".{}1PiB", "0".repeat(10_000)), 0),
    ] {
        let parsed = parse_size(&text, SizeSuffixes::Iec);
        assert_eq!(parsed, Ok(Bytes(bytes)), "{bytes}");
    }
    let long = format!("{}.5", "9".repeat(10_000));
    let refused = parse_size(&long, SizeSuffixes::Iec);
    assert_eq!(refused, Err(SizeError::TooLarge(long)));
}

#[test]
fn ambiguous_sizes_show_both_numbers_of_bytes() {
    let parse = |text| parse_size(text, SizeSuffixes::Iec);
    let message = |text| parse(text).unwrap_err().to_string();
    assert_eq!(
        message("1.5k"),
        "`1.5k` is ambiguous (1500 or 1536 bytes): write `1.5kB` or `1.5KiB`"
    );
    assert_eq!(
        message("64.1Gi"),
        "`64.1Gi` is ambiguous (64100000000 or 68826850918 bytes): write `64.1GB` or `64.1GiB`"
    );
    // The last one exceeds 64 bits with the binary unit only, which could not be typed either.
    for text in [
        "18446744073709551616k",
        "18446744073709551615m",
        "18014398509481984k",
    ] {
        assert_eq!(parse(text), Err(SizeError::TooLarge(text.into())), "{text}");
    }
    for text in ["1.2.3k", ".k", ".m"] {
        assert_eq!(parse(text), Err(SizeError::NoNumber(text.into())), "{text}");
    }
}

#[test]
fn numbers_follow_the_published_sequence() {
    // SplitMix64 with the seed 1234567, as in the test of Rosetta Code.
    let published = [
        6_457_827_717_110_365_317,
        3_203_168_211_198_807_973,
        9_817_491_932_198_370_423,
        4_593_380_528_125_082_431,
        16_408_922_859_458_223_821,
    ];
    let (mut raw, mut below, mut unit) = (
        Rng::new(1_234_567),
        Rng::new(1_234_567),
        Rng::new(1_234_567),
    );
    for number in published {
        assert_eq!(raw.next_u64(), number);
        let exact = number as f64 / 2f64.powi(64);
        assert_eq!(below.below(1000), (exact * 1000.0).floor() as u64);
        assert!((unit.unit() - exact).abs() < 1e-15);
    }
}

#[test]
fn forked_numbers_depend_on_all_bits_of_seed_and_label() {
    for seed in [0, u64::MAX] {
        let first = [0, 1, 2, u64::MAX].map(|label| Rng::fork(seed, label).next_u64());
        for (at, number) in first.iter().enumerate() {
            assert!(!first[..at].contains(number), "seed {seed}: {first:?}");
        }
    }
    assert_ne!(Rng::fork(0, 7).next_u64(), Rng::fork(1, 7).next_u64());
}

#[test]
fn folded_buckets_print_the_values_of_fio() {
    // As fio's `plat_idx_to_val`; fio prints 17112760320 for latencies beyond its range.
    for (index, middle) in [
        (0, 0),
        (127, 127),
        (128, 129),
        (130, 133),
        (191, 255),
        (192, 258),
        (256, 516),
        (1855, 17_112_760_320),
    ] {
        assert_eq!(folded_middle(index), middle, "{index}");
    }
}

#[test]
fn counts_of_a_range_of_buckets_exclude_its_end() {
    let mut histogram = Histogram::new();
    for (index, times) in [(3, 7), (5, 11), (8, 13)] {
        histogram.add_bucket(index, times);
    }
    for (first, end, count) in [
        (0, 3, 0),
        (0, 4, 7),
        (3, 5, 7),
        (3, 6, 18),
        (4, 9, 24),
        (0, usize::MAX, 31),
        (9, usize::MAX, 0),
        (6, 3, 0),
        (usize::MAX, usize::MAX, 0),
    ] {
        assert_eq!(histogram.count_between(first, end), count, "{first}..{end}");
    }
    histogram.clear();
    assert_eq!((histogram.count(), histogram.buckets().count()), (0, 0));
}

#[test]
fn histograms_print_and_store_filled_buckets_only() {
    let mut histogram = Histogram::new();
    histogram.add_bucket(130, 7);
    histogram.add_bucket(131, 5);
    let text = "Histogram { count: 12, buckets: [(130, 7), (131, 5)] }";
    assert_eq!(format!("{histogram:?}"), text);
    assert_eq!(serde_json::to_string(&histogram).unwrap(), "[130,7,1,5]");
    let parsed = serde_json::from_str::<Histogram>("[130,7,1,5]").unwrap();
    assert!(parsed == histogram && parsed.clone() == histogram);
    assert!(serde_json::from_str::<Histogram>("[4991,1]").is_ok());
    for wrong in ["[130]", "[130,7,1]", "[4992,1]"] {
        assert!(serde_json::from_str::<Histogram>(wrong).is_err(), "{wrong}");
    }
}
