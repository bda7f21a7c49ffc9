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
        Asked: "Asked", "要求";
        AtDevice: "At the device", "デバイス";
        TestData: "Test data", "テストデータ";
        Median: "median", "中央値";
        Mean: "mean", "平均";
        Tables: "Tables", "表";
        AddressesAndTables: "Addresses, sizes, queue depth and tables", "アドレス、サイズ、キュー深度、表";
        ChartsAndTables: "Charts and tables", "グラフと表";
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
        ListedResult: "RESULT", "結果";
        ListedLastRun: "LAST RUN (UTC)", "最終測定（UTC）";
        ListedVerification: "VERIFICATION", "検証";
        ListedStart: "STARTED (UTC)", "開始（UTC）";
        ListedOutcome: "OUTCOME", "判定";
        ListedTarget: "TARGET", "測定対象";
        Verdict: "Verdict", "判定";
        Because: "Because", "根拠";
        Phase: "Phase", "フェーズ";
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
        NoDisks: "No disk can be seen here.", "ディスクが見つかりません";
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
