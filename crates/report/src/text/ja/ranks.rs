//! Order of cards for uses and by price.

use super::answers::things;
use super::{claims::figure, listed};
use crate::campaign::amount;
use crate::text::BestCard;
use hakaru_model::figure::Figure;
use hakaru_model::price::Price;

/// Maximum number of names in a list; more are only counted.
const NAMED: usize = 4;

fn cards(names: &[String]) -> String {
    match names.len() {
        n if n > NAMED => {
            let (thing, counter) = things();
            format!("{thing}{n}{counter}")
        }
        _ => listed(names),
    }
}

pub(in crate::text) fn best_card(best: &BestCard<'_>) -> String {
    let BestCard {
        card,
        reason,
        suitable,
        level,
        ranked,
        unranked,
    } = best;
    let mut text = match (suitable, unranked.is_empty()) {
        (true, _) => format!("最適: {card}"),
        (false, true) => format!("すべて不向き。目安に最も近いのは{card}"),
        (false, false) => {
            let unranked = cards(unranked);
            let others = match ranked {
                1 => format!("{card}は不向き"),
                _ => format!("残りは不向きで、目安に最も近いのは{card}"),
            };
            format!("判定保留（{unranked}は測定不足）。{others}")
        }
    };
    if let Some(reason) = reason {
        let is_said = !suitable && *ranked == 1 && !unranked.is_empty();
        let verdict = match is_said {
            true => String::new(),
            false => format!("{}。", reason.verdict),
        };
        text += &format!("（{verdict}最も弱い項目: {}）", reason.because);
    }
    if !level.is_empty() {
        text += &format!("。{}との有意差なし", cards(level));
    }
    if *suitable && !unranked.is_empty() {
        text += &format!("。測定不足のため順位なし: {}", cards(unranked));
    }
    text
}

pub(in crate::text) fn no_best_card() -> String {
    "測定不足のため順位なし".to_owned()
}

pub(in crate::text) fn use_ranking_heads() -> [&'static str; 5] {
    [super::card_column(), "順位", "判定", "根拠", "価格"]
}

pub(in crate::text) fn price_head() -> &'static str {
    "価格"
}

pub(in crate::text) fn price(price: &Price) -> String {
    amount(price)
}

pub(in crate::text) fn per_money(of: Figure, per: &Price) -> String {
    format!("{}、{}あたりの{}", figure(of), amount(per), of.unit())
}

pub(in crate::text) fn money_title() -> &'static str {
    "価格あたりの速度"
}

pub(in crate::text) fn money_legend() -> String {
    let (thing, _) = things();
    format!(
        "平均 ± 標準偏差を価格で割った値。同じ文字の{thing}間に有意差なし（この節のすべての比較をまとめて多重比較を補正）。"
    )
}

pub(in crate::text) fn best_title() -> String {
    format!("用途別の最適な{}", things().0)
}

pub(in crate::text) fn use_ranks_legend() -> String {
    let (thing, _) = things();
    format!(
        "数字は用途別の順位（十分とする目安に最も届かない項目による）。同じ文字の{thing}間の順位に有意差なし（全用途と全組み合わせをまとめて多重比較を補正）。文字のない順位は、未測定の項目があるため確認できない"
    )
}

pub(in crate::text) fn left_out_by_price(cards: &[String], limit: &Price) -> String {
    format!("上限{}のため対象外: {}", amount(limit), listed(cards))
}

pub(in crate::text) fn ranking_title(cards: usize) -> String {
    let (thing, counter) = things();
    format!("{thing}{cards}{counter}の順位")
}
