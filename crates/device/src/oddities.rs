//! What looks odd about the identity of a card: findings that make one look closer, not verdicts.
//!
//! Counterfeiters copy or invent the identification register, and cheap makers leave it half empty. The signs gathered
//! here are those that public reports on false cards name again and again (A. Huang, "On MicroSD Problems",
//! bunniestudios.com, 2010: serial numbers that are very low, makers and OEM ids that do not belong together): each can
//! have an innocent reason, and a good forgery shows none. Whether the capacity is real, only writing tells.

use crate::card::{self, Cid, RawCard};
use crate::makers;
use hakaru_model::facts::CardRegisters;
use hakaru_model::units::Bytes;

/// Names that say nothing, as unbranded and relabelled cards carry them.
const EMPTY_NAMES: [&str; 8] = ["", "00000", "000000", "SD", "SMI", "N/A", "NCARD", "?????"];

/// The year in which cards of a size could first be had: SD, SDHC (over 2 GB), SDXC (over 32 GB), SDUC (over 2 TB).
/// Source: the years in which the SD Association published the specifications that define them.
const FIRST_YEARS: [(u64, u16); 4] = [
    (0, 2000),
    (2_200_000_000, 2006),
    (36_000_000_000, 2009),
    (2_300_000_000_000, 2018),
];

/// Decodes the registers of a card, and gathers what seems odd about them. `size` is what the device shows.
///
/// For registers that the host hides and somebody read elsewhere, fill a [`RawCard`] by hand.
pub fn decode_card(raw: &RawCard, size: Bytes) -> CardRegisters {
    CardRegisters {
        oddities: oddities(raw, size, this_year()),
        ..card::decode(raw)
    }
}

/// Gathers what looks odd. `size` is what the device claims; `this_year` is `None` when the clock is not to be trusted.
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
            "the device shows {size}, but its CSD only claims {claimed}"
        ));
    }
    found
}

/// The year of the system's clock; `None` when it was clearly never set, as on boards without a battery.
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
            "the serial number is 0x{:08x}, which is none",
            cid.serial
        )),
        0x1234_5678 | 0xdead_beef => {
            found.push(format!("the serial number 0x{:08x} is made up", cid.serial))
        }
        low @ 1..0x1000 => found.push(format!(
            "the serial number is very low ({low}): makers count by the million"
        )),
        _ => {}
    }
    if cid.checksum == Some(false) {
        found.push("the checksum of the CID is wrong".to_owned());
    }
}

fn odd_name(cid: &Cid, size: Bytes, found: &mut Vec<String>) {
    let name = cid.name.as_str();
    if EMPTY_NAMES.contains(&name.trim()) {
        found.push(format!("the product name `{name}` says nothing"));
    } else if name.contains('?') {
        found.push(format!("the product name `{name}` holds unprintable bytes"));
    }
    // SanDisk and others put the size into the name: SE32G. Cards hold some percent less than their name, never half.
    if let Some(named) = gigabytes_in(name).filter(|gb| *gb > 0) {
        let shown = size.0 as f64 / 1e9;
        let share = shown / named as f64;
        if size.0 > 0 && !(0.8..1.2).contains(&share) {
            found.push(format!(
                "the name `{name}` tells of {named} GB, but the card shows {shown:.1} GB"
            ));
        }
    }
}

/// The number in front of a `G` at the end of a name, as in `SE32G`.
fn gigabytes_in(name: &str) -> Option<u64> {
    let stem = name.strip_suffix('G')?;
    let digits = stem.len() - stem.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    stem[stem.len() - digits..].parse().ok()
}

fn odd_maker(cid: &Cid, found: &mut Vec<String>) {
    match makers::sd_maker(cid.manfid) {
        None if cid.manfid == 0 => {
            found.push("the maker's number is 0, which belongs to nobody".to_owned())
        }
        Some(maker) if maker.oem.is_some_and(|oem| oem != cid.oem) => {
            let usual = maker.oem.unwrap_or_default();
            found.push(format!(
                "cards of {} carry the OEM id `{usual}`, and this one `{}`",
                maker.name, cid.oem
            ));
        }
        _ => {}
    }
}

fn odd_date(cid: &Cid, size: Bytes, this_year: Option<u16>, found: &mut Vec<String>) {
    let date = format!("{:04}-{:02}", cid.year, cid.month);
    if !(1..=12).contains(&cid.month) {
        found.push(format!("the date {date} has no such month"));
    }
    if this_year.is_some_and(|now| cid.year > now) {
        found.push(format!("the date {date} is in the future"));
    }
    let first = FIRST_YEARS
        .iter()
        .rfind(|(over, _)| size.0 > *over)
        .map_or(2000, |(_, year)| *year);
    if cid.year < first {
        found.push(format!(
            "the date {date} is older than cards of {size}, which came in {first}"
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
        insta::assert_snapshot!(odd("00000030303030300000000000000000", 64).join("\n"), @r"
        the serial number is 0x00000000, which is none
        the product name `00000` says nothing
        the maker's number is 0, which belongs to nobody
        the date 2000-00 has no such month
        the date 2000-00 is older than cards of 59.6 GiB, which came in 2009
        ");
        insta::assert_snapshot!(odd("035450535536344780000003c0011d01", 8).join("\n"), @r"
        the serial number is very low (960): makers count by the million
        the checksum of the CID is wrong
        the name `SU64G` tells of 64 GB, but the card shows 8.0 GB
        cards of SanDisk carry the OEM id `SD`, and this one `TP`
        the date 2017-13 has no such month
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
