//! Messages of `hakaru link` and `hakaru man`: です・ます.

use crate::text::{LinkChange, LinkNote};

pub(in crate::text) fn link_change(change: LinkChange, link: &str, program: &str) -> String {
    match change {
        LinkChange::Created => format!("作成しました: {link} -> {program}"),
        LinkChange::Kept => format!("作成済みです: {link} -> {program}"),
        LinkChange::Removed => format!("削除しました: {link}"),
        LinkChange::Absent => format!("削除するものはありません: {link}"),
        LinkChange::Left => {
            format!("{link}は{program}へのリンクではないため、変更していません")
        }
    }
}

pub(in crate::text) fn link_note(note: &LinkNote<'_>) -> String {
    match note {
        LinkNote::NotInPath { directory } => format!(
            "{directory}はPATHにありません。追加するか、リンクをパスで指定して実行してください"
        ),
        LinkNote::Hides {
            name,
            other,
            directory,
        } => format!(
            "今後「{name}」は{other}ではなくhakaruを実行します（元に戻す: hakaru link --remove {directory}）"
        ),
        LinkNote::HiddenBy {
            name,
            other,
            directory,
        } => format!("PATHで{directory}より前にあるため、「{name}」は引き続き{other}を実行します"),
    }
}

pub(in crate::text) fn link_occupied(path: &str) -> String {
    format!(
        "拒否: {path}はこのプログラムへのリンクではありません; help: 別のディレクトリを指定するか、ファイルを移動してください"
    )
}

pub(in crate::text) fn no_link_directory() -> &'static str {
    "リンクを置くディレクトリが不明です（HOMEが未設定）; help: hakaru link /usr/local/binのように指定してください"
}

pub(in crate::text) fn no_manual_page(command: &str) -> String {
    format!(
        "「{command}」のマニュアルはありません; help: hakaru --helpに表示されるコマンドを指定してください"
    )
}
