//! Preparation steps of storage.

use super::duration;
use hakaru_model::campaign::{FillContent, StepKind};
use hakaru_model::units::Nanos;

pub(in crate::text) fn step(step: &StepKind) -> String {
    match step {
        StepKind::Filled { with } => format!("{}で全域書き込み", content(*with)),
        StepKind::Discarded { secure: false } => "discard(TRIM)".to_owned(),
        StepKind::Discarded { secure: true } => "セキュア消去".to_owned(),
        StepKind::Verified => "検証済み".to_owned(),
        StepKind::ImageWritten { image, size } => {
            format!("イメージ{image}（{size}）を書き込み、検証済み")
        }
        StepKind::Partitioned => "パーティションテーブルを作成".to_owned(),
        StepKind::Formatted { command } => command.join(" "),
        StepKind::Mounted { fs_type, options } if options.is_empty() => {
            format!("{fs_type}としてマウント")
        }
        StepKind::Mounted { fs_type, options } => {
            format!("{fs_type}としてマウント（{options}）")
        }
        StepKind::DirectoryCreated { path } => format!("ディレクトリ{path}を作成"),
        StepKind::SpaceFilled { size } => {
            format!("ファイルシステムの{size}にランダムデータを書き込み")
        }
        StepKind::CachesDropped => "ページキャッシュを破棄".to_owned(),
        StepKind::Described { what } => what.clone(),
    }
}

pub(in crate::text) fn content(with: FillContent) -> &'static str {
    match with {
        FillContent::Ones => "0xff",
        FillContent::Zeroes => "0x00",
        FillContent::Random => "ランダムデータ",
    }
}

pub(in crate::text) fn step_took(step: &str, time: Nanos) -> String {
    format!("{step}（{}）", duration(time))
}
