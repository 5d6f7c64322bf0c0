//! A sample, and its division into parts that are bounded separately.

/// A sample: its interval on the machine's monotonic clock, and its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// The measured value.
    pub value_ms: f64,
    /// The minimum of the value with an ideal emulator: its round trips times the shortest round
    /// trip; 0 if unknown. Only the excess can be the emulator's error.
    pub least_ms: f64,
    /// Start and end: the widest possible interval.
    pub whole_ns: [u64; 2],
    /// Intervals with one exchange of packets with the other host, in order; empty if it did not
    /// occur.
    pub waits_ns: [[u64; 2]; WAITS],
}

/// Number of exchanges: handshakes of TCP, TLS and QUIC, and the wait for a response.
pub const WAITS: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Wait([u64; 2]),
    Rest([u64; 2]),
}

impl Span {
    /// A sample of which only the interval is known.
    pub fn whole(value_ms: f64, whole_ns: [u64; 2]) -> Self {
        Self { value_ms, least_ms: 0.0, whole_ns, waits_ns: [[0; 2]; WAITS] }
    }

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
        // Waits may overlap, because their exact times are unknown. The overlap counts for both.
        assert_eq!(
            parts(span([[10, 50], [40, 120], [0; 2], [0; 2]])),
            [Part::Wait([10, 50]), Part::Wait([40, 100])]
        );
    }
}
