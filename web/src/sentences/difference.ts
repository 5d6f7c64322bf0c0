// Says in a sentence how two sides differ, percentile by percentile.
import { interval, ms, percentile } from "../format";
import type { ChosenPage } from "../page";
import { quantile, requestShare } from "../quantiles";
import type { State } from "../store";
import type { DifferenceCurve, Report } from "../types";

/** The difference at the median and at the 99th percentile, and where it changes its sign. */
export function differenceSentence(curve: DifferenceCurve, report: Report, state: State, page: ChosenPage): string {
  const people = state.of === "people";
  const effective = people ? page.effective : 1;
  const column = { share: curve.share, latency_ms: curve.difference_ms };
  const at = (share: number): string => {
    const value = quantile(column, requestShare(share, effective)) ?? 0;
    if (value === 0) return "no different";
    return `${ms(Math.abs(value))} ${value > 0 ? "slower" : "faster"}`;
  };
  const who = people ? `of what visitors of a page with ${page.effective} effective requests wait` : "of requests";
  return (
    `Above 0 ${curve.second} is slower than ${curve.first}. At the median ${who} it is ${at(0.5)}, at the 99th ` +
    `percentile ${at(0.99)}.${state.other === 1 ? crossing(report, effective) : ""}`
  );
}

function crossing(report: Report, effective: number): string {
  const { crossovers } = report.comparison;
  if (crossovers.length === 0) return "";
  const told = crossovers.slice(0, 3).map(({ percentile: percent, ci }) => {
    const people = (value: number): string => percentile(100 * (value / 100) ** effective);
    return `p${people(percent)}${ci ? ` (${interval(ci, people)})` : ""}`;
  });
  const more = crossovers.length - told.length;
  return ` The faster side changes at ${told.join(", ")}${more > 0 ? ` and ${more} more times` : ""}.`;
}
