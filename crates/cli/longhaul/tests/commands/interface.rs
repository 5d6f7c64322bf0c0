//! Checks that options and fields of JSON documents are stable.
//!
//! A change needs a reason in CHANGELOG.md; `LONGHAUL_INTERFACE=write cargo test -p longhaul
//! interface` writes the files in `tests/interface`.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::harness::{longhaul, project};

#[test]
fn every_command_keeps_its_options() {
    let mut lines = BTreeSet::new();
    add_command(&[], &mut lines);
    holds("options.txt", &lines);
}

#[test]
fn every_document_keeps_its_fields() {
    let mut lines = BTreeSet::new();
    for file in fs::read_dir(project("docs/schema")).unwrap() {
        let path = file.unwrap().path();
        let schema: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        Fields { schema: &schema, lines: &mut lines, within: Vec::new() }.add(&schema, &name, "");
    }
    holds("fields.txt", &lines);
}

#[track_caller]
fn holds(file: &str, lines: &BTreeSet<String>) {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interface").join(file);
    if std::env::var_os("LONGHAUL_INTERFACE").is_some_and(|what| what == "write") {
        return fs::write(path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    }
    let text = fs::read_to_string(path).unwrap();
    let kept: BTreeSet<String> = text.lines().map(str::to_owned).collect();
    let gone: Vec<_> = kept.difference(lines).collect();
    let new: Vec<_> = lines.difference(&kept).collect();
    assert!(
        gone.is_empty() && new.is_empty(),
        "tests/interface/{file}: these are gone, and somebody's script may need them: {gone:#?}; these are new: {new:#?}. \
         If that is what you want: LONGHAUL_INTERFACE=write cargo test -p longhaul interface"
    );
}

const LISTS_OF_COMMANDS: [&str; 5] = ["Commands:", "Measure:", "Emulate:", "Run an edge network:", "Shell:"];

fn add_command(words: &[&str], lines: &mut BTreeSet<String>) {
    let help = longhaul(&[words, &["--help"]].concat()).ok();
    let command = words.join(" ");
    let mut section = "";
    let mut option = String::new();
    let mut below = Vec::new();
    for line in help.lines() {
        let text = line.trim();
        let indent = line.len() - line.trim_start().len();
        if let Some(usage) = line.strip_prefix("Usage: ") {
            lines.insert(format!("{command}: {usage}"));
        } else if indent == 0 && text.ends_with(':') {
            section = text;
        } else if LISTS_OF_COMMANDS.contains(&section) && indent == 2 {
            below.extend(text.split_whitespace().next());
        } else if (2..=6).contains(&indent) && text.starts_with(['-', '<', '[']) {
            text.split("  ").next().unwrap_or_default().clone_into(&mut option);
            lines.insert(format!("{command}: {option}"));
        } else if indent > 6 && text.starts_with("- ") {
            let value = text.trim_start_matches("- ").split(':').next().unwrap_or_default();
            lines.insert(format!("{command}: {option} is {value}"));
        }
        for told in bracketed(text) {
            lines.insert(format!("{command}: {option} {told}"));
        }
    }
    for name in below.into_iter().filter(|name| *name != "help") {
        add_command(&[words, &[name]].concat(), lines);
    }
}

fn bracketed(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices('[').map(|(at, _)| &text[at..]);
    starts.filter_map(|rest| {
        let told = &rest[..=rest.find(']')?];
        ["[default", "[possible", "[alias"].iter().any(|start| told.starts_with(start)).then_some(told)
    })
}

struct Fields<'s> {
    schema: &'s Value,
    lines: &'s mut BTreeSet<String>,
    /// The definitions around the current one. A recursive definition is expanded once.
    within: Vec<&'s str>,
}

impl<'s> Fields<'s> {
    fn add(&mut self, part: &'s Value, path: &str, required: &str) {
        if let Some(name) = part["$ref"].as_str() {
            if !self.within.contains(&name) {
                self.within.push(name);
                self.add(self.schema.pointer(name.trim_start_matches('#')).unwrap(), path, required);
                self.within.pop();
            }
            return;
        }
        for choice in ["anyOf", "oneOf", "allOf"].iter().filter_map(|key| part[key].as_array()).flatten() {
            self.add(choice, path, required);
        }
        let types = match &part["type"] {
            Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
            one => one.as_str().into_iter().collect::<Vec<_>>(),
        };
        for kind in types {
            self.lines.insert(format!("{path} {kind}{required}"));
        }
        for word in part["enum"].as_array().into_iter().flatten().chain(part.get("const")) {
            self.lines.insert(format!("{path} {word}"));
        }
        let always: Vec<_> =
            part["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (key, value) in part["properties"].as_object().into_iter().flatten() {
            let required = if always.contains(&key.as_str()) { ", always" } else { "" };
            self.add(value, &format!("{path}.{key}"), required);
        }
        for (key, sign) in [("items", "[]"), ("additionalProperties", ".*")] {
            if part[key].is_object() {
                self.add(&part[key], &format!("{path}{sign}"), "");
            }
        }
    }
}

#[test]
fn options_and_fields_are_read_from_help_and_schemas() {
    let told: Vec<_> =
        bracketed("how often [default, in a run: 10/s] [env: X] [alias: --duration]").collect();
    assert_eq!(told, ["[default, in a run: 10/s]", "[alias: --duration]"]);
    let schema = serde_json::json!({
        "type": "object", "required": ["n"],
        "properties": { "n": { "type": "integer" }, "all": { "type": "array", "items": { "$ref": "#/$defs/One" } } },
        "$defs": { "One": { "type": ["string", "null"], "properties": { "self": { "$ref": "#/$defs/One" } } } },
    });
    let mut lines = BTreeSet::new();
    Fields { schema: &schema, lines: &mut lines, within: Vec::new() }.add(&schema, "x", "");
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    assert_eq!(lines, ["x object", "x.all array", "x.all[] null", "x.all[] string", "x.n integer, always"]);
}
