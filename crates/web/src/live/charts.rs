//! The place of the charts of a process. The script draws them; without it, the state above says how far the process is.

use crate::html::Html;
use hakaru_store::live::LiveState;

/// Returns the place of the charts, with all words that the script shows.
pub(super) fn charts(state: &LiveState) -> Html {
    let words = [
        (
            "bandwidth",
            both!("Throughput (MB/s)", "スループット(MB/s)"),
        ),
        ("iops", both!("IOPS", "IOPS")),
        (
            "latency",
            both!(
                "Latency, P50 and P99 (ms, logarithmic)",
                "レイテンシのP50、P99（ms、対数目盛）"
            ),
        ),
        ("temperature", both!("CPU temperature (°C)", "CPU温度(°C)")),
        ("read", both!("read", "読み込み")),
        ("write", both!("write", "書き込み")),
        ("trim", both!("trim", "TRIM")),
        ("pause", both!("Pause", "一時停止")),
        ("continue", both!("Continue", "再開")),
        ("seconds", both!("s", "秒")),
        ("minutes", both!("min", "分")),
        ("range", both!("Shown time", "表示する時間")),
        (
            "throttled",
            both!("The host is throttled.", "ホストの性能が制限されている。"),
        ),
        ("ramp", both!("ramp time", "ウォームアップ")),
    ];
    let mut html = Html::new();
    put!(html, "<div data-charts=\"", (state.id), "\"");
    for (name, word) in words {
        html.raw(" data-").raw(name);
        put!(html, "=\"", (word), "\"");
    }
    html.raw("></div>");
    html
}
