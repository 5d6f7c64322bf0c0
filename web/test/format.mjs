// The page and the terminal format figures in the same way: both are checked against
// crates/base/units/src/show/cases.json.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { transformWithOxc } from "vite";

const read = (path) => readFile(new URL(path, import.meta.url), "utf8");

const { code } = await transformWithOxc(await read("../src/format.ts"), "format.ts");
const format = await import(`data:text/javascript,${encodeURIComponent(code)}`);
const cases = JSON.parse(await read("../../crates/base/units/src/show/cases.json"));

/** The function names on the page. */
const SHOWS = { percent: "percentile", difference: "signed" };

/** The page separates thousands of latencies and does not break between figure and unit; the kind of space
 * may differ. */
const plain = (text) => text.replace(/(\d)[\u202f ](?=\d{3})/g, "$1").replaceAll("\u00a0", " ");

for (const [name, of] of Object.entries(cases)) {
  const show = format[SHOWS[name] ?? name];
  assert.equal(typeof show, "function", `format.ts lacks ${name}`);
  for (const [value, text] of of) assert.equal(plain(show(value)), plain(text), `${name} of ${value}`);
}
console.log(`figures: ${Object.values(cases).flat().length} cases as on the terminal`);
