// The sides of a report, and the number by which each has its colour.
import type { Report } from "./types";

/** The number by which a side has its colour: those that were compared come first. */
export function sideIndex(report: Report, side: string): number {
  const compared = report.comparison.sides.map((one) => one.label);
  return [...new Set([...compared, ...report.transfers.map((one) => one.side)])].indexOf(side);
}
