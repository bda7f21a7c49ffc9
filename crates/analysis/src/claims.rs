//! Compares the claims of a card with the measurements: Speed Classes, Application Performance
//! Classes, rated speeds.
//!
//! A class applies under test conditions. Some unmet conditions lower the figures (a file system, a
//! slow bus), some raise them (the page cache, a short run). A claim is met if the figures reach it
//! and nothing raised them, not met if they do not and nothing lowered them; otherwise the verdict
//! is open, with its reasons.

use crate::figures::{figure, phase_of};
use crate::limits::ceiling;
use crate::summarize::{SHORT, SMALL_FILE};
use hakaru_model::facts::Identity;
use hakaru_model::finding::{
    Claim, ClaimCheck, ClaimPart, ClaimVerdict, Condition, Figure, MeasuredFigure, PhaseSummary,
    Summary, WorkloadShape,
};
use hakaru_model::units::{Bytes, BytesPerSec};

/// Range in which application classes are tested. A smaller one raises the figures, because
/// controllers cache the map of about this range; a larger one lowers them.
///
/// Source: SD Association, "Application Performance Class" (white paper, 2016) and Physical Layer Simplified Specification
/// 6.00, the chapter of that name: random I/Os of 4 KiB within a range of 256 MB.
pub(crate) const RANDOM_SPAN: Bytes = Bytes(256 << 20);

/// Queue depth at which an application class is tested: A1 sends one command at a time, A2 uses the
/// command queue of 32. Source: as for [`RANDOM_SPAN`], and the chapter on Command Queue.
pub(crate) fn class_depth(class: u32) -> u32 {
    if class >= 2 { 32 } else { 1 }
}

/// Minimum runs for a variation.
const FEWEST_RUNS: u32 = 2;

/// Circumstances that no record contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClaimContext {
    /// Whether the whole card was discarded before each run.
    pub erased: bool,
}

/// Evaluates the claims in the registers of a card.
pub fn claims(summary: &Summary, identity: &Identity) -> Vec<ClaimCheck> {
    check_claims(summary, &claims_of(identity), ClaimContext::default())
}

/// Returns the claims in the registers of a card.
pub fn claims_of(identity: &Identity) -> Vec<Claim> {
    let Some(card) = identity
        .device
        .known()
        .and_then(|device| device.card.as_ref())
    else {
        return Vec::new();
    };
    let class = |fact: &hakaru_model::facts::Fact<u32>| fact.known().copied().filter(|&n| n > 0);
    let claims = [
        class(&card.speed_class).map(Claim::SpeedClass),
        class(&card.uhs_grade).map(Claim::UhsGrade),
        class(&card.video_class).map(Claim::VideoClass),
        class(&card.app_class).map(Claim::AppClass),
    ];
    claims.into_iter().flatten().collect()
}

/// Evaluates any claims, such as those on the packaging, with a summary.
pub fn check_claims(summary: &Summary, claims: &[Claim], given: ClaimContext) -> Vec<ClaimCheck> {
    claims
        .iter()
        .map(|&claim| check(summary, claim, given))
        .collect()
}

/// Returns the figures that a claim requires, with their minimum.
///
/// Source: SD Physical Layer Simplified Specification 6.00, the chapters on Speed Class (MB/s of sequential writing) and
/// Application Performance Class (A1: 1500 random read and 500 random write IOPS, A2: 4000 and 2000, both 10 MB/s
/// sustained).
pub fn required(claim: Claim) -> Vec<(Figure, f64)> {
    match claim {
        Claim::SpeedClass(mb) | Claim::VideoClass(mb) => {
            vec![(Figure::SlowestWrite, f64::from(mb))]
        }
        // Grades are in units of 10 MB/s.
        Claim::UhsGrade(grade) => vec![(Figure::SlowestWrite, f64::from(grade) * 10.0)],
        Claim::AppClass(class) => {
            let (read, write) = if class >= 2 {
                (4_000.0, 2_000.0)
            } else {
                (1_500.0, 500.0)
            };
            vec![
                (Figure::RandomRead, read),
                (Figure::RandomWrite, write),
                (Figure::SustainedWrite, 10.0),
            ]
        }
        Claim::ReadSpeed(mb) => vec![(Figure::SequentialRead, mb)],
        Claim::WriteSpeed(mb) => vec![(Figure::SequentialWrite, mb)],
    }
}

