//! カードの解剖、助言、予測。

use crate::number;
use crate::text::{AnatomyFact, AnatomyLabel};
use hakaru_model::anatomy::{CardProperty as P, DeclineReason as U, Experiment as E};

pub(in crate::text) fn anatomy_label(label: AnatomyLabel) -> &'static str {
    use AnatomyLabel as L;
    match label {
        L::Property => "項目",
        L::Value => "値",
        L::Interval => "99%区間",
        L::Evidence => "根拠",
        L::Findings => "判明した構造",
        L::Advice => "フォーマットと使い方",
        L::Trials => "助言の効果の測定",
        L::Cost => "調査に要したもの",
        L::Experiment => "実験",
        L::Time => "時間",
        L::Read => "読み込み",
        L::Written => "書き込み",
        L::Copied => "内部コピー",
        L::Unit => "アロケーションユニット",
        L::Page => "ページ",
        L::OpenUnits => "同時に開けるユニット",
        L::Cache => "書き込みキャッシュ",
        L::Reach => "マッピングの範囲",
        L::Unlimited => "上限は見られない",
        L::NotKnown => "不明",
        L::Latency => "レイテンシ",
        L::Usual => "既定",
        L::Advised => "助言",
        L::Ratio => "助言／既定",
        L::Workload => "ワークロード",
        L::Bandwidth => "スループット",
        L::Iops => "IOPS",
        L::Median => "レイテンシ中央値",
        L::P99 => "レイテンシP99",
        L::Measured => "実測",
        L::Yes => "はい",
        L::No => "いいえ",
    }
}

pub(in crate::text) fn anatomy_of(name: &str) -> String {
    format!("{name}の構造")
}

pub(in crate::text) fn card_property(property: P) -> &'static str {
    match property {
        P::Page => "ページ",
        P::Unit => "アロケーションユニット",
        P::OpenUnits => "同時に開けるユニットの数",
        P::RandomUnits => "ランダム書き込み用に開けるユニットの数",
        P::FatUnits => "FAT領域のユニットの数",
        P::GathersWrites => "小さなシーケンシャル書き込みの集約",
        P::DiscardFrees => "discardによるコピーなしの解放",
        P::ParallelReads => "並列に読み込む数",
        P::MappingChunk => "マッピング1項目のバイト数",
        P::MappingSlots => "マッピングキャッシュの項目数",
        P::CacheSize => "書き込みキャッシュ",
        P::ReadOverhead => "読み込みの固定時間（ホストを含む）",
        P::ReadSeek => "離れた場所の読み込みの追加時間",
        P::Sense => "セルからのページ読み込み時間",
        P::ReadRate => "読み込み速度",
        P::UnitCrossing => "ユニットをまたぐ読み込みの追加時間",
        P::MappingLoad => "マッピング項目の読み込み時間",
        P::WriteOverhead => "書き込みの固定時間（ホストを含む）",
        P::WriteSeek => "離れた場所への書き込みの追加時間",
        P::WriteRate => "フラッシュへの書き込み速度",
        P::CacheRate => "キャッシュへの書き込み速度",
        P::DrainRate => "アイドル時にキャッシュを空にする速度",
        P::DrainDelay => "空にし始めるまでのアイドル時間",
        P::OpenCost => "ユニットを開く時間",
        P::CollectionTime => "ユニットの回収時間",
        P::CollectionRate => "回収時のコピー速度",
        P::RandomWrite => "ランダム書き込みの追加時間",
        P::WriteToRead => "書き込み後の読み込みの追加時間",
        P::ReadToWrite => "読み込み後の書き込みの追加時間",
        P::Flush => "書き込み後のフラッシュ要求",
        P::Discard => "1ユニットのdiscard",
        P::ThrottleAfter => "スロットリングまでの動作時間",
        P::ThrottlePercent => "スロットリング時の所要時間",
        P::ThrottleRecovery => "速度が戻るまでの休止時間",
    }
}

