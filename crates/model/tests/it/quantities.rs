//! Property tests of sizes, times, rates and fractions: parsing, printing and computing.

use crate::cases;
use hakaru_model::reported::Decimal;
use hakaru_model::rng::Rng;
use hakaru_model::stream::Permutation;
use hakaru_model::units::{
    Bytes, BytesPerSec, Iops, Nanos, Quantile, SizeError, SizeSuffixes, parse_size,
};
use proptest::prelude::*;

const RULES: [SizeSuffixes; 3] = [
    SizeSuffixes::Iec,
    SizeSuffixes::Fio1024,
    SizeSuffixes::Fio1000,
];

/// Maximum relative error of printed values: with three digits, half a unit of the last digit is 0.5% of the smallest
/// such number.
const SHOWN: f64 = 0.0051;

/// Generates numbers of all magnitudes, small ones as often as large ones.
fn magnitudes() -> impl Strategy<Value = u64> {
    (0u32..65, any::<u64>()).prop_map(|(bits, raw)| match bits {
        0 => 0,
        bits => raw >> (64 - bits),
    })
}

/// Parses a printed figure with its unit, using a separate table.
fn read_back(text: &str, units: &[(&str, f64)]) -> f64 {
    let (figure, unit) = text.split_once(' ').unwrap_or((text, ""));
    let known = units.iter().find(|(name, _)| *name == unit);
    let factor = known.unwrap_or_else(|| panic!("unit of `{text}`")).1;
    figure.parse::<f64>().expect(text) * factor
}

fn is_near(shown: f64, exact: f64) -> bool {
    (shown - exact).abs() <= exact * SHOWN + f64::EPSILON
}

const BINARY: [(&str, f64); 7] = [
    ("B", 1.0),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
    ("PiB", 1_125_899_906_842_624.0),
    ("EiB", 1_152_921_504_606_846_976.0),
];
const DECIMAL: [(&str, f64); 7] = [
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("PB", 1e15),
    ("EB", 1e18),
];
const TIMES: [(&str, f64); 4] = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
const COUNTS: [(&str, f64); 3] = [("", 1.0), ("k", 1e3), ("M", 1e6)];

/// Meaning of fio's suffixes with `kb_base=1024`; with 1000, both columns are swapped.
const FIO_SUFFIXES: [(&str, u32, bool); 20] = [
    ("", 0, false),
    ("b", 0, false),
    ("k", 1, false),
    ("kb", 1, false),
    ("ki", 1, false),
    ("kib", 1, true),
    ("m", 2, false),
    ("mb", 2, false),
    ("mi", 2, false),
    ("mib", 2, true),
    ("g", 3, false),
    ("gb", 3, false),
    ("gib", 3, true),
    ("t", 4, false),
    ("tb", 4, false),
    ("tib", 4, true),
    ("p", 5, false),
    ("pb", 5, false),
    ("pi", 5, false),
    ("pib", 5, true),
];

