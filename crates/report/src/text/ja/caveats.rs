//! Sentences for caveats and other findings.

use super::facts::throttled_by;
use super::{
    clock_name, kept_cache, listed, no_clock, no_counters, no_engine, op_did, os_error, rule_of,
};
use crate::number;
use crate::text::figures::{self, correlation, count, load, percent, range};
use hakaru_model::caveat::{CacheOf, FirstFailure};
use hakaru_model::finding::{FindingKind, MinMax};
use hakaru_model::io_path::TraceObstacle;
use hakaru_model::measured::{LeftOutReason, LeftOutRun, NoAmplification, PauseKind};

pub(in crate::text) fn kind(kind: &FindingKind) -> String {
    use FindingKind::*;
    match kind {
        DepthCapped { ioengine, asked } => format!(
            "iodepth={asked}は無効（{ioengine}の同時発行I/Oは1つ）。ioengine=io_uringを推奨"
        ),
        EngineReplaced { asked, used, because } => {
            format!("ioengine={asked}を使えないため{used}で測定（{}）", no_engine(because))
        }
        NotDirect { path } => format!("ホストのページキャッシュを含む値（{path}はO_DIRECT非対応）"),
        Buffered {} => "メモリの速度を測った可能性あり（direct=0はページキャッシュを経由）".to_owned(),
        FitsInMemory { size, memory } => format!(
            "デバイスから読み込んでいない可能性あり（{}のファイルがメモリ{}に収まり、direct=0）",
            range(*size),
            range(*memory)
        ),
        Short { wanted, measured } => format!(
            "測定時間が{}と短い。フラッシュでは{wanted}未満の値は大きくばらつく",
            range(*measured)
        ),
        FewRuns { runs: MinMax { max: ..=1, .. } } => {
            "測定は1回のみで、ばらつきは不明。--repeat=5を推奨".to_owned()
        }
        FewRuns { runs } => format!(
            "測定は{}回のみで、ばらつきの推定は不確か。5回以上を推奨",
            range(*runs)
        ),
        FewSamples { percentile, samples } => format!(
            "I/Oが{}件では{}を求められない",
            count(*samples),
            number::percentile(*percentile)
        ),
        SmallFile { size } => format!(
            "フラッシュ本来の速度はこれより遅い可能性あり（{}のファイルがデバイス内のキャッシュに収まりうる）",
            range(*size)
        ),
        SystemDisk {} => "OSの起動ディスクのため、OS自身のI/Oが結果に含まれる".to_owned(),
        DeviceErrors { first, count } => failed_ios(first, *count),
        RuleBroken { op, kind } => match rule_of(*kind, *op) {
            Some((rule, broken)) => format!("{rule}により途中で終了（{broken}）"),
            None => format!("{}の失敗により途中で終了", op_did(*op)),
        },
        Interrupted { measured } => format!("{}で中断。結果は中断までの値", range(*measured)),
        CutShort { of, whole } => format!(
            "未完了: 全{of}フェーズ中{}フェーズまで完了（電源断、クラッシュまたは強制終了）。中断したフェーズはパーセンタイルなし",
            range(*whole)
        ),
        ClockFallback { used, because } => format!("低速な時計{}で計時（{}）", clock_name(used), no_clock(because)),
        ClockDrift { clock, ppm } => format!(
            "時間の値に{} ppmの誤差（{}がカーネルの時計とずれた）",
            range(*ppm),
            clock_name(clock)
        ),
        Overhead { per_io, share_permille } => format!(
            "測定ツールのオーバーヘッドはレイテンシ中央値の{}（I/O 1件あたり{}）",
            percent(*share_permille),
            range(*per_io)
        ),
        HostBusy { load_percent } => format!(
            "測定開始時にホストが高負荷（ロードアベレージ{}）",
            load(*load_percent)
        ),
        HostThrottled { flags } => format!(
            "測定中にホストの性能が制限された（{}、{flags:#x}）",
            throttled(*flags)
        ),
        PowerSaving { governor } => {
            format!("短いI/OはCPUのクロック上昇を待つ可能性あり（CPUガバナーが{governor}）")
        }
        WriteCache {} => {
            "fsyncなしの書き込みはフラッシュより速く見えうる（揮発性の書き込みキャッシュあり）".to_owned()
        }
        Cliff { at, before, after } => format!(
            "{}書き込んだ後、{before}から{after}に低下。平均ではなく両方の値で比べること",
            number::decimal_bytes(*at)
        ),
        ReadElsewhere { share_permille } => format!(
            "読み込み速度は過大（デバイスからの読み込みは{}。残りはキャッシュまたは未書き込み領域）",
            percent(*share_permille)
        ),
        NoDiskStats { because } => format!("ディスク統計なし（{}）", no_counters(because)),
        NotInvalidated { path, because } => match path {
            CacheOf::File(path) => format!(
                "メモリから読み込んだ可能性あり（{path}のページキャッシュを破棄できない: {}）",
                kept_cache(because)
            ),
            CacheOf::Host => format!(
                "メモリから読み込んだ可能性あり（ページキャッシュを破棄できない: {}）",
                kept_cache(because)
            ),
        },
        Outliers { runs, count } => format!(
            "{runs}回中{}回が外れ値（Tukeyの基準）。除外せずに集計",
            range(*count)
        ),
        Drift { change_permille } => format!(
            "最初から最後の測定までの速度の変化は{}。同一状態の繰り返しではない",
            percent(MinMax::of(*change_permille))
        ),
        Dependent { lag1_permille } => format!(
            "前後の測定に相関あり（{}）。独立した測定は回数より少ないため、区間を広げて計算",
            correlation(*lag1_permille)
        ),
        Skewed { runs } => format!(
            "{}回の測定の分布に偏りあり。平均より中央値が目安になり、平均の区間は狭すぎる可能性あり",
            range(*runs)
        ),
        TwoModes { runs } => format!(
            "{}回の測定が2群に分かれ、平均の近くに測定値がない可能性あり。各回の値で比べること",
            range(*runs)
        ),
        Contradiction { stated, follows, hint } => format!("{stated}は{follows}と矛盾（{hint}）"),
        Unstated { what } => format!("取り込んだ結果に{what}の記載なし"),
        CutOff { missing } => format!("取り込んだ結果は途中まで（{missing}なし）"),
        Unread { first, count } => format!(
            "取り込んだ結果の{}個の値が数値でない（最初: {first}）",
            range(*count)
        ),
        Pooled { what, count } => pooled(what, *count),
        Paused { kind, times, total, longest } => format!(
            "一時停止中の区間をスループット、IOPS、判定から除外（{}{}回、合計{}、最長{}）",
            paused(*kind),
            range(*times),
            range(*total),
            range(*longest)
        ),
        Descheduled { waited, measured } => format!(
            "高負荷のホストの影響を含む結果（{}の測定中、ワーカーがCPUを{}待った）",
            range(*measured),
            range(*waited)
        ),
        StolenTime { stolen, measured } => format!(
            "ハイパーバイザの影響を含む結果（{}の測定中、CPU時間を{}奪われた）",
            range(*measured),
            range(*stolen)
        ),
        LeftOut { runs, of } => left_out(runs, *of),
        NoAmplification { because } => format!("I/O増幅率は算出不可（{}）", no_amplification(*because)),
        Simulated {} => "シミュレートしたカード（仮想時間。このホストの実測値ではない）".to_owned(),
        Traced {} => {
            "トレースあり: I/Oの経路を記録する時間がレイテンシに加わるため、比較はトレースした測定どうしに限る".to_owned()
        }
        NotTraced { because } => format!("トレースなし: {}", trace_obstacle(because)),
        PathLost {} => {
            "I/Oの経路は失われた（経路の計算前に測定が途切れたため）。--traceでの再測定が必要".to_owned()
        }
        EventsLost { of, lost } => format!(
            "I/Oの経路は不完全（カーネルイベント{}件中{}件が消失）",
            range(*of),
            range(*lost)
        ),
    }
}

