//! The program as its user runs it. Planets are real: these tests need root, or user namespaces and `/dev/net/tun`.

#![expect(clippy::unwrap_used, reason = "a test ends at the first thing that goes wrong")]

mod captures;
mod certainty;
mod compare;
mod completion;
mod convert;
mod doctor;
mod documents;
mod edge;
mod edge_bus;
mod edge_handover;
mod edge_kv;
mod edge_kv_accept;
mod edge_simulate;
mod edge_simulated;
mod edge_three;
mod faults;
mod files;
mod flagship;
mod full_disk;
mod hands;
mod harness;
mod interface;
mod json;
mod lab;
mod lab_faults;
mod lab_views;
mod log;
mod mistakes;
mod own_error;
mod pcapng;
mod peers;
mod phases;
mod ping;
mod probe;
mod scenario;
mod speed;
mod tcp;
mod tcp_explain;
mod tcp_oscil;
mod tcp_ports;
mod tcp_sweep;
mod tcp_window;
mod transfer;
mod which;
