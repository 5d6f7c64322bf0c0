//! Interprets a limiting congestion window: loss, reordering, start, or capacity of the path.

use super::{
    Case, Figures, Finding, Limit, Shares,
    limit::{congestion_window, initial_window, loss, other_end, path, reordering},
};

impl Case<'_> {
    pub(super) fn network(&self, weights: Shares) -> (Limit, Finding) {
        let figures = &self.figures;
        let is_hurt = loss::hurts(figures);
        let was_hurt = !figures.has_model() && figures.now.total_retrans > 0 && !loss::has_ended(figures);
        if (is_hurt || was_hurt) && reordering::happens(figures) {
            return (Limit::Reordering, reordering::finding(self));
        }
        let has_queue = path::has_queue(figures);
        if is_hurt && !has_queue {
            return self.path_or_loss();
        }
        if initial_window::is_starting(figures) && !figures.has_standing_queue() {
            return (Limit::InitialWindow, initial_window::finding(self));
        }
        if figures.has_model() && !has_queue && self.meets_window(weights) && !figures.has_constant_window() {
            return (Limit::OtherEnd, other_end::at_sender(self));
        }
        if has_queue || figures.has_model() {
            return (Limit::Path, path::finding(self));
        }
        if was_hurt {
            return self.path_or_loss();
        }
        (Limit::CongestionWindow, congestion_window::finding(self))
    }

    /// A short queue (CoDel, RFC 8289) drops packets long before it is full, and a connection that
    /// reduced its rate fills it again: packets wait in some samples. With other causes of loss
    /// they wait in almost no sample.
    fn path_or_loss(&self) -> (Limit, Finding) {
        if path::share(&self.figures) >= path::OFTEN {
            (Limit::Path, path::finding(self))
        } else {
            (Limit::Loss, loss::finding(self))
        }
    }
}

pub(super) fn share_of_looks(figures: &Figures<'_>, limit: Limit) -> Option<f64> {
    match limit {
        Limit::Path if !figures.has_model() => Some(path::share(figures)),
        Limit::Loss => Some(1.0 - path::share(figures)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
