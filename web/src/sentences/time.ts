// Sentences about the charts over time.
import { elapsed, latency, ms, percentile, plural, share } from "../format";
import type { Heat, OverTime, Shift } from "../types";

/** Percentiles over time of one side. */
export function timeSentence(over: OverTime): string {
  const span = (over.start_s.at(-1) ?? 0) + over.interval_s - (over.start_s[0] ?? 0);
  const peak = Math.max(...over.max_ms);
  const when = over.start_s[over.max_ms.indexOf(peak)] ?? 0;
  const range = (values: number[]): string => {
    const [low, high] = [latency(Math.min(...values)), latency(Math.max(...values))];
    return low === high ? `is ${low} ms` : `is between ${low} and ${high} ms`;
  };
  const counts = [Math.min(...over.count), Math.max(...over.count)] as const;
  const samples =
    counts[0] === counts[1] ? plural(counts[0], "sample") : `${counts[0]} to ${plural(counts[1], "sample")}`;
  return (
    `The median of an interval ${range(over.p50_ms)}, its p99 ${range(over.p99_ms)}; the slowest sample, ${ms(peak)}, ` +
    `is in the interval at ${elapsed(when, span)}. Intervals of ${over.interval_s}\u00a0s with ${samples} each.` +
    leftOut(over.left_out)
  );
}

/** A note about the samples of partial intervals at the ends of the recording. */
export const leftOut = (samples: number | null | undefined): string =>
  samples ? ` Partial intervals at its ends are excluded (${plural(samples, "sample")}).` : "";

/** More shifts are counted instead of listed. */
const TOLD_SHIFTS = 3;

/** The heat map of one side and its latency shifts; `most` is the share with the strongest colour. */
export function heatSentence(heat: Heat, shifts: Shift[], most: number): string {
  const span = heat.intervals * heat.interval_s;
  const samples = heat.counts.reduce((sum, one) => sum + one, 0);
  return (
    `${plural(samples, "sample")} over ${elapsed(span, span)}; a cell\u2019s colour is its share of an interval\u2019s ` +
    `samples, up to ${share(Number(most.toPrecision(2)))}; cells without samples have no colour. ${shiftsSentence(shifts, span)}` +
    leftOut(heat.left_out)
  );
}

function shiftsSentence(shifts: Shift[], span: number): string {
  if (shifts.length === 0) return "No shift of its median was found.";
  const told = shifts.slice(0, TOLD_SHIFTS).map(
    (shift) =>
      `at ${elapsed(shift.at_s, span)} from ${latency(shift.before_ms)} to ${ms(shift.after_ms)} ` +
      `(${percentile(shift.sure * 100)}\u00a0% sure)`,
  );
  const more = shifts.length - told.length;
  return `Its median shifted ${told.join(", ")}${more > 0 ? ` and ${more} more times` : ""}.`;
}
