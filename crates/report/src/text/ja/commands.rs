//! Messages of the commands: です・ます.

use crate::naming::workload_words;
use crate::text::{BenchPlace, EraseTarget, FailedAction, VerifyUsage};
use hakaru_model::units::{Bytes, BytesPerSec, Nanos};

pub(in crate::text) fn refused(what: &str) -> String {
    format!("拒否: {what}")
}

pub(in crate::text) fn would_erase_all(device: &str) -> String {
    format!("拒否: {device}の全データが消去されます")
}

pub(in crate::text) fn type_to_erase(name: &str) -> String {
    format!("消去するには「{name}」またはIDを入力してください: ")
}

pub(in crate::text) fn pass_one_of(options: &[String]) -> String {
    format!("{}を指定してください", options.join("または"))
}

pub(in crate::text) fn erase_without_id(name: &str) -> String {
    format!(
        "シリアル番号、CID、/dev/disk/by-idの名前がありません。端末で実行し、確認の際に名前「{name}」を入力してください"
    )
}

pub(in crate::text) fn losses(path: &str, lines: &[String]) -> String {
    match lines {
        [] => format!("{path}に既知のデータはありません\n"),
        lines => format!("{path}から失われるデータ:\n{}", lines.concat()),
    }
}

pub(in crate::text) fn nothing_done() -> &'static str {
    "何も実行していません。"
}

pub(in crate::text) fn would_run(workloads: &[&str]) -> String {
    let words = |name: &&str| format!("{} ({name})", workload_words(name));
    let workloads: Vec<String> = workloads.iter().map(words).collect();
    format!("実行内容: {}", workloads.join("、"))
}

pub(in crate::text) fn measuring(name: &str, place: BenchPlace<'_>, size: Bytes) -> String {
    match place {
        BenchPlace::CurrentDirectory => {
            format!("カレントディレクトリの{name}を測定（ファイル{size}）")
        }
        BenchPlace::Directory(path) => format!("{path}の{name}を測定（ファイル{size}）"),
        BenchPlace::Device(path) => format!("{name}を測定（{path}の先頭{size}）"),
        BenchPlace::Simulated => format!("{name}を測定（先頭{size}）"),
    }
}

pub(in crate::text) fn bench_rounds(
    rounds: u64,
    traced: bool,
    workloads: u64,
    time: Nanos,
) -> String {
    let traced = if traced { "とトレース1回" } else { "" };
    format!(
        "ワークロード{workloads}種類 × {rounds}回{traced}、約{}",
        super::duration(time)
    )
}

pub(in crate::text) fn bench_writes(written: Bytes, speed: BytesPerSec) -> String {
    format!("書き込み速度{speed}につき、合計で約{written}を書き込みます")
}

pub(in crate::text) fn traced_round() -> &'static str {
    "トレース"
}

pub(in crate::text) fn report_at(path: &str) -> String {
    format!("レポート: {path}")
}

pub(in crate::text) fn round_of(number: u32, of: u32) -> String {
    format!("{number}/{of}回目")
}

pub(in crate::text) fn in_ramp() -> &'static str {
    "（ウォームアップ中）"
}

pub(in crate::text) fn time_left(time: &str) -> String {
    format!("残り{time}")
}

pub(in crate::text) fn laying_out() -> &'static str {
    "テストファイルの作成"
}

pub(in crate::text) fn done_of(done: Bytes, total: Bytes) -> String {
    format!("{total}中{done}")
}

pub(in crate::text) fn runs_interrupted(count: u64) -> String {
    format!("中断した測定が{count}件あります。hakaru recoverで中断までの結果を保存できます")
}

pub(in crate::text) fn nothing_listed(empty: bool) -> &'static str {
    match empty {
        true => "測定結果がまだありません。hakaru benchで測定してください。",
        false => "条件に合う測定はありません。hakaru listで最近の測定を確認できます。",
    }
}

pub(in crate::text) fn partial_results_kept(error: &str) -> String {
    format!("{error}。途中までの結果は保存しました")
}

