//! The result of a run: the reader's measurement, the fidelity of the emulation, and the inputs.

use claim::{Caveat, Doubt, Fidelity};
use scenario::Outcome;
use serde::{Deserialize, Serialize};
use trafficgen::slow_reader::{Ended as ReaderEnded, Programme, Recording};

use super::{cell::Run, figures::Figures, machine::Machine};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    schema: String,
    inputs: Inputs,
    pub read: Read,
    pub fidelity: Fidelity,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Inputs {
    scenario: String,
    programme: Programme,
    kernel: String,
    longhaul: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Read {
    pub reasons: Vec<String>,
    pub warnings: Vec<String>,
    #[serde(default)]
    pub doubts: Vec<Caveat>,
    pub figures: Figures,
}

impl Record {
    pub(super) fn new(inputs: Inputs, read: Read, fidelity: Fidelity) -> Self {
        Self { schema: SCHEMA.to_owned(), inputs, read, fidelity }
    }

    pub(super) fn is_valid(&self) -> bool {
        self.fidelity.valid && self.read.reasons.is_empty()
    }

    pub(super) fn doubts(&self) -> Vec<Caveat> {
        let Self { read, fidelity, .. } = self;
        let mut doubts = claim::caveats_of(&fidelity.doubts, &fidelity.reasons, &[]);
        doubts.extend(claim::caveats_of(&read.doubts, &read.reasons, &read.warnings));
        doubts
    }

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
    pub(super) fn of(outcome: &Outcome) -> Result<Self, serde_json::Error> {
        let [read] = &outcome.measured[..] else { unreachable!("the scenario of a cell has one command") };
        Ok(Self::of_recording(&Recording::deserialize(&read.detail["value"])?))
    }

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

fn early(ended: ReaderEnded, why: Option<&str>) -> Option<Doubt> {
    let how = match ended {
        ReaderEnded::Complete => return None,
        ReaderEnded::Interrupted => "was interrupted",
        ReaderEnded::PeerClosed => "had no more to read",
        ReaderEnded::ConnectionLost => "lost its connection",
    };
    Some(Doubt::EndedEarly { how, why: why.map(str::to_owned) })
}

const SCHEMA: &str = "longhaul.tcp.sweep.cell/1";

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

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
            ["the reader reports that its figures are not the connection's, without a reason"]
        );
        let both = read(&json!({ "valid": false, "reasons": [starved], "ended": "peer_closed" }));
        assert_eq!(both.reasons, ["the reader had no more to read before its programme was over", starved]);
    }
}
