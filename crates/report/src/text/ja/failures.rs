//! Failures of a run: the operation and the error.

use crate::text::figures::{exact_time, option_time};
use hakaru_model::job::Op;
use hakaru_model::record::{FailureKind, IoError};

pub(in crate::text) fn failure(error: &IoError) -> String {
    match rule_of(error.kind, error.op) {
        Some((rule, broken)) => format!("{rule}: {broken}"),
        None => {
            let IoError {
                action,
                file,
                offset,
                len,
                errno,
                ..
            } = error;
            format!(
                "{file}のバイト位置{}からの{len}の{action}に失敗: {}",
                offset.0,
                os_error(*errno)
            )
        }
    }
}

/// The option of a job that was not met, and the reason. `None` for failures of the device or the host.
pub(super) fn rule_of(kind: FailureKind, op: Option<Op>) -> Option<(String, String)> {
    let op = op_did(op);
    match kind {
        FailureKind::TooSlow { latency, max } => Some((
            format!("max_latency={}", option_time(max)),
            format!("{op}に{}", exact_time(latency, max)),
        )),
        FailureKind::RateMissed { wanted, got } => Some((
            format!("rate_min={wanted}"),
            format!("{op}は{got} B/sにとどまった"),
        )),
        FailureKind::IopsMissed { wanted, got } => Some((
            format!("rate_iops_min={wanted}"),
            format!("{op}は{got} IOPSにとどまった"),
        )),
        FailureKind::Unknown
        | FailureKind::Io
        | FailureKind::Sync
        | FailureKind::Verify
        | FailureKind::Command
        | FailureKind::File
        | FailureKind::Wait
        | FailureKind::Log
        | FailureKind::NotStarted => None,
    }
}

/// The operation that failed.
pub(super) fn op_did(op: Option<Op>) -> &'static str {
    op.map_or("I/O", operation)
}

/// Name of an operation.
pub(in crate::text) fn operation(op: Op) -> &'static str {
    match op {
        Op::Read => "読み込み",
        Op::Write => "書き込み",
        Op::Trim => "TRIM",
    }
}

/// Frequent errors have a Japanese text; the others keep the one of the system.
pub(in crate::text) fn os_error(errno: i32) -> String {
    let said = match errno {
        1 => "許可されていない操作",
        2 => "ファイルまたはディレクトリがない",
        5 => "入出力エラー",
        6 => "デバイスまたはアドレスがない",
        9 => "無効なファイル記述子",
        12 => "メモリ不足",
        13 => "権限なし",
        16 => "使用中",
        17 => "ファイルがすでにある",
        19 => "デバイスがない",
        20 => "ディレクトリではない",
        21 => "ディレクトリである",
        22 => "無効な引数",
        24 => "開いているファイルが多すぎる",
        27 => "ファイルが大きすぎる",
        28 => "空き容量なし",
        30 => "読み込み専用のファイルシステム",
        32 => "パイプの相手がない",
        61 => "利用できるデータがない",
        84 => "無効なバイト列",
        95 => "対応していない操作",
        110 => "タイムアウト",
        121 => "リモートI/Oエラー",
        122 => "ディスククォータの超過",
        123 => "メディアがない",
        124 => "誤った種類のメディア",
        _ => return std::io::Error::from_raw_os_error(errno).to_string(),
    };
    format!("{said} (os error {errno})")
}
