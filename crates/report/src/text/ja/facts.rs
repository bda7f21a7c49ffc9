//! Labels of the environment.

use super::listed;
use crate::facts::{FactGroup, FactKey};
use hakaru_model::facts::{Bus, ChainLink, DeviceIdentity, Fact, LinkRole};

pub(in crate::text) fn fact_name(key: FactKey) -> &'static str {
    match key {
        FactKey::Target => "測定対象",
        FactKey::FileSystem => "ファイルシステム",
        FactKey::MountOptions => "マウントオプション",
        FactKey::Device => "デバイス",
        FactKey::Origin => "測定プログラム",
        FactKey::ToolOverhead => "測定ツールのオーバーヘッド",
        FactKey::Started => "開始日時",
        FactKey::Series => "測定シリーズ",
        FactKey::SerialNumber => "シリアル番号",
        FactKey::Chain => "デバイス構成",
        FactKey::BlockSize => "ブロックサイズ",
        FactKey::Scheduler => "I/Oスケジューラ",
        FactKey::WriteCache => "書き込みキャッシュ",
        FactKey::BusWidth => "バス幅",
        FactKey::BusClock => "バスクロック",
        FactKey::BusTiming => "バスのタイミング",
        FactKey::BusCeiling => "バスの上限",
        FactKey::Bus => "バス",
        FactKey::Manufacturer => "製造元",
        FactKey::CardName => "製品名",
        FactKey::Manufactured => "製造年月",
        FactKey::SpeedClass => "スピードクラス",
        FactKey::UhsGrade => "UHSスピードクラス",
        FactKey::VideoClass => "ビデオスピードクラス",
        FactKey::ApplicationClass => "アプリケーションパフォーマンスクラス",
        FactKey::AllocationUnit => "アロケーションユニット",
        FactKey::Cid => "CID",
        FactKey::Oddity => "要確認",
        FactKey::Host => "ホスト",
        FactKey::Board => "ボード",
        FactKey::Processor => "プロセッサ",
        FactKey::Governor => "CPUガバナー",
        FactKey::Memory => "メモリ",
        FactKey::Kernel => "カーネル",
        FactKey::Distribution => "ディストリビューション",
        FactKey::Load => "負荷",
        FactKey::IoPressure => "I/O待ち",
        FactKey::Temperature => "温度",
        FactKey::Throttling => "性能制限",
        FactKey::Clock => "時計",
    }
}

pub(in crate::text) fn fact_of_host(key: FactKey) -> &'static str {
    match key {
        FactKey::Host => "名前",
        FactKey::Governor => "ガバナー",
        key => fact_name(key),
    }
}

pub(in crate::text) fn fact_group(group: FactGroup) -> &'static str {
    match group {
        FactGroup::Target => "測定対象",
        FactGroup::FileSystem => "ファイルシステム",
        FactGroup::Device => "デバイス",
        FactGroup::Card => "カード",
        FactGroup::Bus => "バス",
        FactGroup::Suspicious => "要確認",
        FactGroup::Host => "ホスト",
        FactGroup::Kernel => "カーネル",
        FactGroup::ToolOverhead => "測定ツールのオーバーヘッド",
        FactGroup::Series => "測定シリーズ",
    }
}

pub(in crate::text) fn fact_in_brief(key: FactKey, value: &str) -> String {
    let lead = match key {
        FactKey::SerialNumber => "シリアル番号",
        FactKey::Scheduler => "スケジューラ",
        FactKey::WriteCache => "キャッシュ",
        FactKey::Manufactured => "製造",
        FactKey::AllocationUnit => "AU",
        FactKey::BusCeiling => "上限",
        FactKey::Governor => "ガバナー",
        FactKey::Target
        | FactKey::FileSystem
        | FactKey::MountOptions
        | FactKey::Device
        | FactKey::Origin
        | FactKey::ToolOverhead
        | FactKey::Started
        | FactKey::Series
        | FactKey::Chain
        | FactKey::BlockSize
        | FactKey::BusWidth
        | FactKey::BusClock
        | FactKey::BusTiming
        | FactKey::Bus
        | FactKey::Manufacturer
        | FactKey::CardName
        | FactKey::SpeedClass
        | FactKey::UhsGrade
        | FactKey::VideoClass
        | FactKey::ApplicationClass
        | FactKey::Cid
        | FactKey::Oddity
        | FactKey::Host
        | FactKey::Board
        | FactKey::Processor
        | FactKey::Memory
        | FactKey::Kernel
        | FactKey::Distribution
        | FactKey::Load
        | FactKey::IoPressure
        | FactKey::Temperature
        | FactKey::Throttling
        | FactKey::Clock => return value.to_owned(),
    };
    format!("{lead} {value}")
}

pub(in crate::text) fn none_claimed() -> &'static str {
    "記載なし"
}

pub(in crate::text) fn chain_role(role: &LinkRole) -> String {
    match role {
        LinkRole::Disk => "ディスク".to_owned(),
        LinkRole::Partition { number, of } => format!("{of}のパーティション{number}"),
        LinkRole::Loop { file } => format!("{file}のループデバイス"),
        LinkRole::Mapping { kind, label } if kind.is_empty() => format!("マッピング {label}"),
        LinkRole::Mapping { kind, label } => format!("{kind} {label}"),
        LinkRole::Array { level } => level.clone(),
        LinkRole::Unknown => String::new(),
    }
}

pub(in crate::text) fn chain(device: &DeviceIdentity) -> Vec<String> {
    let link = |link: &ChainLink| {
        let name = match link.beside {
            true => format!("および{}", link.name),
            false => link.name.clone(),
        };
        match chain_role(&link.role) {
            role if role.is_empty() => name,
            role => format!("{name}（{role}）"),
        }
    };
    let mut links: Vec<String> = device.chain.iter().map(link).collect();
    links.extend(chain_bus(&device.bus, &device.driver));
    links
}

/// The bus as the last link of a chain: `SDまたはeMMCバス（sdhci-iproc）`. `None` for devices without hardware.
fn chain_bus(bus: &Bus, driver: &Fact<String>) -> Option<String> {
    let with_link = |bus: &str, link: &Fact<String>| match link.known() {
        Some(link) => listed(&[bus, link.as_str()]),
        None => bus.to_owned(),
    };
    let words = match bus {
        Bus::Software => return None,
        Bus::Mmc { .. } => "SDまたはeMMCバス".to_owned(),
        Bus::Usb {
            speed_mbps: Fact::Known(speed),
        } => format!("USB、{speed} Mbit/s"),
        Bus::Usb { .. } => "USB".to_owned(),
        Bus::Nvme { link } => with_link("NVMe", link),
        Bus::Scsi { link } => with_link("SCSIまたはSATA", link),
        Bus::Virtio => "virtio".to_owned(),
        Bus::Other { name } => name.clone(),
    };
    Some(match driver.known() {
        Some(driver) => format!("{words}（{driver}）"),
        None => words,
    })
}
