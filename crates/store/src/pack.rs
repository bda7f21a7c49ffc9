//! Compressed record bodies, whose scenario is stored once for all records that have it.
//!
//! A body is the JSON text of a record. What is stored is the text before and after its scenario, compressed (raw
//! deflate, RFC 1951) with a preset dictionary of the words that every record has. See "Database" in `docs/FORMAT.md`.

use crate::{ImportError, RecordText, import};
use hakaru_model::hash::fnv1a;
use hakaru_model::record::{FORMAT, RunRecord};
use miniz_oxide::deflate::core::{
    CompressorOxide, TDEFLFlush, TDEFLStatus, compress_to_output, create_comp_flags_from_zip_params,
};
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::value::RawValue;
use std::sync::LazyLock;

/// Words and fields of records; it never changes, because stored bodies refer to it by position.
const DICTIONARY: &[u8] = include_bytes!("pack/dictionary-1.txt");

/// The first byte of every packed text; another form gets another number.
const FORM: u8 = 1;

/// Bytes before the compressed data: form, length of the text, check, position of the scenario.
const HEADER: usize = 13;

/// Position that stands for a body with its own scenario.
const WHOLE: u32 = u32::MAX;

/// Maximum length of an unpacked body, so that a damaged length cannot exhaust memory.
pub(crate) const LONGEST: usize = 256 << 20;

/// Compression level of zlib: the best, because a record is written once and read often.
const LEVEL: i32 = 9;

/// Columns of `record` that [`body`] needs.
pub(crate) const BODY: &str =
    "record.body, record.packed, (SELECT body FROM scenario WHERE hash = record.scenario)";

/// A body as it is stored.
#[derive(Debug, Default)]
pub(crate) struct PackedBody {
    /// Hash of the scenario, if it is stored apart.
    pub(crate) scenario: Option<i64>,
    /// The rest of the body; `None` if it is stored as text.
    pub(crate) packed: Option<Vec<u8>>,
}

/// Packs the body of a record, and stores its scenario if it is new. `None` if the body is too long to be packed.
pub(crate) fn pack(
    connection: &Connection,
    record: &RunRecord,
    body: &str,
) -> rusqlite::Result<Option<PackedBody>> {
    if body.len() > LONGEST {
        return Ok(None);
    }
    let whole = || PackedBody {
        scenario: None,
        packed: Some(pack_text(body, WHOLE)),
    };
    let scenario = serde_json::to_string(&record.scenario).unwrap_or_default();
    // Other versions and programs may write it differently.
    let written = match scenario.is_empty() || !body.contains(&scenario) {
        true => written_scenario(body),
        false => Some(scenario.as_str()),
    };
    let Some((scenario, (before, after))) =
        written.and_then(|scenario| Some((scenario, body.split_once(scenario)?)))
    else {
        return Ok(Some(whole()));
    };
    let Some(hash) = keep_scenario(connection, scenario)? else {
        return Ok(Some(whole()));
    };
    let at = u32::try_from(before.len()).unwrap_or(WHOLE);
    Ok(Some(PackedBody {
        scenario: Some(hash),
        packed: Some(pack_text(&format!("{before}{after}"), at)),
    }))
}

/// Returns the scenario as a body has it.
fn written_scenario(body: &str) -> Option<&str> {
    #[derive(serde::Deserialize)]
    struct ScenarioText<'a> {
        #[serde(borrow)]
        scenario: &'a RawValue,
    }
    let of: ScenarioText<'_> = hakaru_model::json::from_str(body).ok()?;
    Some(of.scenario.get())
}

/// Stores a scenario; returns its hash, or `None` if another scenario has the same hash.
fn keep_scenario(connection: &Connection, text: &str) -> rusqlite::Result<Option<i64>> {
    let hash = fnv1a(text.as_bytes()) as i64;
    let stored: Option<Vec<u8>> = connection
        .prepare_cached("SELECT body FROM scenario WHERE hash = ?1")?
        .query_row([hash], |row| row.get(0))
        .optional()?;
    if let Some(stored) = stored {
        let same = unpack_text(&stored).is_some_and(|(stored, _)| stored == text.as_bytes());
        return Ok(same.then_some(hash));
    }
    connection
        .prepare_cached("INSERT INTO scenario (hash, body) VALUES (?1, ?2)")?
        .execute((hash, pack_text(text, WHOLE)))?;
    Ok(Some(hash))
}

/// Returns the body in the columns of [`BODY`] from index `at` on; a damaged one is an empty text.
pub(crate) fn body(row: &Row<'_>, at: usize) -> rusqlite::Result<String> {
    let packed = match row.get_ref(at + 1)? {
        ValueRef::Blob(packed) => packed,
        _ => return Ok(crate::find::text(row.get_ref(at)?)),
    };
    let scenario = match row.get_ref(at + 2)? {
        ValueRef::Blob(scenario) => Some(scenario),
        _ => None,
    };
    Ok(unpack(packed, scenario).unwrap_or_default())
}

/// Parses a stored body. The error of a damaged one names its ID, which its text may lack.
pub(crate) fn parse(id: &str, body: &str) -> Result<RunRecord, ImportError> {
    import(body).map_err(|error| named(id, error))
}

