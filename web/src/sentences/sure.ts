// How sure a verdict is, in words beside the figure: a reader must see at a glance whether to believe it.
import { percentile } from "../format";
import type { Intervals, Report, Verdict } from "../types";
import { lowest } from "../views/table";

export interface Sureness {
  /** Whether it may be relied on. */
  firm: boolean;
  /** "sure", "borderline", "likely, but not sure", "undecided". */
  words: string;
  /** "99.7 %", "> 99.9 %". */
  figure: string;
}

/** Absent where the report does not say: then nothing may be claimed either way. */
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

/** Older reports hold no word: there the interval says whether it is sure, and nothing less is claimed. */
const olderWord = (verdict: Verdict): "sure" | "undecided" => ((verdict.ci_ms?.[0] ?? 0) > 0 ? "sure" : "undecided");

/** Whether a side may bear the mark of the better one: where doubt is known, there must be none. */
export const isBest = (verdict: Verdict | null | undefined, label: string): boolean =>
  verdict?.better === label && (typeof verdict.sure !== "number" || (verdict.certainty ?? olderWord(verdict)) === "sure");

/** R resamples tell no share apart that is nearer to 1 than one in R. */
function figure(sure: number, resamples: number | undefined): string {
  if (resamples === undefined) return sure < 1 ? `${percentile(sure * 100)}\u00a0%` : "all but certain";
  const most = 1 - 1 / resamples;
  return sure > most ? `> ${percentile(most * 100)}\u00a0%` : `${percentile(sure * 100)}\u00a0%`;
}

/** "95 % intervals from 1 000 resamples" without the count: what the small figures of a table are. */
export const levelName = (intervals: Intervals): string => `${percentile(intervals.level * 100)}\u00a0% interval`;

/**
 * The sides whose percentile may bear the mark of the lowest: of two, the lower one if that is sure. Where doubt is not
 * known (no intervals, or an older report) it is the lowest; with more sides than two, or by another number, none.
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
