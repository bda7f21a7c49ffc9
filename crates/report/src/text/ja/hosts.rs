//! 同じカードによるホストの比較。

use super::{listed, span};
use crate::text::HostEffectKind;
use hakaru_model::host_comparison::DifferenceCause;

pub(in crate::text) fn hosts_title() -> &'static str {
    "ホストの差か、カードの差か"
}

pub(in crate::text) fn hosts_about() -> &'static str {
    "同じカードを複数のホストで測定した結果である。比はすべてのカードまたはホストにわたる幾何平均で、同じ測定を繰り返すと、その95%において\
     すべての信頼区間が同時に成り立つ（Satterthwaiteの近似、ボンフェローニ補正）。ばらつきの「その他」は、ホストとカードの組み合わせによる差か、\
     測定間のばらつきである。"
}

pub(in crate::text) fn hosts_every_figure() -> &'static str {
    "すべてのカードとホストの値"
}

pub(in crate::text) fn hosts_heads() -> [&'static str; 5] {
    [
        "ワークロード",
        "差の原因",
        "ホスト（同じカード）",
        "カード（同じホスト）",
        "ばらつき: ホスト / カード / その他",
    ]
}

pub(in crate::text) fn difference_cause(cause: DifferenceCause, proven: bool) -> String {
    let words = match (cause, proven) {
        (DifferenceCause::Host, true) => "ホスト（カードの差は5%未満）",
        (DifferenceCause::Host, false) => "ホスト（カードの差は小さいか、確認できない）",
        (DifferenceCause::Card, true) => "カード（ホストの差は5%未満）",
        (DifferenceCause::Card, false) => "カード（ホストの差は小さいか、確認できない）",
        (DifferenceCause::HostAndCard, _) => "両方（ホストにもカードにも差がある）",
        (DifferenceCause::Combination, _) => "組み合わせ（ホストの差がカードによって異なる）",
        (DifferenceCause::NotProven, _) => "差は確認できない",
        (DifferenceCause::TooFewRuns, _) => "不明（各1回の測定。3回以上の繰り返しが必要）",
    };
    words.to_owned()
}

pub(in crate::text) fn host_effect(
    kind: HostEffectKind,
    (fast, slow): (&str, &str),
    works: &[String],
    (least, most): (&str, &str),
) -> String {
    let works = listed(works);
    match kind {
        HostEffectKind::Faster(_) => {
            let gain = span(least, most);
            format!("{works}は{fast}が{slow}より平均で{gain}%速い")
        }
        HostEffectKind::Minor => format!("{works}のホストによる差は平均で5%未満"),
        HostEffectKind::NotProven => {
            format!("{works}のホストによる差は小さいか、確認できない")
        }
        HostEffectKind::ByCard => format!("{works}でどのホストが速いかはカードによる"),
    }
}

pub(in crate::text) fn host_effects(parts: &[String]) -> String {
    format!("同じカードでは、{}。", parts.join("。"))
}

pub(in crate::text) fn cards_on_other_hosts(each: &[String]) -> String {
    let list = match each {
        [] => String::new(),
        each => format!("（{}）", each.join("、")),
    };
    format!("2台のホストで測定したカードはない{list}。差はホストによる可能性がある。")
}

pub(in crate::text) fn card_on_host(card: &str, host: &str) -> String {
    format!("{card}は{host}")
}

pub(in crate::text) fn faster_than(fast: &str, slow: &str, ratio: &str) -> String {
    format!("{fast}は{slow}の{ratio}")
}

pub(in crate::text) fn all_together(cards: usize) -> String {
    match cards {
        1 => "ホストの比".to_owned(),
        _ => "全カードでのホストの比".to_owned(),
    }
}

pub(in crate::text) fn ratio_to(first: &str) -> String {
    format!("{first}との比")
}
