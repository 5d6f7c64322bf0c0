//! Collects the JSON output of all commands; `make test` validates it against the shipped schemas.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::{LazyLock, Mutex, PoisonError},
};

use serde_json::{Deserializer, Value};

use crate::harness::project;

/// Ignores text and recordings.
#[track_caller]
pub(crate) fn keep(printed: &str) {
    if !printed.trim_start().starts_with(['{', '[']) {
        return;
    }
    let Ok(documents) = Deserializer::from_str(printed).into_iter::<Value>().collect::<Result<Vec<_>, _>>()
    else {
        return;
    };
    if documents.first().is_some_and(|first| first["schema"] == "longhaul.recording/1") {
        return;
    }
    for document in documents {
        let mut elements = document.as_array().map_or_else(|| vec![&document], |all| all.iter().collect());
        for element in &elements {
            let name = element["schema"].as_str().unwrap_or_default();
            assert!(
                NAMES.contains(name),
                "\"{name}\" is the schema of this document, and docs/schema has none of that name: print it with \
                 output::named, and add what it is to xtask/src/generate.rs: {element:#}"
            );
        }
        elements.dedup_by_key(|element| &element["schema"]);
        assert!(elements.len() <= 1, "one array of several kinds of documents: {document:#}");
        write(&document);
    }
}

/// One document of each shape: a test that polls prints a thousand.
fn write(document: &Value) {
    #[derive(Default)]
    struct Written {
        numbers: BTreeMap<String, usize>,
        shapes: BTreeSet<BTreeSet<String>>,
    }
    static WRITTEN: LazyLock<Mutex<Written>> = LazyLock::new(Mutex::default);
    let test = std::thread::current().name().unwrap_or("thread").replace("::", "-");
    let mut shape = BTreeSet::new();
    add_shape(document, "", &mut shape);
    let number = {
        let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
        if !written.shapes.insert(shape) {
            return;
        }
        let number = written.numbers.entry(test.clone()).or_default();
        *number += 1;
        *number
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("documents");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{test}-{number}.json")), document.to_string()).unwrap();
}

fn add_shape(value: &Value, path: &str, shape: &mut BTreeSet<String>) {
    let is_word = |text: &str| text.len() < 32 && text.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    match value {
        Value::Object(properties) if !properties.is_empty() => {
            for (key, value) in properties {
                add_shape(value, &format!("{path}.{key}"), shape);
            }
        }
        Value::Array(elements) if !elements.is_empty() => {
            for element in elements {
                add_shape(element, &format!("{path}[]"), shape);
            }
        }
        Value::String(text) if is_word(text) || NAMES.contains(text) => {
            shape.insert(format!("{path} {text}"));
        }
        Value::String(_) => drop(shape.insert(format!("{path} \"\""))),
        Value::Number(number) if number.is_f64() => drop(shape.insert(format!("{path} 0.5"))),
        Value::Number(number) => {
            let sign = if number.is_u64() { 1 } else { -1 };
            shape.insert(format!("{path} {sign}"));
        }
        Value::Null | Value::Bool(_) | Value::Object(_) | Value::Array(_) => {
            shape.insert(format!("{path} {value}"));
        }
    }
}

static NAMES: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let name = |path: &Path| {
        let schema: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        let object = match schema.pointer("/items/$ref") {
            Some(element) => schema.pointer(element.as_str().unwrap().trim_start_matches('#')).unwrap(),
            None => &schema,
        };
        let name = object.pointer("/properties/schema/const").and_then(Value::as_str);
        name.unwrap_or_else(|| panic!("{} names no document", path.display())).to_owned()
    };
    let files = fs::read_dir(project("docs/schema")).unwrap();
    files.map(|file| name(&file.unwrap().path())).collect()
});

#[test]
#[should_panic(expected = "docs/schema has none of that name")]
fn a_document_without_a_schema_is_noticed() {
    keep("[\n  { \"pid\": 7 }\n]\n");
}

#[test]
fn documents_of_one_shape_are_one_and_others_are_not() {
    let shape = |text: &str| {
        let mut shape = BTreeSet::new();
        add_shape(&serde_json::from_str(text).unwrap(), "", &mut shape);
        shape
    };
    let one = shape(r#"{ "n": 1, "state": "up", "all": [{ "s": 0.5 }, { "s": 1.5 }] }"#);
    assert_eq!(one, shape(r#"{ "n": 7, "state": "up", "all": [{ "s": 2.5 }] }"#));
    for other in [
        r#"{ "n": 1, "state": "down", "all": [{ "s": 0.5 }] }"#,
        r#"{ "n": -1, "state": "up", "all": [{ "s": 0.5 }] }"#,
        r#"{ "n": 1, "state": "up", "all": [{ "s": 0.5 }, {}] }"#,
        r#"{ "n": 1, "state": "up", "all": [] }"#,
        r#"{ "n": null, "state": "up", "all": [{ "s": 0.5 }] }"#,
    ] {
        assert_ne!(one, shape(other), "{other}");
    }
}

#[test]
fn text_and_recordings_are_no_documents() {
    keep("[1] 10.0.0.1 answered\n");
    keep("{\"schema\":\"longhaul.recording/1\"}\n{\"latency_ns\":1}\n");
    keep("[]\n");
}
