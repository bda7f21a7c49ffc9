//! Tests of quantities: parsing and printing.

use super::*;

/// A size rounded to three digits may exceed the size itself.
#[test]
fn sizes_to_type_in_are_never_rounded_up() {
    let told = |bytes: u64| Bytes(bytes).to_type_in();
    assert_eq!(
        told((15 << 30) + (1023 << 20) + 1_000_000),
        "16383 MiB (17178820608 bytes)"
    );
    assert_eq!(
        (told(1 << 20), told((1 << 20) - 512)),
        ("1 MiB (1048576 bytes)".into(), "1048064 bytes".into())
    );
    for bytes in [1, 4096, 5 << 20, 32_010_928_128, u64::MAX] {
        let whole = Bytes(bytes).whole_mib().0;
        assert!(whole <= bytes && bytes - whole < 1 << 20);
    }
}

#[test]
fn fio_sizes_follow_its_reversed_rules() {
    for (text, bytes) in [
        ("4k", 4096),
        ("4K", 4096),
        ("4kB", 4096),
        ("4ki", 4096),
        ("4KiB", 4000),
        ("1M", 1 << 20),
    ] {
        assert_eq!(
            parse_size(text, SizeSuffixes::Fio1024),
            Ok(Bytes(bytes)),
            "{text}"
        );
    }
    assert_eq!(parse_size("4k", SizeSuffixes::Fio1000), Ok(Bytes(4000)));
    assert_eq!(parse_size("4KiB", SizeSuffixes::Fio1000), Ok(Bytes(4096)));
    assert_eq!(parse_size("0x1000", SizeSuffixes::Fio1024), Ok(Bytes(4096)));
}

#[test]
fn our_own_sizes_say_which_kilo_they_mean() {
    assert_eq!(parse_size("4KiB", SizeSuffixes::Iec), Ok(Bytes(4096)));
    assert_eq!(parse_size("4 kB", SizeSuffixes::Iec), Ok(Bytes(4000)));
    assert_eq!(parse_size("1.5GiB", SizeSuffixes::Iec), Ok(Bytes(3 << 29)));
    assert!(matches!(
        parse_size("4k", SizeSuffixes::Iec),
        Err(SizeError::Ambiguous {
            si: 4000,
            iec: 4096,
            ..
        })
    ));
    for text in ["MiB", "-5", "lots"] {
        assert!(
            matches!(
                parse_size(text, SizeSuffixes::Iec),
                Err(SizeError::NoNumber(_))
            ),
            "{text}"
        );
    }
    assert!(matches!(
        parse_size("9999999PiB", SizeSuffixes::Iec),
        Err(SizeError::TooLarge(_))
    ));
    assert!(matches!(
        parse_size("4 bananas", SizeSuffixes::Iec),
        Err(SizeError::UnknownUnit { .. })
    ));
}

#[test]
fn a_quantile_is_the_same_however_it_was_computed() {
    for (share, same) in [
        (99.9 / 100.0, Quantile::P999),
        (0.99, Quantile::P99),
        (1.0 - 0.05, Quantile::P95),
    ] {
        assert_eq!(Quantile::new(share), Ok(same));
    }
}

#[test]
fn quantities_read_well() {
    assert_eq!(Bytes(256 << 20).to_string(), "256 MiB");
    assert_eq!(Bytes(1536).to_string(), "1.50 KiB");
    assert_eq!(Bytes(999_499).decimal(), "999 kB");
    assert_eq!(Bytes(999_500).decimal(), "1.00 MB");
    assert_eq!(BytesPerSec(22_412_000.0).to_string(), "22.4 MB/s");
    assert_eq!(Nanos(1_866_030).to_string(), "1.87 ms");
    assert_eq!(Nanos(410).to_string(), "410 ns");
    assert_eq!(Iops(1489.2).to_string(), "1489");
    assert_eq!(Iops(12_345.0).to_string(), "12.3 k");
    assert_eq!(
        [BytesPerSec(1e200).to_string(), Iops(1e200).to_string()],
        ["1.00e182 EB/s", "1.00e194 M"]
    );
    assert_eq!(
        [Bytes(u64::MAX).to_string(), Nanos(u64::MAX).to_string()],
        ["16 EiB", "18446744074 s"]
    );
}

#[test]
fn no_time_has_no_rate() {
    assert_eq!(Bytes(5).per(Nanos(0)), None);
    assert_eq!(Bytes(5).per(Nanos(1)), Some(BytesPerSec(5e9)));
}

proptest::proptest! {
    #[test]
    fn any_text_is_a_size_or_an_error(text in ".{0,24}") {
        for rules in [SizeSuffixes::Iec, SizeSuffixes::Fio1024, SizeSuffixes::Fio1000] {
            let _ = parse_size(&text, rules);
        }
    }

    #[test]
    fn iec_sizes_round_trip(n in 0u64..1 << 20, e in 0usize..5) {
        let text = format!("{n}{}", IEC[e]);
        proptest::prop_assert_eq!(parse_size(&text, SizeSuffixes::Iec), Ok(Bytes(n << (10 * e))));
    }
}