const UNITS: [(&str, SizeSuffixes, u128); 16] = [
    ("", SizeSuffixes::Iec, 1),
    ("B", SizeSuffixes::Fio1024, 1),
    ("kB", SizeSuffixes::Iec, 1000),
    ("MB", SizeSuffixes::Iec, 1_000_000),
    ("GB", SizeSuffixes::Iec, 1_000_000_000),
    ("TB", SizeSuffixes::Iec, 1_000_000_000_000),
    ("PB", SizeSuffixes::Iec, 1_000_000_000_000_000),
    ("KiB", SizeSuffixes::Iec, 1 << 10),
    ("MiB", SizeSuffixes::Iec, 1 << 20),
    ("GiB", SizeSuffixes::Iec, 1 << 30),
    ("TiB", SizeSuffixes::Iec, 1 << 40),
    ("PiB", SizeSuffixes::Iec, 1 << 50),
    ("k", SizeSuffixes::Fio1000, 1000),
    ("k", SizeSuffixes::Fio1024, 1 << 10),
    ("g", SizeSuffixes::Fio1000, 1_000_000_000),
    ("gib", SizeSuffixes::Fio1024, 1_000_000_000),
];

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn a_size_is_shown_to_three_digits(bytes in magnitudes()) {
        let text = Bytes(bytes).to_string();
        prop_assert!(is_near(read_back(&text, &BINARY), bytes as f64), "{bytes}: {text}");
        let text = Bytes(bytes).decimal();
        prop_assert!(is_near(read_back(&text, &DECIMAL), bytes as f64), "{bytes}: {text}");
        let (figure, unit) = Bytes(bytes).figure_and_unit();
        prop_assert_eq!(format!("{figure} {unit}"), Bytes(bytes).to_string());
    }

    #[test]
    fn a_shown_size_parses_to_what_it_shows(bytes in magnitudes()) {
        let shown = Bytes(bytes).to_string();
        match parse_size(&shown, SizeSuffixes::Iec) {
            Ok(parsed) => {
                prop_assert!(is_near(parsed.0 as f64, bytes as f64), "{bytes}: {shown} is {parsed:?}");
                let again = parsed.to_string();
                prop_assert!(is_near(read_back(&again, &BINARY), bytes as f64), "{bytes}: {shown}, {again}");
            }
            // The parser's largest unit is PiB.
            Err(SizeError::UnknownUnit { unit, .. }) => prop_assert_eq!(unit, "EiB"),
            Err(error) => prop_assert!(false, "{bytes}: {shown}: {error}"),
        }
    }

    #[test]
    fn round_sizes_parse_to_themselves(figure in 1u64..1000, unit in 0usize..6, spaced: bool) {
        let exact = Bytes(figure << (10 * unit));
        let shown = exact.to_string();
        let typed = if spaced { format!(" {shown} ") } else { shown.replace(' ', "").to_lowercase() };
        prop_assert_eq!(parse_size(&typed, SizeSuffixes::Iec), Ok(exact), "{}", typed);
    }

    #[test]
    fn suffixes_of_fio_mean_what_kb_base_says(figure in 0u64..5000, (suffix, power, swapped) in prop::sample::select(&FIO_SUFFIXES[..]), upper: bool) {
        let text = format!("{figure}{suffix}");
        let text = if upper { text.to_uppercase() } else { text };
        let (binary, decimal) = (figure * 1024u64.pow(power), figure * 1000u64.pow(power));
        let (with_1024, with_1000) = if swapped { (decimal, binary) } else { (binary, decimal) };
        prop_assert_eq!(parse_size(&text, SizeSuffixes::Fio1024), Ok(Bytes(with_1024)), "{}", text);
        prop_assert_eq!(parse_size(&text, SizeSuffixes::Fio1000), Ok(Bytes(with_1000)), "{}", text);
    }

    #[test]
    fn a_bare_prefix_names_both_of_its_meanings(figure in 1u64..1000, power in 1usize..6, i: bool) {
        let prefix = ["k", "m", "g", "t", "p"][power - 1];
        let text = format!("{figure}{prefix}{}", if i { "i" } else { "" });
        let error = parse_size(&text, SizeSuffixes::Iec).unwrap_err();
        let SizeError::Ambiguous { si, iec, number, unit_si, unit_iec, .. } = error else {
            return Err(TestCaseError::fail(format!("{text}: {error}")));
        };
        for (unit, bytes) in [(unit_si, si), (unit_iec, iec)] {
            prop_assert_eq!(parse_size(&format!("{number}{unit}"), SizeSuffixes::Iec), Ok(Bytes(bytes)));
        }
    }

    #[test]
    fn hexadecimal_sizes_are_those_of_fio_alone(bytes: u64, upper: bool) {
        let text = if upper { format!("0X{bytes:X}") } else { format!("0x{bytes:x}") };
        prop_assert_eq!(parse_size(&text, SizeSuffixes::Fio1024), Ok(Bytes(bytes)));
        prop_assert!(parse_size(&text, SizeSuffixes::Iec).is_err());
    }

    #[test]
    fn a_size_past_64_bits_is_too_large(figure in 1u64.., power in 1u32..6) {
        let unit = ["KiB", "MiB", "GiB", "TiB", "PiB"][power as usize - 1];
        let exact = u128::from(figure) << (10 * power);
        let parsed = parse_size(&format!("{figure}{unit}"), SizeSuffixes::Iec);
        match u64::try_from(exact) {
            Ok(bytes) => prop_assert_eq!(parsed, Ok(Bytes(bytes))),
            Err(_) => prop_assert!(matches!(parsed, Err(SizeError::TooLarge(_))), "{:?}", parsed),
        }
    }

    #[test]
    fn decimal_sizes_are_rounded_down_exactly(whole in 0u64..9000, fraction in "[0-9]{0,20}", unit in 0usize..16) {
        let (name, rules, factor) = UNITS[unit];
        let text = format!("{whole}.{fraction}{name}");
        // A product of at most 20 digits and 50 bits fits into 128 bits.
        let numerator: u128 = format!("0{fraction}").parse().unwrap();
        let exact = u128::from(whole) * factor + numerator * factor / 10u128.pow(fraction.len() as u32);
        prop_assert_eq!(parse_size(&text, rules), Ok(Bytes(u64::try_from(exact).unwrap())), "{}", text);
    }

    #[test]
    fn every_decimal_place_of_a_size_counts(half in 0u64..1 << 49, tail in "[0-9]{0,200}") {
        // An odd number divided by 2^50 has 50 decimal places, and all of them are needed.
        let bytes = 2 * half + 1;
        let (mut places, mut rest) = (String::new(), bytes);
        while rest > 0 {
            rest *= 10;
            places.push(char::from(b'0' + (rest >> 50) as u8));
            rest &= (1 << 50) - 1;
        }
        prop_assert_eq!(places.pop(), Some('5'));
        prop_assert_eq!(places.len(), 49);
        let parse = |last: &str| parse_size(&format!(".{places}{last}{tail}PiB"), SizeSuffixes::Iec);
        prop_assert_eq!(parse("4"), Ok(Bytes(bytes - 1)));
        prop_assert_eq!(parse("5"), Ok(Bytes(bytes)));
    }

    #[test]
    fn errors_of_sizes_quote_what_was_typed(text in "[0-9]{0,4}[ .]?[a-zA-Z]{0,4}") {
        for rules in RULES {
            if let Err(error) = parse_size(&text, rules) {
                prop_assert!(error.to_string().contains(&format!("`{text}`")), "{error}");
            }
        }
    }

    #[test]
    fn times_are_shown_to_three_digits(nanos in magnitudes()) {
        let text = Nanos(nanos).to_string();
        prop_assert!(is_near(read_back(&text, &TIMES), nanos as f64), "{nanos}: {text}");
        let padded = format!("{:>14}|", Nanos(nanos));
        prop_assert!(padded.chars().count() >= 15 && padded.ends_with(&format!("{text}|")), "{padded}");
    }

    #[test]
    fn fractions_are_shown_with_three_digits(exponent in 1u32..19, millionths in 0u64..6000, rest in 0u64..1000) {
        let power = u128::from(10u64.pow(exponent));
        let number = (power - power * u128::from(millionths) / 1_000_000) as u64;
        let rate = number as f64 / 1e6 + rest as f64 / 1000.0;
        let texts = [
            Nanos(number).to_string(),
            Bytes(number).to_string(),
            Bytes(number).decimal(),
            Iops(rate).to_string(),
            BytesPerSec(rate).to_string(),
        ];
        for text in texts {
            let figure = text.split(' ').next().unwrap();
            let digits = figure.chars().filter(char::is_ascii_digit).count();
            prop_assert!(!figure.contains('.') || digits == 3, "{number}, {rate}: {text}");
        }
    }

    #[test]
    fn times_are_shown_with_the_largest_unit(exponent in 2u32..10, distance in 0u64..6_000) {
        let nanos = 10u64.pow(exponent) - distance.min(10u64.pow(exponent) / 2);
        let text = Nanos(nanos).to_string();
        let figure: f64 = text.split(' ').next().unwrap().parse().unwrap();
        prop_assert!(figure < 1000.0 || text.ends_with(" s"), "{nanos}: {text}");
    }

    #[test]
    fn rates_are_shown_to_three_digits(rate in magnitudes(), thousandths in 0u64..1000) {
        let rate = (rate >> 8) as f64 + thousandths as f64 / 1000.0;
        let text = Iops(rate).to_string();
        let shown = read_back(&text, &COUNTS);
        prop_assert!(is_near(shown, rate) || (rate < 1.0 && (shown - rate).abs() <= 0.0051), "{rate}: {text}");
        let text = BytesPerSec(rate).to_string();
        let text = text.strip_suffix("/s").expect("a rate is by second");
        let shown = read_back(text, &DECIMAL);
        prop_assert!(is_near(shown, rate) || (rate < 1.0 && (shown - rate).abs() <= 0.0051), "{rate}: {text}");
    }

    #[test]
    fn whole_mib_is_the_largest_not_above(bytes in magnitudes()) {
        let whole = Bytes(bytes).whole_mib();
        prop_assert!(whole.0 <= bytes && bytes - whole.0 < 1 << 20);
        prop_assert_eq!(whole.whole_mib(), whole);
        prop_assert!(bytes < 1 << 20 || whole.0.is_multiple_of(1 << 20));
        let typed = Bytes(bytes).to_type_in();
        prop_assert!(typed.contains(&format!("{} bytes", whole.0)), "{typed}");
        if let Some((mib, _)) = typed.split_once(" (") {
            prop_assert_eq!(parse_size(mib, SizeSuffixes::Iec), Ok(whole));
        }
    }

    #[test]
    fn times_of_any_number_saturate(n: u64) {
        let most = u64::MAX;
        prop_assert_eq!(Nanos::from_millis(n).0, n.checked_mul(1_000_000).unwrap_or(most));
        prop_assert_eq!(Nanos::from_secs(n).0, n.checked_mul(1_000_000_000).unwrap_or(most));
        prop_assert_eq!(Nanos::from_millis(n).as_millis(), n.min(most / 1_000_000));
        prop_assert!((Nanos(n).as_secs_f64() - n as f64 / 1e9).abs() <= n as f64 * 1e-15);
    }

    #[test]
    fn a_rate_times_its_time_is_its_size(bytes in magnitudes(), nanos in magnitudes()) {
        match Bytes(bytes).per(Nanos(nanos)) {
            None => prop_assert_eq!(nanos, 0),
            Some(rate) => {
                let back = rate.0 * Nanos(nanos).as_secs_f64();
                prop_assert!((back - bytes as f64).abs() <= bytes as f64 * 1e-9, "{bytes} in {nanos}: {back}");
            }
        }
    }

    #[test]
    fn a_quantile_is_a_share_to_nine_digits(billionths in 0u64..=1_000_000_000) {
        let share = billionths as f64 / 1e9;
        let quantile = Quantile::new(share).expect("within 0 and 1");
        prop_assert_eq!(Quantile::new(quantile.share()), Ok(quantile));
        prop_assert_eq!(Quantile::new(share + 1e-12 * (0.5 - share)), Ok(quantile));
        prop_assert!((quantile.percent() - share * 100.0).abs() < 1e-9);
        let text = serde_json::to_string(&quantile).unwrap();
        prop_assert_eq!(hakaru_model::json::from_str::<Quantile>(&text).unwrap(), quantile);
    }

    #[test]
    fn what_is_no_share_is_no_quantile(beyond in 1e-9f64..1e12) {
        for share in [-beyond, 1.0 + beyond, f64::NAN, f64::INFINITY] {
            prop_assert!(Quantile::new(share).is_err(), "{share}");
        }
        let text = serde_json::to_string(&(1.0 + beyond)).unwrap();
        prop_assert!(hakaru_model::json::from_str::<Quantile>(&text).is_err());
    }

    #[test]
    fn a_decimal_is_worth_its_digits(whole in 0u64..1 << 40, rest in "[0-9]{0,6}") {
        let text = if rest.is_empty() { whole.to_string() } else { format!("{whole}.{rest}") };
        let decimal: Decimal = text.parse().unwrap();
        prop_assert_eq!(decimal.to_string(), text.clone());
        let exact: f64 = text.parse().unwrap();
        prop_assert!((decimal.value() - exact).abs() <= exact.abs() * 1e-15);
        prop_assert_eq!(usize::from(decimal.decimals()), rest.len());
        prop_assert_eq!(decimal.as_whole(), rest.is_empty().then_some(whole));
        prop_assert!((decimal.step() * 10f64.powi(rest.len() as i32) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn random_numbers_keep_to_their_bounds(seed: u64, label: u64, bound in magnitudes()) {
        let mut rng = Rng::fork(seed, label);
        for _ in 0..64 {
            let drawn = rng.below(bound);
            prop_assert!(drawn < bound || bound == 0 && drawn == 0);
            prop_assert!((0.0..1.0).contains(&rng.unit()));
        }
    }

    #[test]
    fn labels_give_sequences_of_their_own(seed: u64, a: u64, b: u64) {
        prop_assume!(a != b);
        let draw = |label| {
            let mut rng = Rng::fork(seed, label);
            [rng.next_u64(), rng.next_u64()]
        };
        prop_assert_eq!(draw(a), draw(a));
        prop_assert_ne!(draw(a), draw(b));
    }

    #[test]
    fn a_permutation_has_each_number_once(n in 1u64..3000, seed: u64) {
        let mut order = Permutation::new(n, Rng::new(seed));
        let mut passes = Vec::new();
        for _ in 0..2 {
            let pass: Vec<u64> = (0..n).map(|_| order.draw()).collect();
            let mut sorted = pass.clone();
            sorted.sort_unstable();
            prop_assert!(sorted.into_iter().eq(0..n));
            passes.push(pass);
        }
        prop_assert!(n < 8 || passes[0] != passes[1], "another pass has another order");
    }

    #[test]
    fn a_permutation_of_many_repeats_none(n in 1u64 << 20.., seed: u64) {
        let mut order = Permutation::new(n, Rng::new(seed));
        let mut drawn: Vec<u64> = (0..500).map(|_| order.draw()).collect();
        prop_assert!(drawn.iter().all(|&number| number < n));
        drawn.sort_unstable();
        drawn.dedup();
        prop_assert_eq!(drawn.len(), 500);
    }
}

#[test]
fn a_size_of_nothing_is_zero_bytes() {
    for rules in RULES {
        assert_eq!(parse_size("0", rules), Ok(Bytes(0)), "{rules:?}");
    }
    assert_eq!(Nanos(0).to_string(), "0 ns");
    assert_eq!(Bytes(0).per(Nanos(0)), None);
}
