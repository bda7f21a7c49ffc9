//! Advice: です・ます.

use crate::number;
use crate::text::was_restored;
use hakaru_model::anatomy_record::CardAdvice;
use hakaru_model::history::Outlook;
use hakaru_model::integrity::Verification;
use hakaru_model::lint::LintWarning;
use hakaru_model::units::Bytes;

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
            format!("1024の倍数なら{bare}、製品の表示と同じ単位ならkb_base=1000を指定してください")
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

pub(in crate::text) fn outlook_advice(outlook: Outlook) -> &'static str {
    match outlook {
        Outlook::Failing => "データを退避し、交換してください",
        Outlook::Wearing => "バックアップを取り、カードを検証してください",
        Outlook::NoSign | Outlook::Unknown => "",
    }
}

pub(in crate::text) fn verified_advice(verification: &Verification) -> String {
    let verdict = &verification.verdict;
    match (verdict.capacity.real(), verdict.has_defects()) {
        (Some(real), _) => format!(
            "データを保存せず、返品してください。使う場合は先頭{}以内にパーティションを1つだけ作成してください",
            real.to_type_in()
        ),
        (None, true) => "データを退避し、交換してください".to_owned(),
        (None, false) if was_restored(&verification.scope) => "元の内容を復元しました".to_owned(),
        (None, false) => String::new(),
    }
}

pub(in crate::text) fn nothing_to_report() -> &'static str {
    "報告するものがありません。測定シリーズが指定されていません。"
}

pub(in crate::text) fn nothing_counts() -> &'static str {
    "報告するものがありません。このキャンペーンには集計できる測定がまだありません。"
}

pub(in crate::text) fn not_traced() -> (&'static str, &'static str) {
    (
        "トレースしていない測定のため、I/Oの経路は不明",
        "対処: bench --trace、キャンペーンの[trace]、またはhakaru fio --hakaru-traceで測定してください",
    )
}

pub(in crate::text) fn card_advice(advice: &CardAdvice) -> String {
    match advice {
        CardAdvice::PartitionStart { align } => {
            format!("パーティションは{align}の倍数の位置から始めてください。")
        }
        CardAdvice::Cluster { size } => {
            let sectors = size.0 / 512;
            format!("クラスタを{size}にしてください（vfat、exFAT: mkfs.vfat -s {sectors}）。")
        }
        CardAdvice::FatArea { size } => {
            format!("vfat: 2つのFATを、常に開いている先頭の{size}に収めてください。")
        }
        CardAdvice::Ext4 {
            stride,
            stripe_width,
            small_journal,
        } => {
            let journal = match small_journal {
                true => "同時に開けるユニットが少ないため、ジャーナルは小さく（-J size=4）するか、なしにします。",
                false => "",
            };
            format!(
                "ext4: mkfs.ext4 -E stride={stride},stripe-width={stripe_width}を使ってください。{journal}"
            )
        }
        CardAdvice::F2fs {
            segments,
            active_logs,
        } => {
            let logs = active_logs.map_or(String::new(), |logs| {
                format!("マウント時にはactive_logs={logs}を指定します。")
            });
            format!("f2fs: mkfs.f2fs -s {segments} -z 1を使ってください。{logs}")
        }
        CardAdvice::Writers { most } => {
            format!("同時に書き込むファイルは{most}個までにしてください。ファイルシステムのメタデータは計算に含まれています。")
        }
        CardAdvice::Discard { worthwhile: true } => {
            "discardを有効にしてください。ユニットがコピーなしで解放されます。".to_owned()
        }
        CardAdvice::Discard { worthwhile: false } => {
            "書き込み中のdiscardは避けてください。コピーが減らないか、時間がかかります。夜間のfstrimで足ります。".to_owned()
        }
        CardAdvice::FillLevel {
            needs: Some(property),
            ..
        } => format!(
            "空き容量: {}が不明なため、必要な量は分かりません。",
            super::anatomy::card_property(*property)
        ),
        CardAdvice::FillLevel {
            free: Some(free),
            collection: Some(collection),
            ..
        } => format!(
            "空き容量: ユニット単位で{free}以上（同時に開ける各ユニットに1つずつ）を空けておいてください。不足すると、使用中のユニットを閉じる書き込みに{}かかることがあります。カードを満杯にする実験はないため、予備領域の量は不明です。",
            number::nanos(collection.0 as f64)
        ),
        CardAdvice::FillLevel { .. } => "空き容量: 同時に開けるユニットの上限が見られないため、空き領域が分散していても遅くなりません。カードを満杯にする実験はないため、予備領域の量は不明です。"
            .to_owned(),
        CardAdvice::Bursts { size, rest } => {
            let rest = rest.map_or(String::new(), |rest| {
                format!(
                    "満杯のキャッシュが空になるまで{}かかります。",
                    number::nanos(rest.0 as f64)
                )
            });
            format!("{size}までの一時的な書き込みは速く終わります。{rest}")
        }
    }
}