pub(in crate::text) fn anatomy_experiment(experiment: E) -> &'static str {
    match experiment {
        E::Noise => "小さな読み込みのばらつき",
        E::ReadSizes => "サイズ別の読み込み",
        E::Boundaries => "境界をまたぐ読み込み",
        E::Mapping => "場所を増やしながらのランダム読み込み",
        E::Depth => "キュー深度別の読み込み",
        E::Heat => "数分間の読み込み",
        E::LongWrite => "長いシーケンシャル書き込み",
        E::WriteSizes => "サイズ別の書き込み",
        E::OpenUnits => "ユニットを増やしながらの書き込み",
        E::RandomUnits => "開いたユニットへのランダム書き込み",
        E::FatArea => "先頭のユニットへの書き込み",
        E::Discard => "discard後の書き込み",
        E::Mixing => "読み込み、書き込み、フラッシュ要求の交互実行",
        E::Recovery => "休止後の書き込み",
    }
}

pub(in crate::text) fn anatomy_axis(experiment: E) -> &'static str {
    match experiment {
        E::ReadSizes | E::WriteSizes => "リクエストのサイズ",
        E::Boundaries => "またいだ境界のサイズ",
        E::Mapping => "場所の数",
        E::Depth => "キュー深度",
        E::Heat => "動作時間（秒）",
        E::LongWrite => "書き込んだバイト数",
        E::OpenUnits | E::RandomUnits | E::FatArea => "ユニットの数",
        E::Recovery => "休止時間（秒）",
        E::Noise | E::Discard | E::Mixing => "標本",
    }
}

pub(in crate::text) fn all_properties_unknown(count: usize, because: &str) -> String {
    format!("全{count}項目が不明（{because}）。")
}

pub(in crate::text) fn property_unknown(reason: &U, rough: Option<&str>) -> String {
    match reason {
        U::NotMeasured => "未測定".to_owned(),
        U::ReadOnly => "書き込みが必要だが、許可されていない".to_owned(),
        U::Unsupported => "デバイスがコマンドに対応していない".to_owned(),
        U::Noisy { relative_error, .. } => {
            let percent = number::percent(*relative_error);
            match rough {
                Some(rough) => format!("ばらつきが大きい: {rough} ± {percent}%"),
                None => format!("ばらつきが大きい: ± {percent}%"),
            }
        }
        U::Busy { slow } => format!(
            "ホストかデバイスが高負荷: 小さな読み込みの{}%が中央値の3倍を超えた",
            number::percent(*slow)
        ),
        U::NoModel { share } => format!(
            "どのモデルにも合わないデバイス: 最良のモデルでも要求の{}%を説明できない",
            number::percent(*share)
        ),
        U::Drift { spread } => format!(
            "デバイスの速度が± {}%の範囲で変動",
            number::percent(*spread)
        ),
        U::Heat => "スロットリングが起き、時間内に冷えなかった".to_owned(),
        U::Ambiguous => "測定結果に同程度に合う値が2つある".to_owned(),
        U::Contradiction => "2つの実験の結果が食い違う".to_owned(),
        U::SoftLimit { low, high } => format!(
            "上限が明確でない: {}〜{}",
            number::limit(*low),
            number::limit(*high)
        ),
        U::Needs(property) => format!("「{}」が不明なため判定できない", card_property(*property)),
        U::Budget => "書き込み量または時間の予算を使い切った".to_owned(),
        U::TooSmall => "対象が小さすぎる".to_owned(),
    }
}

pub(in crate::text) fn property_absent(property: P, up_to: &str) -> String {
    match property {
        P::OpenUnits | P::MappingSlots | P::ParallelReads | P::CacheSize | P::Page | P::Unit => {
            format!("{up_to}まで見られない")
        }
        P::ThrottleAfter => format!("{up_to}以内にはスロットリングなし"),
        P::ThrottlePercent | P::ThrottleRecovery => "スロットリングなし".to_owned(),
        _ => format!("なし（{up_to}未満）"),
    }
}

