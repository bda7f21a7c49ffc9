//! Labels of the environment.

use super::listed;
use super::reasons::unknown_reason;
use crate::facts::{FactGroup, FactKey};
use crate::number::{self, MeanText};
use crate::text::figures::{megabytes, throttling};
use hakaru_model::facts::{Bus, ChainLink, DeviceIdentity, Fact, LinkRole, UnknownReason};
use hakaru_model::finding::{Cliff, SummaryOrigin, Sustained, Swing};
use hakaru_model::job::Op;
use hakaru_model::units::{Bytes, Nanos};

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

pub(in crate::text) fn unknown(because: &UnknownReason) -> String {
    format!("不明（{}）", unknown_reason(because))
}

pub(in crate::text) fn overhead(per_io: &str, percent_of_median: Option<&str>) -> String {
    match percent_of_median {
        Some(percent) => {
            format!("I/O 1件あたり{per_io}（最短のレイテンシ中央値の{percent}%）")
        }
        None => format!("I/O 1件あたり{per_io}"),
    }
}

pub(in crate::text) fn with_space(mounted: &str, size: Bytes, free: Bytes) -> String {
    format!("{mounted}、{}", space(size, free))
}

pub(in crate::text) fn space(size: Bytes, free: Bytes) -> String {
    format!("{size}（空き{free}）")
}

pub(in crate::text) fn unnamed_filesystem() -> &'static str {
    "不明"
}

pub(in crate::text) fn mounted(fs_type: &str, at: &str, source: &str) -> String {
    match (at, source) {
        ("", "") => fs_type.to_owned(),
        ("", source) => format!("{fs_type}（{source}）"),
        (at, "") => format!("{fs_type}、マウント先{at}"),
        (at, source) => format!("{fs_type}、マウント先{at}（{source}）"),
    }
}

pub(in crate::text) fn block_sizes(logical: u64, physical: u64) -> String {
    format!("論理{logical} B、物理{physical} B")
}

pub(in crate::text) fn bus_width(bits: u32) -> String {
    format!("{bits} bit")
}

pub(in crate::text) fn bus_kind(bus: &Bus) -> String {
    let kind = match bus {
        Bus::Mmc { .. } => "SDまたはeMMC",
        Bus::Usb { .. } => "USB",
        Bus::Nvme { .. } => "NVMe(PCI Express)",
        Bus::Scsi { .. } => "SATAまたはSCSI",
        Bus::Virtio => "virtio（仮想ディスク）",
        Bus::Software => "なし（下位にハードウェアなし）",
        Bus::Other { name } => name,
    };
    kind.to_owned()
}

pub(in crate::text) fn processors(cpu: &str, online: u32) -> String {
    format!("{cpu}、オンライン{online}コア")
}

pub(in crate::text) fn io_pressure(percent: &str) -> String {
    format!("直近10秒の{percent}%")
}

pub(in crate::text) fn throttled(now: u32, since_start: u32) -> String {
    match now {
        0 => format!("起動後に{}あり（現在はなし）", throttled_by(since_start)),
        now => format!("現在、{}", throttled_by(now)),
    }
}

/// The reasons for throttling in a set of four bits.
pub(super) fn throttled_by(bits: u32) -> String {
    let words = [
        "電圧低下",
        "CPUクロックの制限",
        "スロットリング",
        "温度上限への到達",
    ];
    listed(&throttling(bits, words))
}

pub(in crate::text) fn sustained(found: &Sustained, has_intervals: bool) -> String {
    let (min, max) = (megabytes(&found.min), megabytes(&found.max));
    let mean = MeanText::of_parts(found.mean.0, Some(found.deviation.0), 1e6);
    let mut even = format!("{min}〜{max} MB/sで推移、平均{mean} MB/s");
    if found.falls.is_empty() && has_intervals {
        even += "。持続的な低下なし";
    }
    let mut parts: Vec<String> = found.falls.iter().map(cliff).collect();
    parts.extend(found.swing.as_ref().map(swings));
    parts.push(even);
    parts.join("。")
}

/// A fluctuation: `40.0と12.0 MB/sの間を変動し、7回回復（スロットリングに似た動き）`.
fn swings(swing: &Swing) -> String {
    let (high, low) = (megabytes(&swing.high), megabytes(&swing.low));
    let why = match swing.sawtooth {
        true => "その間は徐々に低下、ガーベジコレクションに似た動き",
        false => "スロットリングに似た動き",
    };
    let times = swing.recoveries;
    format!("{high}と{low} MB/sの間を変動し、{times}回回復（{why}）")
}

/// A drop: `6.01 GB（2分56秒）で34.1から11.9 MB/sに低下`.
fn cliff(cliff: &Cliff) -> String {
    let (before, after) = (megabytes(&cliff.before), megabytes(&cliff.after));
    let (at, time) = (number::decimal_bytes(cliff.at), duration(cliff.after_time));
    let how = match cliff.proven {
        true => "",
        false => "（終了間際のため持続するかは不明）",
    };
    format!("{at}（{time}）で{before}から{after} MB/sに低下{how}")
}

pub(in crate::text) fn device_moved(op: Op, ratio: &MeanText) -> String {
    let done = match op {
        Op::Read => format!("デバイスから{ratio}バイト読み込み"),
        Op::Write | Op::Trim => format!("デバイスに{ratio}バイト書き込み"),
    };
    format!("アプリケーションの1バイトあたり{done}（ホスト側の値）")
}

pub(in crate::text) fn laid_out(bytes: Bytes) -> String {
    format!("測定前にテストファイルの作成で{bytes}書き込み")
}

pub(in crate::text) fn duration(time: Nanos) -> String {
    let seconds = time.0 / 1_000_000_000;
    match seconds {
        0..60 => time.to_string(),
        60..3600 => format!("{}分{}秒", seconds / 60, seconds % 60),
        _ => format!("{}時間{}分", seconds / 3600, seconds / 60 % 60),
    }
}

pub(in crate::text) fn one_run_each(n: u64) -> String {
    format!("ワークロード{n}種類、各1回")
}

pub(in crate::text) fn runs(n: u64) -> String {
    format!("{}回", number::grouped(n))
}

pub(in crate::text) fn scenario_on(scenario: &str, target: &str) -> String {
    format!("{target}: {scenario}")
}

pub(in crate::text) fn times_of(ratio: f64) -> String {
    format!("{}×", number::significant(ratio))
}

pub(in crate::text) fn clock_name(clock: &str) -> String {
    match clock {
        "time-stamp counter" => "タイムスタンプカウンタ(TSC)".to_owned(),
        "generic timer" => "Armの汎用タイマ".to_owned(),
        clock => clock.to_owned(),
    }
}

pub(in crate::text) fn disks_of_result(disks: &str) -> String {
    format!("{disks}（結果のディスク統計による）")
}

pub(in crate::text) fn origin(origin: &SummaryOrigin) -> String {
    match origin {
        SummaryOrigin::Unknown => String::new(),
        SummaryOrigin::Measured { version } => format!("hakaru {version}"),
        SummaryOrigin::Imported { program, .. } => format!("{program}（取り込み）"),
        SummaryOrigin::Published { source } => format!("公表値（{source}）"),
    }
}
