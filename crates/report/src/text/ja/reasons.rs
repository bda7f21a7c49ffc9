//! Reasons that records store in English.

/// A stored reason in Japanese; one that is not known here is quoted as it is.
pub(super) fn reason(because: &str) -> String {
    if let Some(known) = known(because) {
        return known.to_owned();
    }
    match because.strip_suffix(" cannot be read") {
        Some(path) if !path.contains(' ') => format!("{path}を読み込めない"),
        _ if because.is_ascii() && because.contains(' ') => format!("「{because}」"),
        _ => because.to_owned(),
    }
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
        "part of the CID" => "CIDの一部",
        "part of EXT_CSD, which was not given" => "EXT_CSDの一部（指定なし）",
        _ => return None,
    })
}
