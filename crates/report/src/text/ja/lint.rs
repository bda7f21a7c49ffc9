//! Problems of a job as a benchmark, and their corrections.

use crate::text::caveat;
use hakaru_model::lint::LintWarning;
use hakaru_model::severity::Severity;
use hakaru_model::units::Bytes;

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

pub(in crate::text) fn lint_help(warning: &LintWarning) -> String {
    match warning {
        LintWarning::DepthIgnored { .. } => {
            "ioengine=io_uringまたはlibaioを指定するか、iodepthを省いてください".to_owned()
        }
        LintWarning::DepthBuffered { .. } => {
            "direct=1またはioengine=io_uringを指定してください".to_owned()
        }
        LintWarning::Buffered { odd_block } => {
            format!("デバイスを測るには{}を指定してください", direct(*odd_block))
        }
        LintWarning::ReadAhead => {
            "先読みなしでデバイスを測るにはdirect=1を指定してください".to_owned()
        }
        LintWarning::FitsInMemory {
            memory, odd_block, ..
        } => format!(
            "{}または{memory}を超えるsizeを指定してください",
            direct(*odd_block)
        ),
        LintWarning::NotFlushed => {
            "end_fsync=1、fsync=Nまたはdirect=1を指定してください".to_owned()
        }
        LintWarning::SmallFile { .. } => {
            "size=2g以上、またはキャッシュに収まらない長さのruntimeを指定してください".to_owned()
        }
        LintWarning::Short { wanted, .. } => format!(
            "runtime={}以上をtime_based=1とともに指定してください",
            wanted.0 / 1_000_000_000
        ),
        LintWarning::EndsEarly { .. } => {
            "runtimeまで繰り返すにはtime_based=1を追加してください".to_owned()
        }
        LintWarning::NoRamp => "ramp_time=2sを追加してください".to_owned(),
        LintWarning::OneRun => "5回以上測定するか、hakaru campaignを使ってください".to_owned(),
        LintWarning::ReadsBack { .. } => {
            "direct=1、または書き込み側にend_fsync=1と読み込み側にinvalidate=1を指定してください"
                .to_owned()
        }
        LintWarning::SameBlocks { .. } => {
            "offset_increment=を追加するか、directory=でクローンごとにファイルを分けてください"
                .to_owned()
        }
        LintWarning::Compressible => {
            "refill_buffers=1を指定するか、zero_buffersとbuffer_patternを省いてください".to_owned()
        }
        LintWarning::Unit { typed, .. } => {
            let bare = typed.trim_end_matches(['i', 'I', 'b', 'B']);
            format!("1024の倍数なら{bare}、ラベルと同じ単位ならkb_base=1000を指定してください")
        }
        LintWarning::Misread { .. } | LintWarning::Found { .. } => String::new(),
    }
}

/// The option for direct I/O; a block size that is not a multiple of the sector size must become one.
fn direct(odd_block: Option<Bytes>) -> String {
    match odd_block {
        None => "direct=1".to_owned(),
        Some(Bytes(size)) => {
            format!("direct=1とbs={}（512の倍数）", size.next_multiple_of(512))
        }
    }
}
