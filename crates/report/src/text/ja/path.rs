//! Names and sentences about the path of an I/O.

use super::failures::operation;
use super::listed;
use crate::number;
use crate::text::{BecameText, SideTraffic};
use hakaru_model::io_path::{
    ClassGroup, DifferencePart, IoClass, IssuerKind, NoTraceCost, PathRefusal, TimePart, TraceCost,
};
use hakaru_model::job::Op;
use hakaru_model::units::Bytes;

/// Name of a class in a sentence.
pub(super) fn io_class(class: IoClass) -> &'static str {
    match class {
        IoClass::Data => "データ",
        IoClass::Journal => "ジャーナル",
        IoClass::Fat1 => "第1 FAT",
        IoClass::Fat2 => "第2 FAT",
        IoClass::Directory => "ディレクトリ",
        IoClass::FsInfo => "FSInfoセクタ",
        IoClass::Superblock => "スーパーブロック",
        IoClass::GroupDescriptors => "グループディスクリプタ",
        IoClass::Bitmap => "ビットマップ",
        IoClass::InodeTable => "inodeテーブル",
        IoClass::Checkpoint => "チェックポイント",
        IoClass::SegmentTable => "セグメントテーブル(SIT)",
        IoClass::NodeAddressTable => "ノードアドレステーブル(NAT)",
        IoClass::SegmentSummary => "セグメント情報(SSA)",
        IoClass::Node => "ノードブロック",
        IoClass::Metadata => "メタデータ",
        IoClass::AllocatedSince => "測定中に割り当てたファイル",
        IoClass::OtherPartition => "他のパーティション",
        IoClass::Unknown => "分類不能",
        IoClass::Flush => "キャッシュフラッシュ",
    }
}

pub(in crate::text) fn io_class_title(class: IoClass) -> String {
    io_class(class).to_owned()
}

pub(in crate::text) fn class_group(group: ClassGroup) -> &'static str {
    match group {
        ClassGroup::Data => "データ",
        ClassGroup::Journal => "ジャーナル",
        ClassGroup::Metadata => "メタデータ",
        ClassGroup::Fat => "FAT、FSInfo",
        ClassGroup::Directory => "ディレクトリ",
        ClassGroup::Unattributed => "分類不能",
        ClassGroup::Flush => "フラッシュ",
    }
}

pub(in crate::text) fn time_part(part: TimePart, journal: bool) -> &'static str {
    match part {
        TimePart::Metadata if !journal => "デバイス: メタデータ",
        TimePart::Flush => "デバイス: キャッシュフラッシュ",
        TimePart::Data => "デバイス: データ",
        TimePart::Metadata => "デバイス: ジャーナル、メタデータ",
        TimePart::WaitingBehind => "先行するI/Oの完了待ち",
        TimePart::BlockQueue => "ブロック層のキュー",
        TimePart::WakeUp => "完了処理とスレッドの起床",
        TimePart::JournalCommit => "ジャーナルスレッド",
        TimePart::FileSystem => "ファイルシステム、ページキャッシュ（残り）",
    }
}

/// A part of the time as the place where it went.
pub(super) fn into_part(part: TimePart, journal: bool) -> &'static str {
    match part {
        TimePart::Metadata if !journal => "デバイスのメタデータ処理",
        TimePart::Flush => "デバイスのキャッシュフラッシュ",
        TimePart::Data => "デバイスのデータ処理",
        TimePart::Metadata => "デバイスのジャーナルとメタデータの処理",
        TimePart::WaitingBehind => "先行するリクエストの完了待ち",
        TimePart::BlockQueue => "ブロック層のキュー",
        TimePart::WakeUp => "完了処理とスレッドの起床",
        TimePart::JournalCommit => "ジャーナルスレッド",
        TimePart::FileSystem => "ファイルシステムとページキャッシュ（残り）",
    }
}

pub(in crate::text) fn difference_part(part: DifferencePart, journal: bool) -> String {
    match part {
        DifferencePart::Device(class) => format!("デバイス: {}", io_class(class)),
        DifferencePart::Behind(class) => format!("先行するI/Oの完了待ち: {}", io_class(class)),
        DifferencePart::Time(part) => time_part(part, journal).to_owned(),
    }
}