pub(in crate::text) fn anatomy_fact(fact: &AnatomyFact<'_>) -> String {
    match fact {
        AnatomyFact::OpenUnits { units, size: "" } => {
            format!("このカードが書き込み用に同時に開けるユニットは{units}個である。")
        }
        AnatomyFact::OpenUnits { units, size } => {
            format!("このカードが書き込み用に同時に開ける{size}のユニットは{units}個である。")
        }
        AnatomyFact::TooManyWriters { writers, factor } => format!(
            "{writers}個のファイルに交互に書き込むと、64 KiBの書き込みにかかる時間は{factor}倍になる。データ、ログ、ファイルシステムのメタデータはそれぞれ1個と数える。"
        ),
        AnatomyFact::NoLimit { up_to } => {
            format!("{up_to}箇所に交互に書き込んでも、このカードは遅くならない。")
        }
        AnatomyFact::RandomUnits { units: 0, .. } => {
            "順序どおりでない書き込みのたびに、そのユニットの残りがコピーされる。".to_owned()
        }
        AnatomyFact::RandomUnits { units, of } => {
            format!("ランダム書き込みが速いのは、開いている{of}個のユニットのうち{units}個である。")
        }
        AnatomyFact::Cache { size, fast, slow } => {
            format!("最初の{size}は{fast}、その後は{slow}で書き込まれる。")
        }
        AnatomyFact::NoCache { up_to } => {
            format!("{up_to}まで書き込みは遅くならず、キャッシュは見られない。")
        }
        AnatomyFact::Reach { size, load } => {
            format!(
                "{size}を超える範囲のランダム読み込みは、マッピングの読み込みのため{load}長くかかる。"
            )
        }
        AnatomyFact::Throttles { after, percent } => {
            format!("{after}の動作でスロットリングが起き、所要時間は通常の{percent}%になる。")
        }
        AnatomyFact::Reads { rate, latency } => {
            format!("読み込みは{rate}で、小さな読み込みには{latency}かかる。")
        }
        AnatomyFact::Unknown { count, of } => {
            format!("{of}項目のうち{count}項目は判定できない（理由は表にある）。")
        }
    }
}

pub(in crate::text) fn open_units_legend(fat: u64, random: u64, linear: u64) -> String {
    let parts = [
        (fat, "FAT領域"),
        (random, "任意の順の書き込み用"),
        (linear, "順番どおりの書き込み用"),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts
        .map(|(count, what)| format!("{what}{count}個"))
        .collect();
    format!("同時に開けるユニットは、左から{}である。", parts.join("、"))
}

pub(in crate::text) fn anatomy_empty() -> &'static str {
    "このカードについては何も判定できない。"
}

pub(in crate::text) fn anatomy_incomplete(done: u64, of: u64) -> String {
    format!("未完了: {of}個の実験のうち{done}個が終了（hakaru anatomy --resumeで再開できる）")
}

pub(in crate::text) fn advice_gain(ratio: f64, low: f64, high: f64) -> String {
    let [times, low_text, high_text] = [ratio, low, high].map(number::significant);
    let verdict = match (low > 1.0, high < 1.0) {
        (true, _) => "速い",
        (_, true) => "遅い",
        _ => "差は示されない",
    };
    format!("{times}倍（{low_text}〜{high_text}）: {verdict}")
}

pub(in crate::text) fn anatomy_intervals() -> &'static str {
    "サイズと個数は候補から選び、値を示すときは正確である。時間と速度には99%区間を付け、± 5.5%より広いものは不明とする。"
}

pub(in crate::text) fn anatomy_noise(sigma: &str, drift: &str, latency: &str) -> String {
    format!(
        "同じ場所の小さな読み込みは{latency}で、ばらつきは{sigma}%、ドリフトは上下それぞれ{drift}%である。"
    )
}

pub(in crate::text) fn not_predictable(property: P) -> String {
    format!("予測なし: 「{}」が不明", card_property(property))
}

pub(in crate::text) fn prediction_note() -> &'static str {
    "アイドル状態でキャッシュが空のカードについての予測値と95%区間である。各ジョブはデバイスモデル上でエンジンが実行した。"
}

pub(in crate::text) fn prediction_score(inside: u64, of: u64) -> String {
    format!("測定値{of}個のうち{inside}個が区間内")
}

pub(in crate::text) fn prediction_miss(
    phase: &str,
    label: AnatomyLabel,
    measured: &str,
    low: &str,
    high: &str,
) -> String {
    let label = anatomy_label(label);
    format!(
        "{phase}: {label}の測定値{measured}が予測の区間{low}〜{high}の外にあり、モデルに不足がある"
    )
}
