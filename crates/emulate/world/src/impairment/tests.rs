//! Links with all their keys, and keys that have no effect.

use std::{path::Path, time::Duration};

use link::{Limit, Order};
use units::Probability;

use super::*;
use crate::{Layout, World};

const TWO: &str = "[[host]]\nname = 'a'\ncity = 'newyork'\n[[host]]\nname = 'b'\ncity = 'london'\n";

fn layout(lines: &str) -> Result<Layout, String> {
    let text = format!("{TWO}[[link]]\nbetween = ['newyork', 'london']\n{lines}\n");
    let open = |path: &Path| match path.to_str() {
        Some("up.trace") => Ok("1\n2\n".to_owned()),
        Some("broken.trace") => Ok("5\n3\n".to_owned()),
        Some("bell.dist") => Ok("-8192 0 8192\n".to_owned()),
        Some("losses") => Ok("0001\n".to_owned()),
        _ => Err(std::io::ErrorKind::NotFound.into()),
    };
    let read = World::read_all(&mut Document::new("w.toml", text), open);
    let (world, layout, _) = read.map_err(|mistake| mistake.to_string())?;
    let again =
        World::read(&Document::new("again.toml", world.to_toml())).expect("what was written can be read");
    assert_eq!(again.1.link(0, 1), layout.link(0, 1), "it is the same without its files");
    Ok(layout)
}

fn config(lines: &str) -> Config {
    layout(lines).unwrap().link(0, 1)
}

fn refused(lines: &str) -> String {
    layout(lines).unwrap_err()
}

#[test]
fn keys_become_what_the_engine_is_told() {
    let config = config(
        "rtt = '80ms'\nrate = '10Mbit'\nqueue = '1000p'\naqm = 'codel target 20ms'\necn = true\njitter = '2ms normal free'\n\
         loss = 'gemodel 1% 30%'\nduplicate = '0.1%'\ncorrupt = '0.2%'\noverhead = 0",
    );
    assert_eq!(config.propagation, Duration::from_millis(40));
    assert_eq!((config.rate.mean(), config.queue), ("10Mbit".parse().ok(), Limit::Packets(1000)));
    assert_eq!((config.discipline.to_string(), config.ecn), ("codel target 20ms".to_owned(), true));
    let jitter = link::Jitter { spread: Duration::from_millis(2), shape: Shape::Normal, order: Order::Free };
    assert_eq!(config.jitter, Some(jitter));
    assert_eq!(config.loss.to_string(), "gemodel 1% 30% 100% 0%");
    assert_eq!((config.duplicate.get(), config.corrupt.get(), config.overhead), (0.001, 0.002, 0));
}

#[test]
fn a_netem_line_is_taken_as_it_is_and_other_keys_go_before_it() {
    let config = config("netem = 'delay 40ms 5ms distribution normal loss 0.1% rate 10mbit'\nloss = '2%'");
    assert_eq!((config.propagation, config.rate.mean()), (Duration::from_millis(40), "10Mbit".parse().ok()));
    assert_eq!(config.loss, Loss::Bernoulli(Probability::new(0.02).unwrap()));
    assert_eq!(config.jitter.unwrap().order, Order::Free);
}

#[test]
fn traces_and_tables_come_from_files() {
    let config =
        config("trace = 'up.trace'\njitter = '1ms'\njitter_table = 'bell.dist'\nloss_trace = 'losses'");
    assert_eq!(config.rate.mean(), "12Mbit".parse().ok());
    assert!(matches!(config.jitter.unwrap().shape, Shape::Table(_)) && matches!(config.loss, Loss::Trace(_)));
}

#[test]
fn an_access_line_has_the_same_keys_each_way() {
    let text = "[[host]]\nname = 'a'\ncity = 'london'\naccess = 'mine'\n[[access]]\nname = 'mine'\nup = '1Mbit'\ndown = '8Mbit'\naqm = 'fq_codel'\n";
    let (_, layout) = World::read(&Document::new("w.toml", text)).unwrap();
    let line = layout.ports[0].line.as_ref().unwrap();
    assert_eq!((line.up.rate.mean(), line.down.rate.mean()), ("1Mbit".parse().ok(), "8Mbit".parse().ok()));
    assert_eq!((&line.up.discipline, &line.down.discipline), (&Discipline::FQ_CODEL, &Discipline::FQ_CODEL));
}

#[test]
fn the_round_trip_of_an_access_line_goes_before_the_delay_of_its_netem_line() {
    // netem's delay is one-way; a round trip is twice as long.
    for (lines, one_way_ms) in [("netem = 'delay 40ms'", 40), ("netem = 'delay 40ms'\nrtt = '6ms'", 3)] {
        let text = format!(
            "[[host]]\nname = 'a'\ncity = 'london'\naccess = 'mine'\n[[access]]\nname = 'mine'\n{lines}\n"
        );
        let (_, layout) = World::read(&Document::new("w.toml", text)).unwrap();
        let line = layout.ports[0].line.as_ref().unwrap();
        let one_way = Duration::from_millis(one_way_ms);
        assert_eq!((line.up.propagation, line.down.propagation), (one_way, one_way), "{lines}");
    }
}

#[test]
fn nonsense_is_located() {
    for (lines, expected) in [
        (
            "aqm = 'red'",
            "w.toml:9:7: \"red\" is not a queue discipline; expected droptail, codel or fq_codel",
        ),
        ("jitter = '5ms wide'", "w.toml:9:10: \"wide\" is not a kind of jitter"),
        ("netem = 'delay 1ms slot 5'", "w.toml:9:9: "),
        ("trace = 'nowhere.trace'", "w.toml:9:9: "),
        ("trace = 'broken.trace'", "w.toml:9:9: broken.trace: line 2: 3 ms is after 5 ms"),
        ("rate = '1Mbit'\ntrace = 'up.trace'", "a rate or a trace of it, not both"),
        ("loss = '1%'\nloss_trace = 'losses'", "a loss or a trace of it, not both"),
        ("aqm = 'codel'", "never queues; give it a rate, or leave out aqm and ecn"),
        ("rate = '1Mbit'\necn = true", "only codel and fq_codel mark packets"),
        ("jitter_table = 'bell.dist'", "set its size with jitter"),
        ("loss = 'gemodel'", "gemodel has 0 shares after it"),
    ] {
        let said = refused(lines);
        assert!(said.contains(expected), "expected {expected}\n  but got {said}");
    }
}
