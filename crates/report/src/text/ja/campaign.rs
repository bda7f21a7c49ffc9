//! Weaknesses of the design of a campaign.

use super::listed;
use crate::naming::workload_words;
use crate::text::caveat;
use hakaru_model::campaign::{Circumstance, PlanNote, Weakness};

pub(in crate::text) fn weakness(weakness: &Weakness) -> String {
    match weakness {
        Weakness::Unfinished { runs, planned } => {
            format!("{planned}回中{runs}回まで測定済み。順位は変わりうる")
        }
        Weakness::FewRepeats { points, of, wanted } if points == of => {
            format!("測定点{of}点のすべてが{wanted}回未満。ばらつきの推定は不確か")
        }
        Weakness::FewRepeats { points, of, wanted } => {
            format!("測定点{of}点中{points}点が{wanted}回未満。ばらつきの推定は不確か")
        }
        Weakness::OneSpecimen => "各機種1枚のみで、個体差は不明".to_owned(),
        Weakness::Blocked => {
            "繰り返しを連続して実行。ドリフトとワークロード・レイヤの差を区別できない。order = \"shuffled\"を推奨"
                .to_owned()
        }
        Weakness::CardsInSequence => {
            "カードを1枚ずつ順に測定。ホストのドリフトとカード間の差を区別できない。全カードを同時に接続できれば\
             card-order = \"interleaved\"、\"abba\"または\"shuffled\"、できなければrecheck = trueを推奨"
                .to_owned()
        }
        Weakness::Drifted { card, layer, phases } => format!(
            "ホストまたはカードのドリフトとカード間の差を区別できない（{card}の{layer}の値が測定時と再測定時で変化: {}）",
            listed(phases)
        ),
        Weakness::DriftUndecided { card, layer, undecided, of } => format!(
            "ドリフトを否定できない（{card}の{layer}の再測定で{of}項目中{undecided}項目が判定保留）。繰り返しの追加を推奨"
        ),
        Weakness::Unprepared => "前処理の記録なし。以前の書き込みが結果に影響しうる".to_owned(),
        Weakness::Changed { what, values } => {
            format!("{}が測定点間で不一致: {}", circumstance(what), listed(values))
        }
        Weakness::DifferentSettings { phases } => format!(
            "測定条件がカード間で異なり、順位は条件の差による可能性あり（{}）",
            listed(&in_words(phases))
        ),
        Weakness::Spans { layers } => {
            let spans = layers.iter().map(|(layer, size)| {
                format!("{}は{size}", crate::text::layer_in_text(layer))
            });
            let least = layers.iter().min_by_key(|(_, size)| size.0);
            let least = least.map_or_else(String::new, |(layer, _)| {
                crate::text::layer_in_text(layer)
            });
            format!(
                "ランダムアクセスの範囲がレイヤにより異なる（{}）。範囲が狭いほど速くなりうる。{least}の低下は表示より大きい可能性があり、上昇は範囲の狭さによる可能性がある",
                listed(&spans.collect::<Vec<_>>())
            )
        }
        Weakness::OptionalStopping { coverage: Some(coverage) } => format!(
            "平均が定まった時点で繰り返しを終了したため、区間は狭めに偏る。同じばらつきの測定では、95%信頼区間が真の平均を含む\
             キャンペーンは{coverage}%（シミュレーション）"
        ),
        Weakness::OptionalStopping { coverage: None } => {
            "平均が定まった時点で繰り返しを終了したため、区間は狭めに偏る。正規分布の場合、95%信頼区間が真の平均を含む\
             キャンペーンは90〜95%。測定回数が少なく、実際の分布は不明"
                .to_owned()
        }
        Weakness::MeansOnly { points, of } if points == of => format!(
            "全{of}点が公表された平均値のみ（パーセンタイルと各回の値なし）"
        ),
        Weakness::MeansOnly { points, of } => format!(
            "測定点{of}点中{points}点は公表された平均値のみ（パーセンタイルと各回の値なし）"
        ),
    }
}

fn circumstance(what: &Circumstance) -> String {
    match what {
        Circumstance::Host => "ホスト".to_owned(),
        Circumstance::Board => "ボード".to_owned(),
        Circumstance::Kernel => "カーネル".to_owned(),
        Circumstance::Governor => "CPUガバナー".to_owned(),
        Circumstance::Version => "hakaruのバージョン".to_owned(),
        Circumstance::Device { card } => format!("{card}として測定したデバイス"),
    }
}

pub(in crate::text) fn some_of(n: usize, of: usize) -> String {
    format!("{}とレイヤの{of}組中{n}組", super::answers::things().0)
}

pub(in crate::text) fn plan_note(note: &PlanNote) -> String {
    match note {
        PlanNote::NeedsRoot => {
            "ストレージの前処理にroot権限が必要（sudo -Eで実行）".to_owned()
        }
        PlanNote::Unavailable { layer, because } => format!("{layer}: {because}"),
        PlanNote::Weakness(Weakness::CardsInSequence) => {
            "カードを1枚ずつ順に測定。ホストのドリフトとカード間の差を区別できない。全カードを同時に接続できれば\
             card-order = \"abba\"、できなければrecheck = trueを推奨"
                .to_owned()
        }
        PlanNote::Weakness(found) => weakness(found),
        PlanNote::Caveat(found) => caveat(found),
        PlanNote::Lint { workloads, warning } => {
            format!("{}: {}", listed(&in_words(workloads)), super::lint(warning))
        },
    }
}

/// Workloads in words.
fn in_words(phases: &[String]) -> Vec<String> {
    phases.iter().map(|phase| workload_words(phase)).collect()
}
