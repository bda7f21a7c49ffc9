//! Errors of writing an image.

use super::io;
use super::prepare::tool;
use hakaru_device::prepare::ImageError;

/// An error of writing an image.
pub(super) fn image(error: &ImageError) -> String {
    let log = "; help: カーネルログ（dmesg）を確認してください";
    match error {
        ImageError::Image { path, source } => {
            format!("イメージ{}を読み込めません: {}", path.display(), io(source))
        }
        ImageError::NotAFile { path } => format!(
            "{}は通常のファイルではありません; help: イメージファイルを指定してください",
            path.display()
        ),
        ImageError::Unsupported { path, format } => format!(
            "{}の形式（{format}）には対応していません; help: 先に展開してください",
            path.display()
        ),
        ImageError::Empty { path } => format!("イメージ{}は空です", path.display()),
        ImageError::TooLarge { image, device } => format!(
            "イメージ（{image}）がデバイス（{device}）に収まりません; help: より大きいデバイスを使ってください"
        ),
        ImageError::Cut { path, source } => format!(
            "イメージ{}を最後まで読み込めません: {}",
            path.display(),
            io(source)
        ),
        ImageError::Changed => {
            "書き込み中にイメージが変更されました; help: もう一度書き込んでください".to_owned()
        }
        ImageError::Tool(error) => tool(error),
        ImageError::Memory { size, source } => {
            format!("バッファ{size}を確保できません: {}", io(source))
        }
        ImageError::Write { offset, source } => {
            format!("デバイスの{offset}に書き込めません: {}{log}", io(source))
        }
        ImageError::ReadBack { offset, source } => {
            format!("デバイスの{offset}を読み戻せません: {}{log}", io(source))
        }
        ImageError::Differs { offset } => format!(
            "{offset}から4 MiB以内で、書き込んだデータと異なるデータが返されました; help: hakaru verifyで容量を検証してください"
        ),
        ImageError::Pulled { offset } => {
            format!("{offset}の処理中にデバイスが取り外されました")
        }
        ImageError::Interrupted { done } => {
            format!("イメージの書き込みを{done}で停止しました")
        }
        ImageError::NotCleared { cause, source } => format!(
            "パーティションテーブルを消去できません（{}）: {}",
            io(source),
            image(cause)
        ),
    }
}
