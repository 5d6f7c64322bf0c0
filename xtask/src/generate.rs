//! Generates committed files from the code: JSON schemas of all outputs, TypeScript types of the page, and
//! tables in the docs.

use std::fs;

use anyhow::{Context, bail};
use planet::cli_documents;
use schemars::{JsonSchema, Schema, generate::SchemaSettings};
use serde_json::{Value, json};

use crate::{root, run};

pub(crate) fn generate() -> anyhow::Result<()> {
    for (path, text) in schemas()?.into_iter().chain(pages()?) {
        fs::write(root().join(&path), text).with_context(|| format!("cannot write {path}"))?;
    }
    run("web", "npm", &["run", "--silent", "generate"])
}

pub(crate) fn is_fresh() -> anyhow::Result<()> {
    for (path, text) in schemas()?.into_iter().chain(pages()?) {
        if fs::read_to_string(root().join(&path)).ok().as_deref() != Some(text.as_str()) {
            bail!("{path} is out of date: run `cargo xtask generate`");
        }
    }
    Ok(())
}

fn pages() -> anyhow::Result<Vec<(String, String)>> {
    let path = "docs/recording.md";
    let mut text = fs::read_to_string(root().join(path)).with_context(|| format!("cannot read {path}"))?;
    for (name, table) in
        [("formats", recording::formats::table()), ("refused", recording::formats::refused())]
    {
        let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->\n"));
        let places = text.find(&begin).map(|at| at + begin.len()).zip(text.find(&end));
        let (from, to) = places
            .filter(|(from, to)| from <= to)
            .with_context(|| format!("{path}: the comments around the table {name} are not there"))?;
        text.replace_range(from..to, &format!("\n{table}\n"));
    }
    Ok(vec![(path.to_owned(), text)])
}

fn schemas() -> anyhow::Result<Vec<(String, String)>> {
    let printed = [
        ("capture", "longhaul.lab.capture/1", schema_of::<cli_documents::Captured>()),
        ("catchment", "longhaul.lab.catchment/1", schema_of::<planet::Catchment>()),
        ("compare", "longhaul.compare/1", schema_of::<report::Comparison>()),
        ("convert", "longhaul.convert/1", schema_of::<report::Conversion>()),
        ("cp", "longhaul.lab.cp/1", schema_of::<cli_documents::Copied>()),
        ("doctor", "longhaul.doctor/1", schema_of::<planet::doctor::Findings>()),
        ("down", "longhaul.lab.down/1", schema_of::<cli_documents::Down>()),
        ("edge-check", "longhaul.edge.check/1", schema_of::<edge::config::Checked>()),
        ("edge-explain", "longhaul.edge.explain/1", schema_of::<edge::admin::api::Explanation>()),
        ("edge-init", "longhaul.edge.init/1", schema_of::<edge::config::Initialized>()),
        ("edge-kv-accept", "longhaul.edge.kv.accept/1", schema_of::<kv_server::Acceptance>()),
        ("edge-kv-file", "longhaul.edge.kv.file/1", schema_of::<kv_server::FileCheck>()),
        ("edge-kv-get", "longhaul.edge.kv.get/1", schema_of::<kv_server::Got>()),
        ("edge-kv-list", "longhaul.edge.kv.list/1", schema_of::<kv_server::Listed>()),
        ("edge-kv-moved", "longhaul.edge.kv.moved/1", schema_of::<kv_server::Moved>()),
        ("edge-kv-namespace", "longhaul.edge.kv.namespace/1", schema_of::<kv_server::NamespaceLine>()),
        ("edge-kv-namespaces", "longhaul.edge.kv.namespaces/1", schema_of::<kv_server::NamespaceList>()),
        ("edge-kv-watch", "longhaul.edge.kv.watch/1", schema_of::<kv_server::WouldAnswer>()),
        ("edge-kv-written", "longhaul.edge.kv.written/1", schema_of::<kv_server::Written>()),
        ("edge-purge", "longhaul.edge.purge/1", schema_of::<edge::admin::api::Purged>()),
        ("edge-simulate", "longhaul.edge.simulate/1", schema_of::<edge_sim::Simulation>()),
        ("edge-status", "longhaul.edge.status/1", schema_of::<edge::admin::api::Status>()),
        ("edge-ca", "longhaul.edge.ca/1", schema_of::<edge::Certificate>()),
        ("edge-token", "longhaul.edge.token/1", schema_of::<edge::Token>()),
        ("exec", "longhaul.lab.exec/1", schema_of::<cli_documents::Executed>()),
        ("explain", "longhaul.tcp.explain/1", schema_of::<Vec<tcp::explain::Explanation>>()),
        ("fault", "longhaul.lab.fault/1", schema_of::<planet::FaultStatus>()),
        ("files", "longhaul.files/1", schema_of::<report::Written>()),
        ("lift", "longhaul.lab.fault.lift/1", schema_of::<cli_documents::Lifted>()),
        ("logs", "longhaul.lab.logs/1", schema_of::<Vec<planet::Program>>()),
        ("map", "longhaul.lab.map/1", schema_of::<cli_documents::Drawn>()),
        ("mptcp", "longhaul.tcp.mptcp/1", schema_of::<tcp::mptcp::Audit>()),
        ("oscil", "longhaul.tcp.oscil/1", schema_of::<trafficgen::slow_reader::Recording>()),
        (
            "oscil-programmes",
            "longhaul.tcp.oscil.programme/1",
            schema_of::<Vec<trafficgen::slow_reader::Programme>>(),
        ),
        ("ping", "longhaul.ping/1", schema_of::<probe::ping::Summary>()),
        ("ports", "longhaul.tcp.ports/1", schema_of::<trafficgen::ports::Measurement>()),
        ("probe", "longhaul.probe/2", schema_of::<probe::summary::Summary>()),
        ("publish", "longhaul.lab.publish/1", schema_of::<cli_documents::Publishing>()),
        ("report", "longhaul.report/1", report()),
        ("speed", "longhaul.speed/1", schema_of::<speedtest::result::Outcome>()),
        ("speed-score", "longhaul.speed.score/1", schema_of::<speedtest::result::Judgement>()),
        ("speed-token", "longhaul.speed.token/1", schema_of::<speedtest::stored_results::Secret>()),
        ("status", "longhaul.lab.status/1", schema_of::<planet::Overview>()),
        ("sweep", "longhaul.tcp.sweep/1", schema_of::<sweep::Sweep>()),
        ("transfer", "longhaul.transfer/1", schema_of::<trafficgen::transfer::Summary>()),
        ("up", "longhaul.lab.up/1", schema_of::<cli_documents::Up>()),
        ("view", "longhaul.lab.view/1", schema_of::<cli_documents::View>()),
        ("window", "longhaul.tcp.window/1", schema_of::<tcp::window::Plan>()),
        ("window-check", "longhaul.tcp.window.check/1", schema_of::<tcp::window::Check>()),
    ];
    let printed = printed.map(|(file, name, schema)| (format!("docs/schema/{file}.json"), name, schema));
    let shown = [
        ("web/schema/figures.json", "longhaul.figures/1", schema_of::<report::figures::Figures>()),
        (
            "web/schema/operator.json",
            "longhaul.speed.kept/1",
            schema_of::<speedtest::stored_results::Overview>(),
        ),
    ];
    let shown = shown.map(|(path, name, schema)| (path.to_owned(), name, schema));
    let all = printed.into_iter().chain(shown);
    all.map(|(path, name, schema)| {
        let schema = named(schema, name).with_context(|| path.clone())?;
        Ok((path, serde_json::to_string_pretty(&schema)? + "\n"))
    })
    .collect()
}

