//! Errors of planning and running jobs.

use hakaru_engine::RunError;
use hakaru_model::plan::PlanError;
use hakaru_report::text;
use rustix::io::Errno;

/// An error number with advice for the most common ones.
fn errno(errno: Errno, advise: bool) -> String {
    let advice = match errno {
        _ if !advise => "",
        Errno::NOSPC => "; help: サイズを小さくしてください（空き容量なし）",
        Errno::ACCESS | Errno::PERM => "; help: 所有者またはrootとして実行してください",
        Errno::ROFS => "; help: 書き込めるようにマウントし直してください",
        Errno::BUSY => "; help: 先にアンマウントしてください",
        Errno::NOMEDIUM => "; help: リーダーにカードを挿入してください",
        Errno::FBIG => "; help: サイズを小さくしてください（ファイルシステムの上限を超過）",
        _ => "",
    };
    format!("{}{advice}", text::os_error(errno.raw_os_error()))
}

// A table: an arm for each error.
#[rustfmt::skip]
pub(super) fn plan(error: &PlanError) -> String {
    let lead = |job: &str| format!("ジョブ「{job}」: ");
    match error {
        PlanError::NoJobs { scenario } =>
            format!("シナリオ「{scenario}」にジョブがありません"),
        PlanError::NoFacts { job, path } =>
            format!("{}{}の情報がありません", lead(job), path.display()),
        PlanError::NotMeasurable { job, path, what: _ } =>
            format!("{}{}は測定できない種類のファイルです; help: ファイル、ディレクトリまたはブロックデバイスを指定してください", lead(job), path.display()),
        PlanError::Missing { job, path } =>
            format!("{}{}がありませんが、ジョブは作成を許可されていません", lead(job), path.display()),
        PlanError::MayNotCreate { job, path } =>
            format!("{}{}がないか短すぎますが、ジョブは作成も延長も許可されていません; help: 先に書き込むか、allow_file_create=0を省いてください", lead(job), path.display()),
        PlanError::NoFiles { job } =>
            format!("{}nrfiles=0のためファイルがなく、何もしません", lead(job)),
        PlanError::OddBlock { job, block, unit } =>
            format!("{}{block}バイトのブロックは使えません（directまたはfsync、fdatasyncを伴うmmapにはページサイズ{unit}バイトの倍数が必要）", lead(job)),
        PlanError::ReadOnly { job, path } =>
            format!("{}{}は読み込み専用ですが、ジョブは書き込みます", lead(job), path.display()),
        PlanError::NoSize { job, path } =>
            format!("{}{}のサイズが分かりません; help: size=、filesize=または既存のファイルを指定してください", lead(job), path.display()),
        PlanError::TooSmall { job, path, room, offset, block } =>
            format!("{}{}の位置{offset}からの{room}は1ブロック（{block}）未満です", lead(job), path.display()),
        PlanError::BlockTooLarge { job, path, room, block } =>
            format!("{}ブロック{block}は、ジョブが使う{}の{room}より大きい値です; help: bsを小さくするか、sizeまたはfilesizeを大きくしてください", lead(job), path.display()),
        PlanError::ZonesTooLarge { job, path, zones, room } =>
            format!("{}random_distribution=zoned_absのゾーンの合計{zones}は、ジョブが使う{}の{room}より大きい値です; help: ゾーンを小さくするか、sizeを大きくしてください", lead(job), path.display()),
        PlanError::OffsetPastEnd { job, path, offset, size } =>
            format!("{}位置{offset}は{}のサイズ{size}以上です; help: offsetを小さくしてください", lead(job), path.display()),
        PlanError::PastEnd { job, path, size, offset, wanted } =>
            format!("{}位置{offset}とサイズ{wanted}の合計が{}の末尾（{size}）を超えます", lead(job), path.display()),
        PlanError::NoSpace { job, path, needed, free } =>
            format!("{}{}の空き容量が足りません（必要{needed}、空き{free}）; help: サイズを小さくしてください", lead(job), path.display()),
        PlanError::Misaligned { job, path, block, offset, logical, better } =>
            format!("{}{}はdirect=1でブロック{block}バイト（offset {offset}）のアクセスができません（論理ブロックサイズ{logical}バイトの倍数が必要）; help: bs={better}を使うか、direct=0でページキャッシュを経由してください", lead(job), path.display()),
        PlanError::BadBlock { job, block } =>
            format!("{}ブロック{block}は使えません（1バイト以上1 GiB以下）", lead(job)),
        PlanError::BadValue { job, option, value, why } =>
            format!("{}{option}={value}は使えません（{}）", lead(job), text::value_rule(*why)),
        PlanError::TrimOnFile { job, path } =>
            format!("{}trimはブロックデバイスだけに使えますが、{}はブロックデバイスではありません", lead(job), path.display()),
        PlanError::Endless { job } =>
            format!("{}time_basedにはruntimeが必要です", lead(job)),
    }
}

pub(super) fn run(error: &RunError) -> String {
    let said = |errno_of: &RunError, advise| errno(errno_of.errno(), advise);
    match error {
        RunError::Open { path, .. } => {
            format!("{}を開けません: {}", path.display(), said(error, true))
        }
        RunError::NoDirect { path } => format!(
            "{}をdirect=1で開けません（このファイルシステムはO_DIRECTに非対応）; help: direct=0でページキャッシュを経由してください",
            path.display()
        ),
        RunError::LayOut { path, at, size, .. } => format!(
            "テストファイル{}を作成できません（{size}バイト中{at}バイト目）: {}",
            path.display(),
            said(error, true)
        ),
        RunError::Memory { job, bytes, .. } => format!(
            "ジョブ「{job}」のI/Oバッファ{bytes}バイトを確保できません: {}; help: bsまたはiodepthを小さくしてください",
            said(error, false)
        ),
        RunError::NoEngine { ioengine, because } => {
            let because = text::no_engine(&because.clone().into());
            format!("ioengine={ioengine}を開始できません（{because}）")
        }
        RunError::Pin {
            job, cpus, online, ..
        } => format!(
            "ジョブ「{job}」をCPU {cpus:?}で実行できません: {}（このホストのCPUは0から数えて{online}個）",
            said(error, false)
        ),
        RunError::Node { job, node } => format!(
            "ジョブ「{job}」を実行できません（NUMAノード{node}なし）; help: /sys/devices/system/nodeを確認してください"
        ),
        RunError::Priority { job, what, .. } => {
            format!(
                "ジョブ「{job}」を{what}で実行できません: {}",
                said(error, true)
            )
        }
        RunError::Zones { path, because } => {
            format!(
                "{}のゾーンを使えません（{}）",
                path.display(),
                text::zone_obstacle(because)
            )
        }
        RunError::Thread { job, .. } => {
            format!(
                "ジョブ「{job}」のスレッドを開始できません: {}",
                said(error, false)
            )
        }
        RunError::State { path, reason } => format!(
            "検証の状態{}を読み込めません（{}）; help: verify_state_loadを省くと全体を検証します",
            path.display(),
            text::verify_state_obstacle(reason)
        ),
        RunError::Panicked { job } => format!(
            "ジョブ「{job}」のワーカーが異常終了しました（hakaruの不具合）。他のワーカーの結果は保存しています"
        ),
        RunError::StoppedEarly => "測定の開始前に停止しました".to_owned(),
    }
}
