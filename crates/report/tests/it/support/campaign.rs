//! A hand-written campaign: two cards, two layers, and everything that a report can contain about them.

use super::{comparisons, findings, sandisk, sandisk_vfat};
use hakaru_model::campaign::*;
use hakaru_model::finding::*;
use hakaru_model::units::{Bytes, Nanos};

fn layer(name: &str, summary: Summary) -> LayerSummary {
    let along = (0..8).map(|i| DeviceSegment {
        offset: Bytes(i << 30),
        len: Bytes(1 << 30),
        elapsed: Nanos::from_secs(30 + i % 3),
    });
    let fill = PreparedStep {
        step: StepKind::Filled {
            with: FillContent::Ones,
        },
        elapsed: Nanos::from_secs(250),
        speed: along.collect(),
        written: Bytes(0),
    };
    let mkfs = PreparedStep {
        step: StepKind::Formatted {
            command: vec![format!("mkfs.{name}")],
        },
        elapsed: Nanos::from_secs(3),
        speed: Vec::new(),
        written: Bytes(0),
    };
    LayerSummary {
        layer: name.into(),
        summary,
        prepared: vec![fill, mkfs],
        advice: findings().advice,
    }
}

/// Adds the statistics over runs that campaign reports contain.
fn repeated(mut summary: Summary) -> Summary {
    for phase in &mut summary.phases {
        let mean = phase.bandwidth.mean;
        let steady = SteadyWindow {
            first_round: 1,
            rounds: 5,
            average: mean,
            excursion: 0.04,
            slope: -0.01,
        };
        let bootstrap_ci95 = Some((mean * 0.98, mean * 1.02));
        phase.detail.repeated = Some(Repeated {
            relative_error: Some(0.02),
            bootstrap_ci95,
            steady: Some(steady),
            steady_windows: vec![steady],
        });
        let stability = Stability {
            outliers: vec![6],
            drift: Some(-0.012),
            drift_p: Some(0.34),
            lag1: Some(-0.21),
            effective_runs: Some(10.0),
        };
        phase.detail.stability = Some(stability);
    }
    summary
}

fn card(name: &str) -> CardSummary {
    let cost = |comparison: Comparison| LayerCost {
        layer: "vfat".into(),
        phase: "rand-write".into(),
        op: hakaru_model::job::Op::Write,
        comparison,
        amplification_raw: Some(1.0),
        amplification_layer: Some(11.4),
    };
    CardSummary {
        name: name.into(),
        key: format!("0x{name}"),
        host: "pi4".into(),
        printed: vec![Claim::ReadSpeed(100.0), Claim::UhsGrade(3)],
        facts: vec![("price".into(), "680 yen".into())],
        layers: vec![
            layer("raw", repeated(sandisk())),
            layer("vfat", repeated(sandisk_vfat())),
        ],
        claims: findings().claims,
        costs: vec![cost(comparisons()[1].clone())],
    }
}

/// A campaign of two cards.
pub(crate) fn campaign() -> CampaignSummary {
    let phases = sandisk().phases;
    let of_phase = |layer: &str, phase: &PhaseSummary| {
        let place = |card, rank, share| RankedCard {
            card,
            rank,
            letters: ["a", "b"][rank as usize - 1].into(),
            mean: phase.bandwidth.mean * share,
            deviation: Some(1.0),
        };
        let pairs = vec![CardPair {
            a: 0,
            b: 1,
            comparison: comparisons()[0].clone(),
        }];
        let (phase, op) = (phase.phase.clone(), phase.op);
        let places = vec![place(0, 1, 1.0), place(1, 2, 0.8)];
        Ranking {
            layer: layer.into(),
            phase,
            op,
            unit: "B/s".into(),
            places,
            pairs,
        }
    };
    let rankings = ["raw", "vfat"]
        .iter()
        .flat_map(|layer| phases.iter().map(move |phase| of_phase(layer, phase)));
    let limits = findings()
        .limits
        .into_iter()
        .map(|limit| ("raw".to_owned(), limit));
    CampaignSummary {
        id: "six-cards".into(),
        name: "six cards".into(),
        about: "what they are good for".into(),
        method: vec![("Repeats".into(), "each point 10 times".into())],
        layers: vec!["raw".into(), "vfat".into()],
        cards: vec![card("kingston"), card("sandisk")],
        limits: limits.collect(),
        rankings: rankings.collect(),
        runs: 60,
        planned: Some(64),
        failed: vec![FailedRun {
            run: "x1".into(),
            point: "sandisk, raw".into(),
            because: "it was stopped".into(),
        }],
        unreadable: Vec::new(),
        other_definition: 2,
        rechecks: Vec::new(),
        weaknesses: vec![
            Weakness::Unfinished {
                runs: 60,
                planned: 64,
            },
            Weakness::Changed {
                what: Circumstance::Kernel,
                values: vec!["Linux 6.12".into(), "Linux 6.13".into()],
            },
        ],
        notes: vec!["a note".into()],
        reference: 0,
        reference_layer: "raw".into(),
        ..CampaignSummary::default()
    }
}

/// A campaign with the given text in all text fields.
pub(crate) fn hostile_campaign(text: &str) -> CampaignSummary {
    let mut campaign = campaign();
    let CampaignSummary {
        id,
        name,
        about,
        method,
        layers,
        cards,
        limits,
        rankings,
        failed,
        weaknesses,
        notes,
        ..
    } = &mut campaign;
    // Two layers need different names.
    let other = format!("{text} 2");
    for (field, value) in [(id, text), (name, text), (about, text)] {
        value.clone_into(field);
    }
    *method = vec![(text.into(), text.into())];
    *layers = vec![text.into(), other.clone()];
    limits
        .iter_mut()
        .for_each(|(layer, _)| text.clone_into(layer));
    for ranking in rankings {
        let through = if ranking.layer == "raw" { text } else { &other };
        through.clone_into(&mut ranking.layer);
        text.clone_into(&mut ranking.phase);
        ranking
            .pairs
            .iter_mut()
            .for_each(|pair| pair.comparison.quantity = text.into());
    }
    *failed = vec![FailedRun {
        run: text.into(),
        point: text.into(),
        because: text.into(),
    }];
    *weaknesses = vec![
        Weakness::Changed {
            what: Circumstance::Device { card: text.into() },
            values: vec![text.into()],
        },
        Weakness::Drifted {
            card: text.into(),
            layer: text.into(),
            phases: vec![text.into()],
        },
    ];
    *notes = vec![text.into()];
    for card in cards {
        hostile_card(card, text, &other);
    }
    text.clone_into(&mut campaign.reference_layer);
    campaign
}

fn hostile_card(card: &mut CardSummary, text: &str, other: &str) {
    for field in [&mut card.name, &mut card.key, &mut card.host] {
        text.clone_into(field);
    }
    card.facts = vec![(text.into(), text.into())];
    for (layer, through) in card.layers.iter_mut().zip([text, other]) {
        through.clone_into(&mut layer.layer);
        layer.summary = repeated(super::hostile(text));
        for step in &mut layer.prepared {
            step.step = StepKind::Described { what: text.into() };
        }
        for advice in &mut layer.advice {
            text.clone_into(&mut advice.title);
            text.clone_into(&mut advice.id);
        }
    }
    for cost in &mut card.costs {
        other.clone_into(&mut cost.layer);
        text.clone_into(&mut cost.phase);
        cost.comparison.quantity = text.into();
    }
}