/// Like [`parse`], with the text.
pub(crate) fn parse_text(id: &str, body: String) -> Result<RecordText, ImportError> {
    RecordText::read(body).map_err(|error| named(id, error))
}

fn named(id: &str, error: ImportError) -> ImportError {
    match error {
        ImportError::NotARecord { source } => ImportError::Damaged {
            id: id.to_owned(),
            format: FORMAT,
            source,
        },
        error => error,
    }
}

fn unpack(packed: &[u8], scenario: Option<&[u8]>) -> Option<String> {
    let (mut text, at) = unpack_text(packed)?;
    if at != WHOLE {
        let (scenario, _) = unpack_text(scenario?)?;
        let at = usize::try_from(at).ok().filter(|at| *at <= text.len())?;
        text.splice(at..at, scenario);
    }
    String::from_utf8(text).ok()
}

fn pack_text(text: &str, at: u32) -> Vec<u8> {
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let mut packed = vec![FORM];
    packed.extend(length.to_le_bytes());
    packed.extend(check(text.as_bytes()).to_le_bytes());
    packed.extend(at.to_le_bytes());
    deflate(text.as_bytes(), &mut packed);
    packed
}

/// Returns the text and the position of its scenario; `None` if it is damaged.
fn unpack_text(packed: &[u8]) -> Option<(Vec<u8>, u32)> {
    let (header, deflated) = packed.split_at_checked(HEADER)?;
    let number = |at: usize| {
        let bytes = header.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    let length = usize::try_from(number(1)?)
        .ok()
        .filter(|length| *length <= LONGEST)?;
    if header.first() != Some(&FORM) {
        return None;
    }
    let text = inflate(deflated, length)?;
    (check(&text) == number(5)?).then_some(())?;
    Some((text, number(9)?))
}

fn check(text: &[u8]) -> u32 {
    let hash = fnv1a(text);
    (hash ^ (hash >> 32)) as u32
}

/// A compressor that has read the dictionary, which takes about as long as to compress a record. Its 66 kB are on the
/// heap: as a static, the program would contain them.
static WITH_DICTIONARY: LazyLock<Box<CompressorOxide>> = LazyLock::new(|| {
    let flags = create_comp_flags_from_zip_params(LEVEL, -15, 0);
    let mut compressor = Box::new(CompressorOxide::new(flags));
    // A flush ends at a byte boundary, so that what follows is a stream of its own, with the dictionary as its past.
    compress_to_output(&mut compressor, DICTIONARY, TDEFLFlush::Sync, |_| true);
    compressor
});

/// Appends the compressed text.
fn deflate(text: &[u8], out: &mut Vec<u8>) {
    let mut compressor = WITH_DICTIONARY.clone();
    let (status, _) = compress_to_output(&mut compressor, text, TDEFLFlush::Finish, |bytes| {
        out.extend_from_slice(bytes);
        true
    });
    debug_assert_eq!(status, TDEFLStatus::Done);
}

/// Returns the text of a known length; `None` if the data is damaged.
fn inflate(deflated: &[u8], length: usize) -> Option<Vec<u8>> {
    let start = DICTIONARY.len();
    let mut out = DICTIONARY.to_vec();
    // Grown as needed: the length is only what the header says.
    out.resize(start + length.min(deflated.len().saturating_mul(16)), 0);
    let mut state = Box::new(DecompressorOxide::new());
    let (mut read, mut written) = (0, start);
    loop {
        let rest = deflated.get(read..)?;
        let flags = TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let (status, taken, made) = decompress(&mut state, rest, &mut out, written, flags);
        (read, written) = (read + taken, written + made);
        match status {
            TINFLStatus::Done => break,
            TINFLStatus::HasMoreOutput if out.len() < start + length => {
                let larger = (out.len() * 2).min(start + length);
                out.resize(larger, 0);
            }
            _ => return None,
        }
    }
    (written == start + length).then(|| out.split_off(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_packed_text_is_shorter() {
        let text = "\"ios\":0,\"bytes\":0,".repeat(4000);
        let packed = pack_text(&text, WHOLE);
        assert!(packed.len() < 600, "{}", packed.len());
        assert_eq!(unpack_text(&packed), Some((text.into_bytes(), WHOLE)));
    }

    #[test]
    fn a_damaged_length_allocates_little() {
        let mut packed = pack_text("text", WHOLE);
        packed[1..5].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(unpack_text(&packed), None);
        packed[1..5].copy_from_slice(&(LONGEST as u32).to_le_bytes());
        assert_eq!(unpack_text(&packed), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn any_text_is_unpacked_as_it_was(text in ".{0,3000}", more in 0usize..40) {
            let text = text.repeat(more);
            prop_assert_eq!(unpack_text(&pack_text(&text, 7)), Some((text.into_bytes(), 7)));
        }

        #[test]
        fn a_damaged_blob_is_no_text_or_the_same(
            text in ".{0,300}", at: prop::sample::Index, to: u8, noise: Vec<u8>,
        ) {
            let mut packed = pack_text(&text, WHOLE);
            let at = at.index(packed.len());
            packed[at] = to;
            let _ = unpack(&packed, Some(&noise));
            prop_assert_eq!(unpack(&noise, None), None);
        }
    }
}
