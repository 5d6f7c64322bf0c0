// The sides of a report, and their colour indexes.
import type { Report } from "./types";

/** The colour index of a side: compared sides come first. */
export function sideIndex(report: Report, side: string): number {
  const compared = report.comparison.sides.map((one) => one.label);
  return [...new Set([...compared, ...report.transfers.map((one) => one.side)])].indexOf(side);
}
