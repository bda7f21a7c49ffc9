//! Obstacles: the English texts are those of the errors.

use hakaru_model::obstacle::{
    CacheObstacle, ClockObstacle, CountersObstacle, EngineObstacle, Reason, ValueRule,
    VerifyStateObstacle, ZoneObstacle,
};

fn text<T: ToString>(because: &Reason<T>) -> String {
    match because {
        Reason::Value(value) => value.to_string(),
        Reason::Text(text) => text.clone(),
    }
}

pub(in crate::text) fn no_engine(because: &Reason<EngineObstacle>) -> String {
    text(because)
}

pub(in crate::text) fn no_clock(because: &Reason<ClockObstacle>) -> String {
    text(because)
}

pub(in crate::text) fn no_counters(because: &Reason<CountersObstacle>) -> String {
    text(because)
}

pub(in crate::text) fn kept_cache(because: &Reason<CacheObstacle>) -> String {
    text(because)
}

pub(in crate::text) fn zone_obstacle(because: &ZoneObstacle) -> String {
    because.to_string()
}

pub(in crate::text) fn verify_state_obstacle(because: &VerifyStateObstacle) -> String {
    because.to_string()
}

pub(in crate::text) fn value_rule(rule: ValueRule) -> String {
    rule.to_string()
}
