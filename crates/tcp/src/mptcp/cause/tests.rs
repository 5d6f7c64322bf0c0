//! Each cause from the evidence that the kernel would show of it.

use std::collections::BTreeMap;

use super::*;
use crate::mptcp::Address;

fn connection() -> SeenConnection {
    SeenConnection {
        local: "10.0.0.1:50000".parse().unwrap(),
        remote: "10.0.0.2:80".parse().unwrap(),
        state: State::Established,
        inode: 7,
        token: 1,
        is_fallback: false,
        further: 0,
        most_further: 8,
        accepted: (0, 8),
        tried: 0,
        bytes_sent: 0,
        bytes_received: 0,
    }
}

fn subflow(local: &str, device: &str, origin: Origin) -> Subflow {
    Subflow {
        local: local.parse().unwrap(),
        remote: "10.0.0.2:80".parse().unwrap(),
        device: Some(device.to_owned()),
        state: State::Established,
        origin,
        is_backup: false,
    }
}

fn first(origin: Origin) -> Subflow {
    subflow("10.0.0.1:50000", "net0", origin)
}

/// A host with two addresses, the second of which MPTCP may use.
fn two_networks(counters: &[(&str, u64)]) -> Surroundings {
    let address = |address: &str, device: &str| Address {
        address: address.parse().unwrap(),
        device: device.to_owned(),
    };
    Surroundings {
        endpoints: vec![Endpoint {
            address: "10.16.0.1".parse().unwrap(),
            purpose: Purpose::Subflow,
            is_backup: false,
        }],
        addresses: vec![
            address("10.0.0.1", "net0"),
            address("fd00::1", "net0"),
            address("10.16.0.1", "net1"),
        ],
        counters: counters
            .iter()
            .map(|&(name, number)| (name.to_owned(), number))
            .collect::<BTreeMap<_, _>>(),
    }
}

fn cause(connection: &SeenConnection, subflows: &[Subflow], around: &Surroundings) -> Cause {
    let finding = of_one(connection, subflows, around);
    assert!(!finding.evidence.is_empty() && !finding.remedy.is_empty(), "{finding:?}");
    finding.cause
}

/// With one subflow that this end opened.
fn opened(connection: &SeenConnection, around: &Surroundings) -> Cause {
    cause(connection, &[first(Origin::FirstOpened)], around)
}

#[test]
fn a_fallback_goes_by_what_the_kernel_counted() {
    let fallback = SeenConnection { is_fallback: true, ..connection() };
    for (counter, expected) in [
        ("Blackhole", Cause::Paused),
        ("MPCapableSYNTXDisabled", Cause::Paused),
        ("MPCapableSYNTXDrop", Cause::OptionDropped),
        ("DataCsumErr", Cause::DataChanged),
        ("MPCapableFallbackSYNACK", Cause::PeerWithoutMptcp),
        ("MPCapableFallbackACK", Cause::PeerWithoutMptcp),
        ("MPJoinSynTx", Cause::FellBack),
    ] {
        assert_eq!(opened(&fallback, &two_networks(&[(counter, 1)])), expected, "{counter}");
    }
}

#[test]
fn limits_come_before_addresses() {
    let around = two_networks(&[]);
    let none = SeenConnection { most_further: 0, ..connection() };
    assert_eq!(opened(&none, &around), Cause::NoSubflowsAdmitted);
    let refusing = SeenConnection { accepted: (0, 0), ..connection() };
    assert_eq!(opened(&refusing, &two_networks(&[("AddAddr", 1)])), Cause::AnnouncementRefused);
    assert_eq!(opened(&refusing, &around), Cause::NotTried, "nothing was announced");
}

#[test]
fn without_an_endpoint_it_depends_on_the_addresses() {
    let mut around = Surroundings { endpoints: Vec::new(), ..two_networks(&[]) };
    let finding = of_one(&connection(), &[first(Origin::FirstOpened)], &around);
    assert_eq!(finding.cause, Cause::NoEndpoint);
    assert_eq!(finding.remedy, "ip mptcp endpoint add 10.16.0.1 dev net1 subflow");
    // The IPv6 address is no second one for a connection over IPv4.
    around.addresses.truncate(2);
    assert_eq!(opened(&connection(), &around), Cause::NoSecondAddress);
    let elsewhere = Surroundings { addresses: around.addresses, ..two_networks(&[]) };
    assert_eq!(opened(&connection(), &elsewhere), Cause::EndpointWithoutAddress);
}

#[test]
fn a_join_that_waits_names_its_path() {
    let waiting = Subflow { state: State::SynSent, ..subflow("10.16.0.1:40000", "net1", Origin::Joined) };
    let finding =
        of_one(&connection(), &[first(Origin::FirstOpened), waiting], &two_networks(&[("MPJoinSynTx", 1)]));
    assert_eq!(finding.cause, Cause::JoinUnanswered);
    assert_eq!(finding.evidence, ["10.16.0.1:40000 to 10.0.0.2:80 by net1 waits for an answer"]);
    assert!(finding.remedy.contains("ping -I 10.16.0.1 10.0.0.2"));
}

#[test]
fn joins_go_by_what_the_kernel_counted() {
    let tried = SeenConnection { tried: 1, ..connection() };
    for (counters, expected) in [
        (&[("MPJoinSynTxConnectErr", 1)][..], Cause::JoinNotSent),
        (&[("MPJoinSynTx", 1), ("MPJoinSynAckRx", 1), ("MPJoinSynAckHMacFailure", 1)], Cause::JoinForged),
        (&[("MPJoinSynTx", 2), ("MPJoinSynAckRx", 1)], Cause::JoinRefused),
        (&[("MPJoinSynTx", 1), ("MPJoinSynAckRx", 1)], Cause::SubflowLost),
        (&[], Cause::NotTried),
    ] {
        assert_eq!(opened(&tried, &two_networks(counters)), expected, "{counters:?}");
    }
}

#[test]
fn who_accepted_the_connection_waits_for_the_peer() {
    for (counters, expected) in [
        (&[("MPJoinNoTokenFound", 1)][..], Cause::UnknownToken),
        (&[("MPJoinAckHMacFailure", 1)], Cause::JoinForged),
        (&[], Cause::PeerOpens),
    ] {
        let accepted = [first(Origin::FirstAccepted)];
        assert_eq!(cause(&connection(), &accepted, &two_networks(counters)), expected, "{counters:?}");
    }
}

#[test]
fn a_second_subflow_may_be_of_little_use() {
    let both = |device, is_backup| {
        let second = Subflow { is_backup, ..subflow("10.16.0.1:40000", device, Origin::Joined) };
        of_second(&[first(Origin::FirstOpened), second]).map(|finding| finding.cause)
    };
    assert_eq!(both("net1", false), None);
    assert_eq!(both("net1", true), Some(Cause::OnlyBackup));
    assert_eq!(both("net0", false), Some(Cause::SamePath));
    // Where the peer's addresses differ, the paths do too, as far as this end can know.
    let mut accepted = [first(Origin::FirstAccepted), first(Origin::JoinAccepted)];
    accepted[1].remote = "10.16.0.2:40000".parse().unwrap();
    assert_eq!(of_second(&accepted), None);
}
