// Runs the program and holds what it prints against the schemas that it ships.
//   node test/schemas.mjs PROGRAM REPORT.html
// Writes the report of a comparison that has everything to REPORT.html. Exit code 0 if all is valid.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import Ajv2020 from "ajv/dist/2020.js";
import { generator, lognormal } from "./report.mjs";

const [program, page] = process.argv.slice(2).map((path) => resolve(path));
const folder = await mkdtemp(join(tmpdir(), "schemas-"));
const run = (...args) => JSON.parse(execFileSync(program, args, { cwd: folder, stdio: ["ignore", "pipe", "ignore"] }));

const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false });
async function holds(schema, value, what) {
  const path = new URL(`../../docs/schema/${schema}.json`, import.meta.url);
  const validate = ajv.compile(JSON.parse(await readFile(path, "utf8")));
  assert.ok(validate(value), `${what}: ${ajv.errorsText(validate.errors)}`);
  // A schema that takes anything proves nothing.
  const { schema: _, ...beheaded } = value;
  assert.ok(!validate(beheaded), `${schema}.json does not ask for a schema`);
  assert.ok(!validate({ ...value, warnings: 7 }), `${schema}.json takes a number for warnings`);
  console.log(`ok  ${what}`);
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
} finally {
  await rm(folder, { recursive: true });
}
