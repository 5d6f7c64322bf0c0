//! Requests packed relative relocations (DT_RELR) from the linker if the C library is glibc 2.36 or
//! newer.
//!
//! The relocation table takes 1.6 MB of file and memory in the default format, and 20 KB in the
//! packed one.
//!
//! Marks the version of a quick build (`make run`), which is not optimised.

use std::{env, process::Command};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let mark = if is_quick_build() { " (quick build)" } else { "" };
    println!("cargo:rustc-env=LONGHAUL_VERSION={}{mark}", env!("CARGO_PKG_VERSION"));
    if is_for_this_machine() && glibc().is_some_and(|version| version >= (2, 36)) {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

fn is_quick_build() -> bool {
    let is = |name, value: &str| env::var(name).is_ok_and(|found| found == value);
    is("PROFILE", "release") && is("OPT_LEVEL", "0")
}

fn is_for_this_machine() -> bool {
    let is_gnu = env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|environment| environment == "gnu");
    is_gnu && env::var_os("HOST") == env::var_os("TARGET")
}

/// `None` if the C library is not glibc.
fn glibc() -> Option<(u32, u32)> {
    let said = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?.stdout;
    let (major, minor) = str::from_utf8(&said).ok()?.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
