//! Reasons: why facts are unknown, and texts that records store in English.

use hakaru_model::facts::UnknownReason;

/// Why a fact is unknown; a text that is not known here is quoted.
pub(super) fn unknown_reason(because: &UnknownReason) -> String {
    let text = match because {
        UnknownReason::NotChecked => "未確認",
        UnknownReason::NotQueried => "未照会",
        UnknownReason::NotGiven => "指定なし",
        UnknownReason::Hidden => "非表示",
        UnknownReason::NotLookedAt => "未調査",
        UnknownReason::SimulatedCard => "シミュレートしたカード",
        UnknownReason::NoHardware => "ハードウェアではない",
        UnknownReason::NoPhysicalDisk => "物理ディスクではない",
        UnknownReason::NoAtaDisk => "ATAディスクではない",
        UnknownReason::NoSataPort => "SATAポートに接続されていない",
        UnknownReason::NotReportedByDevice => "デバイスが報告しない",
        UnknownReason::NotReportedBySysfs => "sysfsに記載なし",
        UnknownReason::NotInImportedResult => "取り込んだ結果に記載なし",
        UnknownReason::NotInPublishedTable => "公表された表に記載なし",
        UnknownReason::NotInOsRelease => "/etc/os-releaseに設定なし",
        UnknownReason::OnlyTheWholeDisk => "ディスク全体のみが報告",
        UnknownReason::HiddenByReader => "USBリーダーがカードのレジスタを隠す",
        UnknownReason::OnlyRevision => "SDカードはリビジョンのみを報告",
        UnknownReason::NotOfSdCards => "SDカードは報告しない",
        UnknownReason::NotOfEmmc => "eMMCに該当するレジスタなし",
        UnknownReason::WearOnlyInRegisters => {
            "消耗を報告するのはeMMCのレジスタのみ（SDは報告しない）"
        }
        UnknownReason::UsbBridgesFail => "未照会（多くのUSBブリッジがこの要求に失敗）",
        UnknownReason::BadSmartChecksum => "SMARTデータのチェックサムが不正",
        UnknownReason::NoLinkSpeed => "上位のPCIデバイスがリンク速度を報告しない",
        UnknownReason::NoDiskSensor => "カーネルに温度センサーなし",
        UnknownReason::NoCpuSensor => "カーネルにCPU温度センサーなし",
        UnknownReason::NoThrottlingFlags => "性能制限のフラグなし（Raspberry Piのみ）",
        UnknownReason::NoBoardName => "デバイスツリーもDMIもなし",
        UnknownReason::NoCpuName => "/proc/cpuinfoに既知のプロセッサなし",
        UnknownReason::NoFirmwareInSysfs => "sysfsにファームウェアのリビジョンなし",
        UnknownReason::NoWwnInSysfs => "sysfsにWWNなし",
        UnknownReason::NoFrequencyScaling => "CPUの周波数制御なし",
        UnknownReason::DebugfsNeedsRoot => "debugfsを読み込めるのはrootのみ",
        UnknownReason::QueryNeedsRoot => "ディスクに照会できるのはrootのみ",
        UnknownReason::PartOfCid => "CIDの一部",
        UnknownReason::PartOfExtCsd => "EXT_CSDの一部（指定なし）",
        UnknownReason::ExtCsdOnlyInDebugfs => {
            "EXT_CSDはdebugfsのみにあり、マウントされていないか読み込めない"
        }
        UnknownReason::ReservedValue => "SDステータスの値が予約値",
        UnknownReason::NoAllocationUnit => "SDステータスに定義なし",
        UnknownReason::NoPsi(file) => {
            return format!("{file}を読み込めない（カーネルがPSIに非対応の可能性）");
        }
        UnknownReason::CannotBeRead(file) => return format!("{file}を読み込めない"),
        UnknownReason::NotProvided(file) => return format!("カーネルに{file}なし"),
        UnknownReason::NeedsRoot(file) => return format!("{file}を読み込めるのはrootのみ"),
        UnknownReason::Empty(file) => return format!("{file}が空"),
        UnknownReason::NotReportedIn(file) => return format!("{file}に記載なし"),
        UnknownReason::NoVisibleDevice(filesystem) => {
            return format!("{filesystem}に、ここから見えるブロックデバイスなし");
        }
        UnknownReason::NotInSysfs(path) => return format!("sysfsに{path}のデバイスなし"),
        UnknownReason::NotMounted {
            cause,
            filesystem,
            at,
        } => {
            let cause = unknown_reason(cause);
            return format!("{cause}。{at}に{filesystem}のマウントが必要");
        }
        UnknownReason::Text(text) => return stored(text),
    };
    text.to_owned()
}

/// A stored reason or warning in Japanese; one that is not known here is quoted as it is.
pub(super) fn reason(because: &str) -> String {
    unknown_reason(&UnknownReason::from_text(because.to_owned()))
}

/// A text that is no reason of hakaru's own.
fn stored(text: &str) -> String {
    match warning(text) {
        Some(known) => known.to_owned(),
        None if text.is_ascii() && text.contains(' ') => format!("「{text}」"),
        None => text.to_owned(),
    }
}

/// Warnings of disks.
fn warning(text: &str) -> Option<&'static str> {
    Some(match text {
        "spare blocks are running out" => "予備ブロックが残りわずか",
        "temperature is outside its limits" => "温度が範囲外",
        "no longer reliable because of errors" => "エラーのため信頼性が低下",
        "read-only because of errors" => "エラーのため読み込み専用",
        "power-loss protection has failed" => "電源断保護の故障",
        "persistent memory is read-only" => "永続メモリが読み込み専用",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_keep_their_names() {
        for (english, japanese) in [
            (
                "/proc/loadavg cannot be read",
                "/proc/loadavgを読み込めない",
            ),
            ("the kernel provides no `cid`", "カーネルにcidなし"),
            ("`serial` is empty", "serialが空"),
            (
                "only root can read `ios`; mount debugfs at /sys/kernel/debug",
                "iosを読み込めるのはrootのみ。/sys/kernel/debugにdebugfsのマウントが必要",
            ),
            ("not checked", "未確認"),
            ("somebody else knows", "「somebody else knows」"),
        ] {
            assert_eq!(reason(english), japanese);
        }
    }
}
