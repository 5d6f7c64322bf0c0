//! Each cause, from the kernel's evidence for it.

use super::*;
use crate::{
    counters::Counters,
    mptcp::{Address, Handshake},
};

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
        handshake: None,
        is_backup: false,
    }
}

fn first(origin: Origin) -> Subflow {
    subflow("10.0.0.1:50000", "net0", origin)
}

fn two_networks() -> Surroundings {
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
    }
}

fn account(counters: &[(&str, u64)]) -> Account {
    let counters: Counters = counters.iter().map(|&(name, number)| (name.to_owned(), number)).collect();
    Account::new(&counters, None)
}

fn found(connection: &SeenConnection, subflows: &[Subflow], counters: &[(&str, u64)]) -> Finding {
    let finding = of_one(connection, subflows, &two_networks(), &account(counters));
    assert!(!finding.evidence.is_empty() && !finding.advice.is_empty(), "{finding:?}");
    finding
}

fn opened(connection: &SeenConnection, counters: &[(&str, u64)]) -> Finding {
    found(connection, &[first(Origin::FirstOpened)], counters)
}

fn accepted(counters: &[(&str, u64)]) -> Finding {
    found(&connection(), &[first(Origin::FirstAccepted)], counters)
}

fn fallen(handshake: Handshake, token: u32, counters: &[(&str, u64)]) -> Finding {
    let fallback = SeenConnection { is_fallback: true, token, ..connection() };
    let first = Subflow { handshake: Some(handshake), ..first(Origin::FirstOpened) };
    found(&fallback, &[first], counters)
}

#[test]
fn a_fallback_goes_by_its_first_packets_whatever_older_connections_have_counted() {
    let old = [
        ("MPCapableSYNTX", 9),
        ("Blackhole", 1),
        ("MPCapableSYNTXDisabled", 20),
        ("MPCapableSYNTXDrop", 20),
        ("DataCsumErr", 1),
        ("MPCapableFallbackSYNACK", 20),
    ];
    for (handshake, token, expected) in [
        (Handshake::NotAsked, 0, Cause::Paused),
        (Handshake::NotAsked, 1, Cause::OptionDropped),
        (Handshake::NotAnswered, 1, Cause::PeerWithoutMptcp),
        (Handshake::Agreed, 1, Cause::FellBack),
    ] {
        let finding = fallen(handshake, token, &old);
        assert_eq!((finding.kind, finding.is_inferred), (expected, false), "{handshake:?}");
    }
    // One of nine had changed data, possibly another one: it is mentioned, and does not decide.
    let said = fallen(Handshake::Agreed, 1, &old).evidence;
    assert_eq!(said[1], "DataCsumErr is 1");
    assert!(
        said[2].contains("of all its 9 connections; some events may be older than this connection"),
        "{said:?}"
    );
    let alone = fallen(Handshake::Agreed, 1, &[("MPCapableSYNTX", 1), ("DataCsumErr", 1)]);
    assert_eq!((alone.kind, alone.is_inferred), (Cause::DataChanged, false));
    assert_eq!(fallen(Handshake::NotAsked, 0, &[("MPCapableSYNTX", 1)]).kind, Cause::FellBack);
}

#[test]
fn of_several_connections_a_counter_decides_if_it_counts_as_much_as_there_were() {
    for (rejected, expected) in [(1, Cause::PeerOpens), (2, Cause::PeerOpens), (3, Cause::JoinRejected)] {
        let finding = accepted(&[("MPCapableACKRX", 3), ("MPJoinRejected", rejected)]);
        assert_eq!(finding.kind, expected, "{rejected} of 3");
        assert_eq!(finding.is_inferred, expected != Cause::PeerOpens);
        assert!(finding.evidence.contains(&format!("MPJoinRejected is {rejected}")), "{finding:?}");
        assert!(finding.evidence.last().unwrap().contains("of all its 3 connections"), "{finding:?}");
    }
}

#[test]
fn joins_of_several_connections_tell_what_happened_to_all_of_them() {
    let tried = SeenConnection { tried: 1, ..connection() };
    let of = |connection: &SeenConnection, sent: u64, answered: u64| {
        opened(connection, &[("MPCapableSYNTX", 5), ("MPJoinSynTx", sent), ("MPJoinSynAckRx", answered)])
    };
    for (sent, answered, expected) in [
        (5, 0, Cause::JoinRefused),
        (5, 5, Cause::SubflowLost),
        (9, 4, Cause::JoinRefused),
        (5, 4, Cause::JoinFailed),
        (0, 0, Cause::NotTried),
    ] {
        let finding = of(&tried, sent, answered);
        assert_eq!(finding.kind, expected, "{sent} sent, {answered} answered");
        assert_eq!(finding.is_inferred, sent != 0);
        assert_eq!(of(&connection(), sent, answered).kind, Cause::NotTried);
    }
}

