//! Built-in campaigns: the experiments of published articles with their original parameters, a quick one, a full one,
//! and the tests of the SNIA Performance Test Specification.

use hakaru_model::device_model::{DeviceModel, SlcCache};
use hakaru_model::units::{Bytes, Nanos};
use hakaru_report::Language;
use hakaru_report::text::language;
use std::path::PathBuf;
use toml::{Table, Value};

/// A built-in campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TemplateCampaign {
    /// Name on the command line.
    pub name: &'static str,
    /// Text of the campaign file, with its purpose in English.
    pub text: &'static str,
    /// Its purpose in Japanese.
    japanese: &'static str,
}

/// Generates the list of the built-in campaigns from their names and their purposes in Japanese.
macro_rules! templates {
    ($($name:literal: $japanese:literal,)*) => {
        /// All built-in campaigns.
        pub const READY: &[TemplateCampaign] = &[
            $(TemplateCampaign {
                name: $name,
                text: include_str!(concat!("../../ready/", $name, ".toml")),
                japanese: $japanese,
            },)*
        ];
    };
}

templates! {
    "quick": "1枚のカードの第一印象。RAWデバイスと2種類のファイルシステムで測定",
    "full": "全レイヤと標準の組み合わせ。平均の誤差が2%以内になるまで繰り返す",
    "article-a": "公称値と実測値の差、ファイルシステムの影響、カード間の差",
    "article-b": "ext4とF2FSの比較。1つのファイルに16のジョブでランダム書き込み",
    "article-c": "用途を決める値。読み書き混合と長時間連続書き込みの速度、ランダム読み込み、fsyncのテールレイテンシ",
    "article-d": "1bitモードと4bitモードの差と、小さいブロックでも差が出るかどうか",
    "article-e": "中古カードの比較。ランダム書き込みの10倍の差と、設定による違い",
    "snia-pts-iops": "7種類の読み書き比率と8種類のブロックサイズのIOPS。定常状態になるまで繰り返す",
    "snia-pts-throughput": "シーケンシャル読み込みと書き込みのスループット。定常状態になるまで繰り返す",
    "snia-pts-latency": "3種類の読み書き比率と3種類のブロックサイズのレイテンシ（同時発行I/Oは1つ）。定常状態になるまで繰り返す",
    "snia-pts-saturation": "パージ後の6時間のランダム書き込み。カードが埋まるにつれて速度がどう低下するか",
}

/// Returns the built-in campaign with this name.
pub fn ready(name: &str) -> Option<TemplateCampaign> {
    READY.iter().copied().find(|ready| ready.name == name)
}

/// The line of a campaign file that states its purpose, without its quotes.
fn about(text: &str) -> &str {
    let line = text.lines().find_map(|line| line.strip_prefix("about = "));
    line.map_or("", |line| line.trim_matches('"'))
}

impl TemplateCampaign {
    /// The purpose in the language of the texts.
    pub fn purpose(&self) -> &'static str {
        match language() {
            Language::English => about(self.text),
            Language::Japanese => self.japanese,
        }
    }

    /// The campaign file with its purpose in the language of the texts.
    pub fn localized(&self) -> String {
        self.text.replacen(about(self.text), self.purpose(), 1)
    }
}

/// A card in the place of those of a template.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateCard {
    /// Display name; unique among the cards.
    pub label: String,
    /// Where it is.
    pub location: TemplateCardLocation,
}

/// Where a card of a template is.
#[derive(Clone, Debug, PartialEq)]
pub enum TemplateCardLocation {
    /// In a reader, found by its serial number, CID or by-id name.
    Id(String),
    /// Always at this node: it has no ID.
    Node(PathBuf),
    /// In a reader later: the campaign asks for it.
    Ask,
    /// Simulated.
    Simulated(Box<DeviceModel>),
}

impl TemplateCard {
    fn entry(&self) -> Value {
        let mut entry = Table::from_iter([("label".to_owned(), self.label.clone().into())]);
        let (key, value) = match &self.location {
            TemplateCardLocation::Id(id) => ("id", id.clone().into()),
            TemplateCardLocation::Ask => ("id", "ask".into()),
            TemplateCardLocation::Node(node) => ("device", node.display().to_string().into()),
            TemplateCardLocation::Simulated(model) => (
                "simulate",
                Value::try_from(model).expect("a device model has no value that TOML lacks"),
            ),
        };
        entry.insert(key.to_owned(), value);
        entry.into()
    }
}

