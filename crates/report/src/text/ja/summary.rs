//! The summary of a campaign.

use super::{claim_verdict, listed, span};
use crate::text::{LayerEffect, Ranked};
use hakaru_model::finding::ClaimVerdict;
use hakaru_model::job::Op;

pub(in crate::text) fn method() -> &'static str {
    "1 MB/sは毎秒10⁶バイト。平均と標準偏差(n − 1)は個々のI/Oではなく、測定の各回に対する値である。レイテンシは発行から完了まで\
     （オープンループでは各I/Oの予定開始時刻から）。パーセンタイルは全測定の全I/Oから求め、件数が足りないものは省く。\
     I/O増幅率は、アプリケーションの1バイトあたりデバイスが転送したバイト数（デバイスのカウンタによる）。ホスト側の値で、\
     フラッシュ内部の書き込み増幅(WAF)ではない。"
}

pub(in crate::text) fn only_card(card: &str, value: &str) -> String {
    format!("{card}は{value}")
}

pub(in crate::text) fn host_bound(cards: usize, low: &str, high: &str, unit: &str) -> String {
    let (thing, counter) = super::answers::things();
    format!(
        "{cards}{counter}とも{} {unit}。ホストのバスが律速しており、{thing}の優劣は分からない",
        span(low, high)
    )
}

pub(in crate::text) fn no_difference(low: &str, high: &str, unit: &str) -> String {
    format!(
        "{} {unit}。{}間に有意差なし",
        span(low, high),
        super::answers::things().0
    )
}

pub(in crate::text) fn fastest(
    first: &Ranked<'_>,
    last: &Ranked<'_>,
    times: Option<&str>,
    sure: &str,
) -> String {
    let (card, value) = (first.card, &first.value);
    let (slowest, least) = (last.card, &last.value);
    match times {
        Some(times) => {
            format!("最速は{card}の{value}で、最も遅い{slowest}（{least}）の{times}倍。{sure}")
        }
        None => format!("最速は{card}の{value}、最も遅いのは{slowest}の{least}。{sure}"),
    }
}

pub(in crate::text) fn pairs(of: usize, different: usize, same: Option<&[(&str, &str)]>) -> String {
    match (of, of - different, same) {
        (1, 0, _) => "有意差あり".to_owned(),
        (1, _, _) => "有意差なし".to_owned(),
        (_, 0, _) => format!("全{of}組に有意差あり"),
        (_, _, None) => format!("{of}組中{different}組に有意差あり"),
        (_, _, Some(same)) => {
            let names: Vec<String> = same.iter().map(|(a, b)| format!("{a}と{b}")).collect();
            format!(
                "{of}組中{different}組に有意差あり（有意差なし: {}）",
                listed(&names)
            )
        }
    }
}

pub(in crate::text) fn layer_cost(
    layer: &str,
    reference: &str,
    parts: &[(String, &str, LayerEffect)],
) -> String {
    let parts: Vec<String> = parts
        .iter()
        .map(|(share, workload, effect)| format!("{workload}は{share}（{}）", layer_effect(effect)))
        .collect();
    format!("{reference}に対する{layer}の比: {}", listed(&parts))
}

fn layer_effect(effect: &LayerEffect) -> String {
    let LayerEffect {
        lower,
        higher,
        same,
        undecided,
    } = effect;
    let all = [
        (*lower, "低下"),
        (*higher, "向上"),
        (*same, "差は5%以内"),
        (*undecided, "判定保留"),
    ];
    let cards: usize = all.iter().map(|(n, _)| n).sum();
    let said: Vec<(usize, &str)> = all.into_iter().filter(|(n, _)| *n > 0).collect();
    let (_, counter) = super::answers::things();
    match said[..] {
        [(_, word)] if cards == 1 => word.to_owned(),
        [(n, word)] => format!("{n}{counter}とも{word}"),
        _ => {
            let parts: Vec<String> = said
                .iter()
                .map(|(n, word)| format!("{n}{counter}で{word}"))
                .collect();
            listed(&parts)
        }
    }
}

pub(in crate::text) fn claims_in_short(
    of: usize,
    counts: &[(ClaimVerdict, usize)],
    shares: &[(Op, String)],
) -> String {
    let counts: Vec<String> = counts
        .iter()
        .filter(|(_, n)| *n > 0)
        .map(|(verdict, n)| format!("{}{n}件", claim_verdict(*verdict)))
        .collect();
    let mut said = format!("公称値{of}件中、{}", listed(&counts));
    for (op, share) in shares {
        let figure = match op {
            Op::Read => "シーケンシャル読み込み",
            Op::Write => "シーケンシャル書き込み",
            Op::Trim => "TRIM",
        };
        said += &format!("。{figure}は公称速度の{share}");
    }
    said + "。"
}
