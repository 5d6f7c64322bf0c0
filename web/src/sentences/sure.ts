// How sure a verdict is, in words beside the figure: a reader must see at a glance whether to believe it.
import { percentile } from "../format";
import type { Intervals, Verdict } from "../types";

/** From here on a verdict that is not firm is at least likely. */
const LIKELY = 0.8;
/** What counts as sure where the report does not name the level of its intervals. */
const USUAL_LEVEL = 0.95;

export interface Sureness {
  /** Whether it may be relied on: as sure as the report's intervals are. */
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
  const firm = sure >= (intervals?.level ?? USUAL_LEVEL);
  const words = firm ? "sure" : sure >= LIKELY ? "likely, but not sure" : "not sure";
  return { firm, words, figure: figure(sure, intervals?.resamples) };
}

/** All of R resamples agreeing says no more than that fewer than one in R would not. */
function figure(sure: number, resamples: number | undefined): string {
  if (sure < 1) return `${percentile(sure * 100)}\u00a0%`;
  return resamples === undefined ? "all but certain" : `> ${percentile(100 * (1 - 1 / resamples))}\u00a0%`;
}

/** "95 % intervals from 1 000 resamples" without the count: what the small figures of a table are. */
export const levelName = (intervals: Intervals): string => `${percentile(intervals.level * 100)}\u00a0% interval`;
