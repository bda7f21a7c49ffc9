//! Carries out one run of a point: announces, waits, measures, and stores it or counts it as failed.

use super::*;
use hakaru_report::text;

impl Runner<'_> {
    pub(super) fn announce(&mut self, point: &Point) {
        let campaign = self.campaign;
        let names = [
            campaign.cards[point.card].label.clone(),
            campaign.layers[point.layer].name.clone(),
            campaign.workloads[point.workload].name.clone(),
        ];
        let left = Duration::try_from_secs_f64(estimate::left(campaign, &self.journal, |card| {
            self.sizes.get(&card).copied()
        }))
        .unwrap_or_default();
        let number = self.journal.done_of(campaign) + 1;
        self.hands.begins(&CampaignStatus {
            point: *point,
            names,
            number,
            of: campaign.count(),
            left,
        });
    }

    pub(super) fn pause(&self, stage: &PreparedTarget) -> Duration {
        if stage.is_real() {
            Duration::from_nanos(self.campaign.cool_down.0)
        } else {
            Duration::ZERO
        }
    }

    /// Waits for the card to cool down, and drops the caches of the host; returns a caveat if that is not possible.
    pub(super) fn wait(&mut self, stage: &mut PreparedTarget) -> Result<Vec<Caveat>, CardOutcome> {
        let until = Instant::now() + self.pause(stage);
        while Instant::now() < until {
            if self.stop.load(Relaxed) {
                return Err(CardOutcome::Stopped);
            }
            std::thread::sleep((until - Instant::now()).min(Duration::from_millis(100)));
        }
        if !self.campaign.preparation.drop_caches {
            return Ok(Vec::new());
        }
        let Err(error) = stage.drop_caches() else {
            return Ok(Vec::new());
        };
        if !std::mem::replace(&mut self.told_of_caches, true) {
            self.hands.note(&format!("{error}; the figures say so"));
        }
        Ok(vec![Caveat::NotInvalidated {
            path: CacheOf::Host,
            because: error.to_string(),
        }])
    }

    /// Returns the scenario of a point on its prepared target.
    pub(super) fn aimed(&self, point: &Point, stage: &PreparedTarget) -> Scenario {
        // Each repeat uses other offsets, so that it does not profit from cached data of the previous repeat.
        let seed = self.campaign.seed.wrapping_add(u64::from(point.repeat));
        aim(
            &self.campaign.workloads[point.workload].scenario,
            stage.place(),
            stage.room(),
            seed,
        )
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
        }
    }

    /// Measures and stores one run. Only completed runs count.
    pub(super) fn measure(
        &mut self,
        point: &Point,
        cell: &PointKey,
        stage: &PreparedTarget,
        prepared: Vec<PreparedStep>,
        caveats: Vec<Caveat>,
    ) -> Result<(), RunFailure> {
        let scenario = self.aimed(point, stage);
        let room = stage.make_room(&scenario);
        room.map_err(|error| {
            RunFailure::Failed(format!(
                "cannot remove the files of other workloads: {error}"
            ))
        })?;
        let series = SeriesPosition {
            id: self.journal.series(cell, point.is_recheck()),
            repeat: point.repeat % RECHECK,
        };
        let request = RunRequest {
            identity: Some(stage.identity()),
            series,
            overhead: self.overhead,
            caveats,
            campaign: Some(self.point_of_record(point, cell, prepared)),
            ..RunRequest::single(self.clock, self.stop)
        };
        let planned =
            Session::inspect(&scenario).and_then(|session| session.plan(SessionPolicy::BENCH));
        let ran = planned.and_then(|planned| planned.run(request, Some(self.store), self.hands));
        let ran = match ran {
            Ok(ran) => ran,
            // Ctrl-C during the layout of a file is not a failure of the card.
            Err(SessionError::Run(RunError::StoppedEarly)) => return Err(RunFailure::Stopped),
            Err(error) => return Err(RunFailure::Failed(error.to_string())),
        };
        if let Some(unstored) = ran.unstored {
            return Err(RunFailure::Fatal(unstored.into()));
        }
        self.journal.note_written_by(&ran.record);
        match (&ran.record.outcome, &ran.error) {
            (Outcome::Interrupted, _) => Err(RunFailure::Stopped),
            (_, Some(error)) => Err(RunFailure::Failed(error.to_string())),
            (Outcome::Failed { .. }, None) => {
                let because = text::failed_run(&ran.record);
                Err(RunFailure::Failed(because.unwrap_or_default()))
            }
            (Outcome::Completed, None) => {
                self.journal
                    .note(cell, &self.campaign.cards[point.card].label, &ran.record);
                self.stored += 1;
                self.gone.remove(&point.card);
                self.hands.stored(&ran.record);
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
        let what = format!(
            "{card}, {}, {}",
            self.campaign.layers[layer].name, self.campaign.workloads[workload].name
        );
        self.hands.note(&format!("{what}: {why}"));
        if gone {
            self.hands.note(&format!(
                "{card} is no longer present; its stored runs are kept"
            ));
            return Some(CardOutcome::Gone);
        }
        on.failed += 1;
        self.failures.push((what, why.to_owned()));
        None
    }
}