/// Returns simulated cards for trying a campaign without a device: one with an even speed, and one with a fast cache.
pub fn simulated_cards() -> [TemplateCard; 2] {
    let model = |name: &str, write_rate, cache| TemplateCard {
        label: name.to_owned(),
        location: TemplateCardLocation::Simulated(Box::new(DeviceModel {
            name: name.to_owned(),
            capacity: Bytes(32 << 30),
            claimed_capacity: None,
            block_size: 512,
            read_rate: 45_000_000,
            write_rate,
            read_overhead: Nanos(100_000),
            write_overhead: Nanos(200_000),
            read_seek: Nanos(0),
            write_seek: Nanos(2_000_000),
            write_to_read: Nanos(0),
            read_to_write: Nanos(0),
            flush: Nanos(1_000_000),
            parallel_reads: 1,
            flash: None,
            cache,
            stalls: None,
            throttle: None,
            faults: Vec::new(),
            lost_flush: None,
            jitter_permille: 30,
            noise: None,
        })),
    };
    let cache = SlcCache {
        size: Bytes(128 << 20),
        write_rate: 60_000_000,
        drain_rate: 0,
        drain_delay: Nanos(0),
    };
    [
        model("simulated-even", 30_000_000, None),
        model("simulated-cached", 12_000_000, Some(cache)),
    ]
}

impl TemplateCampaign {
    /// Parses the file. The built-in campaigns are valid, which tests check.
    fn table(&self) -> Table {
        self.localized()
            .parse()
            .expect("a built-in campaign is valid TOML")
    }

    /// Whether other cards can take the place of its cards: they are in readers, and in one setting each.
    pub fn takes_other_cards(&self) -> bool {
        let table = self.table();
        let cards = table.get("card").and_then(Value::as_array);
        cards.into_iter().flatten().all(|card| {
            card.get("id").is_some_and(|id| id.as_str() == Some("ask"))
                && card.get("variant").is_none()
        })
    }

    /// Returns the campaign file with another name and other cards.
    pub fn with_cards(&self, name: &str, cards: &[TemplateCard]) -> String {
        let mut table = self.table();
        table.insert("name".to_owned(), name.into());
        let entries = cards.iter().map(TemplateCard::entry).collect();
        table.insert("card".to_owned(), Value::Array(entries));
        table.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::super::resolve::{ResolveContext, campaign};
    use super::super::spec::CardLocation;
    use super::*;
    use hakaru_report::with_language;

    #[test]
    fn templates_take_other_cards() {
        let around = ResolveContext {
            read_file: &|_| Err("no file is read".to_owned()),
            fio: &|_, _| Err("no job file".to_owned()),
        };
        let card = |label: &str, location| TemplateCard {
            label: label.to_owned(),
            location,
        };
        let mut cards = vec![
            card("a \"b\"", TemplateCardLocation::Id("0x12".to_owned())),
            card("later", TemplateCardLocation::Ask),
            card("fixed", TemplateCardLocation::Node("/dev/sdx".into())),
        ];
        cards.extend(simulated_cards());
        let text = ready("quick").unwrap().with_cards("mine", &cards);
        let made = campaign(&text, &around).unwrap();
        let original = campaign(ready("quick").unwrap().text, &around).unwrap();
        assert_eq!((&made.name[..], &made.id[..]), ("mine", "mine"));
        assert_eq!(made.workloads, original.workloads);
        assert_eq!(made.layers[..3], original.layers[..]);
        let labels = made.cards.iter().map(|card| &card.label[..]);
        let expected = [
            "a \"b\"",
            "later",
            "fixed",
            "simulated-even",
            "simulated-cached",
        ];
        assert_eq!(labels.collect::<Vec<_>>(), expected);
        assert_eq!(made.cards[0].id.as_deref(), Some("0x12"));
        assert_eq!(made.cards[1].id, None);
        let TemplateCardLocation::Simulated(model) = &cards[4].location else {
            panic!("a simulated card");
        };
        assert_eq!(made.cards[4].location, CardLocation::Sim(model.clone()));
        let taking = READY.iter().filter(|of| of.takes_other_cards());
        let names: Vec<&str> = taking.map(|of| of.name).collect();
        assert!(
            names.contains(&"full") && names.contains(&"snia-pts-iops"),
            "{names:?}"
        );
        assert!(
            !names.contains(&"article-c") && !names.contains(&"article-d"),
            "{names:?}"
        );
    }

    #[test]
    fn every_template_states_its_purpose_in_both_languages() {
        for ready in READY {
            assert!(ready.purpose().len() > 20, "{}", ready.name);
            assert_eq!(ready.localized(), ready.text);
            let japanese = with_language(Language::Japanese, || ready.localized());
            let line = format!("\nabout = \"{}\"\n", ready.japanese);
            assert!(japanese.contains(&line), "{japanese}");
        }
    }
}
