//! Requests inserted before those of the plan.

use super::{IoRequest, RequestStream};
use std::collections::VecDeque;

/// Queue of requests before a stream.
#[derive(Clone, Debug)]
pub(super) struct InjectedRequests {
    queue: VecDeque<IoRequest>,
    queued_bytes: u64,
    rest: Option<RequestStream>,
    /// Whether the last request came from the queue.
    pub(super) gave_queued: bool,
}

impl InjectedRequests {
    pub(super) fn new(requests: Vec<IoRequest>, rest: Option<RequestStream>) -> InjectedRequests {
        let mut front = InjectedRequests {
            queue: VecDeque::new(),
            queued_bytes: 0,
            rest,
            gave_queued: false,
        };
        front.add(requests);
        front
    }

    pub(super) fn add(&mut self, requests: Vec<IoRequest>) {
        self.queued_bytes += requests.iter().map(|r| u64::from(r.len)).sum::<u64>();
        self.queue.extend(requests);
    }

    pub(super) fn bytes_left(&self) -> u64 {
        self.rest
            .as_ref()
            .map_or(0, RequestStream::bytes_left)
            .saturating_add(self.queued_bytes)
    }

    #[cold]
    pub(super) fn is_over(&self) -> bool {
        self.queue.is_empty() && self.rest.as_ref().is_none_or(RequestStream::is_over)
    }

    pub(super) fn next(&mut self) -> Option<IoRequest> {
        let first = self.queue.pop_front();
        self.gave_queued = first.is_some();
        let Some(request) = first else {
            return self.rest.as_mut()?.next();
        };
        self.queued_bytes -= u64::from(request.len);
        Some(request)
    }
}