/// A part of a difference in a sentence.
pub(super) fn of_difference(part: DifferencePart, journal: bool) -> String {
    match part {
        DifferencePart::Device(class) => format!("デバイスの{}", io_class(class)),
        DifferencePart::Behind(class) => format!("先行する{}の完了待ち", io_class(class)),
        DifferencePart::Time(part) => into_part(part, journal).to_owned(),
    }
}

pub(in crate::text) fn traced_operation(op: Option<Op>, with_sync: bool) -> String {
    match (op, with_sync) {
        (None, _) => "fsync".to_owned(),
        (Some(op), false) => operation(op).to_owned(),
        (Some(op), true) => format!("fsync付き{}", operation(op)),
    }
}

pub(in crate::text) fn became(of: &BecameText<'_>) -> String {
    let layer = of.layer.unwrap_or("RAWデバイス");
    let size = of.size.map_or(String::new(), |size| format!("{size}の"));
    let known = of.classes.iter().filter(|(_, requests)| *requests >= 0.005);
    let (rare, often): (Vec<_>, Vec<_>) = known.partition(|(_, requests)| *requests < RARE);
    let mut classes: Vec<String> = often
        .into_iter()
        .map(|&(class, requests)| how_often(class, requests))
        .collect();
    if !rare.is_empty() {
        let rare: Vec<&str> = rare
            .into_iter()
            .map(|(class, _)| io_class(*class))
            .collect();
        classes.push(format!("まれに{}", rare.join("または")));
    }
    let classes = match classes.is_empty() {
        true => String::new(),
        false => format!("（{}）", listed(&classes)),
    };
    let digits = if of.requests < 0.95 { 2 } else { 1 };
    format!(
        "{layer}では、{size}{}1回がデバイスへの{:.digits$}リクエスト、{}になる{classes}",
        operation(of.op),
        of.requests,
        Bytes(of.bytes.round() as u64)
    )
}

/// Requests per I/O below which a class occurs only occasionally.
const RARE: f64 = 0.1;

/// `ジャーナル2回`, `ディレクトリ0.25回`
fn how_often(class: IoClass, requests: f64) -> String {
    let name = match class {
        IoClass::Unknown => "分類不能なリクエスト",
        class => io_class(class),
    };
    match requests {
        r if (r - 1.0).abs() < 0.05 => name.to_owned(),
        r if r > 1.0 && class == IoClass::Data => {
            format!("{name}{}リクエスト", number::significant(r))
        }
        r if (r - 2.0).abs() < 0.05 => format!("{name}2回"),
        r => format!("{name}{}回", number::exact(r, 2)),
    }
}

pub(in crate::text) fn time_went(
    operation: &str,
    percentile: &str,
    parts: &[(TimePart, f64)],
    journal: bool,
) -> String {
    if parts.is_empty() {
        return String::new();
    }
    let shares: Vec<String> = parts
        .iter()
        .map(|&(part, share)| {
            let part = into_part(part, journal);
            format!("{part}{}%", number::percent(share))
        })
        .collect();
    format!("{operation}の{percentile}の時間の内訳: {}", listed(&shares))
}

pub(in crate::text) fn no_requests() -> &'static str {
    "トレース中、アプリケーションのリクエストはデバイスに届いていない。"
}

pub(in crate::text) fn as_sentences(said: &[String]) -> String {
    said.iter().map(|said| format!("{said}。")).collect()
}

pub(in crate::text) fn no_flushes(disk: &str) -> String {
    format!(
        "{disk}はライトスルーキャッシュと報告するため、カーネルはキャッシュフラッシュを送らない。fsyncは書き込みの完了だけを待つ"
    )
}

pub(in crate::text) fn host_amplification(op: Op, ratio: f64) -> String {
    let ratio = number::significant(ratio);
    match op {
        Op::Write => format!(
            "アプリケーションの1バイトあたりデバイスに{ratio}バイト書き込み（ホスト側の値。デバイス内部の書き込みは見えないため、\
             書き込み増幅の下限）"
        ),
        op => format!(
            "アプリケーションの{}1バイトあたりデバイスでは{ratio}バイト",
            operation(op)
        ),
    }
}

