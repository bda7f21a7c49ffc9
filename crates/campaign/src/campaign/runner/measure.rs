//! Carries out one run of a point: announces, waits, measures, and stores it or counts it as failed.

use super::*;
use hakaru_model::obstacle::{CacheObstacle, Reason};
use hakaru_report::text;
use std::error::Error;

impl Runner<'_> {
    pub(super) fn announce(&mut self, point: &Point) {
        let campaign = self.campaign;
        let names = [
            campaign.cards[point.card].label.clone(),
            campaign.layers[point.layer].name.clone(),
            campaign.workloads[point.workload].name.clone(),
        ];
        let left = estimate::left(campaign, &self.journal, |card| self.cards[card].size);
        let left = Duration::try_from_secs_f64(left).unwrap_or_default();
        let number = self.journal.done_of(campaign) + 1;
        let status = CampaignStatus {
            point: *point,
            names,
            number,
            of: campaign.count(),
            left,
        };
        self.publish_begin(&status);
        self.operator.begins(&status);
    }

    pub(super) fn pause(&self, target: &PreparedTarget) -> Duration {
        if target.is_real() {
            Duration::from_nanos(self.campaign.cool_down.0)
        } else {
            Duration::ZERO
        }
    }

    /// Waits for the card to cool down, and drops the caches of the host; returns a caveat if that is not possible.
    pub(super) fn wait(&mut self, target: &mut PreparedTarget) -> Result<Vec<Caveat>, CardOutcome> {
        let until = Instant::now() + self.pause(target);
        while Instant::now() < until {
            if self.is_stopped() {
                return Err(STOPPED);
            }
            std::thread::sleep((until - Instant::now()).min(Duration::from_millis(100)));
        }
        if !self.campaign.preparation.drop_caches {
            return Ok(Vec::new());
        }
        let Err(error) = target.drop_caches() else {
            return Ok(Vec::new());
        };
        if !std::mem::replace(&mut self.reported_caches, true) {
            let why = errors::message(&error);
            self.operator.note(&both!(
                "{why}; the results get a caveat",
                "{why}（結果に注意を付記します）"
            ));
        }
        Ok(vec![Caveat::NotInvalidated {
            path: CacheOf::Host,
            because: cache_obstacle(&error),
        }])
    }

    /// Returns the scenario of a point on its prepared target.
    pub(super) fn retargeted(&self, point: &Point, target: &PreparedTarget) -> Scenario {
        // Each repeat uses other offsets, so that it does not profit from cached data of the previous repeat.
        let seed = self.campaign.seed.wrapping_add(u64::from(point.repeat));
        let scenario = &self.campaign.workloads[point.workload].scenario;
        retarget(scenario, target.place(), target.room(), seed)
    }

    /// Returns the campaign point for the record of a run.
    fn point_of_record(
        &self,
        point: &Point,
        cell: &PointKey,
        prepared: Vec<PreparedStep>,
    ) -> CampaignPoint {
        let definition = self.campaign.definition(point.layer, point.workload);
        CampaignPoint {
            campaign: self.campaign.id.clone(),
            card: cell.card.clone(),
            layer: cell.layer.clone(),
            workload: cell.workload.clone(),
            repeat: point.repeat,
            definition: definition.digest(),
            prepared,
            laid_out: Bytes(0),
            assignment: self.assignment.clone(),
        }
    }

    /// Measures and stores one run. Only completed runs count.
    pub(super) fn measure(
        &mut self,
        point: &Point,
        cell: &PointKey,
        target: &PreparedTarget,
        prepared: Vec<PreparedStep>,
        caveats: Vec<Caveat>,
    ) -> Result<(), RunFailure> {
        let scenario = self.retargeted(point, target);
        target.make_room(&scenario).map_err(|error| {
            let error = errors::message(&error);
            RunFailure::Failed(both!(
                "cannot remove the files of other workloads: {error}",
                "他のワークロードのファイルを削除できません: {error}"
            ))
        })?;
        let series = SeriesPosition {
            // A traced run is a series of its own: its latencies include the cost of tracing.
            id: match point.is_traced() {
                true => None,
                false => self.journal.series(cell, point.is_recheck()),
            },
            repeat: point.repeat % RECHECK,
        };
        let request = RunRequest {
            identity: Some(target.identity()),
            series,
            overhead: self.overhead,
            caveats,
            campaign: Some(self.point_of_record(point, cell, prepared)),
            trace: self.campaign.trace.filter(|_| point.is_traced()),
            live: self.operator.live(),
            ..RunRequest::single(self.clock, self.stop)
        };
        let planned =
            Session::inspect(&scenario).and_then(|session| session.plan(SessionPolicy::BENCH));
        let ran = planned.and_then(|planned| planned.run(request, Some(self.store), self.operator));
        match ran {
            Ok(result) => self.note_result(point, cell, result),
            // Ctrl-C during the layout of a file is not a failure of the card.
            Err(SessionError::Run(RunError::StoppedEarly)) => Err(RunFailure::Stopped),
            Err(error) => Err(RunFailure::Failed(errors::message(&error))),
        }
    }

    /// Counts a completed run.
    fn note_result(
        &mut self,
        point: &Point,
        cell: &PointKey,
        result: RunResult,
    ) -> Result<(), RunFailure> {
        let RunResult {
            record,
            error,
            unstored,
        } = result;
        if let Some(unstored) = unstored {
            return Err(RunFailure::Fatal(unstored.into()));
        }
        self.journal.note_written_by(&record);
        match (&record.outcome, error) {
            (Outcome::Interrupted, _) => Err(RunFailure::Stopped),
            (_, Some(error)) => Err(RunFailure::Failed(errors::message(&error))),
            (Outcome::Failed { .. }, None) => Err(RunFailure::Failed(
                text::failed_run(&record).unwrap_or_default(),
            )),
            (Outcome::Completed, None) => {
                let label = &self.campaign.cards[point.card].label;
                self.journal.note(cell, label, &record);
                self.stored += 1;
                self.cards[point.card].disconnects = 0;
                self.publish_stored(point, &record.series);
                self.operator.stored(&record);
                Ok(())
            }
        }
    }

    /// Records a failure; a disconnected card is requested again.
    pub(super) fn failed(
        &mut self,
        on: &mut CardInUse,
        point: &Point,
        why: &str,
    ) -> Option<CardOutcome> {
        let gone = on
            .found
            .disk
            .as_ref()
            .is_some_and(|disk| disk.is_gone(&self.roots, self.stop));
        let Point {
            layer, workload, ..
        } = *point;
        let card = &self.campaign.cards[on.index].label;
        let what = both!(
            "{card}, {}, {}",
            "{card}、{}、{}";
            self.campaign.layers[layer].name,
            hakaru_report::workload_words(&self.campaign.workloads[workload].name)
        );
        self.publish_failure(point, why);
        self.operator.note(&format!("{what}: {why}"));
        if gone {
            self.operator.note(&both!(
                "{card} is no longer present; its stored runs are kept",
                "{card}が取り外されました。保存済みの測定は残っています"
            ));
            return Some(CardOutcome::Gone);
        }
        on.failed += 1;
        self.failures.push((what, why.to_owned()));
        None
    }
}

/// Why the caches of the host could not be dropped.
fn cache_obstacle(error: &(dyn Error + 'static)) -> Reason<CacheObstacle> {
    let mut cause = Some(error);
    while let Some(now) = cause {
        let system = now.downcast_ref::<std::io::Error>();
        if let Some(errno) = system.and_then(std::io::Error::raw_os_error) {
            return CacheObstacle::Failed { errno }.into();
        }
        cause = now.source();
    }
    Reason::Text(error.to_string())
}
