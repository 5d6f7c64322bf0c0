//! Import graphs of small crates.

use super::*;

/// "a.rs b.rs" for each use between these files.
fn uses(files: &[(&str, &str)]) -> Vec<String> {
    let all = Crate::new(files.iter().map(|(path, text)| (Path::new(path), *text))).unwrap();
    let shown = |file: usize| all.files[file].display().to_string();
    all.uses().keys().map(|&(from, to)| format!("{} {}", shown(from), shown(to))).collect()
}

/// Items of b.rs that a.rs uses, if a.rs has this text; b.rs has B and a module c with C.
fn used(a: &str) -> Vec<String> {
    uses(&[
        ("lib.rs", "mod a;\nmod b;\npub use b::B as Shown;\npub use self::b::c::*;"),
        ("a.rs", a),
        ("b.rs", "pub mod c;\npub struct B;\npub fn new() {}\nmacro_rules! made { () => { pub struct M; } }"),
        ("b/c.rs", "pub struct C;"),
    ])
}

#[test]
fn every_way_to_write_a_path_is_seen() {
    for a in [
        "use crate::b::B;",
        "use super::b::B;",
        "use self::super::b::B;",
        "use crate::{b::{B as Other, new}};",
        "use crate::b::*;",
        "pub use crate::b::B;",
        "fn f() -> crate::b::B { todo!() }",
        "fn f() { super::b::new(); }",
        "fn f() { use crate::b::new; new(); }",
        "fn f() { println!(\"{}\", crate::b::new()); }",
        "use crate::b;\nfn f() { b::new(); }",
        "use crate::b as other;\nfn f() { other::new(); }",
        "use crate::b::{self, c::C as _};\nfn f() { b::new(); }",
        "type T = Vec<crate::b::B>;",
        "fn f() { crate::b::made_by_a_macro(); }",
        "mod inner { use super::super::b::B; }",
        "mod inner { fn f() { crate::b::new(); } }",
        // By the name of the re-export in the root.
        "use crate::Shown;",
        "use super::Shown as S;",
        "fn f(_: crate::Shown) {}",
    ] {
        assert!(used(a).contains(&"a.rs b.rs".to_owned()), "{a}: {:?}", used(a));
    }
}

#[test]
fn an_item_is_where_it_is_declared() {
    for a in
        ["use crate::b::c::C;", "use crate::C;", "use crate::b::c;\nfn f(_: c::C) {}", "use super::b::c::*;"]
    {
        assert_eq!(used(a), ["a.rs b/c.rs"], "{a}");
    }
}

#[test]
fn what_is_no_use_is_not_counted() {
    for a in [
        "",
        "//! As [`crate::b::B`].\n// use crate::b::B;\n/* crate::b::new() */",
        "const TEXT: &str = \"crate::b::B\";\nconst RAW: &str = r#\"use crate::b::B;\"#;",
        "#[cfg(test)]\nmod tests {\n use crate::b::B;\n}",
        "#[cfg(test)]\nuse crate::b::B;",
        "#[cfg(test)]\nfn f() -> crate::b::B { crate::b::B }",
        "#[cfg(all(test, unix))]\nmod tests { use crate::b::B; }",
        "pub(in crate::b) struct A;",
        // A path in another crate.
        "use ::b::B;",
        "fn f() { ::b::new(); }",
        "fn f() { <u8 as Default>::default(); }",
        // An import without a use of its items does not count.
        "use crate::b;",
    ] {
        assert_eq!(used(a), [""; 0], "{a}");
    }
}

#[test]
fn code_after_a_test_is_read_again() {
    let a =
        "#[cfg(test)]\nmod tests;\nuse crate::b::B;\n#[cfg(test)]\nconst N: [u8; 2] = [0; 2];\nuse crate::C;";
    assert_eq!(used(a), ["a.rs b.rs", "a.rs b/c.rs"]);
}

#[test]
fn a_module_and_what_lies_inside_it_may_use_each_other() {
    let uses = uses(&[
        ("lib.rs", "mod a;\npub struct Root;\npub use a::A;"),
        ("a.rs", "mod b;\nuse self::b::c::C;\npub struct A;"),
        ("a/b.rs", "pub mod c;\nuse super::A;\npub struct B;"),
        ("a/b/c.rs", "use crate::{Root, a::A};\nuse super::super::A as Again;\nuse super::B;\npub struct C;"),
    ]);
    assert_eq!(uses, [""; 0]);
}

#[test]
fn siblings_are_strangers_whatever_their_parent_is() {
    let uses = uses(&[
        ("main.rs", "mod a;"),
        ("a.rs", "mod b;\nmod c;\npub use b::B;\nuse c::*;"),
        ("a/b.rs", "use super::C;\npub struct B;"),
        ("a/c.rs", "use super::B;\npub struct C;"),
    ]);
    assert_eq!(uses, ["a/b.rs a/c.rs", "a/c.rs a/b.rs"]);
}

#[test]
fn re_exports_that_lead_nowhere_end() {
    let uses = uses(&[
        ("lib.rs", "pub use a::X;\npub use b::*;"),
        ("a.rs", "pub use crate::b::X;\npub use crate::b::*;"),
        ("b.rs", "pub use crate::a::X;\npub use crate::a::*;"),
    ]);
    // The glob import is a use; X does not exist.
    assert_eq!(uses, ["a.rs b.rs", "b.rs a.rs"]);
}
