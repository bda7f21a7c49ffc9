//! Built-in campaigns: the experiments of published articles with their original parameters, a quick one, a full one,
//! and the tests of the SNIA Performance Test Specification.

use hakaru_report::Language;
use hakaru_report::text::language;

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
    "article-a": "カタログ値と実測値の差、ファイルシステムの影響、カード間の差",
    "article-b": "ext4とF2FSの比較。1つのファイルに16のジョブでランダム書き込み",
    "article-c": "用途を決める値。読み書き混合と長時間連続書き込みの速度、ランダム読み込み、fsyncのレイテンシ",
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

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_report::with_language;

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
