// Notes about confidence intervals, and about missing ones.
import { count, percentile, plural } from "../format";
import { type ChosenPage, isOwnPage } from "../page";
import type { Report } from "../types";
import { levelName } from "./sure";

/** The note below a table. With `page`: for the figures of that page, for which the report may have no
 * intervals. */
export function intervalsNote(report: Report, page?: ChosenPage): string {
  const { intervals, page: own } = report.comparison;
  if (!intervals) return "";
  const small = `small figures: ${levelName(intervals)}s`;
  if (page === undefined || isOwnPage(report, page)) return small;
  return (
    `${small}; of what visitors experience, intervals exist only for the requested page ` +
    `(${plural(own.effective_requests, "effective request")}), not for this one`
  );
}

/** The method of the intervals. */
export function intervalsMethod(report: Report): string {
  const { intervals, sides } = report.comparison;
  if (!intervals) return "This report contains no confidence intervals.";
  const blocks = sides.map(({ label, block_length: length }) =>
    typeof length === "number" ? `${count(length)} neighbours for ${label}` : `single samples for ${label}`,
  );
  return (
    `Intervals contain the true value ${percentile(intervals.level * 100)}\u00a0% of the time: the samples were resampled ` +
    `${count(intervals.resamples)} times, in blocks (${blocks.join(", ")}), with seed ${intervals.seed}.`
  );
}
