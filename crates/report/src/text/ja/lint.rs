//! Problems of a job as a benchmark, and their corrections.

use crate::text::caveat;
use hakaru_model::lint::LintWarning;
use hakaru_model::severity::Severity;

pub(in crate::text) fn severity(of: Severity) -> &'static str {
    match of {
        Severity::Wrong => "エラー",
        Severity::Weak => "警告",
        Severity::Note => "参考",
    }
}

pub(in crate::text) fn lint(warning: &LintWarning) -> String {
    match warning {
        LintWarning::DepthIgnored { ioengine, asked } => {
            format!("iodepth={asked}は無効（{ioengine}の同時発行I/Oは1つ）")
        }
        LintWarning::DepthBuffered { asked } => {
            format!("direct=0のlibaioは発行時に待たされ、iodepth={asked}にほぼ届かない")
        }
        LintWarning::Buffered { .. } => {
            "メモリの速度を測る可能性あり（direct=0はページキャッシュを経由）".to_owned()
        }
        LintWarning::ReadAhead => {
            "カーネルの先読みを含む値になる（direct=0とinvalidate=1では、各ブロックをデバイスから1回だけ読み込む）"
                .to_owned()
        }
        LintWarning::FitsInMemory { size, memory, .. } => format!(
            "デバイスからほとんど読み込まない（{size}がメモリ{memory}に収まり、direct=0）"
        ),
        LintWarning::NotFlushed => {
            "書き込みがページキャッシュで終わり、デバイスに届くまでの時間を測れない".to_owned()
        }
        LintWarning::SmallFile { size } => format!(
            "フラッシュ本来の速度はこれより遅い可能性あり（{size}がデバイス内のキャッシュに収まりうる）"
        ),
        LintWarning::Short { runtime, wanted } => {
            format!("測定時間が{runtime}と短い。フラッシュでは{wanted}未満の値は大きくばらつく")
        }
        LintWarning::EndsEarly { runtime, size } => {
            format!("途中で終わる可能性あり（runtime={runtime}だがtime_based=1なしのため{size}で終了）")
        }
        LintWarning::NoRamp => {
            "測定開始直後の値を含む（キューが満ち、クロックが上がる途中）".to_owned()
        }
        LintWarning::OneRun => "1回の測定ではばらつきが不明".to_owned(),
        LintWarning::ReadsBack { writer } => {
            format!("メモリから読み込むことになる（{writer}が書き込んだ直後のデータ）")
        }
        LintWarning::SameBlocks { clones } => format!(
            "{clones}個のクローンのうち2個目以降はキャッシュから読み込む（同じファイルの同じ範囲を使用）"
        ),
        LintWarning::Compressible => {
            "書き込むデータが一様で、圧縮するデバイスでは過大な値になる".to_owned()
        }
        LintWarning::Unit { option, typed, means } => {
            format!("ここでは{option}={typed}は{means}バイト")
        }
        LintWarning::Misread { warning } => warning.clone(),
        LintWarning::Found { caveat: found } => caveat(found),
    }
}