fn pooled(what: &str, count: MinMax<u32>) -> String {
    let count = range(count);
    match what {
        "cards" => format!("カード{count}枚の測定をまとめた集計。ばらつきに個体差を含む"),
        "hosts" => format!("ホスト{count}台の測定をまとめた集計。ばらつきに個体差を含む"),
        "sessions" => format!("別々の{count}回の測定をまとめた集計。ばらつきに時期の差を含む"),
        what => format!("{count}種類の{what}の測定をまとめた集計。ばらつきに個体差を含む"),
    }
}

/// Maximum number of runs listed by number; more are only counted.
const NAMED_RUNS: usize = 4;

fn left_out(runs: &[LeftOutRun], of: u32) -> String {
    let named = runs
        .iter()
        .take(NAMED_RUNS)
        .map(|LeftOutRun { run, because }| format!("{run}回目（{}）", left_out_reason(*because)));
    let mut named: Vec<String> = named.collect();
    if let more @ 1.. = runs.len().saturating_sub(NAMED_RUNS) {
        named.push(format!("ほか{more}回"));
    }
    let named = listed(&named);
    match of.saturating_sub(runs.len() as u32) {
        1 => format!("{of}回中1回のみ有効のため標準偏差なし。除外: {named}"),
        kept => format!("{of}回中{kept}回のみ有効。除外: {named}"),
    }
}

