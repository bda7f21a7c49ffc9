//! Sentences about the history of a card.

use super::*;
use hakaru_model::history::{DefectKind, HistoryCaveat, MissingProof, Trend, WearSign};

/// The number of a variant; a new variant does not compile until it is listed here.
fn number_of_sign(sign: &WearSign) -> usize {
    match sign {
        WearSign::BadBlocks { .. } => 0,
        WearSign::IoErrors { .. } => 1,
        WearSign::Reserve { .. } => 2,
        WearSign::LifeUsed { .. } => 3,
        WearSign::Defects { .. } => 4,
        WearSign::Warning { .. } => 5,
        WearSign::SlowerWrites { .. } => 6,
        WearSign::MoreRetries { .. } => 7,
    }
}

fn trend() -> Trend {
    Trend {
        phase: "rand-write".to_owned(),
        op: Op::Write,
        shape: None,
        layer: "ext4".to_owned(),
        host: "pi4".to_owned(),
        unit: "1/s".to_owned(),
        points: Vec::new(),
        comparison: None,
    }
}

#[test]
fn every_sign_of_wear_has_its_sentence() {
    let defects = |kind| WearSign::Defects {
        kind,
        first: 1,
        last: 8,
    };
    let state = "warning".to_owned();
    let all = [
        WearSign::BadBlocks {
            at_unix_ms: 1_767_607_200_000,
            bytes: GIB,
        },
        WearSign::IoErrors { count: 3 },
        WearSign::Reserve { state },
        WearSign::LifeUsed { percent: 90 },
        defects(DefectKind::MediaErrors),
        defects(DefectKind::Reallocated),
        defects(DefectKind::Pending),
        WearSign::Warning {
            text: "as it was".to_owned(),
        },
        WearSign::SlowerWrites { trend: 0 },
        WearSign::SlowerWrites { trend: 9 },
        WearSign::MoreRetries {
            first: 1.0,
            last: 2.0,
        },
    ];
    let numbers: BTreeSet<usize> = all.iter().map(number_of_sign).collect();
    assert_eq!(numbers, (0..8).collect());
    for sign in all {
        let said = in_both(&[], || text::wear_sign(&sign, &[trend()]));
        check(&said);
        begins_with_a_capital(&said);
    }
}

#[test]
fn every_proof_and_caveat_of_a_history_has_its_sentence() {
    for proof in [
        MissingProof::Series { have: 1, needed: 4 },
        MissingProof::MoreSeries { have: 4 },
        MissingProof::Verification,
        MissingProof::WearData,
        MissingProof::Retries { have: 1 },
    ] {
        let stored = [
            "`hakaru verify DEVICE`",
            "`hakaru verify DIR`",
            "`hakaru bench --trace`",
        ]
        .map(str::to_owned);
        check(&in_both(&stored, || text::missing_proof(proof)));
    }
    let names = vec!["6.12".to_owned(), "6.13".to_owned()];
    for caveat in [
        HistoryCaveat::ByLabel,
        HistoryCaveat::Hosts {
            names: names.clone(),
        },
        HistoryCaveat::Kernels { names },
        HistoryCaveat::FillLevels { low: 3, high: 80 },
        HistoryCaveat::SameDay { series: 3 },
    ] {
        let said = in_both(&[], || text::history_caveat(&caveat));
        check(&said);
        begins_with_a_capital(&said);
    }
}
