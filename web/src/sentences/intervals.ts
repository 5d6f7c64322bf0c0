// Says what the small figures beneath others are, and why they are missing where they are.
import { count, percentile, plural } from "../format";
import { type ChosenPage, isOwnPage } from "../page";
import type { Report } from "../types";
import { levelName } from "./sure";

/** Beneath a table. With a page: of its figures for that page, which may be another than the report has intervals for. */
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

/** How intervals were made, for the method. */
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
