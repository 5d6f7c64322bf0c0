// Writes src/types.ts from schema/report.json, so that the page and the Rust model cannot drift apart.
import { readFile, writeFile } from "node:fs/promises";
import { compile } from "json-schema-to-typescript";

const schemaPath = new URL("../schema/report.json", import.meta.url);
const typesPath = new URL("../src/types.ts", import.meta.url);

// schemars puts a field's description beside its $ref. The compiler takes each such pair for a type of its own and
// numbers them (Verdict1, Verdict2); without the description all of them are one Verdict.
function withoutSiblingsOfRefs(node) {
  if (Array.isArray(node)) return node.map(withoutSiblingsOfRefs);
  if (node === null || typeof node !== "object") return node;
  if (typeof node.$ref === "string") return { $ref: node.$ref };
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, withoutSiblingsOfRefs(value)]));
}

const schema = withoutSiblingsOfRefs(JSON.parse(await readFile(schemaPath, "utf8")));
const types = await compile(schema, "Report", {
  additionalProperties: false,
  bannerComment:
    "// Generated from schema/report.json by `npm run generate`: the report as Rust writes it. Do not edit.",
  printWidth: 120,
});
await writeFile(typesPath, types);