#[test]
fn a_fallback_whose_first_packets_are_hidden_goes_by_what_the_kernel_counted() {
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
        let finding = opened(&fallback, &[(counter, 1)]);
        assert_eq!((finding.kind, finding.is_inferred), (expected, false), "{counter}");
        let likely = opened(&fallback, &[(counter, 2), ("MPCapableSYNTX", 2)]);
        assert_eq!((likely.kind, likely.is_inferred), (expected, expected != Cause::FellBack), "{counter}");
        let of_another = opened(&fallback, &[(counter, 1), ("MPCapableSYNTX", 2)]);
        assert_eq!(of_another.kind, Cause::FellBack, "{counter}");
    }
}

#[test]
fn limits_come_before_addresses() {
    let none = SeenConnection { most_further: 0, ..connection() };
    assert_eq!(opened(&none, &[]).kind, Cause::NoSubflowsAdmitted);
    let refusing = SeenConnection { accepted: (0, 0), ..connection() };
    assert_eq!(opened(&refusing, &[("AddAddr", 1)]).kind, Cause::AnnouncementRefused);
    assert_eq!(opened(&refusing, &[]).kind, Cause::NotTried, "nothing was announced");
}

#[test]
fn without_an_endpoint_it_depends_on_the_addresses() {
    let of =
        |around: &Surroundings| of_one(&connection(), &[first(Origin::FirstOpened)], around, &account(&[]));
    let mut around = Surroundings { endpoints: Vec::new(), ..two_networks() };
    let finding = of(&around);
    assert_eq!(finding.kind, Cause::NoEndpoint);
    assert_eq!(finding.advice, "ip mptcp endpoint add 10.16.0.1 dev net1 subflow");
    around.addresses.truncate(2);
    assert_eq!(of(&around).kind, Cause::NoSecondAddress);
    let elsewhere = Surroundings { addresses: around.addresses, ..two_networks() };
    assert_eq!(of(&elsewhere).kind, Cause::EndpointWithoutAddress);
}

#[test]
fn a_join_that_waits_names_its_path() {
    let waiting = Subflow { state: State::SynSent, ..subflow("10.16.0.1:40000", "net1", Origin::Joined) };
    let finding = found(&connection(), &[first(Origin::FirstOpened), waiting], &[("MPJoinSynTx", 1)]);
    assert_eq!(finding.kind, Cause::JoinUnanswered);
    assert_eq!(finding.evidence, ["10.16.0.1:40000 to 10.0.0.2:80 by net1 waits for a response"]);
    assert!(finding.advice.contains("ping -I 10.16.0.1 10.0.0.2"));
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
        assert_eq!(opened(&tried, counters).kind, expected, "{counters:?}");
    }
}

#[test]
fn who_accepted_the_connection_waits_for_the_peer() {
    for (counters, expected) in [
        (&[("MPJoinNoTokenFound", 1)][..], Cause::UnknownToken),
        (&[("MPJoinAckHMacFailure", 1)], Cause::JoinForged),
        (&[("MPJoinRejected", 1)], Cause::JoinRejected),
        (&[], Cause::PeerOpens),
    ] {
        assert_eq!(accepted(counters).kind, expected, "{counters:?}");
    }
}

#[test]
fn a_second_subflow_may_be_of_little_use() {
    let both = |device, is_backup| {
        let second = Subflow { is_backup, ..subflow("10.16.0.1:40000", device, Origin::Joined) };
        of_second(&[first(Origin::FirstOpened), second]).map(|finding| finding.kind)
    };
    assert_eq!(both("net1", false), None);
    assert_eq!(both("net1", true), Some(Cause::OnlyBackup));
    assert_eq!(both("net0", false), Some(Cause::SamePath));
    let mut both = [first(Origin::FirstAccepted), first(Origin::JoinAccepted)];
    both[1].remote = "10.16.0.2:40000".parse().unwrap();
    assert_eq!(of_second(&both), None);
}
