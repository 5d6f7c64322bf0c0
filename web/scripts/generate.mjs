// Generates the TypeScript types of each page's document from its JSON schema, so that they match the Rust types.
import { readFile, writeFile } from "node:fs/promises";
import { compile } from "json-schema-to-typescript";

const PAGES = [
  { name: "Report", schema: "docs/schema/report.json", types: "types.ts", what: "the report" },
  { name: "Outcome", schema: "docs/schema/speed.json", types: "speed/types.ts", what: "the result of a speed test" },
  { name: "Overview", schema: "web/schema/operator.json", types: "speed/operator_types.ts", what: "all results that a speed server keeps" },
  { name: "Figures", schema: "web/schema/figures.json", types: "figure_types.ts", what: "a document of figures" },
];

// schemars adds a description next to $ref. json-schema-to-typescript creates a numbered type for each such
// pair (Verdict1, Verdict2), so the description is removed. The tag of an enum variant is kept.
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
