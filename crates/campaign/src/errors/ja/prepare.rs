//! Errors of preparing a device.

use super::image::image;
use super::{io, refusal, verify};
use hakaru_device::prepare::{
    DiscardError, FillError, JournalError, LayoutError, LevelError, MountError, PrepareError,
    ToolError,
};

/// An error of a step; `None` if its cause has no Japanese text.
pub(super) fn prepare(error: &PrepareError) -> Option<String> {
    Some(match error {
        PrepareError::Journal(error) => journal(error),
        PrepareError::Fill(error) => fill(error),
        PrepareError::Discard(error) => discard(error),
        PrepareError::Image(error) => image(error),
        PrepareError::Tool(error) => tool(error),
        PrepareError::Layout(error) => layout(error),
        PrepareError::Mount(error) => mount(error),
        PrepareError::Level(error) => level(error),
        PrepareError::Verify(error) => return verify(error),
        PrepareError::Refused(error) => refusal(error),
        PrepareError::Io {
            path,
            doing: _,
            source,
        } => format!("{}を処理できません: {}", path.display(), io(source)),
    })
}

pub(super) fn journal(error: &JournalError) -> String {
    match error {
        JournalError::Io {
            path,
            doing: _,
            source,
        } => format!(
            "ジャーナル{}を読み書きできません: {}（ジャーナルなしではデバイスを変更しません）",
            path.display(),
            io(source)
        ),
        JournalError::Locked { path } => format!(
            "ジャーナル{}は実行中のプログラムのものです; help: そのプログラムを停止すると、手順は元に戻ります",
            path.display()
        ),
        JournalError::Foreign { path } => format!(
            "ジャーナル{}の形式が不明です; help: 書き込んだバージョンのhakaru recoverを実行してください",
            path.display()
        ),
    }
}

fn fill(error: &FillError) -> String {
    match error {
        FillError::Memory { size, source } => {
            format!("バッファ{size}を確保できません: {}", io(source))
        }
        FillError::Write { offset, source } => format!(
            "デバイスの{offset}に書き込めません: {}; help: カーネルログ（dmesg）を確認してください",
            io(source)
        ),
        FillError::Pulled { offset } => {
            format!("{offset}への書き込み中にデバイスが取り外されました")
        }
        FillError::Interrupted { done } => format!("{done}を書き込んだところで停止しました"),
    }
}

fn discard(error: &DiscardError) -> String {
    match error {
        DiscardError::NotOffered { node, kind } => {
            let kind = match *kind {
                "secure" => "セキュア消去",
                _ => "discard(TRIM)",
            };
            format!(
                "{node}は{kind}に対応していません; help: 0xffの全域書き込み（--fill=ones）には、カードでは近い効果があります"
            )
        }
        DiscardError::Refused { offset, source } => {
            format!("{offset}をdiscardできません: {}", io(source))
        }
        DiscardError::Pulled { offset } => {
            format!("{offset}のdiscard中にデバイスが取り外されました")
        }
        DiscardError::Interrupted { done } => format!("{done}をdiscardしたところで停止しました"),
    }
}

pub(super) fn tool(error: &ToolError) -> String {
    match error {
        ToolError::Missing { tool, package } => format!(
            "{tool}がインストールされていません; help: apt install {package}（他のディストリビューションでは同名のパッケージ）"
        ),
        ToolError::Start { tool, source } => {
            format!("{tool}を起動できません: {}", io(source))
        }
        ToolError::Failed {
            command,
            status,
            said,
        } => format!("{command}が失敗しました（{status}）: 「{said}」"),
        ToolError::Path { option } => format!(
            "mkfsのオプション{option}はパスを含み、別のデバイスに書き込む恐れがあります; help: 省いてください"
        ),
        ToolError::Tag { option, tag } => format!(
            "mkfsのオプション{option}は{tag}でデバイスを選び、別のデバイスに書き込む恐れがあります; help: 省いてください"
        ),
    }
}

fn mount(error: &MountError) -> String {
    match error {
        MountError::NoSuchType { fs_type } => format!(
            "カーネルは{fs_type}に対応していません; help: modprobe {fs_type}でモジュールを読み込むか、別のファイルシステムを使ってください"
        ),
        MountError::BadOptions { options } => {
            format!("マウントオプション「{options}」にNULバイトがあります")
        }
        MountError::Mount {
            device,
            at,
            fs_type,
            options,
            source,
            hint: _,
        } => format!(
            "{}を{}に{fs_type}（オプション「{options}」）としてマウントできません: {}; help: カーネルログ（dmesg）を確認してください",
            device.display(),
            at.display(),
            io(source)
        ),
        MountError::Unmount { at, source } => format!(
            "{}をアンマウントできません: {}; help: 使用中のプロセスはfuser -vm {}で確認できます",
            at.display(),
            io(source),
            at.display()
        ),
        MountError::Caches { path, source } => format!(
            "{}でホストのキャッシュを破棄できません: {}; help: rootとして実行してください",
            path.display(),
            io(source)
        ),
    }
}

fn level(error: &LevelError) -> String {
    match error {
        LevelError::TooHigh { percent } => format!("使用率{percent}%にはできません（最大99%）"),
        LevelError::Io {
            path,
            doing: _,
            source,
        } => format!("{}を処理できません: {}", path.display(), io(source)),
        LevelError::Pulled { path } => format!(
            "{}への書き込み中にディスクが取り外されました",
            path.display()
        ),
        LevelError::Memory(error) => fill(error),
        LevelError::Interrupted { done } => format!("{done}を書き込んだところで停止しました"),
    }
}

fn layout(error: &LayoutError) -> String {
    match error {
        LayoutError::Count { count } => {
            format!("パーティションを{count}個は作成できません（1〜4個）")
        }
        LayoutError::Open { number } => {
            format!("パーティション{number}のサイズがありません（省けるのは最後だけです）")
        }
        LayoutError::TooLarge { needed, size } => {
            format!("パーティションの合計{needed}がデバイスの{size}を超えます")
        }
        LayoutError::Align { align, block } => {
            format!("境界{align}は論理ブロック{block}バイトの倍数ではありません")
        }
    }
}