fn left_out_reason(because: LeftOutReason) -> String {
    match because {
        LeftOutReason::Unfinished => "途中で終了".to_owned(),
        LeftOutReason::Descheduled { waited, measured } => {
            format!("{measured}中{waited}、ワーカーがCPU待ち")
        }
        LeftOutReason::StolenTime { stolen, measured } => {
            format!("{measured}中{stolen}、ハイパーバイザがCPUを占有")
        }
        LeftOutReason::Paused => "全区間で一時停止あり".to_owned(),
    }
}

/// What prevented tracing, and what helps.
fn trace_obstacle(because: &TraceObstacle) -> String {
    match because {
        TraceObstacle::NoPermission { missing } if missing.is_empty() => {
            "セキュリティポリシーによりカーネルイベントを記録できない。コンテナの外でrootとして実行".to_owned()
        }
        // Setting capabilities replaces those that are there, so all are named, not only the missing ones.
        TraceObstacle::NoPermission { .. } => "カーネルイベントを記録する権限なし。sudoを使うか、次を実行: sudo setcap cap_perfmon,cap_dac_read_search+ep \"$(command -v hakaru)\"".to_owned(),
        TraceObstacle::UserNamespace => {
            "rootlessコンテナではカーネルイベントを記録できない。ホスト上で実行".to_owned()
        }
        TraceObstacle::RestrictedRoot => {
            "rootにカーネルイベントを記録する権限なし（コンテナなど）。ホスト上で実行するか、コンテナを--privilegedで起動".to_owned()
        }
        TraceObstacle::TracefsNotMounted => {
            "tracefsがマウントされていない。sudoを使うか、次を実行: sudo mount -t tracefs tracefs /sys/kernel/tracing".to_owned()
        }
        TraceObstacle::NoTracefs => "カーネルがtracefsに非対応".to_owned(),
        TraceObstacle::NoPerfEvents => "カーネルがperf eventsに非対応".to_owned(),
        TraceObstacle::MissingEvents { names } => {
            format!("カーネルに次のイベントなし: {}", listed(names))
        }
        TraceObstacle::RingMemory { bytes } => format!(
            "CPUごとに{bytes}バイトのメモリのロックをカーネルが拒否。ulimit -lで上限を上げるか、sudoを使用"
        ),
        TraceObstacle::Descriptors { needed, limit } => {
            format!("さらに{needed}個のファイルを開く必要あり（上限は{limit}）。ulimit -nで上限を変更")
        }
        TraceObstacle::NoBlockDevice => "測定対象がブロックデバイス上にない".to_owned(),
        TraceObstacle::SimulatedCard => "シミュレートしたカードにカーネルイベントはない".to_owned(),
        TraceObstacle::Failed { operation, errno } => {
            format!("{operation}に失敗（{}）", os_error(*errno))
        }
    }
}

/// Reasons for unknown I/O amplification.
fn no_amplification(because: NoAmplification) -> String {
    match because {
        NoAmplification::OtherUsers { others, own } => {
            format!("OSの起動ディスクで、ジョブの{own}のほかに{others}のI/Oあり")
        }
        NoAmplification::SystemDisk => {
            "OSの起動ディスクで、このプログラムのI/O量を数えていない".to_owned()
        }
        NoAmplification::RampNotCounted => {
            "ディスク統計に、バイト数の記録がないウォームアップ時間を含む".to_owned()
        }
        NoAmplification::CountersIncomplete { counted, written } => {
            format!(
                "ディスク統計が途中で終わり、ダイレクトI/Oの書き込み{written}のうち{counted}のみを含む"
            )
        }
    }
}

fn failed_ios(first: &FirstFailure, count: MinMax<u64>) -> String {
    let first = match first {
        FirstFailure::Io {
            action,
            offset,
            errno,
        } => {
            format!("バイト位置{}の{action}: {}", offset.0, os_error(*errno))
        }
        FirstFailure::Described(words) => words.clone(),
    };
    format!("I/Oエラー{}件（最初: {first}）", figures::count(count))
}

fn paused(kind: PauseKind) -> &'static str {
    match kind {
        PauseKind::Stopped => "プロセスの停止",
        PauseKind::Suspended => "ホストのサスペンド",
    }
}

/// The current state in the throttling flags of a Raspberry Pi.
fn throttled(flags: u32) -> String {
    match flags & 0xf {
        0 => "原因不明".to_owned(),
        now => throttled_by(now),
    }
}
