//! Hand-written conclusions with every kind of verdict.

use hakaru_model::advice::{Advice, Criterion, Decision, Fitness, RunFindings};
use hakaru_model::finding::*;
use hakaru_model::job::Op;
use hakaru_model::references::{NamedFigure, ReferenceStanding};
use hakaru_model::units::BytesPerSec;

fn criterion(figure: Figure, fits: f64, care: f64) -> Criterion {
    Criterion {
        figure,
        fits,
        care,
        why: "because it is so".into(),
    }
}

fn decision(
    figure: Figure,
    value: f64,
    (fits, care): (f64, f64),
    fitness: Fitness,
    firm: bool,
) -> Decision {
    let spread = if firm { 0.02 } else { 0.3 };
    let measured = MeasuredFigure {
        phase: "x".into(),
        value,
        ci95: Some((value * (1.0 - spread), value * (1.0 + spread))),
        bounds: None,
        stalls: None,
        runs: 10,
    };
    let better_from = match fitness {
        Fitness::Fits => None,
        Fitness::WithCare => Some(fits),
        Fitness::DoesNot => Some(care),
    };
    Decision {
        criterion: criterion(figure, fits, care),
        measured,
        fitness,
        firm,
        better_from,
    }
}

fn advice(
    id: &str,
    title: &str,
    decided_by: Vec<Decision>,
    not_measured: Vec<Criterion>,
) -> Advice {
    let fitness = decided_by.iter().map(|d| d.fitness).min();
    Advice {
        id: id.into(),
        title: title.into(),
        fitness,
        decided_by,
        not_measured,
        impossible_on: None,
    }
}

fn claim(
    claim: Claim,
    verdict: ClaimVerdict,
    parts: Vec<ClaimPart>,
    unmet: Vec<Condition>,
) -> ClaimCheck {
    ClaimCheck {
        claim,
        parts,
        unmet,
        verdict,
    }
}

fn part(figure: Figure, required: f64, value: Option<f64>) -> ClaimPart {
    let measured = value.map(|value| MeasuredFigure {
        phase: "x".into(),
        value,
        ci95: None,
        bounds: None,
        stalls: None,
        runs: 10,
    });
    ClaimPart {
        figure,
        required,
        measured,
    }
}

fn standing() -> ReferenceStanding {
    let named = |card: &str, value| NamedFigure {
        card: card.into(),
        value,
    };
    ReferenceStanding {
        phase: "rand-write".into(),
        op: Op::Write,
        among: "six cards".into(),
        layer: "raw".into(),
        by_iops: true,
        here: 610.0,
        ahead_of: 3,
        level_with: 1,
        behind: 2,
        least: named("slow <card>", 254.0),
        most: named("quick", 1489.0),
        hosts: vec!["pi4".into()],
        fewest_runs: 10,
    }
}

/// Typical conclusions about an endurance card.
pub(crate) fn findings() -> RunFindings {
    use Figure::*;
    let (fits, care, not) = (Fitness::Fits, Fitness::WithCare, Fitness::DoesNot);
    let advice = vec![
        advice(
            "os",
            "OS boot and packages",
            vec![decision(RandomWrite, 610.0, (500.0, 100.0), fits, true)],
            vec![],
        ),
        advice(
            "database",
            "database and logs",
            vec![
                decision(SyncP99, 12.9, (10.0, 50.0), care, false),
                decision(SyncP999, 48.0, (50.0, 250.0), fits, true),
                decision(RandomRead, 1538.0, (1500.0, 500.0), fits, true),
            ],
            vec![],
        ),
        advice(
            "nas",
            "NAS and photo archive",
            vec![decision(SustainedWrite, 11.9, (60.0, 20.0), not, true)],
            vec![criterion(SequentialRead, 100.0, 25.0)],
        ),
        advice(
            "games",
            "game and emulator storage",
            vec![],
            vec![criterion(RandomReadP99, 5.0, 20.0)],
        ),
    ];
    let bus = Condition::Bus {
        needed: BytesPerSec(133e6),
        ceiling: BytesPerSec(50e6),
    };
    let claims = vec![
        claim(
            Claim::AppClass(1),
            ClaimVerdict::Kept,
            vec![part(RandomWrite, 500.0, Some(610.0))],
            vec![],
        ),
        claim(
            Claim::UhsGrade(3),
            ClaimVerdict::Missed,
            vec![part(SlowestWrite, 30.0, Some(4.2))],
            vec![],
        ),
        claim(
            Claim::ReadSpeed(100.0),
            ClaimVerdict::NotShown,
            vec![part(SequentialRead, 100.0, Some(40.5))],
            vec![bus],
        ),
        claim(
            Claim::VideoClass(30),
            ClaimVerdict::NotMeasured,
            vec![part(SlowestWrite, 30.0, None)],
            vec![],
        ),
    ];
    let limit = |op, mb: f64, limit| BusLimit {
        host: None,
        op,
        members: vec![0],
        measured: BytesPerSec(mb * 1e6),
        ceiling: Some(BytesPerSec(50e6)),
        share: Some(mb / 50.0),
        cards: 1,
        spread: None,
        limit,
    };
    let limits = vec![
        limit(Op::Read, 40.5, Bottleneck::Host),
        limit(Op::Write, 12.0, Bottleneck::Card),
    ];
    RunFindings {
        advice,
        claims,
        limits,
        standings: vec![standing()],
    }
}
