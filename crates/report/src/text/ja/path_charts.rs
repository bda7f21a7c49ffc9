//! Texts of the charts of the path of an I/O.

use super::failures::operation;
use crate::number;
use crate::text::IoSteps;
use hakaru_model::job::Op;
use hakaru_model::units::Bytes;

pub(in crate::text) fn path_title(target: &str) -> String {
    format!("I/Oの経路: {target}")
}

pub(in crate::text) fn class_of_op(class: &str, op: Op) -> String {
    format!("{class}、{}", operation(op))
}

pub(in crate::text) fn flow_title(side: &str, ratio: f64) -> String {
    let ratio = number::significant(ratio);
    format!("{side}: アプリケーションの1バイトあたり{ratio}バイト")
}

pub(in crate::text) fn flow_note() -> &'static str {
    "帯の幅はアプリケーションの1バイトあたりのバイト数（ページ内のすべての図で同じ縮尺）。数値はデバイスでのバイト数とリクエスト数。"
}

pub(in crate::text) fn flow_foot(moved: Bytes, ratio: f64) -> String {
    let ratio = number::significant(ratio);
    format!("デバイスで{moved}（要求の{ratio}倍）")
}

pub(in crate::text) fn without_bytes(requests: u64) -> String {
    format!("データなし · {}", number::grouped(requests))
}

pub(in crate::text) fn changed_bios(merges: u64, splits: u64) -> String {
    match (merges, splits) {
        (0, 0) => String::new(),
        (0, splits) => format!("分割{}件", number::grouped(splits)),
        (merges, _) => format!("結合{}件", number::grouped(merges)),
    }
}

pub(in crate::text) fn asked_ios(op: Op, count: u64, size: Option<Bytes>) -> String {
    let (count, op) = (number::grouped(count), operation(op));
    match size {
        Some(size) => format!("{size}の{op}{count}回"),
        None => format!("{op}{count}回"),
    }
}

pub(in crate::text) fn counted_bios(bios: u64) -> String {
    format!("bio {}個", number::grouped(bios))
}

pub(in crate::text) fn counted_requests(requests: u64) -> String {
    format!("リクエスト{}件", number::grouped(requests))
}

pub(in crate::text) fn counted_commands(commands: u64) -> String {
    format!("コマンド{}件", number::grouped(commands))
}

pub(in crate::text) fn shares_title() -> &'static str {
    "時間の内訳"
}

pub(in crate::text) fn shares_note(full: bool) -> String {
    let what = "クリティカルパス。棒の各部分の合計は測定したレイテンシに等しい。中央値とP99はその前後の操作の平均。";
    match full {
        true => format!("{what}時間の差が大きいため、どの棒も全体を100%として描く。"),
        false => what.to_owned(),
    }
}

pub(in crate::text) fn addresses_title(side: &str) -> String {
    match side.is_empty() {
        true => "アドレスの推移".to_owned(),
        false => format!("アドレスの推移（{side}）"),
    }
}

pub(in crate::text) fn addresses_note(drawn: u64, of: u64) -> String {
    let (few, all) = (number::grouped(drawn), number::grouped(of.max(drawn)));
    let chosen = match drawn < of {
        true => "（種類ごとに無作為抽出）",
        false => "",
    };
    format!(
        "各リクエストのアドレスの推移。右はその位置の内容。リクエスト{all}件中{few}件を描画{chosen}。"
    )
}

pub(in crate::text) fn sizes_title(share: f64, side: &str, size: &str) -> String {
    format!("リクエスト{side}の{}%が{size}", number::percent(share))
}

pub(in crate::text) fn sizes_note() -> &'static str {
    "サイズ別のリクエスト。枠はアプリケーションの要求、塗りはデバイスに届いたもの。"
}

pub(in crate::text) fn reached_and_asked(reached: u64, asked: u64) -> String {
    let (reached, asked) = (number::grouped(reached), number::grouped(asked));
    format!("デバイス{reached}、要求{asked}")
}

pub(in crate::text) fn up_to(size: Bytes) -> String {
    format!("{size}まで")
}

pub(in crate::text) fn io_steps(on_vfat: bool) -> IoSteps {
    IoSteps {
        title: "I/Oの経路と各段階で変わりうるもの（ここでは未測定）",
        head: ["段階", "変わりうるもの"],
        steps: [
            [
                "アプリケーション → VFS: システムコール",
                match on_vfat {
                    true => {
                        "CPU時間（ダイレクトI/Oはページキャッシュを通らない。ただしvfatでは、初期化済みの範囲を越える書き込みは\
                         通る）"
                    }
                    false => "CPU時間（ダイレクトI/Oはページキャッシュを通らない）",
                },
            ],
            match on_vfat {
                true => [
                    "VFS → vfat: ファイル内の位置からクラスタへ",
                    "FATの検索、FAT・ディレクトリエントリ・FSINFOの書き込み、ホールのゼロ埋め",
                ],
                false => [
                    "VFS → ファイルシステム: ファイル内の位置からブロックへ",
                    "管理表の検索、管理表・ディレクトリ・ジャーナルの書き込み",
                ],
            },
            [
                "ファイルシステム → ブロック層: bio",
                "断片化したファイルでは断片ごとのbio",
            ],
            [
                "ブロック層 → スケジューラ: マージ、分割、リクエスト",
                "隣接するとマージで減り、上限を超えると分割で増える。キューでの待ち時間",
            ],
            [
                "ドライバ → バス: MMCなどのコマンド",
                "コマンド、データ転送、割り込みの時間",
            ],
            [
                "カード: コントローラとフラッシュ",
                "管理表など別の場所への小さな書き込みで、別のブロックを開きデータをコピーする（ガベージコレクション）",
            ],
        ],
    }
}
