//! Sentences about the layout of a file system on its medium.

use hakaru_model::io_path::{LayoutGap, LayoutPart};

pub(in crate::text) fn layout_gap(gap: &LayoutGap) -> String {
    let error =
        |errno: &Option<i32>| errno.map_or(String::new(), |errno| format!("（エラー{errno}）"));
    match gap {
        LayoutGap::UnknownFileSystem => {
            "分類はフラグと発行元のみによる（このファイルシステムの配置は不明）".to_owned()
        }
        LayoutGap::Unreadable { part, errno } => format!(
            "一部のリクエストを分類できない可能性あり: {}を読み込めない{}",
            layout_part(*part),
            error(errno)
        ),
        LayoutGap::Damaged { part } => format!(
            "一部のリクエストを分類できない可能性あり: {}の内容が矛盾",
            layout_part(*part)
        ),
        LayoutGap::TooLarge { part } => format!(
            "一部のリクエストを分類できない可能性あり: {}が大きすぎて読み込めない",
            layout_part(*part)
        ),
        LayoutGap::UnknownFeatures { bits } => {
            format!("分類が誤っている可能性あり（ファイルシステムに未知の機能{bits:#x}）")
        }
        LayoutGap::ExternalJournal => {
            "ジャーナルは別のデバイスにあり、この値に含まれない".to_owned()
        }
        LayoutGap::SeveralDevices => {
            "ファイルシステムが複数のデバイスにまたがる。値はこのデバイスのみ".to_owned()
        }
        LayoutGap::MetadataByFlag => {
            "メタデータは固定の位置になく、リクエストのフラグのみで判別".to_owned()
        }
        LayoutGap::NodesByEvent => {
            "データとノードブロックは同じ領域にあり、ファイルシステムのイベントで判別".to_owned()
        }
        LayoutGap::FileNotLocated { file, errno } => format!(
            "{file}のリクエストを分類できない: カーネルから位置を取得できない{}",
            error(errno)
        ),
        LayoutGap::InlineData { file } => {
            format!("{file}の内容の一部はinode内にあり、固有のアドレスがない")
        }
        LayoutGap::OtherFileSystem { file } => {
            format!("{file}のリクエストを分類できない: 別のファイルシステム上にある")
        }
    }
}

fn layout_part(part: LayoutPart) -> &'static str {
    match part {
        LayoutPart::Superblock => "スーパーブロック",
        LayoutPart::GroupDescriptors => "グループディスクリプタ",
        LayoutPart::Journal => "ジャーナル",
        LayoutPart::Inode => "inode",
        LayoutPart::AllocationTable => "FAT",
        LayoutPart::Bitmap => "割り当てビットマップ",
        LayoutPart::Directories => "ディレクトリ",
        LayoutPart::File => "ファイル",
        LayoutPart::Ranges => "領域の一覧",
    }
}
