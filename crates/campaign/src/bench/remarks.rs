//! What a benchmark does differently from what somebody may expect.

use hakaru_model::units::Bytes;
use hakaru_report::both;

pub(super) fn simulated() -> String {
    both!(
        "simulated card: virtual time, not a measurement of this host",
        "シミュレートしたカード（仮想時間。このホストの実測値ではない）"
    )
}

pub(super) fn quick() -> String {
    both!(
        "quick suite: the system runs from this disk (--standard runs the full suite)",
        "システムディスクのため短い測定を実行（全体の測定は--standard）"
    )
}

pub(super) fn smaller(fits: Bytes, wanted: Bytes, free: Bytes) -> String {
    both!(
        "{fits} instead of {wanted}: only {free} free",
        "空きが{free}のため{wanted}の代わりに{fits}を使用"
    )
}

pub(super) fn reads_only() -> String {
    both!(
        "reads only: writing would erase the device (--erase permits it)",
        "読み込みのみ測定（書き込むとデバイスが消去されるため。許可するには--erase）"
    )
}
