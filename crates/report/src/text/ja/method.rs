//! The method of a campaign.

use super::listed;
use crate::number;
use hakaru_model::method::{
    CardOrder, DiscardMode, FillEntry, LayerMethod, MethodTitle, PointOrder, PreparationMethod,
    PrepareScope, RecheckMethod, RepeatsMethod,
};

pub(in crate::text) fn method_head(title: MethodTitle<'_>) -> String {
    let title = match title {
        MethodTitle::Repeats => "繰り返し",
        MethodTitle::Order => "順序",
        MethodTitle::CardOrder => "カードの順序",
        MethodTitle::Preparation => "前処理",
        MethodTitle::Pause => "測定前の待ち時間",
        MethodTitle::Layer(name) => return format!("レイヤ{name}"),
        MethodTitle::Workload(name) => return format!("ワークロード{name}"),
        MethodTitle::Seed => "シード",
        MethodTitle::Recheck => "再測定",
    };
    title.to_owned()
}

pub(in crate::text) fn repeats(repeats: RepeatsMethod) -> String {
    match repeats {
        RepeatsMethod::Times(n) => format!("{n}回"),
        RepeatsMethod::Until {
            percent,
            at_least,
            at_most,
        } => format!("平均の95%信頼区間が± {percent}%以内になるまで{at_least}〜{at_most}回"),
        RepeatsMethod::Steady { at_most } => {
            format!("5ラウンドが定常状態になるまで、最大{at_most}回")
        }
    }
}

pub(in crate::text) fn each_point(repeats: RepeatsMethod) -> String {
    format!("各測定点{}", self::repeats(repeats))
}

pub(in crate::text) fn point_order(order: PointOrder) -> &'static str {
    match order {
        PointOrder::Blocked => "1つのワークロードの全繰り返し、次のワークロード、次のレイヤの順",
        PointOrder::Interleaved => "レイヤごとに、各ワークロードを1回ずつ交互に測定",
        PointOrder::Shuffled => "シードによる無作為順",
    }
}

pub(in crate::text) fn card_order(order: CardOrder) -> &'static str {
    match order {
        CardOrder::Sequential => "1枚ずつ順に",
        CardOrder::Interleaved => "1回ずつ交互",
        CardOrder::Abba => "1回ずつ交互、偶数回目は逆順",
        CardOrder::Shuffled => "1回ずつ、シードによる無作為順",
    }
}

pub(in crate::text) fn preparation_method(steps: &[PreparationMethod]) -> String {
    let steps: Vec<String> = steps.iter().map(preparation_step).collect();
    listed(&steps)
}

fn preparation_step(step: &PreparationMethod) -> String {
    match *step {
        PreparationMethod::Discarded { how, each } => {
            let how = match how {
                DiscardMode::Plain => "discard(TRIM)",
                DiscardMode::Secure => "セキュア消去",
                DiscardMode::WhereOffered => "対応カードのみdiscard(TRIM)",
            };
            format!("{how}（{}）", often(each))
        }
        PreparationMethod::Filled { with, passes, each } => {
            let with = match with {
                FillEntry::Ones => "0xff",
                FillEntry::Zeroes => "0x00",
                FillEntry::Random => "ランダムデータ",
            };
            let passes = match passes {
                1 => String::new(),
                passes => format!("{passes}回の"),
            };
            format!("{with}で{passes}全域書き込み（{}）", often(each))
        }
        PreparationMethod::FillLevel { percent } => {
            format!("各ファイルシステムの使用率{percent}%まで書き込み")
        }
        PreparationMethod::CachesDropped => "各測定の前にホストのキャッシュを破棄".to_owned(),
        PreparationMethod::CachesKept => {
            "ホストのキャッシュを破棄できなかった測定あり（測定上の注意を参照）".to_owned()
        }
        PreparationMethod::NewSimulatedCard => "測定ごとに新しいシミュレートしたカード".to_owned(),
        PreparationMethod::Unprepared => {
            "ここには記録なし（カードに以前書き込まれた内容が結果に影響する）".to_owned()
        }
        PreparationMethod::FreshFileSystem => "測定ごとに新しいファイルシステム".to_owned(),
    }
}

fn often(each: PrepareScope) -> &'static str {
    match each {
        PrepareScope::Card => "カードごとに1回",
        PrepareScope::Layer => "各レイヤの前",
        PrepareScope::Run => "各測定の前",
    }
}

pub(in crate::text) fn layer_method(parts: &[LayerMethod<'_>]) -> String {
    let part = |part: &LayerMethod<'_>| match part {
        LayerMethod::FileSystem(name) => format!("{name}を新規作成"),
        LayerMethod::Partition(table) => format!("1つのパーティション（{table}）"),
        LayerMethod::MkfsOptions(options) => format!("mkfsのオプション{options}"),
        LayerMethod::MountOptions(options) => format!("マウントオプション{options}"),
        LayerMethod::FileSize(size) => format!("ファイルは最大{}", number::block_size(*size)),
    };
    let parts: Vec<String> = parts.iter().map(part).collect();
    listed(&parts)
}

pub(in crate::text) fn recheck_method(of: &RecheckMethod<'_>, ratios: &[String]) -> String {
    let RecheckMethod {
        card,
        layer,
        runs,
        same,
    } = of;
    let found = match same {
        true => "。ホストのドリフトは見られない",
        false => "",
    };
    format!(
        "他の全カードの後に{card}の{layer}を{runs}回{found}: {}",
        listed(ratios)
    )
}
