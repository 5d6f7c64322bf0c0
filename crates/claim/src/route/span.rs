//! A sample, and the parts of it that are bounded one by one. Pure.

/// A sample: when it was measured, on the machine's monotonic clock, and its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// What was measured.
    pub value_ms: f64,
    /// What it comes to at least, however good the emulator is: the shortest round trip, as often as it takes that. All that
    /// the emulator can have added is beyond it. 0 if that is not known.
    pub least_ms: f64,
    /// From when to when, at most.
    pub whole_ns: [u64; 2],
    /// Times in it in which a packet went to the other host and one came back, in order. One that did not happen is empty.
    pub waits_ns: [[u64; 2]; WAITS],
}

/// Handshakes of TCP, TLS and QUIC, and the wait for an answer.
pub const WAITS: usize = 4;

/// A part of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// A packet went there, and one came back.
    Wait([u64; 2]),
    /// Nothing is known of what happened.
    Rest([u64; 2]),
}

impl Span {
    /// One of which nothing is known but when it was.
    pub fn whole(value_ms: f64, whole_ns: [u64; 2]) -> Self {
        Self { value_ms, least_ms: 0.0, whole_ns, waits_ns: [[0; 2]; WAITS] }
    }

    /// Its waits, and what lies before, between and after them.
    pub(super) fn parts(&self) -> impl Iterator<Item = Part> {
        let [begin, end] = self.whole_ns;
        let waits = self.waits_ns.map(|wait| wait.map(|at| at.clamp(begin, end.max(begin))));
        let waits = waits.into_iter().filter(|[from, until]| from < until);
        let mut at = begin;
        let last = [end, end];
        waits.map(Some).chain([None]).flat_map(move |wait| {
            let [from, until] = wait.unwrap_or(last);
            let before = (at < from).then_some(Part::Rest([at, from]));
            at = at.max(until);
            [before, wait.map(Part::Wait)].into_iter().flatten()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_and_what_lies_between_them() {
        let span = |waits_ns| Span { waits_ns, ..Span::whole(0.0, [10, 100]) };
        let parts = |span: Span| span.parts().collect::<Vec<_>>();
        assert_eq!(parts(span([[0; 2]; WAITS])), [Part::Rest([10, 100])]);
        assert_eq!(
            parts(span([[12, 20], [20, 30], [0, 0], [40, 90]])),
            [
                Part::Rest([10, 12]),
                Part::Wait([12, 20]),
                Part::Wait([20, 30]),
                Part::Rest([30, 40]),
                Part::Wait([40, 90]),
                Part::Rest([90, 100]),
            ]
        );
        // Where waits overlap, because it is not known exactly when they were, the time counts for both.
        assert_eq!(
            parts(span([[10, 50], [40, 120], [0; 2], [0; 2]])),
            [Part::Wait([10, 50]), Part::Wait([40, 100])]
        );
    }
}
