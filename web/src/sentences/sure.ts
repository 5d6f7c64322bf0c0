// How sure a verdict is, in words beside the figure: a reader must see at a glance whether to believe it.
import { percentile } from "../format";
import type { Intervals, Verdict } from "../types";

/** From here on a verdict that is not firm is at least likely. */
const LIKELY = 0.8;

export interface Sureness {
  /** Whether it may be relied on: its interval leaves no doubt which side is better, as the verdict's sentence has it. */
  firm: boolean;
  /** "sure", "likely, but not sure", "not sure". */
  words: string;
  /** "99.7 %", "> 99.9 %". */
  figure: string;
}

/** Absent where the report does not say: then nothing may be claimed either way. */
export function sureness(verdict: Verdict, intervals: Intervals | null | undefined): Sureness | undefined {
  const { sure } = verdict;
  if (typeof sure !== "number") return undefined;
  const firm = (verdict.ci_ms?.[0] ?? 0) > 0;
  const words = firm ? "sure" : sure >= LIKELY ? "likely, but not sure" : "not sure";
  return { firm, words, figure: figure(sure, intervals?.resamples) };
}

/** R resamples tell no share apart that is nearer to 1 than one in R. */
function figure(sure: number, resamples: number | undefined): string {
  if (resamples === undefined) return sure < 1 ? `${percentile(sure * 100)}\u00a0%` : "all but certain";
  const most = 1 - 1 / resamples;
  return sure > most ? `> ${percentile(most * 100)}\u00a0%` : `${percentile(sure * 100)}\u00a0%`;
}

/** "95 % intervals from 1 000 resamples" without the count: what the small figures of a table are. */
export const levelName = (intervals: Intervals): string => `${percentile(intervals.level * 100)}\u00a0% interval`;