pub(in crate::text) fn merged_bios(merges: u64, bios: u64) -> String {
    let (merges, bios) = (number::grouped(merges), number::grouped(bios));
    format!("ブロック層がbio {bios}個中{merges}個を先行するリクエストに結合")
}

pub(in crate::text) fn split_bios(splits: u64) -> String {
    let splits = number::grouped(splits);
    format!("{splits}件のリクエストは、デバイスには大きすぎるbioを分割したもの")
}

pub(in crate::text) fn other_issuers(
    kind: IssuerKind,
    bytes: Bytes,
    names: &[&str],
) -> Option<String> {
    let who = listed(names);
    Some(match kind {
        IssuerKind::Worker | IssuerKind::Journal => return None,
        IssuerKind::Kernel => {
            format!("{bytes}はライトバックなどカーネルスレッドのI/O（{who}）")
        }
        IssuerKind::OwnProcess => format!("{bytes}はこのプログラムの他のスレッドのI/O（{who}）"),
        IssuerKind::OtherProcess => format!("{bytes}は他のプロセスのI/O（{who}）"),
    })
}

pub(in crate::text) fn traced_run() -> &'static str {
    "トレースした測定。他の測定とは合算しない"
}

pub(in crate::text) fn events_lost(share: f64, lost: u64, counted_events: u64) -> String {
    format!(
        "不完全: イベントの{}%が消失（{}件中{}件）。リクエスト数とバイト数は過小、時間は不正確な可能性あり",
        number::percent(share),
        number::grouped(counted_events),
        number::grouped(lost)
    )
}

pub(in crate::text) fn events_complete(lost: u64, events: u64, uncounted: bool) -> String {
    if uncounted && lost == 0 {
        return format!(
            "イベント{}件、バッファの消失報告なし",
            number::grouped(events)
        );
    }
    format!(
        "イベント{}件中{}件が消失",
        number::grouped(events),
        number::grouped(lost)
    )
}

pub(in crate::text) fn trace_cost(cost: &TraceCost) -> String {
    let value = |share: f64| number::exact(share * 100.0, 1);
    let pairs = cost.pairs;
    if !cost.is_known() {
        return format!(
            "この測定ではトレースのコストは測定不能: 区間ごとのレイテンシのばらつきが大きい（交互に測定した{pairs}組の\
             95%信頼区間は{}〜{}%）。レイテンシはコストを含む",
            number::exact((cost.mean - cost.margin) * 100.0, 0),
            number::exact((cost.mean + cost.margin) * 100.0, 0)
        );
    }
    format!(
        "トレースのコストはレイテンシの{} ± {}%（交互に測定した{pairs}組、95%信頼区間）",
        value(cost.mean),
        value(cost.margin)
    )
}

pub(in crate::text) fn trace_cost_unknown(because: Option<NoTraceCost>) -> String {
    let because = match because {
        None => return "トレースのコストは未測定で、レイテンシに含まれる".to_owned(),
        Some(NoTraceCost::Short { expected, needed }) => {
            format!("フェーズが短いため（残り{expected}、必要{needed}）")
        }
        Some(NoTraceCost::UnknownLength) => "フェーズの長さが事前に不明なため".to_owned(),
        Some(NoTraceCost::FewIos) => "完了したI/Oが少ないため".to_owned(),
        Some(NoTraceCost::Ended) => {
            "測定中にフェーズが終わったため（経路は最後にトレースした区間のもの）".to_owned()
        }
        Some(NoTraceCost::Whole) => "フェーズ全体をトレースする指定のため".to_owned(),
        Some(NoTraceCost::NotSwitched) => "カーネルが記録を切り替えなかったため".to_owned(),
        Some(NoTraceCost::SlowSwitching) => {
            "この環境では記録の切り替えに時間がかかりすぎるため".to_owned()
        }
    };
    format!("トレースのコストは未測定で、レイテンシに含まれる: {because}")
}

