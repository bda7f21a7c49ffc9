//! The plan of a campaign, and what is left of it.

use super::failures::operation;
use super::listed;
use crate::number;
use crate::text::{
    PlannedExtent, PlannedJob, PlannedPlace, PlannedRecheck, PlannedRuns, Selected, StoredRuns,
    TurnPreparation,
};
use hakaru_model::job::Op;

pub(in crate::text) fn campaign_title(name: &str, id: &str) -> String {
    match name == id {
        true => name.to_owned(),
        false => format!("{name}（保存ID {id}）"),
    }
}

pub(in crate::text) fn planned_extent(of: &PlannedExtent) -> String {
    let (cards, layers) = (selected(of.cards, "枚"), selected(of.layers, "種類"));
    let workloads = selected(of.workloads, "種類");
    let repeats = super::each_point(of.repeats);
    format!("カード{cards}、レイヤ{layers}、ワークロード{workloads}、{repeats}")
}

fn selected(of: Selected, counter: &str) -> String {
    let Selected { chosen, all } = of;
    match chosen < all {
        true => format!("{all}{counter}中{chosen}{counter}"),
        false => format!("{all}{counter}"),
    }
}

pub(in crate::text) fn planned_runs(of: PlannedRuns) -> String {
    let (most, done) = (number::grouped(of.most), number::grouped(of.done));
    format!("最大{most}回、保存済み{done}回")
}

pub(in crate::text) fn runs_with_other_settings(n: u64) -> String {
    format!(
        "保存済みの{}回は測定条件が異なるため集計外",
        number::grouped(n)
    )
}

pub(in crate::text) fn unfinished_runs(n: u64) -> String {
    format!("{}回は完了していないため集計外", number::grouped(n))
}

pub(in crate::text) fn progress_of_campaign(of: StoredRuns, time: &str) -> String {
    let (stored, open) = (number::grouped(of.stored), number::grouped(of.open));
    match (of.open, of.may_end_early) {
        (0, _) => format!("保存済み{stored}回、完了"),
        (_, true) => format!("保存済み{stored}回、残り最大{open}回: 約{time}"),
        (_, false) => format!("保存済み{stored}回、残り{open}回: 約{time}"),
    }
}

pub(in crate::text) fn not_measured_yet() -> &'static str {
    "未測定"
}

pub(in crate::text) fn planned_card(
    place: &PlannedPlace<'_>,
    layers: &[&str],
    time: &str,
) -> String {
    let place = match place {
        PlannedPlace::Simulated => "シミュレーション".to_owned(),
        PlannedPlace::Directory(path) => format!("ディレクトリ{path}"),
        PlannedPlace::Device(node, Some(size)) => format!("{node}、{size}"),
        PlannedPlace::Device(node, None) => (*node).to_owned(),
        PlannedPlace::Absent(why) => format!("要挿入（{why}）"),
    };
    format!("{place}、{}、約{time}", layers.join("、"))
}

pub(in crate::text) fn planned_erasure(content: Option<&[String]>) -> String {
    match content {
        None => "全データを消去".to_owned(),
        Some([]) => "全データを消去（既知の内容なし）".to_owned(),
        Some(found) => format!("消去されるデータ: {}", found.join("、")),
    }
}

pub(in crate::text) fn planned_job(job: &PlannedJob) -> String {
    let order = match job.random {
        true => "ランダム",
        false => "シーケンシャル",
    };
    let op = match job.mix {
        (100, _) => operation(Op::Read).to_owned(),
        (_, 100) => operation(Op::Write).to_owned(),
        (read, _) => format!("読み書き混合（読み込み{read}%）"),
    };
    let mut parts = vec![format!("{order}{op}、{}", job.block)];
    if job.numjobs > 1 {
        parts.push(format!("{}ジョブ", job.numjobs));
    }
    if job.iodepth > 1 {
        parts.push(format!("キュー深度{}", job.iodepth));
    }
    let cache = match job.direct {
        true => "ダイレクトI/O",
        false => "ページキャッシュ使用",
    };
    parts.push(format!("エンジン{}、{cache}", job.ioengine));
    if let Some((runtime, at_most)) = job.runtime {
        let most = if at_most { "最大" } else { "" };
        parts.push(match job.ramp {
            None => format!("{most}{runtime}"),
            Some(ramp) => format!("ウォームアップ{ramp}の後{most}{runtime}"),
        });
    }
    let each = match (job.numjobs > 1, job.own_files) {
        (false, _) => "範囲",
        (true, true) => "各範囲",
        (true, false) => "共通の範囲",
    };
    parts.extend(job.size.map(|size| format!("{each}{size}")));
    listed(&parts)
}

pub(in crate::text) fn cards_in_turns(
    order: &str,
    cards: usize,
    prepared: Option<TurnPreparation>,
    shared: bool,
) -> String {
    let prepared = match prepared {
        None => "",
        Some(TurnPreparation::EachRun) => "各カードは測定のたびに前処理する。",
        Some(TurnPreparation::EachLayerChange) => {
            "各カードはレイヤが変わるときに前処理し、その間はマウントしたままにする。"
        }
        Some(TurnPreparation::OncePerLayer) => {
            "各カードはレイヤごとに1回前処理し、他のカードの測定中もマウントしたままにする。"
        }
    };
    let shared = match shared {
        true => "同じファイルシステムのディレクトリは空き容量を等分する。",
        false => "",
    };
    format!(
        "カードを1回ずつ交互に測定する（card-order = \"{order}\"）。最初から最後まで{cards}枚すべてを同時に接続して\
         おくこと。{prepared}{shared}"
    )
}

pub(in crate::text) fn planned_recheck(of: &PlannedRecheck<'_>) -> String {
    let PlannedRecheck {
        card,
        layer,
        points,
        time,
        writes,
        by_hand,
    } = of;
    let again = match by_hand {
        true => "手で差し替えている場合は、そのときに挿入し直すこと。",
        false => "",
    };
    format!(
        "再測定: 最後に{card}の{layer}をもう一度測定する（{points}回、約{time}、書き込み約{writes}）。{again}"
    )
}

pub(in crate::text) fn planned_time(time: &str) -> String {
    format!("合計約{time}")
}

pub(in crate::text) fn only_explained() -> &'static str {
    "括弧内はファイルでの名前（--onlyでも使用可）"
}
