//! Labels: headings, titles and names of one to a few words, in every language side by side.

use super::{Language, language};

/// Defines enums of labels; each row has the label in English and in Japanese.
macro_rules! labels {
    ($($(#[$meta:meta])* $name:ident { $($variant:ident: $english:literal, $japanese:literal;)* })*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub(crate) enum $name {
                $($variant,)*
            }

            impl $name {
                /// Every label.
                #[cfg(test)]
                const ALL: &[$name] = &[$($name::$variant,)*];

                /// The label in the language of the thread.
                pub(crate) fn text(self) -> &'static str {
                    match (language(), self) {
                        $(
                            (Language::English, $name::$variant) => $english,
                            (Language::Japanese, $name::$variant) => $japanese,
                        )*
                    }
                }
            }

            impl From<$name> for String {
                fn from(label: $name) -> String {
                    label.text().to_owned()
                }
            }
        )*

        #[cfg(test)]
        fn all() -> Vec<String> {
            let families = [$($name::ALL.iter().map(|label| label.text().to_owned()).collect::<Vec<_>>(),)*];
            families.concat()
        }
    };
}

labels! {
    /// Labels of the path of an I/O.
    PathLabel {
        Application: "Application", "アプリケーション";
        BlockLayer: "Block layer", "ブロック層";
        Class: "Class", "種類";
        Bytes: "Bytes", "バイト";
        PerByteAsked: "per byte asked", "要求1バイトあたり";
        Bios: "Bios", "bio";
        Merged: "Merged", "結合";
        Split: "Split", "分割";
        Requests: "Requests", "リクエスト";
        Operation: "Operation", "操作";
        RequestsDrawn: "Requests drawn", "描画したリクエスト";
        From: "From", "開始";
        To: "To", "終了";
        Size: "Size", "サイズ";
        Asked: "I/Os asked", "要求したI/O";
        AtDevice: "Requests at the device", "デバイスへのリクエスト";
        TestData: "Test data", "テストデータ";
        Median: "median", "中央値";
        Mean: "mean", "平均";
        Tables: "Tables", "表";
        AddressesAndTables: "Addresses, sizes, queue depth and tables", "アドレス、サイズ、キュー深度、表";
        ChartsAndTables: "Charts and tables", "グラフと表";
        Time: "Time", "時間";
        Places: "Addresses and sizes", "アドレスとサイズ";
        Table: "Table", "表";
        OtherPhases: "Other phases", "その他のフェーズ";
    }
    /// Labels and titles of the page about a device.
    DeviceLabel {
        Target: "Target", "測定対象";
        Device: "Device", "デバイス";
        Bus: "Bus", "バス";
        Queue: "Queue", "キュー";
        Content: "Content", "内容";
        Host: "Host", "ホスト";
        Suspicious: "Worth a second look", "要確認";
        Path: "Path", "パス";
        FileSystem: "File system", "ファイルシステム";
        Space: "Space", "容量";
        Options: "Options", "オプション";
        System: "System", "システム";
        State: "State", "状態";
        Node: "Node", "デバイスノード";
        Size: "Size", "サイズ";
        Model: "Model", "モデル";
        SerialNumber: "Serial number", "シリアル番号";
        Firmware: "Firmware", "ファームウェア";
        WorldWideName: "World-wide name", "WWN";
        Aliases: "Also known as", "別名";
        Chain: "Stands on", "デバイス構成";
        Driver: "Driver", "ドライバ";
        Nature: "Nature", "種別";
        Temperature: "Temperature", "温度";
        Health: "Health", "健康状態";
        BlockSize: "Block size", "ブロックサイズ";
        Scheduler: "Scheduler", "I/Oスケジューラ";
        WriteCache: "Write cache", "書き込みキャッシュ";
        LargestRequest: "Largest request", "最大リクエスト";
        QueueLength: "Queue length", "キューの長さ";
        Discard: "Discard", "discard(TRIM)";
        Zones: "Zones", "ゾーン";
        Kind: "Kind", "種類";
        Width: "Width", "バス幅";
        Clock: "Clock", "クロック";
        Timing: "Timing", "タイミング";
        Speed: "Speed", "速度";
        Link: "Link", "リンク";
        Ceiling: "Ceiling", "上限";
        CardType: "Type", "種類";
        Specification: "Specification", "規格";
        Maker: "Maker", "製造元";
        OemId: "OEM ID", "OEM ID";
        Name: "Name", "製品名";
        Revision: "Revision", "リビジョン";
        Made: "Made", "製造年月";
        SpeedClass: "Speed Class", "スピードクラス";
        UhsGrade: "UHS grade", "UHSスピードクラス";
        VideoClass: "Video class", "ビデオスピードクラス";
        ApplicationClass: "Application class", "アプリケーションパフォーマンスクラス";
        AllocationUnit: "Allocation unit", "アロケーションユニット(AU)";
        Modes: "Modes", "動作モード";
        LifeTime: "Life time used up", "寿命消費率";
        SpareBlocks: "Reserve blocks", "予備ブロック";
        Cid: "CID", "CID";
        Csd: "CSD", "CSD";
        Scr: "SCR", "SCR";
        Ssr: "SSR", "SSR";
        Found: "Found", "検出";
    }

    /// Counters of the health of a disk.
    HealthCounter {
        LifeUsed: "life used up", "寿命消費率";
        SpareLeft: "reserve left", "予備ブロックの残り";
        Written: "written", "総書き込み量";
        Read: "read", "総読み込み量";
        PowerOnHours: "hours on", "通電時間";
        UnsafeShutdowns: "unsafe shutdowns", "異常な電源断";
        MediaErrors: "media errors", "メディアエラー";
        Reallocated: "sectors replaced", "代替処理済みセクタ";
        Pending: "sectors to be replaced", "代替処理待ちセクタ";
    }

    /// Heads of columns.
    Head {
        ListedDevice: "DEVICE", "デバイス";
        ListedSize: "SIZE", "サイズ";
        ListedBus: "BUS", "バス";
        ListedWhat: "WHAT", "製品";
        ListedState: "STATE", "状態";
        ListedId: "ID", "ID";
        ListedLabel: "LABEL", "ラベル";
        ListedLayer: "LAYER", "レイヤ";
        ListedRuns: "RUNS", "測定回数";
        ListedResult: "RESULT (READ/WRITE)", "結果（読み込み/書き込み）";
        ListedLastRun: "LAST RUN (UTC)", "最終測定（UTC）";
        ListedVerification: "VERIFICATION", "検証";
        ListedAnatomy: "ANATOMY", "構造調査";
        ListedFinding: "FINDING", "判明した構造";
        ListedStart: "STARTED (UTC)", "開始（UTC）";
        ListedOutcome: "OUTCOME", "判定";
        ListedTarget: "TARGET", "測定対象";
        Verdict: "Verdict", "判定";
        Because: "Because", "根拠";
        Phase: "Phase", "フェーズ";
        Series: "Series", "測定シリーズ";
        Workload: "Workload", "測定内容";
        MegabytesPerSecond: "MB/s", "MB/s";
        Iops: "IOPS", "IOPS";
        Median: "Median", "中央値";
        MedianColumn: "median", "中央値";
        P99: "P99", "P99";
        P999: "P99.9", "P99.9";
        Longest: "Longest", "最大";
        LongestColumn: "longest", "最大";
        Amplification: "Amplification", "I/O増幅率";
        Run: "Run", "測定";
        Runs: "Runs", "回数";
        RunIds: "Runs", "測定ID";
        ComparedRuns: "runs", "測定回数";
        Figure: "Figure", "項目";
        Ratio: "Ratio", "比";
        ComparedRatio: "ratio", "比";
        RatioInterval: "Ratio [95%]", "比[95%]";
        Interval: "95% interval", "95%信頼区間";
        Thing: "Thing", "対象";
        Layer: "Layer", "レイヤ";
        RunCount: "n", "n";
        Host: "Host", "ホスト";
        LayerAndFigure: "Layer and figure", "レイヤと項目";
        AmplificationBefore: "Amplification before", "基準のI/O増幅率";
        AmplificationThrough: "Amplification through it", "このレイヤのI/O増幅率";
        Pair: "Pair", "組";
        PByRanks: "p by ranks (Mann-Whitney)", "p値（マン・ホイットニーのU検定）";
        EffectSize: "Effect (Hedges’ g) [95%]", "効果量(Hedges’ g)[95%]";
        CliffsDelta: "Cliff’s delta", "Cliffのデルタ";
        PWelch: "p, Welch", "p値（ウェルチ）";
        PCorrected: "p, corrected", "p値（補正後）";
        PSame: "p, same", "p値（同等性）";
        PRanks: "p, ranks", "p値（順位）";
        HedgesG: "Hedges’ g [95%]", "Hedges’ g [95%]";
        PhaseAndUnit: "Phase and unit", "フェーズと単位";
        MeanStudent: "Mean [95%, Student]", "平均[95%、t分布]";
        Bootstrap: "[95%, bootstrap]", "[95%、ブートストラップ]";
        RelativeError: "Relative error", "相対誤差";
        MedianMad: "Median ± MAD", "中央値 ± MAD";
        Outliers: "Outliers", "外れ値";
        Drift: "Drift", "ドリフト";
        Correlation: "Correlation of neighbours", "前後の測定の相関";
        SteadyState: "Steady state", "定常状態";
        SlowestRate: "Slowest, MB/s", "最低(MB/s)";
        MeanRate: "Mean of the places, MB/s", "各位置の平均(MB/s)";
        FastestRate: "Fastest, MB/s", "最高(MB/s)";
        Printed: "Printed", "表示";
        MeasuredRate: "Measured, MB/s [95%]", "実測(MB/s)[95%]";
        Share: "Share", "割合";
        From: "From", "開始位置";
        Length: "Length", "長さ";
        WritingRate: "Writing, MB/s", "書き込み(MB/s)";
        ReadingRate: "Reading, MB/s", "読み込み(MB/s)";
        At: "At", "位置";
        Byte: "Byte", "バイト位置";
        WhatWasFound: "What was found", "検出内容";
    }

    /// Names of figures of a comparison.
    ComparedFigureName {
        Bandwidth: "bandwidth", "スループット";
        Iops: "IOPS", "IOPS";
        BothDirections: "bandwidth, reads and writes together", "読み書き合計のスループット";
        MovedInAll: "total transferred", "総転送量";
        LeastOverTime: "bandwidth, slowest interval", "最も遅い区間のスループット";
        MostOverTime: "bandwidth, fastest interval", "最も速い区間のスループット";
        DeviationOverTime: "bandwidth, deviation of intervals", "区間のスループットの標準偏差";
        InDevice: "block-layer I/O time (await), mean", "ブロック層のI/O時間（await、平均）";
        Latency: "latency", "レイテンシ";
        Fsync: "fsync", "fsync";
        Mean: "mean", "平均";
        MeanFsync: "mean fsync", "fsyncの平均";
    }

    /// Labels of a verification.
    VerificationLabel {
        Id: "Id", "ID";
        Claimed: "Claimed", "表示容量";
        NotAsWritten: "Not as written", "書き込みと不一致";
        WrittenAt: "Written at", "書き込み速度";
        ReadAt: "Read at", "読み込み速度";
        Writing: "Writing", "書き込み";
        Reading: "Reading", "読み込み";
        WritingLine: "writing", "書き込み";
        ReadingLine: "reading", "読み込み";
        Map: "Speed along the addresses", "位置ごとの速度";
        Bytes: "bytes", "バイト";
    }

    /// Labels of the facts about a card of a campaign.
    CardLabel {
        AnswersTo: "Name in commands", "コマンドでの名前";
        MeasuredOn: "Measured on", "測定したホスト";
        PrintedOnIt: "Printed on it", "本体の表示";
        DoneBefore: "Done before", "前処理";
    }

    /// Units and axes of charts.
    AxisLabel {
        BytesPerByte: "bytes written per byte", "書き込み量の比";
        GibFromStart: "GiB from the start of the device", "デバイスの先頭からの位置 GiB";
        Milliseconds: "milliseconds", "ミリ秒";
        Seconds: "seconds", "秒";
    }

    /// Headings of parts of a terminal report.
    PartLabel {
        InShort: "In short", "概要";
        Tests: "The tests behind it", "判定の根拠となる検定";
    }

    /// Headings of the sections of charts.
    SectionLabel {
        Speed: "Speed", "速度";
        LayerCost: "Cost of the file system", "ファイルシステムの影響";
        Amplification: "I/O amplification", "I/O増幅率";
        Latency: "Latency", "レイテンシ";
        Sustained: "Sustained speed", "持続性能";
        OverTime: "Speed over time", "スループットの推移";
        Map: "Speed along the device", "位置ごとの速度";
        Claims: "Rated vs. measured", "公称値と実測値";
        Path: "Path of an I/O", "I/Oの経路";
    }

    /// Words for a state or an outcome.
    StateWord {
        None: "none", "なし";
        Removable: "removable", "リムーバブル";
        BuiltIn: "built in", "内蔵";
        Rotates: "says that it rotates", "回転メディアと報告";
        WriteProtected: "write-protected", "書き込み禁止";
        SameDisk: "runs from the same disk", "同じディスクから起動";
        NothingKnown: "nothing that is known", "既知の内容なし";
        NothingCounted: "nothing is counted", "カウンタなし";
        NotOffered: "not offered", "非対応";
        Offered: "offered", "対応";
        Defects: "defects", "不良";
        Good: "good", "正常";
        EndedEarly: "ended early", "途中終了";
        Traced: "traced", "トレースあり";
        NoOutliers: "none", "なし";
        NotReached: "not reached", "未到達";
        NoDisks: "No disk can be seen here.", "表示できるディスクなし";
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::with_language;

    #[test]
    fn labels_are_in_their_language() {
        let foreign = |c: char| ('\u{3040}'..'\u{a000}').contains(&c);
        let english = all();
        assert!(english.iter().all(|label| !label.contains(foreign)));
        for (english, japanese) in english.iter().zip(with_language(Language::Japanese, all)) {
            assert!(!english.trim().is_empty() && !japanese.trim().is_empty());
            // Names of registers and units are the same in both.
            let same = english == &japanese && english.chars().any(|c| c.is_ascii_uppercase());
            assert!(
                same || japanese.contains(foreign) || !japanese.contains(' '),
                "{japanese}"
            );
            for wrong in ["読み取り", "計測", "レイヤー", "サマリ", "：", "％"] {
                assert!(!japanese.contains(wrong), "{japanese}");
            }
        }
    }
}
