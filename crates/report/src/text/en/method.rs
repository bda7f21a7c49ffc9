//! The method of a campaign.

use crate::number;
use hakaru_model::method::{
    CardOrder, DiscardMode, FillEntry, LayerMethod, MethodTitle, PointOrder, PreparationMethod,
    PrepareScope, RecheckMethod, RepeatsMethod,
};

pub(in crate::text) fn method_head(title: MethodTitle<'_>) -> String {
    let title = match title {
        MethodTitle::Repeats => "Repeats",
        MethodTitle::Order => "Order",
        MethodTitle::CardOrder => "Order of the cards",
        MethodTitle::Preparation => "Preparation",
        MethodTitle::Pause => "Pause before each run",
        MethodTitle::Layer(name) => return format!("Layer {name}"),
        MethodTitle::Workload(name) => return format!("Workload {name}"),
        MethodTitle::Seed => "Seed",
        MethodTitle::Recheck => "Recheck",
    };
    title.to_owned()
}

pub(in crate::text) fn repeats(repeats: RepeatsMethod) -> String {
    match repeats {
        RepeatsMethod::Times(1) => "once".to_owned(),
        RepeatsMethod::Times(n) => format!("{n} times"),
        RepeatsMethod::Until {
            percent,
            at_least,
            at_most,
        } => format!(
            "until the 95% interval of the mean is within ± {percent}%, {at_least} to {at_most} times"
        ),
        RepeatsMethod::Steady { at_most } => {
            format!("until five rounds are in steady state, at most {at_most} times")
        }
    }
}

pub(in crate::text) fn each_point(repeats: RepeatsMethod) -> String {
    format!("each point {}", self::repeats(repeats))
}

pub(in crate::text) fn point_order(order: PointOrder) -> &'static str {
    match order {
        PointOrder::Blocked => {
            "all repeats of a workload, then the next workload, then the next layer"
        }
        PointOrder::Interleaved => "one repeat of each workload in turn, layer by layer",
        PointOrder::Shuffled => "shuffled by the seed",
    }
}

pub(in crate::text) fn card_order(order: CardOrder) -> &'static str {
    match order {
        CardOrder::Sequential => "one after another",
        CardOrder::Interleaved => "one run of each in turn",
        CardOrder::Abba => "one run of each in turn, every second repeat in the reverse order",
        CardOrder::Shuffled => "one run of each in turn, in an order shuffled by the seed",
    }
}

pub(in crate::text) fn preparation_method(steps: &[PreparationMethod]) -> String {
    let steps: Vec<String> = steps.iter().map(preparation_step).collect();
    steps.join("; ")
}

fn preparation_step(step: &PreparationMethod) -> String {
    match *step {
        PreparationMethod::Discarded { how, each } => {
            let how = match how {
                DiscardMode::Plain => "plain",
                DiscardMode::Secure => "secure",
                DiscardMode::WhereOffered => "whereoffered",
            };
            format!("discarded ({how}) {}", often(each))
        }
        PreparationMethod::Filled { with, passes, each } => {
            let with = match with {
                FillEntry::Ones => "ones",
                FillEntry::Zeroes => "zeroes",
                FillEntry::Random => "random",
            };
            let passes = match passes {
                1 => String::new(),
                passes => format!(" {passes} times"),
            };
            format!("filled with {with}{passes} {}", often(each))
        }
        PreparationMethod::FillLevel { percent } => {
            format!("each file system filled to {percent}% used")
        }
        PreparationMethod::CachesDropped => "host caches dropped before each run".to_owned(),
        PreparationMethod::CachesKept => {
            "host caches were not dropped before every run as requested (see the caveats)"
                .to_owned()
        }
        PreparationMethod::NewSimulatedCard => "each run begins on a new simulated card".to_owned(),
        PreparationMethod::Unprepared => {
            "none recorded here: results depend on what was written to the card before".to_owned()
        }
        PreparationMethod::FreshFileSystem => "a fresh file system for each run".to_owned(),
    }
}

fn often(each: PrepareScope) -> &'static str {
    match each {
        PrepareScope::Card => "once a card",
        PrepareScope::Layer => "before each layer",
        PrepareScope::Run => "before each run",
    }
}

pub(in crate::text) fn layer_method(parts: &[LayerMethod<'_>]) -> String {
    let part = |part: &LayerMethod<'_>| match part {
        LayerMethod::FileSystem(name) => format!("{name}, newly formatted"),
        LayerMethod::Partition(table) => format!("in one partition ({table})"),
        LayerMethod::MkfsOptions(options) => format!("mkfs options {options}"),
        LayerMethod::MountOptions(options) => format!("mount options {options}"),
        LayerMethod::FileSize(size) => format!("files of {} at most", number::block_size(*size)),
    };
    let parts: Vec<String> = parts.iter().map(part).collect();
    parts.join(", ")
}

pub(in crate::text) fn recheck_method(of: &RecheckMethod<'_>, ratios: &[String]) -> String {
    let RecheckMethod {
        card,
        layer,
        runs,
        same,
    } = of;
    let found = match same {
        true => "no host drift seen: ",
        false => "",
    };
    format!(
        "{card} through {layer}, {runs} runs after all other cards; {found}{}",
        ratios.join(", ")
    )
}
