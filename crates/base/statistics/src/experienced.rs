//! The experience of a person who waits for the slowest of many requests.

use crate::{Distribution, expected_maximum::Blocks, page::percentile_to_watch};

impl Distribution {
    /// The wait that a share of visitors does not exceed, ms, for the slowest of `requests`
    /// requests ([`crate::Page::effective_requests`]; 0 counts as 1).
    pub fn experienced_quantile(&self, requests: u32, visitors: f64) -> f64 {
        self.quantile(percentile_to_watch(requests, visitors))
    }

    /// The expected wait, ms, for the slowest of `requests` independent draws from these samples; 0
    /// counts as 1.
    pub fn expected_experienced(&self, requests: u32) -> f64 {
        if requests <= 1 {
            return self.mean();
        }
        Blocks::new(self, requests..=requests).expected_maximum(requests)
    }

    /// [`Distribution::expected_experienced`] for every number of requests from 1 to `most`, in one
    /// pass over the samples. Entry i is for i + 1.
    pub fn expected_experienced_up_to(&self, most: u32) -> Vec<f64> {
        let blocks = Blocks::new(self, 1..=most.max(1));
        (1..=most).map(|requests| blocks.expected_maximum(requests)).collect()
    }
}