/// Returns the bus speed that a claim needs, in MB/s: the slowest mode that the specification
/// permits for the class. High Speed is 25, UHS-I 50, UHS-II 156. A rated speed needs itself plus
/// the overhead of an SD bus.
fn bus_needed(claim: Claim) -> f64 {
    match claim {
        Claim::SpeedClass(n) if n < 10 => 12.5,
        Claim::SpeedClass(_) | Claim::VideoClass(..=10) | Claim::AppClass(1) => 25.0,
        Claim::UhsGrade(_) | Claim::VideoClass(..=30) | Claim::AppClass(_) => 50.0,
        Claim::VideoClass(_) => 156.0,
        Claim::ReadSpeed(mb) | Claim::WriteSpeed(mb) => mb / crate::limits::AT_CEILING,
    }
}

fn check(summary: &Summary, claim: Claim, given: ClaimContext) -> ClaimCheck {
    let mut unmet = UnmetConditions::default();
    let mut parts: Vec<ClaimPart> = Vec::new();
    for (wanted, required) in required(claim) {
        let (figure, measured) = measure(summary, wanted, &mut unmet);
        parts.push(ClaimPart {
            figure,
            required,
            measured,
        });
    }
    conditions(summary, claim, &parts, given, &mut unmet);
    let measured = parts.iter().filter_map(|part| part.measured.as_ref());
    let fewest = measured.map(|measured| measured.runs).min();
    let single = needs_interval(claim) && fewest.is_some_and(|runs| runs < FEWEST_RUNS);
    let mut verdict = verdict(&parts, &unmet);
    if single && verdict != ClaimVerdict::NotMeasured {
        unmet.hinders(Condition::Repeats {
            runs: fewest.unwrap_or(0),
        });
        verdict = ClaimVerdict::NotShown;
    }
    ClaimCheck {
        claim,
        parts,
        unmet: unmet.all(),
        verdict,
    }
}

/// Whether a claim is about means, which one run does not determine; the slowest second of a single
/// run is valid.
fn needs_interval(claim: Claim) -> bool {
    matches!(
        claim,
        Claim::AppClass(_) | Claim::ReadSpeed(_) | Claim::WriteSpeed(_)
    )
}

/// Unmet conditions, by their effect on the figures.
#[derive(Default)]
struct UnmetConditions {
    hinders: Vec<Condition>,
    flatters: Vec<Condition>,
}

impl UnmetConditions {
    /// Returns all conditions, each once.
    fn all(self) -> Vec<Condition> {
        let UnmetConditions {
            mut hinders,
            mut flatters,
        } = self;
        flatters.retain(|condition| !hinders.contains(condition));
        hinders.append(&mut flatters);
        hinders
    }

    fn hinders(&mut self, condition: Condition) {
        if !self.hinders.contains(&condition) {
            self.hinders.push(condition);
        }
    }

    fn flatters(&mut self, condition: Condition) {
        if !self.flatters.contains(&condition) {
            self.flatters.push(condition);
        }
    }
}

/// Returns the required figure, or the mean of a sequential write without a timeline.
fn measure(
    summary: &Summary,
    wanted: Figure,
    unmet: &mut UnmetConditions,
) -> (Figure, Option<MeasuredFigure>) {
    let stands_in = matches!(wanted, Figure::SlowestWrite | Figure::SustainedWrite);
    match figure(summary, wanted) {
        None if stands_in => {
            let mean = figure(summary, Figure::SequentialWrite);
            if mean.is_some() {
                unmet.flatters(Condition::Timeline);
            }
            (Figure::SequentialWrite, mean)
        }
        found => (wanted, found),
    }
}

fn conditions(
    summary: &Summary,
    claim: Claim,
    parts: &[ClaimPart],
    given: ClaimContext,
    unmet: &mut UnmetConditions,
) {
    of_target(&summary.target, claim, unmet);
    let measured = parts.iter().filter(|part| part.measured.is_some());
    let phases: Vec<(Figure, &PhaseSummary)> = measured
        .filter_map(|part| Some((part.figure, phase_of(summary, part.figure)?)))
        .collect();
    // Speed Classes apply to erased allocation units, application classes to a used card.
    let by_rate = matches!(
        claim,
        Claim::SpeedClass(_) | Claim::UhsGrade(_) | Claim::VideoClass(_) | Claim::WriteSpeed(_)
    );
    if by_rate && (!given.erased || phases.iter().any(|(_, phase)| over_itself(phase))) {
        unmet.hinders(Condition::Erased);
    }
    if matches!(claim, Claim::VideoClass(_)) {
        unmet.hinders(Condition::SpeedClassControl);
    }
    for (figure, phase) in phases {
        of_phase(claim, figure, phase, unmet);
    }
}

