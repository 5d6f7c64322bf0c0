// A sentence about the difference between two sides by percentile.
import { endsAt } from "../charts/bands";
import { interval, ms, place, signed } from "../format";
import type { ChosenPage } from "../page";
import { quantile, requestShare } from "../quantiles";
import type { State } from "../store";
import type { DifferenceCurve, Report } from "../types";

/** The difference at the median and at the 99th percentile, and its sign changes. */
export function differenceSentence(curve: DifferenceCurve, report: Report, state: State, page: ChosenPage): string {
  const people = state.of === "people";
  const effective = people ? page.effective : 1;
  const column = { share: curve.share, latency_ms: curve.difference_ms };
  const ends = curve.ci_ms.length > 0 ? endsAt(curve) : undefined;
  const at = (share: number): string => {
    const place = requestShare(share, effective);
    const value = quantile(column, place) ?? 0;
    const range = ends ? ` (${interval([ends.low(place), ends.high(place)], signed)})` : "";
    if (value === 0) return `equal${range}`;
    return `${ms(Math.abs(value))} ${value > 0 ? "slower" : "faster"}${range}`;
  };
  const who = people ? `of the waits for a page with ${page.effective} effective requests` : "of requests";
  return (
    `Above 0 ${curve.second} is slower than ${curve.first}. At the median ${who} it is ${at(0.5)}, at the 99th ` +
    `percentile ${at(0.99)}.${state.other === 1 ? crossing(report, effective) : ""}`
  );
}

function crossing(report: Report, effective: number): string {
  const { crossovers } = report.comparison;
  if (crossovers.length === 0) return "";
  const told = crossovers.slice(0, 3).map(({ percentile: percent, ci }) => {
    const people = (value: number): string => place(100 * (value / 100) ** effective);
    return `p${people(percent)}${ci ? ` (${interval(ci, people)})` : ""}`;
  });
  const more = crossovers.length - told.length;
  return ` The faster side changes at ${told.join(", ")}${more > 0 ? ` and ${more} more times` : ""}.`;
}
