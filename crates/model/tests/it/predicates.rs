//! Tests of yes-or-no properties of types, and of the sizes that a parser of JSON announces.

use hakaru_model::anatomy::CardProperty;
use hakaru_model::finding::WorkloadShape;
use hakaru_model::json;
use hakaru_model::mismatch::BlockDifference;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

#[test]
fn only_shares_between_none_and_all_are_a_mix() {
    for read_percent in 0..=100 {
        let shape = WorkloadShape {
            read_percent,
            ..WorkloadShape::default()
        };
        let both = read_percent > 0 && read_percent < 100;
        assert_eq!(shape.is_mixed(), both, "{read_percent}% reads");
    }
}

#[test]
fn properties_of_reads_and_of_heat_need_no_writes() {
    use CardProperty as P;
    let read_only = [
        P::Page,
        P::Unit,
        P::ParallelReads,
        P::MappingChunk,
        P::MappingSlots,
        P::ReadOverhead,
        P::ReadSeek,
        P::Sense,
        P::ReadRate,
        P::UnitCrossing,
        P::MappingLoad,
        P::ThrottleAfter,
        P::ThrottlePercent,
        P::ThrottleRecovery,
    ];
    for property in P::ALL {
        let writes = !read_only.contains(&property);
        assert_eq!(property.needs_writes(), writes, "{property:?}");
    }
}

#[test]
fn a_wrong_header_is_told_from_wrong_data() {
    let (found, wanted) = (1, 2);
    let text = |text: &str| text.to_owned();
    let of_header = [
        BlockDifference::Magic {
            found: 1,
            wanted: 2,
        },
        BlockDifference::Method {
            found: text("md5"),
            wanted: text("crc32c"),
        },
        BlockDifference::Length { found, wanted },
        BlockDifference::Header {
            found: 1,
            wanted: 2,
        },
        BlockDifference::Offset { found, wanted },
        BlockDifference::Seed { found, wanted },
        BlockDifference::Sequence { found, wanted },
    ];
    for difference in of_header {
        assert!(difference.is_of_header(), "{difference:?}");
    }
    let of_data = [
        BlockDifference::Checksum {
            method: text("md5"),
            written: text("00"),
            computed: text("01"),
        },
        BlockDifference::Pattern {
            method: text("pattern"),
            at: 0,
            found: 1,
            wanted: 2,
        },
    ];
    for difference in of_data {
        assert!(!difference.is_of_header(), "{difference:?}");
    }
}

/// Number of parts that a parser announces before it parses them.
#[derive(Debug, PartialEq)]
struct Announced(Option<usize>);

struct AnnouncedVisitor;

impl<'de> Visitor<'de> for AnnouncedVisitor {
    type Value = Announced;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array or an object")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Announced, A::Error> {
        let announced = Announced(parts.size_hint());
        while parts.next_element::<IgnoredAny>()?.is_some() {}
        Ok(announced)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut parts: A) -> Result<Announced, A::Error> {
        let announced = Announced(parts.size_hint());
        while parts.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(announced)
    }
}

impl<'de> Deserialize<'de> for Announced {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Announced, D::Error> {
        deserializer.deserialize_any(AnnouncedVisitor)
    }
}

/// A wrong number would make a reader reserve too much memory, or trust that nothing is there.
#[test]
fn json_announces_as_many_parts_as_serde_json() {
    for text in [
        "[]",
        "[1]",
        "[1, 2, 3]",
        "{}",
        r#"{"a": 1}"#,
        r#"{"a": 1, "b": {}}"#,
    ] {
        let ours: Announced = json::from_str(text).unwrap();
        assert_eq!(ours, serde_json::from_str(text).unwrap(), "{text}");
    }
}
