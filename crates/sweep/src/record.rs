//! The result of a run: what its reader says, how faithful the planet was, and what it was made from.

use claim::{Caveat, Doubt, Fidelity};
use scenario::Outcome;
use serde::{Deserialize, Serialize};
use traffic::oscil::{Ended as ReaderEnded, Programme, Recording};

use super::{cell::Run, figures::Figures, machine::Machine};

/// The result of a run, and what it is the result of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    schema: String,
    /// What it was made from.
    inputs: Inputs,
    /// What the reader says.
    pub read: Read,
    /// How faithful the planet was.
    pub fidelity: Fidelity,
}

/// All that a result follows from, but for chance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Inputs {
    scenario: String,
    /// The reader's programme, with all its phases.
    programme: Programme,
    kernel: String,
    longhaul: String,
}

/// What the reader of a run says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Read {
    /// Why its figures are not the connection's, as sentences.
    pub reasons: Vec<String>,
    /// What weakens them, as sentences.
    pub warnings: Vec<String>,
    /// Both with a word for each kind.
    #[serde(default)]
    pub doubts: Vec<Caveat>,
    /// What it measured.
    pub figures: Figures,
}

impl Record {
    pub(super) fn new(inputs: Inputs, read: Read, fidelity: Fidelity) -> Self {
        Self { schema: SCHEMA.to_owned(), inputs, read, fidelity }
    }

    /// Whether neither the planet nor the reader were the bottleneck.
    pub(super) fn is_valid(&self) -> bool {
        self.fidelity.valid && self.read.reasons.is_empty()
    }

    /// What the planet and the reader say against themselves.
    pub(super) fn doubts(&self) -> Vec<Caveat> {
        let Self { read, fidelity, .. } = self;
        let mut doubts = claim::caveats_of(&fidelity.doubts, &fidelity.reasons, &[]);
        doubts.extend(claim::caveats_of(&read.doubts, &read.reasons, &read.warnings));
        doubts
    }

    /// Whether it spares a run: it is valid, and was made from the same.
    pub(super) fn answers(&self, inputs: &Inputs) -> bool {
        self.schema == SCHEMA && self.is_valid() && self.inputs == *inputs
    }
}

impl Inputs {
    pub(super) fn of(run: &Run, machine: &Machine) -> Self {
        Self {
            scenario: run.scenario.clone(),
            programme: run.programme.clone(),
            kernel: machine.kernel.to_string(),
            longhaul: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

impl Read {
    /// What the reader of a scenario printed.
    pub(super) fn of(outcome: &Outcome) -> Result<Self, serde_json::Error> {
        let [read] = &outcome.measured[..] else { unreachable!("the scenario of a cell has one command") };
        Ok(Self::of_recording(&Recording::deserialize(&read.detail["value"])?))
    }

    /// What a recording says of itself: whether its figures are the connection's, and why not.
    fn of_recording(recording: &Recording) -> Self {
        let figures = Figures::of(recording);
        let early = early(recording.ended, recording.ended_why.as_deref()).map(Caveat::from);
        let own = claim::caveats_of(&recording.doubts, &recording.reasons, &recording.warnings);
        let mut doubts: Vec<_> = early.into_iter().chain(own).collect();
        if !recording.valid && claim::is_valid(&doubts) {
            doubts.push(Doubt::Unexplained.into());
        }
        Self { reasons: claim::reasons(&doubts), warnings: claim::warnings(&doubts), doubts, figures }
    }
}

/// That a reader did not come to the end of its programme, if so.
fn early(ended: ReaderEnded, why: Option<&str>) -> Option<Doubt> {
    let how = match ended {
        ReaderEnded::Complete => return None,
        ReaderEnded::Interrupted => "was interrupted",
        ReaderEnded::PeerClosed => "had no more to read",
        ReaderEnded::ConnectionLost => "lost its connection",
    };
    Some(Doubt::EndedEarly { how, why: why.map(str::to_owned) })
}

/// What the file of a result is.
const SCHEMA: &str = "longhaul.tcp.sweep.cell/1";

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// What a reader prints that came to the end of its programme and has nothing to admit.
    fn printed() -> Value {
        json!({
            "schema": "longhaul.tcp.oscil/1", "ended": "complete", "valid": true, "reasons": [], "warnings": [],
            "conditions": {
                "version": "0.1.0", "kernel": "6.18", "local": "10.0.0.1:1", "remote": "10.0.0.2:2", "settings": {},
                "programme": { "name": "steady", "repeat": 1, "phase": [] }, "interval_ms": 100.0, "buffer_bytes": 1,
            },
            "summary": {
                "bytes": 7, "duration_s": 1.0, "restarts": 0, "restarts_missed": 0, "max_pause_ms": 0.0,
            },
            "phases": [], "seconds": [], "counters": {}, "samples": [],
        })
    }

    fn read(changes: &Value) -> Read {
        let mut value = printed();
        let all = value.as_object_mut().unwrap();
        all.extend(changes.as_object().unwrap().clone());
        Read::of_recording(&serde_json::from_value(value).unwrap())
    }

    #[test]
    fn a_run_counts_if_its_reader_says_so() {
        let warned = read(&json!({ "warnings": ["a look came late"] }));
        assert!(warned.reasons.is_empty(), "a warning takes no validity: {warned:?}");
        assert_eq!((warned.warnings, warned.figures.bytes), (vec!["a look came late".to_owned()], 7));
        let starved = "the reader waited for a processor in 12 % of the time; run less beside it";
        let invalid = read(&json!({ "valid": false, "reasons": [starved] }));
        assert_eq!(invalid.reasons, [starved]);
        let silent = read(&json!({ "valid": false }));
        assert_eq!(
            silent.reasons,
            ["the reader says that its figures are not the connection's, and not why"]
        );
        let both = read(&json!({ "valid": false, "reasons": [starved], "ended": "peer_closed" }));
        assert_eq!(both.reasons, ["the reader had no more to read before its programme was over", starved]);
    }
}
