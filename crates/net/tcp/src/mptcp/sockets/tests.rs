//! Messages of Linux 6.18 captured on a planet, and truncated ones.

use proptest::prelude::*;

use super::*;

/// End, kind, message.
const CAPTURED: &str = include_str!("captured.hex");

fn captured(end: &str, kind: &str) -> Vec<Vec<u8>> {
    let of_line = |line: &str| {
        let hex = line.strip_prefix(&format!("{end} {kind} "))?;
        let bytes = (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap());
        Some(bytes.collect())
    };
    CAPTURED.lines().filter_map(of_line).collect()
}

fn end(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

#[test]
fn a_connection_is_read_as_the_kernel_sent_it() {
    let connections = captured("phone", "connection");
    assert_eq!(connections.len(), 1);
    let seen = connection(&connections[0]).unwrap();
    assert_eq!((seen.bytes_sent, seen.bytes_received), (5000, 5000));
    assert_eq!((seen.local, seen.remote), (end("10.0.0.1:58512"), end("10.0.0.2:80")));
    // The phone's second address had an endpoint for each version of IP; only one of them resulted in a
    // subflow.
    assert_eq!((seen.further, seen.most_further, seen.accepted, seen.tried), (1, 8, (0, 8), 2));
    assert!(seen.state == State::Established && !seen.is_fallback);
    // Linux 5.16 ends after `rcv_nxt`.
    let info_of_516 = {
        let mut message = connections[0].clone();
        let info = message.len() - 100;
        message.truncate(info + 4 + 40);
        message[info..info + 2].copy_from_slice(&44_u16.to_ne_bytes());
        message
    };
    let older = connection(&info_of_516).unwrap();
    assert_eq!((older.token, older.bytes_sent, older.tried), (seen.token, 0, 0));
}

#[test]
fn subflows_belong_to_their_connection_and_say_who_opened_them() {
    for (side, first, joined) in [
        ("phone", (Origin::FirstOpened, "10.0.0.1:58512"), (Origin::Joined, "10.16.0.1:36349")),
        ("server", (Origin::FirstAccepted, "10.0.0.2:80"), (Origin::JoinAccepted, "10.0.0.2:80")),
    ] {
        let token = connection(&captured(side, "connection")[0]).unwrap().token;
        let all: Vec<_> = captured(side, "subflow").iter().map(|message| subflow(message).unwrap()).collect();
        assert!(all.iter().all(|each| each.token == token && !each.is_backup), "{all:?}");
        let handshakes = all.iter().filter_map(|each| each.handshake).collect::<Vec<_>>();
        assert_eq!(handshakes, [Handshake::Agreed], "joins agree on nothing new");
        let mut seen: Vec<_> = all.iter().map(|each| (each.origin, each.socket.local)).collect();
        seen.sort();
        assert_eq!(seen, [first, joined].map(|(origin, local)| (origin, end(local))));
    }
}

fn changed(flags: u32, token: u32) -> SeenSubflow {
    let mut messages = captured("phone", "subflow");
    let message = messages.iter_mut().find(|message| subflow(message).unwrap().origin == Origin::FirstOpened);
    let message = message.unwrap();
    let mut put = |kind: u16, value: u32| {
        let head = [8_u16.to_ne_bytes(), kind.to_ne_bytes()].concat();
        let at = message.windows(4).rposition(|window| window == head).unwrap() + 4;
        message[at..at + 4].copy_from_slice(&value.to_ne_bytes());
    };
    // In this order, because flags of 2 look like the header of the other.
    put(SUBFLOW_TOKEN_LOCAL, token);
    put(SUBFLOW_FLAGS, flags);
    subflow(message).unwrap()
}

#[test]
fn first_packets_are_told_apart() {
    for (flags, origin, handshake) in [
        (CAPABLE_LOCAL | CAPABLE_REMOTE, Origin::FirstOpened, Handshake::Agreed),
        (CAPABLE_LOCAL, Origin::FirstOpened, Handshake::NotAnswered),
        (CAPABLE_REMOTE, Origin::FirstAccepted, Handshake::Agreed),
        // The values in Linux 6.18 for a connection during a pause, and for one whose SYN was retransmitted
        // without MPTCP.
        (0, Origin::FirstOpened, Handshake::NotAsked),
    ] {
        let seen = changed(flags, 7);
        assert_eq!((seen.origin, seen.handshake, seen.token), (origin, Some(handshake), 7), "{flags}");
    }
    assert_eq!(changed(JOIN_LOCAL | CAPABLE_LOCAL, 7).handshake, None);
}

#[test]
fn a_subflow_without_a_token_is_a_connection_of_its_own() {
    let mut seen = Seen { subflows: vec![changed(0, 0), changed(CAPABLE_LOCAL, 7)], ..Seen::default() };
    seen.add_plain_from_the_start();
    assert_eq!(seen.connections.len(), 1);
    let connection = &seen.connections[0];
    assert!(connection.is_fallback && connection.local == end("10.0.0.1:58512"), "{connection:?}");
    let own: Vec<_> = seen.subflows.iter().filter(|subflow| subflow.is_of(connection)).collect();
    assert!(own.len() == 1 && own[0].token == 0, "not every subflow without a token is its");
}

#[test]
fn a_request_names_its_protocol_in_full() {
    let request = request(FAMILIES[0], IPPROTO_MPTCP, States::CONNECTED, None);
    // 262 is 0x106, and only 6 fits the header.
    assert_eq!((request.len(), request[1]), (64, 6));
    assert_eq!(attributes(&request[56..]).collect::<Vec<_>>(), [(3, &262_u32.to_ne_bytes()[..])]);
}

#[test]
fn a_message_that_is_cut_off_is_no_other() {
    for (end, kind) in [("phone", "connection"), ("server", "subflow")] {
        let message = &captured(end, kind)[0];
        for cut in 0..message.len() {
            let left = &message[..cut];
            assert!(cut >= DIAG_HEADER || socket(left).is_none());
            assert!(connection(left).is_none() || cut > DIAG_HEADER);
            assert!(subflow(left).is_none() || cut > DIAG_HEADER);
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let _ = (socket(&bytes), connection(&bytes), subflow(&bytes));
    }

    #[test]
    fn a_changed_byte_can_be_read(at in 0_usize..496, byte: u8) {
        for kind in ["connection", "subflow"] {
            let mut message = captured("phone", kind).remove(0);
            if let Some(place) = message.get_mut(at) {
                *place = byte;
            }
            let _ = (connection(&message), subflow(&message));
        }
    }
}
