//! The speed map as rows for other programs.

use hakaru_model::integrity::{SpeedMap, Verification};

/// One row for each segment and direction: offset, length, time and speed in base units.
pub fn verification_csv(verification: &Verification) -> String {
    let mut out = String::from("way,offset_bytes,length_bytes,elapsed_ns,bytes_per_s\n");
    let verdict = &verification.verdict;
    for (way, map) in [
        ("write", &verdict.write_speed),
        ("read", &verdict.read_speed),
    ] {
        out += &rows(way, map);
    }
    out
}

fn rows(way: &str, map: &SpeedMap) -> String {
    let row = |point: &hakaru_model::integrity::SpeedPoint| {
        let rate = point
            .rate()
            .map_or(String::new(), |rate| crate::number::exact(rate.0, 0));
        format!(
            "{way},{},{},{},{rate}\n",
            point.offset.0, point.len.0, point.elapsed.0
        )
    };
    map.points.iter().map(row).collect()
}
