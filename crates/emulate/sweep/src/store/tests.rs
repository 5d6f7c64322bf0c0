//! Reuse of results, and the summary of several results.

use std::collections::BTreeMap;

use claim::{Fidelity, HeldUp};

use super::*;
use crate::{
    Figures, Grid, Plan, Sweep,
    machine::Machine,
    record::Read,
    result::{Ended, State},
};

fn plan() -> Plan {
    let machine = Machine { kernel: "6.18.1".parse().unwrap(), congestion: Vec::new() };
    Plan::new(Grid { repeat: 2, ..Grid::default() }, machine).unwrap()
}

fn fidelity(reasons: &[&str]) -> Fidelity {
    Fidelity {
        valid: reasons.is_empty(),
        reasons: reasons.iter().map(|&reason| reason.to_owned()).collect(),
        doubts: Vec::new(),
        delivered: 1,
        lateness_us: BTreeMap::new(),
        lateness_histogram: Vec::new(),
        latest_flows: Vec::new(),
        lateness_limit_us: Some(10_000.0),
        late_share: None,
        held_up: HeldUp::default(),
        own_drops: 0,
        bytes_in: 0,
        bytes_out: 0,
        bytes_dropped: 0,
        bytes_duplicated: 0,
        bytes_in_flight: 0,
        switch_cpu_share: 0.0,
        machine_cpu_share: None,
        receive: "slice".to_owned(),
    }
}

fn record(plan: &Plan, run: usize, bytes: u64, late: &[&str], kept_waiting: &[&str]) -> Record {
    let reasons = kept_waiting.iter().map(|&reason| reason.to_owned()).collect();
    let read = Read {
        reasons,
        warnings: Vec::new(),
        doubts: Vec::new(),
        figures: Figures { bytes, ..Figures::default() },
    };
    Record::new(Inputs::of(&plan.runs[run], &plan.machine), read, fidelity(late))
}

#[test]
fn a_result_spares_a_run_if_it_is_valid_and_of_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::of(folder.path());
    let plan = plan();
    let run = &plan.runs[0];
    let inputs = Inputs::of(run, &plan.machine);
    assert!(store.kept(run, &inputs).is_none());

    store.create().unwrap();
    fs::create_dir(store.folder(run)).unwrap();
    let good = record(&plan, 0, 5, &[], &[]);
    store.keep(run, &good).unwrap();
    assert_eq!(store.kept(run, &inputs), Some(good));
    assert_eq!(fs::read_dir(store.folder(run)).unwrap().count(), 1);

    let updated = Machine { kernel: "6.18.2".parse().unwrap(), congestion: Vec::new() };
    assert!(store.kept(run, &Inputs::of(run, &updated)).is_none(), "another kernel");
    let mut other = run.clone();
    other.programme.repeat += 1;
    assert!(store.kept(run, &Inputs::of(&other, &plan.machine)).is_none(), "another programme");
    for invalid in [record(&plan, 0, 5, &["late"], &[]), record(&plan, 0, 5, &[], &["no processor"])] {
        store.keep(run, &invalid).unwrap();
        assert!(store.kept(run, &inputs).is_none(), "{invalid:?}");
    }
    fs::write(store.record(run), "{\"schema\": \"longhaul.tcp.sweep.cell/1\"").unwrap();
    assert!(store.kept(run, &inputs).is_none(), "half a file");
    store.forget(run).unwrap();
    store.forget(run).unwrap();
    assert!(!store.record(run).exists());
}

#[test]
fn a_cell_is_what_its_valid_runs_say() {
    let plan = plan();
    let measured =
        |run, bytes, late: &[&str]| Ended::Measured(Box::new(record(&plan, run, bytes, late, &[])));
    let sweep = Sweep::new(
        &plan,
        vec![
            measured(0, 10, &[]),
            measured(1, 20, &["late"]),
            Ended::Failed("it fell over".to_owned()),
            Ended::Missing,
            measured(4, 12, &["late"]),
            measured(5, 21, &["late"]),
            measured(6, 30, &[]),
            Ended::Missing,
        ],
    );
    let cells: Vec<_> = sweep
        .cells
        .iter()
        .map(|cell| (cell.valid, cell.n, cell.figures.as_ref().map(|figures| figures.bytes)))
        .collect();
    assert_eq!(cells, [(true, 1, Some(10)), (false, 2, Some(20)), (true, 1, Some(30)), (false, 0, None)]);
    assert!(!sweep.valid);
    assert_eq!(
        [State::Valid, State::Invalid, State::Failed, State::Missing].map(|state| sweep.count(state)),
        [2, 3, 1, 2]
    );
    let failed = &sweep.cells[2].runs[0];
    assert_eq!(
        (failed.state, failed.reasons.as_slice()),
        (State::Failed, ["it fell over".to_owned()].as_slice())
    );
    assert_eq!(sweep.cells[1].runs[0].reasons, ["late"]);
}