pub(in crate::text) fn foreign_threads() -> &'static str {
    "イベントのスレッドIDが別のPID名前空間のもので、この測定のI/Oを他と区別できない。コンテナの外での実行が必要"
}

pub(in crate::text) fn recorded_by_ftrace() -> &'static str {
    "専用のftraceインスタンスで記録"
}

pub(in crate::text) fn classified_early(requests: u64) -> String {
    let requests = number::grouped(requests);
    format!(
        "{requests}件のリクエストはその時点の配置で分類。後から割り当てたブロックは分類から漏れる可能性あり"
    )
}

pub(in crate::text) fn operations_limited(operations: u64) -> String {
    let operations = number::grouped(operations);
    format!("時間の内訳は最初の{operations}回の操作の値（それ以上はメモリに収まらない）")
}

pub(in crate::text) fn unmatched(completions: u64, requests: u64) -> String {
    format!(
        "完了の記録がないリクエスト{}件、bioの記録がないリクエスト{}件（時間または発行元は不明）",
        number::grouped(completions),
        number::grouped(requests)
    )
}

pub(in crate::text) fn counters_differ(op: Op, traced: Bytes, counted_bytes: Bytes) -> String {
    let done = operation(op);
    format!("リクエストの{done}量の合計は{traced}、ディスク統計では{counted_bytes}")
}

pub(in crate::text) fn device_on_host(disk: &str) -> String {
    format!(
        "{disk}はこのホストのスレッドが処理するため、デバイスの時間にはそのスレッドと下位のファイルやサーバの時間を含む"
    )
}

pub(in crate::text) fn bio_device(disk: &str) -> String {
    format!(
        "{disk}はリクエストを作らずbioを直接処理。結合もキュー待ちもなく、デバイスの時間はドライバを含む"
    )
}

pub(in crate::text) fn traffic_differs(
    slow: &SideTraffic<'_>,
    fast: &SideTraffic<'_>,
) -> Option<String> {
    let (more_bytes, more_requests) = (slow.bytes / fast.bytes, slow.requests / fast.requests);
    if !more_bytes.is_finite() || !more_requests.is_finite() {
        return None;
    }
    let of = number::significant;
    let requests = format!(
        "{}リクエスト（{}は{}）",
        of(slow.requests),
        fast.name,
        of(fast.requests)
    );
    let bytes = format!(
        "アプリケーションの1バイトあたり{}バイト（{}は{}）",
        of(slow.bytes),
        fast.name,
        of(fast.bytes)
    );
    let name = slow.name;
    Some(match (more_bytes > 1.05, more_requests > 1.05) {
        (true, _) => format!(
            "{name}の転送量は{}の{}倍で、{bytes}、{requests}",
            fast.name,
            of(more_bytes)
        ),
        (false, true) if more_bytes < 0.95 => {
            format!("{name}は転送量が少ないのに遅い。{bytes}だが、I/O 1回が{requests}になるため")
        }
        (false, true) => {
            format!("{name}は同じ転送量を多くのリクエストに分ける。I/O 1回が{requests}")
        }
        (false, false) => return None,
    })
}

pub(in crate::text) fn path_refusal(refusal: PathRefusal) -> String {
    let why = match refusal {
        PathRefusal::NotTraced => "時間は比較しない（どちらもトレースなし）",
        PathRefusal::OneSideTraced => {
            "時間は比較しない（一方だけがトレースあり。トレース自体に時間がかかる）"
        }
        PathRefusal::EventsLost => "時間は比較しない（一方でイベントの0.1%超が消失）",
        PathRefusal::NoCommonOperation => "時間は比較しない（共通の種類の操作なし）",
        PathRefusal::NotRepresentative { traced, measured } => {
            return format!(
                "時間は比較しない（差がトレースした測定では{}倍、トレースなしの測定では{}倍と異なる。トレースの繰り返しの追加が必要）",
                number::significant(traced),
                number::significant(measured)
            );
        }
    };
    why.to_owned()
}

pub(in crate::text) fn from_counters() -> &'static str {
    "ディスク統計から分かること"
}
