//! Tests of decoding: the flags of requests.

use super::*;

fn flags(letters: &str) -> (BlockOp, String) {
    let flags = parse_flags(letters.as_bytes());
    let names = [
        (flags.preflush, 'p'),
        (flags.fua, 'f'),
        (flags.sync, 's'),
        (flags.meta, 'm'),
        (flags.ahead, 'a'),
    ];
    let set = names.iter().filter(|(set, _)| *set);
    (flags.op, set.map(|(_, name)| *name).collect())
}

#[test]
fn decodes_operations_and_flags() {
    for (letters, op, set) in [
        ("R", BlockOp::Read, ""),
        ("RA", BlockOp::Read, "a"),
        ("RSM", BlockOp::Read, "sm"),
        ("RAM", BlockOp::Read, "ma"),
        ("W", BlockOp::Write, ""),
        ("WS", BlockOp::Write, "s"),
        ("WFS", BlockOp::Write, "fs"),
        ("FWFSM", BlockOp::Write, "pfsm"),
        ("FWS", BlockOp::Write, "ps"),
        ("FF", BlockOp::Flush, "p"),
        ("FFS", BlockOp::Flush, "ps"),
        ("F", BlockOp::Flush, ""),
        ("FS", BlockOp::Flush, "s"),
        ("D", BlockOp::Discard, ""),
        ("DS", BlockOp::Discard, "s"),
        ("DE", BlockOp::Discard, ""),
        ("N", BlockOp::Other, ""),
        ("NS", BlockOp::Other, "s"),
        // Zone append, reset, reset of all zones, open.
        ("ZA", BlockOp::Write, ""),
        ("ZAS", BlockOp::Write, "s"),
        ("ZR", BlockOp::Other, ""),
        ("ZRAS", BlockOp::Other, "s"),
        ("ZOS", BlockOp::Other, "s"),
        // Atomic, which has no meaning here.
        ("WSU", BlockOp::Write, "s"),
        ("", BlockOp::Other, ""),
    ] {
        assert_eq!(flags(letters), (op, set.to_owned()), "{letters}");
    }
}
