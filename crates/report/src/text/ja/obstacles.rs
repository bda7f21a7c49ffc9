//! Obstacles, and what the value of an option has to fulfil.

use super::os_error;
use super::reasons::reason;
use hakaru_model::obstacle::{
    CacheObstacle, ClockObstacle, CountersObstacle, EngineObstacle, Reason, ValueRule,
    VerifyStateObstacle, ZoneObstacle,
};

pub(in crate::text) fn no_engine(because: &Reason<EngineObstacle>) -> String {
    let plain = |text: &String| {
        let mut known = EngineObstacle::PLAIN.iter();
        known.find(|known| known.to_string() == *text).cloned()
    };
    let value = match because {
        Reason::Value(value) => value.clone(),
        Reason::Text(text) => match plain(text) {
            Some(value) => value,
            None => return reason(text),
        },
    };
    match value {
        EngineObstacle::Unsupported => "カーネルまたはエミュレータが非対応".to_owned(),
        EngineObstacle::Forbidden => "カーネルが禁止（sysctl kernel.io_uring_disabled）".to_owned(),
        EngineObstacle::NoAioSlots => "AIOのスロットに空きなし（sysctl fs.aio-max-nr）".to_owned(),
        EngineObstacle::LockedMemory => "ロックできるメモリの上限に到達（ulimit -l）".to_owned(),
        EngineObstacle::NoSimulatedCard => "シミュレートしたカードの指定なし".to_owned(),
        EngineObstacle::NotForOtherThreads => {
            "他のスレッドの代わりにI/Oを1件ずつ発行できない".to_owned()
        }
        EngineObstacle::Failed { errno } => os_error(errno),
    }
}

pub(in crate::text) fn no_clock(because: &Reason<ClockObstacle>) -> String {
    match because {
        Reason::Value(ClockObstacle::NoCounter) => {
            "CPUに、プログラムから読み込めるカウンタなし".to_owned()
        }
        Reason::Value(ClockObstacle::OtherSource {
            source_name,
            counter,
        }) => format!("カーネルのクロックソースが{counter}ではなく{source_name}"),
        Reason::Value(ClockObstacle::Variant { flag }) => {
            format!("CPUのタイムスタンプカウンタの進み方が一定ではない（{flag}なし）")
        }
        Reason::Value(ClockObstacle::NoRate) => "カウンタの周波数を測定できない".to_owned(),
        Reason::Text(text) => reason(text),
    }
}

pub(in crate::text) fn no_counters(because: &Reason<CountersObstacle>) -> String {
    let value = match because {
        Reason::Value(value) => value.clone(),
        Reason::Text(text) if *text == CountersObstacle::NoBlockDevice.to_string() => {
            CountersObstacle::NoBlockDevice
        }
        Reason::Text(text) => return reason(text),
    };
    match value {
        CountersObstacle::NoBlockDevice => {
            "統計を持つブロックデバイスが下位にない（メモリ、ネットワーク、overlay）".to_owned()
        }
    }
}

pub(in crate::text) fn kept_cache(because: &Reason<CacheObstacle>) -> String {
    match because {
        Reason::Value(CacheObstacle::Failed { errno }) => os_error(*errno),
        Reason::Text(text) => reason(text),
    }
}

pub(in crate::text) fn zone_obstacle(because: &ZoneObstacle) -> String {
    match because {
        ZoneObstacle::NoZoneSize => {
            "ゾーンデバイスではない。ゾーンに分割するにはzonesize=を512バイト以上にする".to_owned()
        }
        ZoneObstacle::Capacity { capacity, zone } => {
            format!("zonecapacity={capacity}がzonesize={zone}より大きい")
        }
        ZoneObstacle::ZoneSize { device, size, zone } => {
            format!("zonesize={size}が{device}のゾーンのサイズ{zone}と異なる。zonesizeを省く")
        }
        ZoneObstacle::Buffered => {
            "ゾーンにはダイレクトI/Oでのみ書き込める。direct=1を使う".to_owned()
        }
        ZoneObstacle::OpenLimit { wanted, limit } => format!(
            "max_open_zones={wanted}がデバイスの上限{limit}を超える。小さくするか、ignore_zone_limits=1を使う"
        ),
        ZoneObstacle::AlreadyOpen { open, limit } => format!(
            "{open}個のゾーンがオープン中（上限{limit}）。blkzone resetでゾーンをリセットするか、上限を大きくする"
        ),
        ZoneObstacle::NotRequested => "ジョブがゾーンを使わない".to_owned(),
        ZoneObstacle::NoWholeZone => {
            "ジョブの範囲に完全なゾーンが1つもない。sizeを大きくするか、offsetを変える".to_owned()
        }
    }
}

pub(in crate::text) fn verify_state_obstacle(because: &VerifyStateObstacle) -> String {
    match because {
        VerifyStateObstacle::Unreadable { errno } => os_error(*errno),
        VerifyStateObstacle::Damaged => "検証の状態のファイルではないか、壊れている".to_owned(),
        VerifyStateObstacle::RandomOfFio => {
            "ランダムI/Oのジョブの途中でfioが保存した状態で、ランダムな位置がhakaruと異なる。同じfioで読み込む"
                .to_owned()
        }
    }
}

pub(in crate::text) fn value_rule(rule: ValueRule) -> String {
    let text = match rule {
        ValueRule::Clones => "クローンは1〜4096個",
        ValueRule::Depth => "同時に発行できるI/Oは1〜32768件",
        ValueRule::Shares => "割合の合計は100",
        ValueRule::OffloadEngine => {
            "offloadを使えるエンジンはsync、psync、pvsync、pvsync2、libaio、io_uring、mmap、splice、\
             falloc、ftruncate、nullのみ。エンジンを変えるか省く"
        }
        ValueRule::OffloadDepth => "io_submit_mode=offloadはI/Oごとにスレッドを使い、最大1024",
        ValueRule::LockedFiles => {
            "ファイルをロックできるエンジンはsync、psync、pvsync、pvsync2、mmap、splice、falloc、\
             ftruncateのみ（io_submit_mode=offloadとunlink_each_loopは不可）。エンジンを変えるか省く"
        }
        ValueRule::MappedFile => "マップしたファイルは大きくできない。省くか、別のエンジンを使う",
        ValueRule::RenewedFiles => {
            "ファイルを作り直せるエンジンはsync、psync、pvsync、pvsync2、vsync、libaio、io_uring、\
             posixaio、splice、nullのみ（io_submit_mode=offloadは不可）"
        }
        ValueRule::RunLength => "1つの位置から始まるI/Oは1件以上",
        ValueRule::Loops => "ループは1回以上",
        ValueRule::DeviceZones => {
            "ゾーンは空にしてから指定とは別の位置に書き込まれる。verifyとread_iologを省く"
        }
        ValueRule::Tick => "区間の長さは0より大きい値",
        ValueRule::FileEnd => "offsetを含むファイルの末尾は8 EiB未満",
        ValueRule::LastBlock => {
            "最後のブロックに検証用ヘッダが収まらない可能性あり。blockalignを大きくするか、verify=patternを使う"
        }
        ValueRule::HeaderInBlock => "ブロックに検証用ヘッダが収まらない。bsを大きくする",
        ValueRule::HeaderInInterval => "検証用ヘッダが収まらない。値を大きくする",
        ValueRule::HeaderOffset => "検証用ヘッダがブロックの末尾を超える。値を小さくする",
        ValueRule::NoDataToVerify => "このioengineには検証できるデータの転送がない",
    };
    text.to_owned()
}
