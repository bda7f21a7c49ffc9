//! Conditions for the verdict on a claim, and names of its figures.

use hakaru_model::finding::{Claim, Condition, Figure};

pub(in crate::text) fn claim(claim: Claim) -> String {
    match claim {
        Claim::SpeedClass(n) => format!("C{n}"),
        Claim::UhsGrade(n) => format!("U{n}"),
        Claim::VideoClass(n) => format!("V{n}"),
        Claim::AppClass(n) => format!("A{n}"),
        Claim::ReadSpeed(mb) => format!("読み込み最大{mb} MB/s"),
        Claim::WriteSpeed(mb) => format!("書き込み最大{mb} MB/s"),
    }
}

pub(in crate::text) fn claim_legend(not_measured: bool) -> String {
    let also = if not_measured {
        "。未測定も ?"
    } else {
        ""
    };
    format!(
        "✓ 達成、✗ 未達。試験条件が不成立または不明の場合: 値が足りるか限界付近なら ~ 判定保留、不足または1回のみなら ? 確認できず{also}"
    )
}

pub(in crate::text) fn condition(condition: &Condition) -> String {
    match condition {
        Condition::Raw { filesystem } => {
            format!("クラスの規格はRAWデバイスが対象（{filesystem}上で測定）")
        }
        Condition::Erased => "消去済みのアロケーションユニットが条件（消去の記録なし）".to_owned(),
        Condition::Bus { needed, ceiling } => {
            format!("バスの上限{ceiling}では{needed}に届かない")
        }
        Condition::BusUnknown => "バスの速度が不明".to_owned(),
        Condition::Time { wanted, measured } => {
            format!("測定時間{measured}（{wanted}以上が必要）")
        }
        Condition::Direct => "ダイレクトI/Oが条件（ページキャッシュを使用）".to_owned(),
        Condition::Extent { wanted, written } => {
            format!("書き込み量{written}（{wanted}以上が必要）")
        }
        Condition::SpeedClassControl => {
            "スピードクラス用コマンドCMD20が条件（Linuxは送信しない）".to_owned()
        }
        Condition::Span { wanted, used } => {
            format!("ランダムI/Oの範囲は{wanted}以内が条件（測定時は{used}）")
        }
        Condition::Depth { wanted, used } => {
            format!("キュー深度{wanted}が条件（測定時は{used}）")
        }
        Condition::Repeats { runs: ..=1 } => {
            "1回の測定では信頼区間なし。--repeat=5を推奨".to_owned()
        }
        Condition::Repeats { runs } => format!("{runs}回の測定のばらつきが不明"),
        Condition::CommandQueue { iodepth } => format!(
            "A2の条件はコマンドキューとカード内キャッシュの有効化（測定時のキュー深度は{iodepth}）"
        ),
        Condition::Timeline => "最も遅い区間の値が条件（平均のみ記録）".to_owned(),
        Condition::Alone => "他からのアクセスなしが条件（OSの起動ディスク）".to_owned(),
    }
}

pub(in crate::text) fn figure(figure: Figure) -> &'static str {
    match figure {
        Figure::SequentialRead => "シーケンシャル読み込み",
        Figure::SequentialWrite => "シーケンシャル書き込み",
        Figure::RandomRead => "ランダム読み込み",
        Figure::RandomWrite => "ランダム書き込み",
        Figure::RandomReadP99 => "ランダム読み込みのP99",
        Figure::SyncP99 => "fsyncのP99",
        Figure::SyncP999 => "fsyncのP99.9",
        Figure::SustainedWrite => "長時間連続書き込み",
        Figure::SlowestWrite => "長時間連続書き込みの最も遅い1秒",
    }
}