/// Checks the conditions of the target: the raw device, used by nobody else, on a bus that is fast enough.
fn of_target(target: &Identity, claim: Claim, unmet: &mut UnmetConditions) {
    if let Some(filesystem) = &target.filesystem {
        unmet.hinders(Condition::Raw {
            filesystem: filesystem.fs_type.clone(),
        });
    }
    if target.system_disk {
        unmet.hinders(Condition::Alone);
    }
    let needed = BytesPerSec(bus_needed(claim) * 1e6);
    let device = target.device.known();
    match device.and_then(|device| ceiling(&device.bus)) {
        Some(ceiling) if ceiling.0 < needed.0 => unmet.hinders(Condition::Bus { needed, ceiling }),
        Some(_) => {}
        None => unmet.hinders(Condition::BusUnknown),
    }
}

/// Whether a run wrote more than its range: then only its first pass met erased units.
fn over_itself(phase: &PhaseSummary) -> bool {
    phase
        .detail
        .shape
        .and_then(|shape| shape.extent)
        .is_some_and(|extent| phase.detail.moved > extent)
}

fn of_phase(claim: Claim, figure: Figure, phase: &PhaseSummary, unmet: &mut UnmetConditions) {
    let Some(shape) = phase.detail.shape else {
        return;
    };
    let random = matches!(figure, Figure::RandomRead | Figure::RandomWrite);
    if !shape.direct {
        unmet.flatters(Condition::Direct);
    }
    if phase.detail.measured < SHORT {
        unmet.flatters(Condition::Time {
            wanted: SHORT,
            measured: phase.detail.measured,
        });
    }
    let wanted = if random { RANDOM_SPAN } else { SMALL_FILE };
    if let Some(written) = shape
        .extent
        .filter(|&size| size < wanted && figure != Figure::SequentialRead)
    {
        unmet.flatters(Condition::Extent { wanted, written });
    }
    if let Claim::AppClass(class) = claim
        && random
    {
        of_app_class(class, shape, unmet);
    }
}

/// Checks the conditions of the random figures of an application class.
fn of_app_class(class: u32, shape: WorkloadShape, unmet: &mut UnmetConditions) {
    if let Some(used) = shape.extent.filter(|&size| size > RANDOM_SPAN) {
        unmet.hinders(Condition::Span {
            wanted: RANDOM_SPAN,
            used,
        });
    }
    let wanted = class_depth(class);
    let used = shape.iodepth.saturating_mul(shape.workers.max(1));
    if used != wanted {
        // A different depth is a different test: a deeper queue may raise the figures.
        unmet.hinders(Condition::Depth { wanted, used });
        if used > wanted {
            unmet.flatters(Condition::Depth { wanted, used });
        }
    }
    if class >= 2 {
        // Records do not contain whether the host used the command queue and cache of the card.
        unmet.hinders(Condition::CommandQueue { iodepth: used });
    }
}

/// Position of a figure relative to its threshold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MarkSide {
    Above,
    Below,
    Both,
}

fn side(part: &ClaimPart) -> Option<MarkSide> {
    let measured = part.measured.as_ref()?;
    let (low, high) = measured.ci95.unwrap_or((measured.value, measured.value));
    Some(match (low >= part.required, high < part.required) {
        (true, _) => MarkSide::Above,
        (_, true) => MarkSide::Below,
        _ => MarkSide::Both,
    })
}

