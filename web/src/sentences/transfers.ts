// Says in a sentence what a chart of transfers shows.
import { elapsed, plural } from "../format";
import type { Report, Transferred } from "../types";

/** Whose silence was the longest, and when. */
export function throughputSentence(report: Report, transfers: Transferred[]): string {
  const stalls = transfers.flatMap(({ side, stall }) => (stall ? [{ side, ...stall }] : []));
  const longest = stalls.toSorted((a, b) => b.longest_s - a.longest_s)[0];
  const faults = report.faults.length === 0 ? "" : ` during ${plural(report.faults.length, "fault")}`;
  const shown = `What arrived of ${plural(transfers.length, "transfer")}${faults}.`;
  if (longest === undefined) return shown;
  const { side, longest_s, at_s } = longest;
  return `${shown} The longest time without an arrival is that of ${side}: ${elapsed(longest_s, 100)} from ${elapsed(at_s, 100)} on.`;
}
