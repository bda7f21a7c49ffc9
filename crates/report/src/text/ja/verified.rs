//! Verdicts of verifications.

use hakaru_model::integrity::{BlockState, Capacity, Scope, Verification};
use hakaru_model::units::Bytes;

pub(in crate::text) fn verified_good(verification: &Verification) -> String {
    let verdict = &verification.verdict;
    let all = verdict.claimed;
    match &verification.scope {
        Scope::Whole { .. } => format!("正常: {all}すべてが書き込みどおり"),
        Scope::Range { start, end, .. } => format!("正常: {start}〜{end}がすべて書き込みどおり"),
        Scope::Samples { .. } => format!(
            "正常: 実容量は表示どおりの{all}（{}を抜き取り検査）",
            verdict.checked()
        ),
        Scope::FreeSpace { .. } => format!("正常: 空き容量{all}すべてが書き込みどおり"),
    }
}

pub(in crate::text) fn verified_bad(verification: &Verification) -> String {
    let verdict = &verification.verdict;
    let claimed = verdict.claimed;
    match verdict.capacity {
        Capacity::Wraps { real } => format!(
            "容量偽装: 表示{claimed}、実容量{real}。実容量を超えて書き込むと前のデータを上書き"
        ),
        Capacity::Ends { real } => {
            format!("容量偽装: 表示{claimed}、実容量{real}。実容量を超える書き込みは消失")
        }
        Capacity::AsClaimed => {
            let (bad, checked) = (verdict.bad_bytes, verdict.checked());
            let ended = match verification.completed {
                true => "",
                false => "（途中で終了）",
            };
            format!("不良: {checked}中{bad}が書き込みどおりに読み込めない{ended}")
        }
    }
}

pub(in crate::text) fn verified_in_part(verification: &Verification) -> String {
    let verdict = &verification.verdict;
    match verdict.checked().0 {
        0 => "未完了: まだ何も検証していない".to_owned(),
        _ => format!(
            "未完了: {}中{}まで検証、不良なし",
            verdict.claimed,
            verdict.checked()
        ),
    }
}

pub(in crate::text) fn verified_limits(scope: &Scope) -> Vec<&'static str> {
    let mut limits = match scope {
        Scope::Whole { .. } => Vec::new(),
        Scope::Range { .. } => vec!["この範囲の外は検証していない"],
        Scope::Samples { .. } => vec!["抜き取り箇所の間の不良は検出できない"],
        Scope::FreeSpace { .. } => {
            vec!["空き容量のみ検証。使用中の領域で始まる容量偽装は検出できない"]
        }
    };
    limits.push("フラッシュ要求を無視するキャッシュは電源断でしか検出できない");
    limits
}

pub(in crate::text) fn block_state(state: BlockState) -> String {
    match state {
        BlockState::Good => "正常".to_owned(),
        BlockState::Overwritten { distance } => format!("{distance}先のデータで上書き"),
        BlockState::Lost => "消失".to_owned(),
        BlockState::Damaged => "データ化け".to_owned(),
        BlockState::Unreadable => "読み込み不能".to_owned(),
        BlockState::Unwritable => "書き込み不能".to_owned(),
    }
}

pub(in crate::text) fn missing_memory(capacity: Capacity) -> String {
    match capacity {
        Capacity::Wraps { real } => {
            format!("メモリなし: ここへの書き込みは先頭の{real}を上書きする")
        }
        Capacity::Ends { .. } | Capacity::AsClaimed => {
            "メモリなし: ここへの書き込みは失われる".to_owned()
        }
    }
}

pub(in crate::text) fn real_share(percent: &str) -> String {
    format!("実在するのは表示容量の{percent}%だけである")
}

pub(in crate::text) fn claimed_addresses(claimed: Bytes) -> String {
    format!("先頭から表示容量の末尾（{claimed}）までのアドレス。")
}

pub(in crate::text) fn exists(real: Bytes) -> String {
    format!("実在 {real}")
}

pub(in crate::text) fn does_not_exist(missing: Bytes) -> String {
    format!("実在しない {missing}")
}

pub(in crate::text) fn verification_of(target: &str) -> String {
    format!("{target}の検証")
}

pub(in crate::text) fn free_space_at(directory: &str) -> String {
    format!("{directory}の空き容量")
}
