//! A note for programs of `make run`, which are built quickly and are not optimised.

use crate::output::say;

pub(crate) const VERSION: &str = env!("LONGHAUL_VERSION");

pub(crate) fn print_note() {
    if VERSION != env!("CARGO_PKG_VERSION") {
        say(
            "this is the quick build of `make run`, which needs several times the processor time: `cargo build --release` builds the optimised program",
        );
    }
}
