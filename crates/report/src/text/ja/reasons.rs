//! Reasons that records store in English.

/// A stored reason in Japanese; one that is not known here is quoted as it is.
pub(super) fn reason(because: &str) -> String {
    if let Some(known) = known(because) {
        return known.to_owned();
    }
    with_names(because).unwrap_or_else(|| match because.is_ascii() && because.contains(' ') {
        true => format!("「{because}」"),
        false => because.to_owned(),
    })
}

/// What stands before and after a name in a reason, and its text.
type NamedReason = (&'static str, &'static str, fn(&str) -> String);

/// Reasons that contain the name of a file.
fn with_names(because: &str) -> Option<String> {
    let between = |begin: &str, end: &str| {
        let name = because.strip_prefix(begin)?.strip_suffix(end)?;
        Some(name).filter(|name| !name.contains([' ', '`']))
    };
    if let Some(rest) = because.strip_suffix("; mount debugfs at /sys/kernel/debug") {
        return Some(format!(
            "{}。/sys/kernel/debugにdebugfsのマウントが必要",
            reason(rest)
        ));
    }
    let patterns: [NamedReason; 7] = [
        ("", " cannot be read", |name| {
            format!("{name}を読み込めない")
        }),
        ("", " cannot be read (the kernel may lack PSI)", |name| {
            format!("{name}を読み込めない（カーネルがPSIに非対応の可能性）")
        }),
        ("the kernel provides no `", "`", |name| {
            format!("カーネルに{name}なし")
        }),
        ("only root can read `", "`", |name| {
            format!("{name}を読み込めるのはrootのみ")
        }),
        ("`", "` is empty", |name| format!("{name}が空")),
        ("", " does not report it", |name| {
            format!("{name}に記載なし")
        }),
        (
            "a ",
            " file system has no block device that is visible here",
            |name| format!("{name}に、ここから見えるブロックデバイスなし"),
        ),
    ];
    let mut found = patterns.iter().filter_map(|(begin, end, text)| {
        let name = between(begin, end)?;
        Some(text(name))
    });
    found.next()
}

fn known(because: &str) -> Option<&'static str> {
    Some(match because {
        "not checked" => "未確認",
        "not queried" => "未照会",
        "not given" => "指定なし",
        "hidden" => "非表示",
        "it was not looked at" => "未調査",
        "simulated card" => "シミュレーションのカード",
        "not a hardware device" => "ハードウェアではない",
        "not a physical disk" => "物理ディスクではない",
        "not an ATA disk" => "ATAディスクではない",
        "not connected to a SATA port" => "SATAポートに接続されていない",
        "not reported by the device" => "デバイスが報告しない",
        "not stated in the imported result" => "取り込んだ結果に記載なし",
        "not stated in the published table" => "公表された表に記載なし",
        "not set in /etc/os-release" => "/etc/os-releaseに設定なし",
        "only the whole disk reports it" => "ディスク全体のみが報告",
        "a USB reader hides the registers of its card" => "USBリーダーがカードのレジスタを隠す",
        "SD cards report only a revision" => "SDカードはリビジョンのみを報告",
        "SD cards do not report it" => "SDカードは報告しない",
        "eMMC devices have no such register" => "eMMCに該当するレジスタなし",
        "cards report wear only in registers (eMMC) or not at all (SD)" => {
            "消耗を報告するのはeMMCのレジスタのみ（SDは報告しない）"
        }
        "not queried: many USB bridges fail on this request" => {
            "未照会（多くのUSBブリッジがこの要求に失敗）"
        }
        "the checksum of its SMART data is wrong" => "SMARTデータのチェックサムが不正",
        "no parent PCI device reports a link speed" => "上位のPCIデバイスがリンク速度を報告しない",
        "the kernel shows no temperature sensor for it" => "カーネルに温度センサーなし",
        "the kernel shows no CPU temperature sensor" => "カーネルにCPU温度センサーなし",
        "no throttling flags (only a Raspberry Pi has them)" => {
            "性能制限のフラグなし（Raspberry Piのみ）"
        }
        "no device tree and no DMI" => "デバイスツリーもDMIもなし",
        "/proc/cpuinfo names no known processor" => "/proc/cpuinfoに既知のプロセッサなし",
        "sysfs reports no firmware revision" => "sysfsにファームウェアのリビジョンなし",
        "sysfs reports no world-wide name" => "sysfsにWWNなし",
        "not reported by sysfs" => "sysfsに記載なし",
        "CPU frequency scaling is not available" => "CPUの周波数制御なし",
        "only root can read debugfs" => "debugfsを読み込めるのはrootのみ",
        "only root can query the disk" => "ディスクに照会できるのはrootのみ",
        "spare blocks are running out" => "予備ブロックが残りわずか",
        "temperature is outside its limits" => "温度が範囲外",
        "no longer reliable because of errors" => "エラーのため信頼性が低下",
        "read-only because of errors" => "エラーのため読み込み専用",
        "power-loss protection has failed" => "電源断保護の故障",
        "persistent memory is read-only" => "永続メモリが読み込み専用",
        "part of the CID" => "CIDの一部",
        "part of EXT_CSD, which was not given" => "EXT_CSDの一部（指定なし）",
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
