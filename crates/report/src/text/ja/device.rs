//! Facts about devices.

use super::listed;
use crate::text::HealthCounter;
use hakaru_model::units::Bytes;

pub(in crate::text) fn health_warning(text: &str) -> String {
    super::reasons::reason(text)
}

pub(in crate::text) fn enumerated(items: &[impl AsRef<str>]) -> String {
    listed(items)
}

pub(in crate::text) fn size_in_bytes(size: Bytes, decimal: &str) -> String {
    format!("{size}（{decimal}、{}バイト）", size.0)
}

pub(in crate::text) fn health_share(percent: u64, of: HealthCounter) -> String {
    format!("{}{percent}%", of.text())
}

pub(in crate::text) fn health_count(value: &str, of: HealthCounter) -> String {
    let counter = of.text();
    match of {
        HealthCounter::Written | HealthCounter::Read => format!("{counter}{value}"),
        HealthCounter::PowerOnHours => format!("{counter}{value}時間"),
        HealthCounter::UnsafeShutdowns => format!("{counter}{value}回"),
        HealthCounter::MediaErrors => format!("{counter}{value}件"),
        HealthCounter::Reallocated | HealthCounter::Pending => format!("{counter}{value}個"),
        HealthCounter::LifeUsed | HealthCounter::SpareLeft => format!("{counter}{value}%"),
    }
}

pub(in crate::text) fn queue_length(requests: u32) -> String {
    format!("リクエスト{requests}件")
}

pub(in crate::text) fn discard_in_units(unit: Bytes) -> String {
    format!("対応（{unit}単位）")
}

pub(in crate::text) fn negotiated(mbps: u64) -> String {
    format!("{mbps} Mbit/s（接続時のネゴシエーションによる）")
}

pub(in crate::text) fn ceiling(megabytes: &str) -> String {
    format!("{megabytes} MB/s（これを超える速度は出ない）")
}

pub(in crate::text) fn card_registers(by_hand: &[String]) -> String {
    match by_hand {
        [] => "カード".to_owned(),
        given => format!("カード（{}は手動で指定）", listed(given)),
    }
}

pub(in crate::text) fn class_demands(class: &str, megabytes: u32) -> String {
    format!("{class}: 書き込み{megabytes} MB/s以上")
}

pub(in crate::text) fn application_class_demands(class: u32, reads: u32, writes: u32) -> String {
    format!(
        "A{class}: 毎秒ランダム読み込み{reads}回以上、ランダム書き込み{writes}回以上、持続10 MB/s以上"
    )
}

pub(in crate::text) fn spare_blocks_run_out(state: &str) -> String {
    format!("予備ブロックが残りわずか（{state}）")
}

pub(in crate::text) fn host_slowed_down(throttled: &str) -> String {
    format!("ホストの性能が制限された（{throttled}）")
}

pub(in crate::text) fn claim_out_of_reach(claimed: u32, most: &str) -> String {
    format!("カードの公称は{claimed} MB/sだが、バスの上限は{most} MB/s")
}
