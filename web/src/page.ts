// The page that the control describes: number of effective requests, and the report's data for it.
import type { State } from "./store";
import type { Experienced, Report } from "./types";

/** Percentiles of users in `Experienced.percentiles_ms`. */
export const PEOPLE_PERCENTILES = [50, 75, 90, 95, 99, 99.9, 99.99] as const;

export interface ChosenPage {
  /** max(1, round(requests x required)), according to the control. */
  asked: number;
  /** `asked`, limited to the numbers of requests in the report. */
  effective: number;
  /** The largest number of effective requests in the report; 0 if there is no data. */
  held: number;
}

/** The page of a state. */
export function chosenPage(report: Report, state: State): ChosenPage {
  const asked = Math.max(1, Math.round(state.requests * state.required));
  const lengths = report.charts.map((chart) => chart.experienced.length);
  const held = lengths.length === 0 ? 0 : Math.min(...lengths);
  return { asked, effective: held === 0 ? asked : Math.min(asked, held), held };
}

/** Whether this is the page of the comparison; the report has intervals only for this page. */
export const isOwnPage = (report: Report, page: ChosenPage): boolean =>
  page.effective === report.comparison.page.effective_requests;

/** User latency of a side on the selected page; undefined if the report has no data. */
export function experiencedOf(report: Report, side: number, page: ChosenPage): Experienced | undefined {
  return report.charts[side]?.experienced[page.effective - 1];
}

/** Whether a percentile, in percent, has too few samples above it. The tolerance covers rounding errors. */
export const isThin = (percent: number, thinAbove: number): boolean => percent >= thinAbove - 1e-9;

/** The experienced percentile above which fewer than 10 samples remain, for any number of effective requests. */
export const experiencedThinAbove = (thinAbove: number, effective: number): number =>
  100 * (thinAbove / 100) ** effective;
