// The certainty of a verdict in words, shown next to the figure.
import { percentile } from "../format";
import type { Intervals, Report, Verdict } from "../types";
import { lowest } from "../views/table";

export interface Sureness {
  /** Whether the verdict is certain enough. */
  firm: boolean;
  /** "sure", "borderline", "likely, but not sure", "undecided". */
  words: string;
  /** "99.7 %", "> 99.9 %". */
  figure: string;
}

/** Absent if the report does not contain it: then nothing is claimed. */
export function sureness(verdict: Verdict, intervals: Intervals | null | undefined): Sureness | undefined {
  const { sure } = verdict;
  if (typeof sure !== "number") return undefined;
  const word = verdict.certainty ?? olderWord(verdict);
  return { firm: word === "sure", words: WORDS[word], figure: figure(sure, intervals?.resamples) };
}

const WORDS = {
  sure: "sure",
  borderline: "borderline",
  likely: "likely, but not sure",
  undecided: "undecided",
} as const;

/** Older reports do not contain a word: only their interval decides. */
const olderWord = (verdict: Verdict): "sure" | "undecided" => ((verdict.ci_ms?.[0] ?? 0) > 0 ? "sure" : "undecided");

/** Whether a side may have the mark of the better side: if the certainty is known, only a sure one. */
export const isBest = (verdict: Verdict | null | undefined, label: string): boolean =>
  verdict?.better === label && (typeof verdict.sure !== "number" || (verdict.certainty ?? olderWord(verdict)) === "sure");

/** R resamples cannot distinguish shares closer to 1 than 1/R. */
function figure(sure: number, resamples: number | undefined): string {
  if (resamples === undefined) return sure < 1 ? `${percentile(sure * 100)}\u00a0%` : "all but certain";
  const most = 1 - 1 / resamples;
  return sure > most ? `> ${percentile(most * 100)}\u00a0%` : `${percentile(sure * 100)}\u00a0%`;
}

/** "95 % intervals from 1 000 resamples" without the count. */
export const levelName = (intervals: Intervals): string => `${percentile(intervals.level * 100)}\u00a0% interval`;

/**
 * The sides whose percentile may have the mark of the lowest: of two sides, the lower one if the difference
 * is sure. Without intervals (or in an older report) the lowest; with more than two sides, or for another
 * number of requests, no side.
 */
export function lowestSurely(
  report: Report,
  of: "request" | "experienced",
  percentile: string,
  values: (number | null | undefined)[],
): Set<number> {
  const { intervals, differences, sides } = report.comparison;
  if (!intervals || !differences || differences.length === 0) return lowest(values);
  const [one] = differences;
  if (!one || sides.length > 2 || (of === "experienced" && one.basis !== "model")) return new Set();
  return one[of][percentile]?.certainty === "sure" ? lowest(values) : new Set();
}
