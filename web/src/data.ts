// Reads the report out of the page. A failure is a value with a sentence for the reader, never an empty report.
import type { Comparison, Report, Side } from "./types";

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
  return { report: complete(parsed as Report) };
}

/**
 * Reports grew: what an older one does not hold becomes an empty list here, and nowhere else. Numbers stay absent: a
 * count that was not written is not 0.
 */
function complete(report: Report): Report {
  const { comparison } = report;
  return {
    ...report,
    charts: report.charts ?? [],
    differences: report.differences ?? [],
    outages: report.outages ?? [],
    transfers: report.transfers ?? [],
    pings: report.pings ?? [],
    commands: report.commands ?? [],
    claims: report.claims ?? [],
    faults: report.faults ?? [],
    conditions: report.conditions ?? [],
    warnings: report.warnings ?? [],
    comparison: {
      ...comparison,
      excluded_phases: comparison.excluded_phases ?? [],
      crossovers: comparison.crossovers ?? [],
      pairs: comparison.pairs ?? [],
      phases: comparison.phases ?? [],
      thresholds: comparison.thresholds ?? [],
      warnings: comparison.warnings ?? [],
      independence: independence(comparison),
      sides: comparison.sides.map(completeSide),
    },
  };
}

function independence({ independence: found }: Comparison): Comparison["independence"] {
  return { ...found, checked: found?.checked ?? false, sentence: found?.sentence ?? "", sides: found?.sides ?? [] };
}

const completeSide = (side: Side): Side => ({
  ...side,
  invalid: side.invalid ?? [],
  shifts: side.shifts ?? [],
  request_percentiles_ci_ms: side.request_percentiles_ci_ms ?? {},
  experienced_percentiles_ci_ms: side.experienced_percentiles_ci_ms ?? {},
});
