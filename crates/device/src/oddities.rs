//! Inconsistencies in the identity of a card: hints for a closer look, not verdicts.
//!
//! Counterfeiters copy or invent the CID, and cheap manufacturers leave it partly empty. The checks follow public
//! reports on fake cards (A. Huang, "On MicroSD Problems", bunniestudios.com, 2010: very low serial numbers,
//! manufacturers and OEM IDs that do not match). Each inconsistency can have an innocent reason, and a good forgery has
//! none. Only writing proves the real capacity.

use crate::card::{self, Cid, RawCard};
use crate::makers;
use hakaru_model::facts::CardRegisters;
use hakaru_model::units::Bytes;

/// Placeholder product names of unbranded and relabeled cards.
const EMPTY_NAMES: [&str; 8] = ["", "00000", "000000", "SD", "SMI", "N/A", "NCARD", "?????"];

/// First year of each size class: SD, SDHC (over 2 GB), SDXC (over 32 GB), SDUC (over 2 TB).
/// Source: publication years of the SD specifications that define them.
const FIRST_YEARS: [(u64, u16); 4] = [
    (0, 2000),
    (2_200_000_000, 2006),
    (36_000_000_000, 2009),
    (2_300_000_000_000, 2018),
];

/// Decodes the registers of a card and lists their inconsistencies. `size` is the size that the device reports, in
/// bytes.
///
/// For registers that the host hides, fill a [`RawCard`] with values that were read on another host.
pub fn decode_card(raw: &RawCard, size: Bytes) -> CardRegisters {
    CardRegisters {
        oddities: oddities(raw, size, this_year()),
        ..card::decode(raw)
    }
}

/// Lists inconsistencies in the registers. `size` is the claimed size in bytes; `this_year` is `None` when the system
/// clock cannot be trusted.
pub(crate) fn oddities(raw: &RawCard, size: Bytes, this_year: Option<u16>) -> Vec<String> {
    let mmc = raw.card_type.known().is_some_and(|kind| kind == "MMC");
    let mut found = Vec::new();
    if let Some(cid) = raw.cid.known().and_then(|text| Cid::parse(text, mmc)) {
        odd_numbers(&cid, &mut found);
        odd_name(&cid, size, &mut found);
        if !mmc {
            odd_maker(&cid, &mut found);
            odd_date(&cid, size, this_year, &mut found);
        }
    }
    let claimed = raw
        .csd
        .known()
        .filter(|_| !mmc)
        .and_then(|text| card::csd_capacity(text));
    if let Some(claimed) = claimed.filter(|claimed| size > *claimed) {
        found.push(format!(
            "the device reports {size}, but its CSD claims only {claimed}"
        ));
    }
    found
}

/// Returns the year of the system clock; `None` if the clock was never set, as on boards without a
/// battery.
pub(crate) fn this_year() -> Option<u16> {
    let since_1970 = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .ok()?;
    let year = 1970 + since_1970.as_secs() / 31_556_952;
    u16::try_from(year).ok().filter(|year| *year >= 2025)
}

fn odd_numbers(cid: &Cid, found: &mut Vec<String>) {
    match cid.serial {
        0 | u32::MAX => found.push(format!(
            "the serial number 0x{:08x} is a placeholder",
            cid.serial
        )),
        0x1234_5678 | 0xdead_beef => found.push(format!(
            "the serial number 0x{:08x} looks invented",
            cid.serial
        )),
        low @ 1..0x1000 => found.push(format!("the serial number is suspiciously low ({low})")),
        _ => {}
    }
    if cid.checksum == Some(false) {
        found.push("the CID checksum is wrong".to_owned());
    }
}

fn odd_name(cid: &Cid, size: Bytes, found: &mut Vec<String>) {
    let name = cid.name.as_str();
    if EMPTY_NAMES.contains(&name.trim()) {
        found.push(format!("the product name `{name}` is a placeholder"));
    } else if name.contains('?') {
        found.push(format!(
            "the product name `{name}` contains unprintable bytes"
        ));
    }
    // SanDisk and others have the size in the name: SE32G. Cards have a few percent less than their
    // name, never half.
    if let Some(named) = gigabytes_in(name).filter(|gb| *gb > 0) {
        let shown = size.0 as f64 / 1e9;
        let share = shown / named as f64;
        if size.0 > 0 && !(0.8..1.2).contains(&share) {
            found.push(format!(
                "the name `{name}` suggests {named} GB, but the card reports {shown:.1} GB"
            ));
        }
    }
}

