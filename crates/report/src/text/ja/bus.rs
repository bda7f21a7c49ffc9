//! What a wider bus saves.

use crate::number;
use crate::text::BusTransfer;

pub(in crate::text) fn bus_transfer(of: &BusTransfer) -> String {
    let (narrow, wide) = of.lines;
    let (block, clock) = (number::block_size(of.block), of.clock());
    let [long, short, transfer, over_wide, rest] = of.parts();
    let [most, reached] = of.carried();
    let by_name = match of.by_name {
        true => "（バス幅は結果の名前による）",
        false => "",
    };
    let whose = match of.host {
        Some(_) => {
            format!("ディスク統計によると、{block}のI/O 1回にブロック層とカードでかかる時間")
        }
        None => format!("{block}のI/O 1回の平均の所要時間"),
    };
    let rest_is = match of.host {
        Some((narrow, wide)) => {
            let (a, b) = (number::nanos(narrow), number::nanos(wide));
            format!(
                "コマンドとカードの処理であり、両者に共通する。I/Oの間にはさらに{a}と{b}かかっており、これはバス幅では説明できない"
            )
        }
        None => "コマンド、カード、ホストの処理であり、両者に共通する".to_owned(),
    };
    let new_file = of.new_file.as_ref().map_or_else(String::new, |side| {
        format!("{side}は新規ファイルへの書き込みでもあり、それも差に含まれうる。")
    });
    format!(
        "{}倍にならない理由: {whose}は{narrow}ビットで{long}、{wide}ビットで{short}{by_name}。バス幅以外に差がなければ、\
         うち転送は約{transfer}と{over_wide}（クロック{clock} MHz相当）で、残りの{rest}は{rest_is}。{new_file}このクロックなら{wide}ビットで最大{most}を転送できるが、\
         実測は{reached}にとどまる。ブロックが大きいほど差は広がるはずで、hakaru campaign init article-dで両方のバス幅の4 KiBから1 MiBまでを測定できる。",
        wide / narrow
    )
}
