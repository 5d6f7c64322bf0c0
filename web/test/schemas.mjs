// Runs the program, and validates its output and the output of all tests against the shipped schemas.
//   node test/schemas.mjs PROGRAM REPORT.html DOCUMENTS
// Writes the report of a comparison with all features to REPORT.html. DOCUMENTS is the folder in which the
// tests stored all JSON output of commands. Exit code 0 if everything is valid.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import Ajv2020 from "ajv/dist/2020.js";
import { generator, lognormal } from "./report.mjs";

const [program, page, documents] = process.argv.slice(2).map((path) => resolve(path));
const folder = await mkdtemp(join(tmpdir(), "schemas-"));
const run = (...args) => JSON.parse(execFileSync(program, args, { cwd: folder, stdio: ["ignore", "pipe", "ignore"] }));

/** Every schema by its file name, with the schema name and the required properties of its documents. */
const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false });
const schemas = new Map();
const shipped = new URL("../../docs/schema/", import.meta.url);
for (const file of await readdir(shipped)) {
  const schema = JSON.parse(await readFile(new URL(file, shipped), "utf8"));
  const isArray = schema.type === "array";
  const object = isArray ? schema.$defs[schema.items.$ref.split("/").at(-1)] : schema;
  const { const: name } = object.properties.schema;
  schemas.set(file.replace(".json", ""), { name, isArray, required: object.required, validate: ajv.compile(schema), seen: 0 });
}

async function holds(schema, value, what) {
  const { validate } = schemas.get(schema);
  assert.ok(validate(value), `${what}: ${ajv.errorsText(validate.errors)}`);
  // A schema that accepts anything would prove nothing.
  const { schema: _, ...beheaded } = value;
  assert.ok(!validate(beheaded), `${schema}.json does not ask for a schema`);
  assert.ok(!validate({ ...value, warnings: 7 }), `${schema}.json takes a number for warnings`);
  console.log(`ok  ${what}`);
}

/**
 * Validates a document of the tests against its schema, and checks that it is rejected without each required
 * property. A schema of an object also applies to an array of such objects.
 */
function check(document, file) {
  const first = Array.isArray(document) ? document[0] : document;
  if (first === undefined) return;
  const found = [...schemas.values()].find(({ name }) => name === first.schema);
  assert.ok(found, `${file}: there is no schema of the name ${first.schema}`);
  const { isArray, required, validate } = found;
  const wholes = Array.isArray(document) && !isArray ? document : [document];
  for (const whole of wholes) {
    assert.ok(validate(whole), `${file}: ${ajv.errorsText(validate.errors)}`);
    const last = isArray ? whole.at(-1) : whole;
    for (const key of required) {
      const { [key]: removed, ...rest } = last;
      assert.notEqual(removed, undefined, `${file}: ${key} is required and not there`);
      const lacking = isArray ? [...whole.slice(0, -1), rest] : rest;
      assert.ok(!validate(lacking), `${file}: valid without ${key}, which is required`);
    }
  }
  found.seen++;
}

async function checkAll(folder) {
  for (const file of await readdir(folder)) check(JSON.parse(await readFile(join(folder, file), "utf8")), file);
  const unseen = [...schemas].filter(([, { seen }]) => seen === 0).map(([file]) => file);
  assert.equal(unseen.join(", "), "", "schemas of which no test prints a document");
  const counts = [...schemas].map(([file, { seen }]) => `${file} ${seen}`);
  console.log(`ok  what commands printed in tests: ${counts.join(", ")}`);
}

/** A recording with everything that a comparison can use. */
function recording(seed, base, tail) {
  const random = generator(seed);
  const rows = ["started_s,page,city,status,connect_ms,tls_ms,wait_ms,total_ms,error"];
  for (let i = 0; i < 6000; i++) {
    const wait = lognormal(random, base, 0.2) + (random() < 0.02 ? tail * random() : 0) + (i > 4000 ? base / 2 : 0);
    const [connect, tls] = i % 3 === 0 ? [base, base * 1.1] : ["", ""];
    const total = wait + Number(connect) + Number(tls) + 1;
    const city = ["oslo", "lima", "rome"][i % 7 % 3];
    const times = i % 500 === 0 ? ",,," : [connect, tls, wait, total].join(",");
    rows.push([i / 10, Math.floor(i / 12), city, 200, times, i % 500 === 0 ? "reset" : ""].join(","));
  }
  return `${rows.join("\n")}\n`;
}

try {
  await writeFile(join(folder, "swift.csv"), recording(1, 20, 400));
  await writeFile(join(folder, "steady.csv"), recording(2, 45, 20));
  await mkdir(dirname(page), { recursive: true });
  const asked = ["--requests", "40", "--required", "0.5", "--by", "city", "--fail-if", "p95 above 10s", "--json"];
  const two = run("compare", "swift.csv", "steady.csv", ...asked, "--html", page);
  await holds("compare", two, "compare of two sides");
  assert.ok(two.phases.length > 0 && two.breakdown.groups.length === 3 && two.independence.checked);
  await holds("compare", run("compare", "swift.csv", "--json"), "compare of one side");
  await holds("compare", run("compare", "a=swift.csv", "b=steady.csv", "c=swift.csv", "--json"), "compare of three sides");
  await holds("compare", run("compare", "swift.csv", "steady.csv", "--resamples", "0", "--json"), "compare without intervals");
  await holds("convert", run("convert", "swift.csv", "swift.hlog", "--json"), "convert");
  await holds("compare", run("compare", "swift.hlog", "--json"), "compare of a histogram");
  await holds("convert", run("merge", "swift.csv", "steady.csv", "-o", "both.jsonl", "--json"), "merge");
  await checkAll(documents);
} finally {
  await rm(folder, { recursive: true });
}