pub(in crate::text) fn would_verify(samples: Option<Bytes>, restores: bool) -> String {
    match (samples, restores) {
        (None, false) => "実行内容: デバイス全体に書き込み、読み込んで照合".to_owned(),
        (None, true) => {
            "実行内容: デバイス全体に書き込み、読み込んで照合し、元の内容を復元".to_owned()
        }
        (Some(bytes), false) => {
            format!("実行内容: 合計{bytes}以下を抜き取って書き込み、読み込んで照合")
        }
        (Some(bytes), true) => format!(
            "実行内容: 合計{bytes}以下を抜き取って書き込み、読み込んで照合し、元の内容を復元"
        ),
    }
}

pub(in crate::text) fn would_fill_free_space(taken: Bytes, free: Bytes) -> String {
    format!(
        "実行内容: 空き容量{free}中{taken}に名前のないファイルを書き込み、読み込んで照合してから削除"
    )
}

pub(in crate::text) fn free_space_taken(room: Bytes, announced: Bytes) -> String {
    format!("{announced}中{room}のみ書き込みました（残りは検証中に使われました）。")
}

pub(in crate::text) fn erase_target(of: &EraseTarget<'_>) -> String {
    let EraseTarget {
        partition,
        mapping,
        name,
        size,
        path,
    } = of;
    match (partition, mapping, name == path) {
        (Some(number), ..) => format!("{name}のパーティション{number}、{size}、{path}"),
        (None, Some(mapping), true) => format!("マッピング{mapping}、{size}、{path}"),
        (None, Some(mapping), false) => format!("{name}のマッピング{mapping}、{size}、{path}"),
        (None, None, true) => format!("{name}、{size}"),
        (None, None, false) => format!("{name}、{size}、{path}"),
    }
}

pub(in crate::text) fn verify_usage(error: &VerifyUsage<'_>) -> String {
    match error {
        VerifyUsage::TwoOutputs => {
            "--jsonと--output=-はどちらも標準出力に書き出します; help: どちらかを省くか、ファイルを指定してください"
                .to_owned()
        }
        VerifyUsage::NotATarget(path) => format!(
            "{path}はデバイスでもディレクトリでもありません; help: それを含むディレクトリを指定してください"
        ),
        VerifyUsage::NotThere(path) => format!(
            "{path}はありません; help: hakaru infoで表示されるデバイス、または空き容量を検証するディレクトリを指定してください"
        ),
        VerifyUsage::Denied(path) => format!(
            "{path}にアクセスできません（上位ディレクトリの権限なし）; help: rootで実行してください"
        ),
        VerifyUsage::Unreadable(path, error) => format!(
            "{path}にアクセスできません（{error}）; help: デバイスまたはディレクトリを指定してください"
        ),
        VerifyUsage::OnlyForDevices => {
            "--quick、--keep、--eraseはデバイス専用です。空き容量には--sizeを使ってください".to_owned()
        }
    }
}

pub(in crate::text) fn cannot(what: &FailedAction<'_>) -> String {
    match what {
        FailedAction::Read(name) => format!("{name}を読み込めません"),
        FailedAction::ReadAsText(name) => format!("{name}をテキストとして読み込めません"),
        FailedAction::ReadStored(what, id) => format!("スキップ: {what} {id}を読み込めません"),
        FailedAction::Write(path) => format!("{path}に書き込めません"),
        FailedAction::WriteReport(path) => {
            format!("レポートを{path}に書き込めません; help: --outputでファイルを指定してください")
        }
        FailedAction::CreateReportDirectory(path) => format!(
            "レポートのディレクトリ{path}を作成できません; help: --outputでファイルを指定してください"
        ),
        FailedAction::UseFreeSpace(path) => format!("{path}の空き容量を使えません"),
        FailedAction::DetermineFreeSpace(path) => format!("{path}の空き容量を調べられません"),
        FailedAction::StoreResult => "結果を保存できません".to_owned(),
    }
}
