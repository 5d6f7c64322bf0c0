// Reads the report from the page and completes reports of older versions.
import { type Embedded, readEmbedded } from "./embedded";
import type { Comparison, Report, Side } from "./types";

/** The report of this page. */
export function readReport(): Embedded<Report> {
  const read = readEmbedded<Report>("longhaul.report/1", "report");
  return "problem" in read ? read : { document: complete(read.document) };
}

/**
 * Lists that older versions did not write become empty lists. Numbers stay absent: a missing count is not 0.
 */
function complete(report: Report): Report {
  const { comparison } = report;
  return {
    ...report,
    charts: report.charts ?? [],
    differences: report.differences ?? [],
    experiments: report.experiments ?? [],
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
