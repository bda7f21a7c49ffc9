//! Pages of the published comparisons: two file systems, a microSD card against an SSD, one data line against four, and a
//! box of used cards. That of six cards is among the other pages.

use anyhow::{Context, Result};
use std::path::Path;

/// Name of a simulated card, write rate in bytes per second, and time of a random write and of a random read in
/// nanoseconds. The figures of the used cards are not published as a table: these differ as much as the article says,
/// from 250 to 20 writes and from 1,800 to 700 reads a second.
const USED: [(&str, u64, u64, u64); 5] = [
    ("A, 8 GB", 9_000_000, 3_600_000, 420_000),
    ("B, 16 GB", 14_000_000, 7_000_000, 500_000),
    ("C, 8 GB", 11_000_000, 12_000_000, 700_000),
    ("no name 4 GB", 5_000_000, 25_000_000, 900_000),
    ("worn 2 GB", 3_000_000, 46_000_000, 1_250_000),
];

/// The hosts, with the time in nanoseconds that each adds to a request.
const HOSTS: [(&str, u64); 2] = [("pi-b-plus", 120_000), ("zero-w", 190_000)];

/// The six tests of `iozone -T -t 4 -r 4k -I -i0 -i1 -i2`, with smaller files: a simulation takes time for each I/O.
const WORKLOADS: &str = r#"
[[workload]]
name = "write"
rw = "write"
bs = "4 KiB"
size = "64 MiB"
numjobs = 4

[[workload]]
name = "rewrite"
rw = "write"
bs = "4 KiB"
size = "64 MiB"
numjobs = 4
overwrite = true

[[workload]]
name = "read"
rw = "read"
bs = "4 KiB"
size = "64 MiB"
numjobs = 4

[[workload]]
name = "re-read"
rw = "read"
bs = "4 KiB"
size = "64 MiB"
numjobs = 4

[[workload]]
name = "random-read"
rw = "randread"
bs = "4 KiB"
runtime = "10 s"
size = "64 MiB"
numjobs = 4

[[workload]]
name = "random-write"
rw = "randwrite"
bs = "4 KiB"
runtime = "10 s"
size = "64 MiB"
numjobs = 4
"#;

/// `LOGS` is the directory of the published logs.
pub(super) const COMMANDS: &[&[&str]] = &[
    &[
        "import",
        "--label",
        "ext4",
        "LOGS/f2fs-blog-ext4-1.txt",
        "LOGS/f2fs-blog-ext4-2.txt",
    ],
    &[
        "import",
        "--label",
        "F2FS",
        "LOGS/f2fs-blog-f2fs-1.txt",
        "LOGS/f2fs-blog-f2fs-2.txt",
    ],
    &[
        "compare",
        "ext4",
        "F2FS",
        "-o",
        "article-b.html",
        "--charts",
        "charts-b",
    ],
    &[
        "compare",
        "ext4",
        "F2FS",
        "-o",
        "article-b-ja.html",
        "--lang=ja",
    ],
    &[
        "import",
        "--label",
        "microSD",
        "LOGS/pi5-1-seqrw-microsd.txt",
        "LOGS/pi5-2-randread-microsd.txt",
        "LOGS/pi5-3-fsync-microsd.txt",
        "LOGS/pi5-4-sustain-microsd.txt",
    ],
    &[
        "import",
        "--label",
        "SSD",
        "LOGS/pi5-1-seqrw-ssd.txt",
        "LOGS/pi5-2-randread-ssd.txt",
        "LOGS/pi5-3-fsync-ssd.txt",
        "LOGS/pi5-4-sustain-ssd.txt",
    ],
    &[
        "compare",
        "microSD",
        "SSD",
        "-o",
        "article-c.html",
        "--charts",
        "charts-c",
    ],
    &[
        "compare",
        "microSD",
        "SSD",
        "-o",
        "article-c-ja.html",
        "--lang=ja",
    ],
    &["import", "--label", "1-bit", "LOGS/sdio-1bit.txt"],
    &["import", "--label", "4-bit", "LOGS/sdio-4bit.txt"],
    &[
        "compare",
        "1-bit",
        "4-bit",
        "-o",
        "article-d.html",
        "--charts",
        "charts-d",
    ],
    &[
        "compare",
        "1-bit",
        "4-bit",
        "-o",
        "article-d-ja.html",
        "--lang=ja",
    ],
    &["@pi-b-plus", "campaign", "run", "used.toml"],
    &["@zero-w", "campaign", "run", "used.toml"],
    &[
        "campaign",
        "report",
        "pi-b-plus/used.toml",
        "-o",
        "article-e.html",
        "--charts",
        "charts-e",
    ],
    &[
        "campaign",
        "report",
        "pi-b-plus/used.toml",
        "-o",
        "article-e-ja.html",
        "--lang=ja",
    ],
];

/// Writes the campaign of the used cards and their device models, in a directory for each host.
///
/// # Errors
/// If a file cannot be written.
pub(super) fn write(home: &Path) -> Result<()> {
    for (host, overhead) in HOSTS {
        let home = home.join(host);
        std::fs::create_dir_all(&home).context("cannot create a directory")?;
        let mut campaign =
            "name = \"a box of used cards\"\nrepeats = 3\norder = \"interleaved\"\n".to_owned();
        for (nth, (name, rate, write_seek, read_seek)) in USED.into_iter().enumerate() {
            let file = format!("used-{nth}.json");
            let model = serde_json::json!({
                "name": name, "capacity": 8_u64 << 30, "block_size": 512, "jitter_permille": 40,
                "read_rate": 20_000_000, "write_rate": rate, "read_seek": read_seek, "write_seek": write_seek,
                "read_overhead": overhead, "write_overhead": overhead, "flush": 3_000_000,
            });
            std::fs::write(home.join(&file), model.to_string())
                .context("cannot write a device model")?;
            campaign += &format!("\n[[card]]\nlabel = \"{name}\"\nsimulate = \"{file}\"\n");
        }
        campaign += WORKLOADS;
        std::fs::write(home.join("used.toml"), campaign).context("cannot write a campaign")?;
    }
    Ok(())
}