/// Returns the number before a final `G`, as in `SE32G`.
fn gigabytes_in(name: &str) -> Option<u64> {
    let stem = name.strip_suffix('G')?;
    let digits = stem.len() - stem.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    stem[stem.len() - digits..].parse().ok()
}

fn odd_maker(cid: &Cid, found: &mut Vec<String>) {
    match makers::sd_maker(cid.manfid) {
        None if cid.manfid == 0 => {
            found.push("the manufacturer ID is 0, which is not assigned".to_owned())
        }
        Some(maker) if maker.oem.is_some_and(|oem| oem != cid.oem) => {
            let usual = maker.oem.unwrap_or_default();
            found.push(format!(
                "{} cards have the OEM ID `{usual}`; this one has `{}`",
                maker.name, cid.oem
            ));
        }
        _ => {}
    }
}

fn odd_date(cid: &Cid, size: Bytes, this_year: Option<u16>, found: &mut Vec<String>) {
    let date = format!("{:04}-{:02}", cid.year, cid.month);
    if !(1..=12).contains(&cid.month) {
        found.push(format!(
            "the manufacturing date {date} has an invalid month"
        ));
    }
    if this_year.is_some_and(|now| cid.year > now) {
        found.push(format!("the manufacturing date {date} is in the future"));
    }
    let first = FIRST_YEARS
        .iter()
        .rfind(|(over, _)| size.0 > *over)
        .map_or(2000, |(_, year)| *year);
    if cid.year < first {
        found.push(format!(
            "the manufacturing date {date} is too early: {size} cards exist since {first}"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::facts::Fact;

    fn odd(cid: &str, gigabytes: u64) -> Vec<String> {
        let known = |text: &str| Fact::Known(text.to_owned());
        let raw = RawCard {
            card_type: known("SD"),
            cid: known(cid),
            ..RawCard::default()
        };
        oddities(&raw, Bytes(gigabytes * 1_000_000_000), Some(2025))
    }

    #[test]
    fn a_card_in_order_has_none() {
        assert_eq!(odd("0353445345333247804a5b6c7d013700", 32), [""; 0]);
        assert_eq!(odd("1b534d4542315154307c2d3e4f015100", 64), [""; 0]);
    }

    #[test]
    fn signs_of_a_made_up_identity_are_named() {
        insta::assert_snapshot!(odd("00000030303030300000000000000000", 64).join("\n"), @"
        the serial number 0x00000000 is a placeholder
        the product name `00000` is a placeholder
        the manufacturer ID is 0, which is not assigned
        the manufacturing date 2000-00 has an invalid month
        the manufacturing date 2000-00 is too early: 59.6 GiB cards exist since 2009
        ");
        insta::assert_snapshot!(odd("035450535536344780000003c0011d01", 8).join("\n"), @"
        the serial number is suspiciously low (960)
        the CID checksum is wrong
        the name `SU64G` suggests 64 GB, but the card reports 8.0 GB
        SanDisk cards have the OEM ID `SD`; this one has `TP`
        the manufacturing date 2017-13 has an invalid month
        ");
    }

    proptest::proptest! {
        #[test]
        fn no_identity_panics(cid: [u8; 16], csd: [u8; 16], size: u64, mmc: bool) {
            let text = |bytes: [u8; 16]| Fact::Known(bytes.iter().map(|b| format!("{b:02x}")).collect::<String>());
            let kind = Fact::Known(if mmc { "MMC" } else { "SD" }.to_owned());
            let raw = RawCard { card_type: kind, cid: text(cid), csd: text(csd), ..RawCard::default() };
            let _ = oddities(&raw, Bytes(size), Some(2025));
        }
    }
}
