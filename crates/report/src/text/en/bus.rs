//! What a wider bus saves.

use crate::number;
use crate::text::BusTransfer;

pub(in crate::text) fn bus_transfer(of: &BusTransfer) -> String {
    let (narrow, wide) = of.lines;
    let (block, clock) = (number::block_size(of.block), of.clock());
    let [long, short, transfer, over_wide, rest] = of.parts();
    let [most, reached] = of.carried();
    let by_name = match of.by_name {
        true => " (widths taken from the names of the results)",
        false => "",
    };
    let whose = match of.host {
        Some(_) => "by the disk's counters, the block layer and the card take",
        None => "on average, it takes",
    };
    let rest_is = match of.host {
        Some((narrow, wide)) => {
            let (a, b) = (number::nanos(narrow), number::nanos(wide));
            format!(
                "commands and card on both; between the I/Os pass another {a} and {b}, which the width does not explain"
            )
        }
        None => "commands, card and host on both".to_owned(),
    };
    let new_file = of.new_file.as_ref().map_or_else(String::new, |side| {
        format!(" {side} also wrote a new file, which may be part of the difference.")
    });
    format!(
        "Why not {}×: {whose} {long} for an I/O of {block} over {narrow} bit and {short} over {wide} bits{by_name}. If the \
         width is the only difference, about {transfer} and {over_wide} of that are transfer (as if the clock were {clock} MHz), and \
         {rest} {rest_is}.{new_file} At that clock \
         {wide} bits carry at most {most}, and {reached} were reached: larger blocks should gain more (`hakaru campaign \
         init article-d` measures 4 KiB to 1 MiB on both).",
        wide / narrow
    )
}
