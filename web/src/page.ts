// The page a person opens, as the control describes it: how many of its requests count, and what the report holds for it.
import type { State } from "./store";
import type { Experienced, Report } from "./types";

/** The shares of people, in percent, of `Experienced.percentiles_ms`. */
export const PEOPLE_PERCENTILES = [50, 75, 90, 95, 99, 99.9, 99.99] as const;

export interface ChosenPage {
  /** max(1, round(requests x required)), as asked for. */
  asked: number;
  /** The same, but no more than the report holds numbers for. */
  effective: number;
  /** How many effective requests the report holds numbers for; 0 if it holds none. */
  held: number;
}

/** What the state's page amounts to. */
export function chosenPage(report: Report, state: State): ChosenPage {
  const asked = Math.max(1, Math.round(state.requests * state.required));
  const lengths = report.charts.map((chart) => chart.experienced.length);
  const held = lengths.length === 0 ? 0 : Math.min(...lengths);
  return { asked, effective: held === 0 ? asked : Math.min(asked, held), held };
}

/** Whether this is the page that the comparison was made for: only for that one does the report hold intervals. */
export const isOwnPage = (report: Report, page: ChosenPage): boolean =>
  page.effective === report.comparison.page.effective_requests;

/** What a side's people experience on the chosen page; undefined if the report does not say. */
export function experiencedOf(report: Report, side: number, page: ChosenPage): Experienced | undefined {
  return report.charts[side]?.experienced[page.effective - 1];
}

/** Whether a percentile, in percent, has too few samples beyond it. The slack takes up rounding in powers and printing. */
export const isThin = (percent: number, thinAbove: number): boolean => percent >= thinAbove - 1e-9;

/** The experienced percentile from which on fewer than 10 samples decide, for any number of effective requests. */
export const experiencedThinAbove = (thinAbove: number, effective: number): number =>
  100 * (thinAbove / 100) ** effective;
