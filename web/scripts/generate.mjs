// Writes the types of each page's document from its schema, so that the page and the Rust model cannot drift apart.
import { readFile, writeFile } from "node:fs/promises";
import { compile } from "json-schema-to-typescript";

const PAGES = [
  { name: "Report", schema: "docs/schema/report.json", types: "types.ts", what: "the report" },
  { name: "Outcome", schema: "docs/schema/speed.json", types: "speed/types.ts", what: "the result of a speed test" },
  { name: "Overview", schema: "web/schema/operator.json", types: "speed/operator_types.ts", what: "all results that a speed server keeps" },
  { name: "Figures", schema: "web/schema/figures.json", types: "figure_types.ts", what: "a document of figures" },
];

// schemars puts a field's description beside its $ref. The compiler takes each such pair for a type of its own and
// numbers them (Verdict1, Verdict2); without the description all of them are one Verdict. The tag of an enum's variant is
// kept beside its $ref.
function withoutSiblingsOfRefs(node) {
  if (Array.isArray(node)) return node.map(withoutSiblingsOfRefs);
  if (node === null || typeof node !== "object") return node;
  if (typeof node.$ref === "string") {
    const { $ref, properties, required } = node;
    return properties === undefined ? { $ref } : { allOf: [{ $ref }, { type: "object", properties, required }] };
  }
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, withoutSiblingsOfRefs(value)]));
}

for (const { name, schema: file, types: to, what } of PAGES) {
  const schema = JSON.parse(await readFile(new URL(`../../${file}`, import.meta.url), "utf8"));
  const types = await compile(withoutSiblingsOfRefs(schema), name, {
    additionalProperties: false,
    bannerComment: `// Generated from ${file} by \`npm run generate\`: ${what} as Rust writes it. Do not edit.`,
    printWidth: 120,
  });
  await writeFile(new URL(`../src/${to}`, import.meta.url), types);
}