/// Deserialisation may allow other omissions (`serde(default)`) than serialisation
/// (`serde(skip_serializing_if)`); readers of our output need the latter.
fn schema_of<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}

fn report() -> Schema {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.root_schema_for::<report::Report>();
    let lists: Vec<_> =
        scenario::lists().into_iter().map(|list| (list, (list.schema)(&mut generator))).collect();
    let definitions = generator.take_definitions(true);
    let object = schema.ensure_object();
    if let Some(known) = object.get_mut("$defs").and_then(Value::as_object_mut) {
        known.extend(definitions);
    }
    for (list, element) in lists {
        let mut element = element.to_value();
        element["description"] = list.what.into();
        if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
            properties.insert(list.name.to_owned(), element);
        }
        if let Some(required) = object.get_mut("required").and_then(Value::as_array_mut) {
            required.push(list.name.into());
        }
    }
    schema
}

fn named(schema: Schema, name: &str) -> anyhow::Result<Schema> {
    let mut schema = schema.to_value();
    let element = schema.pointer("/items/$ref").and_then(Value::as_str);
    let path = element.map_or(String::new(), |path| path.trim_start_matches('#').to_owned());
    let object = schema.pointer_mut(&path).and_then(Value::as_object_mut).context("no object has a name")?;
    let properties = object.entry("properties").or_insert_with(|| json!({})).as_object_mut();
    let what = "By this name the schema is found in docs/schema.";
    let name = json!({ "type": "string", "const": name, "description": what });
    properties.context("properties are an object")?.insert("schema".to_owned(), name);
    let required = object.entry("required").or_insert_with(|| json!([])).as_array_mut();
    let required = required.context("required properties are an array")?;
    if !required.contains(&"schema".into()) {
        required.insert(0, "schema".into());
    }
    // Converting to a schema restores the usual order of the keys.
    Ok(Schema::try_from(schema)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Serialize, JsonSchema)]
    struct Part {
        always: u8,
        nothing: Option<u8>,
        #[serde(skip_serializing_if = "Option::is_none")]
        seldom: Option<u8>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        several: Vec<u8>,
        #[serde(default)]
        later: u8,
    }

    #[test]
    fn required_is_what_is_always_written() {
        let least = Part { always: 1, nothing: None, seldom: None, several: Vec::new(), later: 0 };
        let written = serde_json::to_value(least).unwrap();
        let mut keys: Vec<_> = written.as_object().unwrap().keys().cloned().collect();
        let schema = named(schema_of::<Vec<Part>>(), "longhaul.part/1").unwrap();
        let part = &schema.as_value()["$defs"]["Part"];
        let mut required: Vec<String> = serde_json::from_value(part["required"].clone()).unwrap();
        required.sort();
        keys.push("schema".to_owned());
        keys.sort();
        assert_eq!(required, keys);
        assert_eq!(part["properties"]["schema"]["const"], "longhaul.part/1");
        let mut all: Vec<_> = part["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        all.sort_unstable();
        assert_eq!(all, ["always", "later", "nothing", "schema", "seldom", "several"]);
    }
}
