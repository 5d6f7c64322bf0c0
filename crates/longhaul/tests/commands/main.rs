//! The program as its user runs it. Planets are real: these tests need root, or user namespaces and `/dev/net/tun`.

mod compare;
mod harness;
mod lab;
mod mistakes;
mod probe;
mod scenario;