fn verdict(parts: &[ClaimPart], unmet: &UnmetConditions) -> ClaimVerdict {
    let sides: Vec<Option<MarkSide>> = parts.iter().map(side).collect();
    let any_below = sides.contains(&Some(MarkSide::Below));
    if sides.iter().all(Option::is_none) {
        ClaimVerdict::NotMeasured
    } else if any_below {
        // One figure below is enough; raised figures that are too low are certainly too low.
        if unmet.hinders.is_empty() {
            ClaimVerdict::Missed
        } else {
            ClaimVerdict::NotShown
        }
    } else if sides.iter().all(|side| *side == Some(MarkSide::Above)) && unmet.flatters.is_empty() {
        // Figures that reach the threshold despite lowering conditions count as met.
        ClaimVerdict::Kept
    } else {
        ClaimVerdict::Unclear
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::suite;
    use hakaru_model::facts::{Bus, CardRegisters, Fact, Filesystem};

    const ERASED: ClaimContext = ClaimContext { erased: true };

    fn verdict_of(summary: &Summary, claim: Claim, given: ClaimContext) -> ClaimVerdict {
        check_claims(summary, &[claim], given)[0].verdict
    }

    #[test]
    fn classes_are_kept_missed_or_not_shown() {
        let summary = suite(5);
        // 28 MB/s sustained: above 10, below 30. UHS-I carries 50 MB/s.
        assert_eq!(
            verdict_of(&summary, Claim::SpeedClass(10), ERASED),
            ClaimVerdict::Kept
        );
        assert_eq!(
            verdict_of(&summary, Claim::UhsGrade(1), ClaimContext::default()),
            ClaimVerdict::Kept
        );
        assert_eq!(
            verdict_of(&summary, Claim::UhsGrade(3), ERASED),
            ClaimVerdict::Missed
        );
        assert_eq!(
            verdict_of(&summary, Claim::UhsGrade(3), ClaimContext::default()),
            ClaimVerdict::NotShown
        );
        let video = &check_claims(&summary, &[Claim::VideoClass(30)], ERASED)[0];
        assert_eq!(
            (video.verdict, video.unmet.as_slice()),
            (ClaimVerdict::NotShown, &[Condition::SpeedClassControl][..])
        );
    }

    #[test]
    fn application_classes_ask_for_three_figures() {
        let summary = suite(5);
        // 2000 reads and 600 writes: A1, but not A2, which Linux cannot test properly.
        let a1 = &check_claims(&summary, &[Claim::AppClass(1)], ClaimContext::default())[0];
        let wide = Condition::Span {
            wanted: RANDOM_SPAN,
            used: Bytes(4 << 30),
        };
        assert_eq!(
            (a1.verdict, a1.parts.len()),
            (ClaimVerdict::Kept, 3),
            "{a1:?}"
        );
        assert_eq!(a1.unmet, [wide], "a wider span hinders, and says so");
        let a2 = &check_claims(&summary, &[Claim::AppClass(2)], ClaimContext::default())[0];
        assert_eq!(a2.verdict, ClaimVerdict::NotShown);
        assert!(a2.unmet.contains(&Condition::CommandQueue { iodepth: 1 }));
    }

    #[test]
    fn application_classes_are_judged_by_their_procedure() {
        let span = RANDOM_SPAN.0;
        for (extent, iodepth, speed, class, verdict) in [
            (span, 1, 1.0, 1, ClaimVerdict::Kept),
            (span, 1, 0.5, 1, ClaimVerdict::Missed),
            // A larger range lowers the figures: missing the threshold proves nothing, reaching it does.
            (4 << 30, 1, 0.5, 1, ClaimVerdict::NotShown),
            (4 << 30, 1, 1.0, 1, ClaimVerdict::Kept),
            // A different depth proves nothing in either direction.
            (span, 8, 0.5, 1, ClaimVerdict::NotShown),
            (span, 8, 1.0, 1, ClaimVerdict::Unclear),
            (span, 1, 1.0, 2, ClaimVerdict::NotShown),
        ] {
            let check = app_class(extent, iodepth, speed, class);
            assert_eq!(check.verdict, verdict, "{check:?}");
        }
        let (wanted, used) = (RANDOM_SPAN, Bytes(4 << 30));
        let wide = app_class(4 << 30, 1, 0.5, 1).unmet;
        assert!(wide.contains(&Condition::Span { wanted, used }), "{wide:?}");
        let (wanted, used) = (32, 1);
        let a2 = app_class(span, 1, 1.0, 2).unmet;
        assert!(a2.contains(&Condition::Depth { wanted, used }), "{a2:?}");
    }

    /// Checks an application class on the suite with random I/Os in this range, at this depth, and this much faster.
    fn app_class(extent: u64, iodepth: u32, speed: f64, class: u32) -> ClaimCheck {
        let mut summary = suite(5);
        for phase in &mut summary.phases {
            let shape = phase.detail.shape.as_mut().unwrap();
            (shape.extent, shape.iodepth) = (Some(Bytes(extent)), iodepth);
            if shape.random {
                let values: Vec<f64> = phase.iops.values.iter().map(|v| v * speed).collect();
                phase.iops = crate::estimate(&values).unwrap();
            } else {
                shape.extent = Some(Bytes(4 << 30));
            }
        }
        check_claims(&summary, &[Claim::AppClass(class)], ERASED).remove(0)
    }

    /// Regression: one run of 1501 IOPS was "met".
    #[test]
    fn one_run_shows_no_mean() {
        for claim in [
            Claim::AppClass(1),
            Claim::ReadSpeed(30.0),
            Claim::ReadSpeed(90.0),
        ] {
            let found = &check_claims(&suite(1), &[claim], ERASED)[0];
            assert_eq!(found.verdict, ClaimVerdict::NotShown, "{claim:?}");
            assert!(
                found.unmet.contains(&Condition::Repeats { runs: 1 }),
                "{found:?}"
            );
        }
        // A slow second counts, however many runs there are.
        assert_eq!(
            verdict_of(&suite(1), Claim::UhsGrade(3), ERASED),
            ClaimVerdict::Missed
        );
    }

    #[test]
    fn flattered_figures_keep_nothing() {
        let mut summary = suite(5);
        for phase in &mut summary.phases {
            phase.detail.shape.as_mut().unwrap().direct = false;
        }
        assert_eq!(
            verdict_of(&summary, Claim::SpeedClass(10), ERASED),
            ClaimVerdict::Unclear
        );
        // A figure that is still too low is not met.
        assert_eq!(
            verdict_of(&summary, Claim::UhsGrade(3), ERASED),
            ClaimVerdict::Missed
        );
    }

    #[test]
    fn a_file_system_and_a_slow_bus_leave_it_open() {
        let mut summary = suite(5);
        summary.target.filesystem = Some(Filesystem {
            fs_type: "vfat".into(),
            ..Filesystem::default()
        });
        assert_eq!(
            verdict_of(&summary, Claim::UhsGrade(3), ERASED),
            ClaimVerdict::NotShown
        );
        assert_eq!(
            verdict_of(&summary, Claim::SpeedClass(10), ERASED),
            ClaimVerdict::Kept
        );
        let mut summary = suite(5);
        let Fact::Known(device) = &mut summary.target.device else {
            panic!()
        };
        device.bus = Bus::Usb {
            speed_mbps: Fact::Known(480),
        };
        let read = &check_claims(&summary, &[Claim::ReadSpeed(100.0)], ERASED)[0];
        assert_eq!(read.verdict, ClaimVerdict::NotShown);
        assert!(
            matches!(read.unmet[..], [Condition::Bus { .. }]),
            "{:?}",
            read.unmet
        );
    }

    #[test]
    fn a_second_pass_meets_nothing_erased() {
        let mut summary = suite(5);
        for phase in &mut summary.phases {
            phase.detail.moved = Bytes(5 << 30);
            phase.detail.shape.as_mut().unwrap().extent = Some(Bytes(4 << 30));
        }
        let found = &check_claims(&summary, &[Claim::UhsGrade(3)], ERASED)[0];
        assert_eq!(
            (found.verdict, found.unmet.as_slice()),
            (ClaimVerdict::NotShown, &[Condition::Erased][..])
        );
    }

    #[test]
    fn registers_make_the_claims() {
        let mut summary = suite(3);
        assert_eq!(claims(&summary, &summary.target), []);
        let Fact::Known(device) = &mut summary.target.device else {
            panic!()
        };
        let class = Fact::Known;
        device.card = Some(CardRegisters {
            speed_class: class(10),
            uhs_grade: class(0),
            app_class: class(1),
            ..Default::default()
        });
        let found: Vec<Claim> = claims(&summary, &summary.target)
            .iter()
            .map(|c| c.claim)
            .collect();
        assert_eq!(found, [Claim::SpeedClass(10), Claim::AppClass(1)]);
    }

    #[test]
    fn nothing_measured_is_nothing_judged() {
        let empty = crate::summarize(&[]);
        assert_eq!(
            verdict_of(&empty, Claim::AppClass(1), ERASED),
            ClaimVerdict::NotMeasured
        );
        // Without a timeline the mean is used, with a note.
        let mut summary = suite(5);
        summary.phases.retain(|p| p.phase == "seq-write");
        summary.phases[0].sustained = None;
        let found = &check_claims(&summary, &[Claim::SpeedClass(10)], ERASED)[0];
        assert_eq!(
            (found.verdict, found.unmet.as_slice()),
            (ClaimVerdict::Unclear, &[Condition::Timeline][..])
        );
    }
}
