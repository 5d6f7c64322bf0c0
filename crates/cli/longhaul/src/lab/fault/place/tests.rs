//! Tests of fault command lines and the faults that they produce.

use clap::Parser;
use world::{Document, World};

use super::*;
use crate::lab::fault::{Command, Fault as Typed};

#[derive(Debug, Parser)]
struct Cli {
    #[command(flatten)]
    fault: Typed,
}

const WORLD: &str = "
    [[host]]
    name = 'origin'
    city = 'newyork'
    [[host]]
    name = 'pop-fra'
    city = 'frankfurt'
    [[host]]
    name = 'phone'
    city = 'london'
    [[anycast]]
    name = 'cdn'
    prefix = '192.0.2.0/24'
    hosts = ['origin', 'pop-fra']
";

fn typed(words: &str) -> Result<Fault, String> {
    let (_, layout) = World::read(&Document::new("w.toml", WORLD)).unwrap();
    let names = Names { planet: "p", layout: &layout };
    let cli = Cli::try_parse_from(std::iter::once("fault").chain(words.split(' ')))
        .map_err(|error| error.to_string())?;
    let fault = match &cli.fault.command {
        None => cli.fault.fault(names),
        Some(Command::City(city)) => city.fault(names),
        Some(Command::Host(host)) => host.fault(names),
        Some(Command::Partition(partition)) => partition.fault(names),
        Some(Command::Withdraw(withdraw)) => withdraw.fault(names),
        Some(other) => panic!("{other:?}"),
    };
    let fault = fault.map_err(|error| error.to_string())?;
    layout.effect(&fault)?;
    Ok(fault)
}

#[test]
fn faults_are_typed_as_people_say_them() {
    for (words, what) in [
        ("london-newyork --loss 5%", "london-newyork: loss 5%"),
        ("london-newyork down", "london-newyork: down"),
        ("london-newyork --down", "london-newyork: down"),
        ("london-newyork --down unreachable", "london-newyork: unreachable"),
        ("london-newyork --rtt 200ms --rate 10Mbit", "london-newyork: rtt 200ms, rate 10Mbit"),
        ("city frankfurt", "frankfurt: down"),
        ("city FRA down", "frankfurt: down"),
        ("host origin down", "origin: down"),
        ("host origin killed", "origin: killed"),
        ("host origin frozen", "origin: frozen"),
        ("host phone --access net0 --down carrier", "phone's net0: no carrier"),
        ("partition london,newyork frankfurt", "partition london, newyork | frankfurt"),
        ("withdraw cdn --host pop-fra --transient blackhole", "cdn withdrawn from pop-fra"),
        ("withdraw 192.0.2.0/24 --host origin", "cdn withdrawn from origin"),
    ] {
        assert_eq!(typed(words).map(|fault| fault.to_string()), Ok(what.to_owned()), "{words}");
    }
}

#[test]
fn what_a_fault_says_beside_its_phrase_is_kept() {
    let fault = typed("withdraw cdn --host pop-fra --transient old-site").unwrap();
    assert_eq!(fault.transient, Some(Transient::OldSite));
    let fault = typed("host phone --loss 2%").unwrap();
    assert_eq!((fault.loss, fault.down), (Probability::new(0.02), None));
}

#[test]
fn nonsense_is_answered() {
    for (words, expected) in [
        ("london-newyork", "changes nothing; expected loss, rtt, rate or down"),
        ("london-newyork frozen", "a link between cities is down in silence or unreachable"),
        (
            "hsot origin down",
            "expected two cities with a hyphen between them, such as london-newyork, or one of city",
        ),
        ("--loss 5%", "required arguments were not provided"),
        ("london-newyork sideways", "[possible values: down, silent, unreachable, carrier, killed, frozen]"),
        ("london-newyork --loss 120%", "\"120%\" is out of range"),
        ("london-newyork down --down", "cannot be used with"),
        ("city frankfurt killed", "a city can only be down"),
        ("city atlantis down", "no city \"atlantis\" on planet \"p\"; its cities are "),
        ("host orign down", "did you mean \"origin\"?"),
        ("host phone --access lte --down", "no access line \"lte\""),
        ("partition london,london newyork", "in two groups"),
        ("withdraw cdn", "choose the one that withdraws it"),
        ("withdraw dns --host origin", "no anycast prefix \"dns\" on planet \"p\"; "),
    ] {
        let said = typed(words).expect_err(words);
        assert!(said.contains(expected), "{words}: {said}");
    }
}
