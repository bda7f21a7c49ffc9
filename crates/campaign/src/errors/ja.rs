//! Errors in Japanese.

mod image;
mod prepare;
mod run;

use crate::SessionError;
use crate::anatomy::DirectError;
use crate::bench::BenchError;
use crate::scratch::ScratchError;
use hakaru_device::InspectError;
use hakaru_device::guard::{Refusal, quoted};
use hakaru_device::prepare::{ImageError, JournalError, PrepareError};
use hakaru_device::verify::VerifyError;
use hakaru_engine::RunError;
use hakaru_model::plan::PlanError;
use hakaru_report::text;
use hakaru_store::{FindError, OpenError};
use std::error::Error;
use std::path::Path;

/// The message of an error; `None` if its type has no Japanese text.
pub(super) fn message(error: &(dyn Error + 'static)) -> Option<String> {
    if let Some(error) = error.downcast_ref::<BenchError>() {
        return bench(error);
    }
    if let Some(error) = error.downcast_ref::<SessionError>() {
        return session(error);
    }
    if let Some(error) = error.downcast_ref::<FindError>() {
        return find(error);
    }
    if let Some(error) = error.downcast_ref::<VerifyError>() {
        return verify(error);
    }
    if let Some(error) = error.downcast_ref::<ImageError>() {
        return Some(image::image(error));
    }
    if let Some(error) = error.downcast_ref::<PrepareError>() {
        return prepare::prepare(error);
    }
    let said = if let Some(error) = error.downcast_ref::<Refusal>() {
        refusal(error)
    } else if let Some(error) = error.downcast_ref::<InspectError>() {
        inspect(error)
    } else if let Some(error) = error.downcast_ref::<OpenError>() {
        open(error)
    } else if let Some(error) = error.downcast_ref::<PlanError>() {
        run::plan(error)
    } else if let Some(error) = error.downcast_ref::<RunError>() {
        run::run(error)
    } else if let Some(error) = error.downcast_ref::<JournalError>() {
        prepare::journal(error)
    } else if let Some(error) = error.downcast_ref::<ScratchError>() {
        scratch(error)
    } else if let Some(error) = error.downcast_ref::<DirectError>() {
        direct(error)
    } else if let Some(error) = error.downcast_ref::<std::io::Error>() {
        io(error)
    } else {
        return None;
    };
    Some(said)
}

/// An error of the system.
fn io(error: &std::io::Error) -> String {
    match error.raw_os_error() {
        Some(errno) => text::os_error(errno),
        None => error.to_string(),
    }
}

fn bench(error: &BenchError) -> Option<String> {
    Some(match error {
        BenchError::Inspect(error) => inspect(error),
        BenchError::NotATarget { path, what: _ } => format!(
            "{}は測定できない種類のファイルです; help: ディレクトリまたはブロックデバイスを指定してください",
            path.display()
        ),
        BenchError::File { path, folder } => format!(
            "{}はファイルです; help: ファイルを変更しないよう、ディレクトリ（{}）を指定してください",
            path.display(),
            folder.display()
        ),
        BenchError::NotWritable { path } => format!(
            "{}に書き込めません; help: 書き込めるディレクトリを指定するか、所有者として実行してください",
            path.display()
        ),
        BenchError::NoSpace {
            path,
            free,
            needed,
            fits,
        } => format!(
            "{}の空き容量が足りません（空き{free}、必要{needed}）; help: 空き容量を増やすか、--size={}MiB（{}バイト）を指定してください",
            path.display(),
            fits.0 >> 20,
            fits.0
        ),
        BenchError::Full { path, free } => {
            let smallest = crate::bench::SMALLEST;
            format!(
                "{}の空き容量が足りません（空き{free}、{smallest}以上が必要）",
                path.display()
            )
        }
        BenchError::TooSmall { size } => format!(
            "--sizeが小さすぎます（{size}）; help: {}MiB以上を指定してください",
            crate::bench::SMALLEST.0 >> 20
        ),
        BenchError::WouldDestroy { path, workload } => format!(
            "{}（{workload}）は{}に上書きします; help: --eraseなしのデバイスでは読み込みのワークロードのみ実行できます",
            hakaru_report::workload_words(workload),
            path.display()
        ),
        BenchError::Scratch(error) => scratch(error),
        BenchError::InUse { path, holder } => format!(
            "{}はプロセス{holder}が測定中です; help: 終わるまで待つか、そのプロセスを終了してください",
            path.display()
        ),
        BenchError::Changed(error) => format!("{}。以後は書き込んでいません", refusal(error)),
        BenchError::Session(error) => return session(error),
        BenchError::Unstored(_) => return None,
    })
}

fn session(error: &SessionError) -> Option<String> {
    match error {
        SessionError::Inspect(error) => Some(inspect(error)),
        SessionError::InUse { refusal: error } => {
            Some(format!("{}。{}", refusal(error), cure(error)))
        }
        SessionError::Plan(error) => Some(run::plan(error)),
        SessionError::Run(error) => Some(run::run(error)),
    }
}

fn inspect(error: &InspectError) -> String {
    match error {
        InspectError::Empty => {
            "パスが空です; help: ファイル、ディレクトリまたはデバイスを指定してください".to_owned()
        }
        InspectError::NoFolder { path, folder } => format!(
            "{}を作成できません（ディレクトリ{}がありません）; help: mkdir -pで作成してください",
            path.display(),
            folder.display()
        ),
        InspectError::NotAFolder { path, through } => format!(
            "{}を使えません（{}はディレクトリではありません）",
            path.display(),
            through.display()
        ),
        InspectError::NoSuchDevice { path } => format!(
            "デバイス{}はありません; help: 接続するか、lsblkで確認してください",
            path.display()
        ),
        InspectError::DanglingLink { path, target } => format!(
            "{}のリンク先{}がありません; help: リンクを直すか、別のパスを指定してください",
            path.display(),
            target.display()
        ),
        InspectError::Denied { path, cure: _ } => format!(
            "{}を読み書きできません（権限なし）; help: 所有者またはrootとして実行してください",
            path.display()
        ),
        InspectError::Io { path, source } => {
            format!("{}を調べられません（{}）", path.display(), io(source))
        }
    }
}

fn scratch(error: &ScratchError) -> String {
    match error {
        ScratchError::Make { folder, errno } => format!(
            "{}に一時ファイルを作成できません: {}",
            folder.display(),
            text::os_error(errno.raw_os_error())
        ),
        ScratchError::Write { folder, at, errno } => format!(
            "{}の一時ファイルに書き込めません（{at}バイト目）: {}; help: 空き容量と権限を確認し、小さい--sizeを試してください",
            folder.display(),
            text::os_error(errno.raw_os_error())
        ),
        ScratchError::Stopped => "一時ファイルの書き込み中に停止しました".to_owned(),
    }
}

fn direct(error: &DirectError) -> String {
    match error {
        DirectError::Open { path, cause } => format!(
            "{}をダイレクトI/Oで開けません: {}",
            path.display(),
            text::os_error(cause.raw_os_error())
        ),
        DirectError::NoPlaces { path, kind } => format!(
            "{}のファイルシステム（{kind}）はデータの位置を固定しないか、位置を示しません; help: ブロックデバイスを指定してください",
            path.display()
        ),
        DirectError::InPieces {
            path,
            usable,
            needed,
        } => format!(
            "{}のファイルで最長の連続部分のうち、ディスク上の192 MiBの倍数から始まる部分は{usable}で、{needed}に足りません; help: 空きの多いファイルシステムか、大きい--sizeを使うか、ブロックデバイスを指定してください",
            path.display()
        ),
    }
}

fn find(error: &FindError) -> Option<String> {
    Some(match error {
        FindError::NotFound { what, prefix, path } => format!(
            "{}に、名前またはIDが「{prefix}」の{}はありません; help: hakaru listで確認してください",
            path.display(),
            stored(what)
        ),
        FindError::Ambiguous {
            what,
            prefix,
            count,
            candidates,
        } => {
            let more = match *count > candidates.len() as u64 {
                true => "\n  …",
                false => "",
            };
            format!(
                "IDが「{prefix}」で始まる{}が{count}件あります。次のいずれかまで入力してください:\n  {}{more}",
                stored(what),
                candidates.join("\n  ")
            )
        }
        FindError::Newer {
            what,
            id,
            found,
            newest,
        } => format!(
            "{}{id}の形式{found}は新しすぎます（対応は{newest}まで）; help: 保存したバージョン以降のhakaruを使ってください",
            stored(what)
        ),
        FindError::Damaged {
            what,
            id,
            source: _,
        } => format!("{}{id}の記録が壊れています", stored(what)),
        FindError::Unreadable(_) | FindError::Store(_) => return None,
    })
}

/// What an ID belongs to.
fn stored(what: &str) -> &str {
    match what {
        "run" | "runs" => "測定",
        "series" => "測定シリーズ",
        "verification" | "verifications" => "検証",
        "anatomy" | "anatomies" => "構造調査",
        what => what,
    }
}

fn open(error: &OpenError) -> String {
    match error {
        OpenError::NoHome => {
            "データベースの場所が決まりません（XDG_DATA_HOMEもHOMEも絶対パスではありません）; help: --dbでファイルを指定してください"
                .to_owned()
        }
        OpenError::Folder { path, source } => format!(
            "データベースのディレクトリ{}を作成できません: {}; help: --dbで別のファイルを指定してください",
            path.display(),
            io(source)
        ),
        OpenError::CannotOpen { path, source } => format!(
            "データベース{}を開けません: {source}; help: 書き込めるディレクトリのファイルを--dbで指定してください",
            path.display()
        ),
        OpenError::ReadOnly { path } => format!(
            "データベース{}に書き込めません（読み込み専用です）; help: 権限を変更するか、--dbで別のファイルを指定してください",
            path.display()
        ),
        OpenError::Absent { path } => format!(
            "データベース{}がありません（まだ測定も取り込みもしていません）; help: hakaru benchまたはhakaru importで作成するか、--dbで別のファイルを指定してください",
            path.display()
        ),
        OpenError::Unsettled { path, beside } => format!(
            "データベース{}を読み込めません（読み込み専用で、未反映のWAL {}があります）; help: 両方を書き込めるディレクトリにコピーし、--dbで指定してください",
            path.display(),
            beside.display()
        ),
        OpenError::Damaged { path, source } => format!(
            "データベース{}が壊れています: {source}; help: 途中で切れたか、使用中にコピーした可能性があります。コピーし直すかバックアップを戻すか、sqlite3 {} .recoverで救出してください",
            path.display(),
            path.display()
        ),
        OpenError::NotADatabase { path } => format!(
            "{}はSQLiteのデータベースではありません; help: --dbで別のファイルを指定してください",
            path.display()
        ),
        OpenError::Foreign { path } => format!(
            "{}は別のプログラムのデータベースのため、変更していません; help: --dbで別のファイルを指定してください",
            path.display()
        ),
        OpenError::NewerSchema {
            path,
            found,
            newest,
        } => format!(
            "データベース{}のスキーマ{found}は新しすぎます（対応は{newest}まで）; help: 書き込んだバージョン以降のhakaruを使うか、--dbで別のファイルを指定してください",
            path.display()
        ),
        OpenError::Locked { path, waited } => format!(
            "データベース{}は{}秒間、別のプログラムがロックしていました; help: 終わるのを待ってください（fuser {}で確認できます）",
            path.display(),
            waited.as_secs(),
            path.display()
        ),
        OpenError::OverLimit { path } => format!(
            "データベース{}を開けません: 大きさに見合う処理量を超えました（壊れているか、細工されています）; help: バックアップから復元するか、--dbで別のファイルを指定してください",
            path.display()
        ),
        OpenError::AlteredSchema { path, kind, name } => format!(
            "データベース{}のスキーマが変更されています: 想定外の{kind} {name:?}。何も読み書きしていません; help: バックアップから復元するか、--dbで別のファイルを指定してください",
            path.display()
        ),
        OpenError::Upgrade { path, source } => format!(
            "データベース{}のスキーマを更新できません: {source}",
            path.display()
        ),
    }
}

fn verify(error: &VerifyError) -> Option<String> {
    Some(match error {
        VerifyError::Memory(_) => return None,
        VerifyError::Range {
            start,
            end,
            size,
            block,
        } => format!(
            "範囲{start}〜{end}はデバイス（{size}）の外か、{block}バイトのブロック境界に合っていません"
        ),
        VerifyError::Interrupted { doing: _, at } => format!("{at}で検証を中断しました"),
        VerifyError::Flush { source } => {
            format!("デバイスをフラッシュできません: {}", io(source))
        }
        VerifyError::Full { at } => format!(
            "{at}で空き容量がなくなりました（別のプログラムが使いました）; help: 空き容量を増やして再試行してください"
        ),
        VerifyError::NotRestored { at, left, source } => format!(
            "{at}の内容を復元できません: {}（未復元は合計{left}）",
            io(source)
        ),
        VerifyError::Pulled { at, source } => {
            format!("{at}でデバイスが取り外されました: {}", io(source))
        }
        VerifyError::Gone { at, source } => format!(
            "{at}までのI/Oがすべて失敗しました: {}; help: 接続を確認するか、消耗していれば交換してください",
            io(source)
        ),
    })
}

/// A refusal of the guard, without its advice.
pub(crate) fn refusal(error: &Refusal) -> String {
    match error {
        Refusal::NotThere { path } => format!("{}はありません", path.display()),
        Refusal::NotABlockDevice { path, what: _ } => {
            format!(
                "{}はディスクでもパーティションでもありません",
                path.display()
            )
        }
        Refusal::Blind { path, because } => {
            format!("{}の使用状況を確認できません（{because}）", path.display())
        }
        Refusal::NoMedium { path } => {
            format!("{}にカードがありません（サイズが0）", path.display())
        }
        Refusal::SystemDisk { path: _, system } => {
            format!("{system}は使用中のシステムディスクです")
        }
        Refusal::Mounted { what, at } => {
            format!("{what}は{}にマウントされています", at.display())
        }
        Refusal::MountedElsewhere { what, at, process } => format!(
            "{what}は別のマウント名前空間で{}にマウントされています（プロセス{process}）",
            at.display()
        ),
        Refusal::SwapFile { path, file } => format!(
            "{}のバッキングファイル{}はスワップとして使用中です",
            path.display(),
            file.display()
        ),
        Refusal::Swap { what } => format!("{what}はスワップとして使用中です"),
        Refusal::Held { path, holder, .. } => {
            format!("{}は{holder}が使用中です", path.display())
        }
        Refusal::ReadOnly { path } => format!("{}は書き込み禁止です", path.display()),
        Refusal::Busy { path } => {
            format!("{}は使用中です（排他的に開かれています）", path.display())
        }
        Refusal::Denied { path } => {
            format!("{}を書き込み用に開けません（権限なし）", path.display())
        }
        Refusal::Mismatch { path, given, ids } => {
            let ids = match ids.as_slice() {
                [] => "固有のIDなし".to_owned(),
                ids => ids.join("、"),
            };
            format!("「{given}」は{}のID（{ids}）と一致しません", path.display())
        }
        Refusal::OnlyAbove { path, given, .. } => {
            format!("「{given}」は{}の下位のディスクのIDです", path.display())
        }
        Refusal::Anonymous { given, ids: _ } => {
            format!("「{given}」は仮のシリアル番号で、固有のIDではありません")
        }
        Refusal::Mistyped { typed, wanted } => {
            format!("入力「{typed}」が「{wanted}」と一致しません")
        }
        Refusal::Stale { path, changed } => {
            format!(
                "{}が別のデバイスに変わりました（{changed}）",
                path.display()
            )
        }
        Refusal::Io { path, source } => format!("{}を開けません（{}）", path.display(), io(source)),
    }
}

/// Advice on a refusal.
pub(crate) fn cure(error: &Refusal) -> String {
    let shell = |path: &Path| quoted(&path.display().to_string());
    match error {
        Refusal::NotThere { .. } => "lsblkで確認してください".to_owned(),
        Refusal::NotABlockDevice { .. } => {
            "/dev/sdXのように指定してください（lsblkで確認できます）".to_owned()
        }
        Refusal::Blind { .. } => "/procと/sysをマウントしてください".to_owned(),
        Refusal::NoMedium { .. } => {
            "カードを挿入するか、ループデバイスを設定してください".to_owned()
        }
        Refusal::SystemDisk { .. } => {
            "別のディスクを指定してください。このディスクを消去するには別のディスクから起動してください".to_owned()
        }
        Refusal::Mounted { at, .. } => format!("umount {}", shell(at)),
        Refusal::MountedElsewhere { at, process, .. } => format!(
            "プロセスを停止するか、次を実行してください: nsenter --target {process} --mount umount {}",
            shell(at)
        ),
        Refusal::SwapFile { file, .. } => format!("swapoff {}", shell(file)),
        Refusal::Swap { what } => format!("swapoff /dev/{what}"),
        Refusal::Held { undo, .. } => undo.clone(),
        Refusal::ReadOnly { .. } => {
            "カードやアダプタのロックを解除するか、blockdev --setrwを実行してください".to_owned()
        }
        Refusal::Busy { path } => format!("fuser -v {}で確認してください", path.display()),
        Refusal::Denied { .. } => {
            "rootとして実行するか、diskグループに参加してください".to_owned()
        }
        Refusal::Mismatch { ids, .. } if ids.is_empty() => {
            "IDを省き、端末でデバイス名を入力してください".to_owned()
        }
        Refusal::Mismatch { ids, .. } => format!(
            "正しいデバイスか確認してください。正しければ{}を指定してください",
            options(ids)
        ),
        Refusal::OnlyAbove { ids, .. } => {
            let how = match ids.is_empty() {
                true => "端末で名前を入力してください".to_owned(),
                false => format!("{}を指定してください", options(ids)),
            };
            format!("ディスクを消去するには、マッピングを解除してディスク自体を指定してください。マッピングだけを消去するには、{how}")
        }
        Refusal::Anonymous { ids, .. } if ids.is_empty() => {
            "シリアル番号、CID、/dev/disk/by-idの名前がありません。IDを省き、端末でデバイス名を入力してください".to_owned()
        }
        Refusal::Anonymous { ids, .. } => format!("{}を指定してください", options(ids)),
        Refusal::Mistyped { .. } => "正しいデバイスか確認してください".to_owned(),
        Refusal::Stale { .. } => {
            "この名前のデバイスを確認し、最初からやり直してください".to_owned()
        }
        Refusal::Io { .. } => "カーネルログ（dmesg）を確認してください".to_owned(),
    }
}

/// IDs as options of the command line.
fn options(ids: &[String]) -> String {
    let options: Vec<String> = ids
        .iter()
        .map(|id| format!("--erase={}", quoted(id)))
        .collect();
    options.join("または")
}
