// Reads the report out of the page. A failure is a value with a sentence for the reader, never an empty report.
import type { Report } from "./types";

export type Loaded = { report: Report } | { problem: string };

const SCHEMA = "longhaul.report/1";

/** Reads the JSON block with this id. */
export function readReport(id: string): Loaded {
  const text = document.getElementById(id)?.textContent?.trim() ?? "";
  if (text === "" || text.startsWith("/*")) {
    return {
      problem: "This page holds no report: its data block is empty. Longhaul fills it when it writes a report.",
    };
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    return { problem: `This page's report cannot be read: ${error instanceof Error ? error.message : String(error)}.` };
  }
  const schema = (parsed as Partial<Report> | null)?.schema;
  if (schema !== SCHEMA) {
    return {
      problem: `This page draws reports of schema ${SCHEMA}; the one in it says ${JSON.stringify(schema ?? null)}.`,
    };
  }
  return { report: parsed as Report };
}
