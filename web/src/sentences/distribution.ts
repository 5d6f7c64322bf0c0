// Sentences about the charts of whole distributions, from numbers in the report.
import { ms, ordinal, plural } from "../format";
import { experiencedOf, type ChosenPage } from "../page";
import { peopleShare, quantile } from "../quantiles";
import type { Report } from "../types";

/** Crossovers below this percentile of users are ignored. */
const NOBODY_PERCENT = 0.01;

/** A change of the faster side, at a percentile of requests or of users. */
interface Change {
  percent: number;
  faster: string;
}

/** The CDF: median and 99th percentile. */
export function cdfSentence(report: Report): string {
  const within = (share: number): string =>
    report.charts.map((chart) => `${ms(quantile(chart.quantiles, share))} with ${chart.label}`).join(", ");
  return `Half of the requests finish within ${within(0.5)}; 99\u00a0% within ${within(0.99)}.`;
}

/** The faster of two sides at the labelled shares; undefined if they are equal at all of them. */
function fasterByLabels(report: Report, first: number, other: number): string | undefined {
  for (const share of [0.5, 0.9, 0.99, 0.999, 1]) {
    const a = quantile(report.charts[first]?.quantiles, share) ?? 0;
    const b = quantile(report.charts[other]?.quantiles, share) ?? 0;
    if (a !== b) return report.charts[a < b ? first : other]?.label;
  }
  return undefined;
}

/** "up to the 97.1th percentile swift is faster, beyond it steady." */
function changesSentence(below: string, changes: Change[], of: string): string {
  const last = changes.at(-1);
  if (last === undefined) return `${below} is faster at every percentile${of}.`;
  if (changes.length > 3) {
    return (
      `the faster side changes ${changes.length} times; beyond the last change, at the ${ordinal(last.percent)} ` +
      `percentile${of}, ${last.faster} is faster.`
    );
  }
  const runs = changes.map((change, i) => {
    const faster = i === 0 ? below : (changes[i - 1] as Change).faster;
    const where = `up to the ${ordinal(change.percent)}${i === 0 ? ` percentile${of}` : ""}`;
    return i === 0 ? `${where} ${faster} is faster` : `${where} ${faster}`;
  });
  return `${runs.join(", ")}, beyond it ${last.faster}.`;
}

/** The end of a sentence about the faster side by percentile. The report has crossovers of the first two
 * sides only. */
function fasterSentence(report: Report, other: number, effective: number, of: string): string {
  const [a, b] = [report.charts[0]?.label ?? "", report.charts[other]?.label ?? ""];
  const dominant = fasterByLabels(report, 0, other);
  if (dominant === undefined) return `${a} and ${b} are equal at all labelled percentiles.`;
  if (other !== 1) {
    const at = (share: number): string => {
      const [x, y] = [0, other].map((i) => quantile(report.charts[i]?.quantiles, share ** (1 / effective)) ?? 0) as [
        number,
        number,
      ];
      return x === y ? "the two are equal" : `${x < y ? a : b} is faster by ${ms(Math.abs(x - y))}`;
    };
    return `at the median ${at(0.5)}, at p99 ${at(0.99)}.`;
  }
  const changes = report.comparison.crossovers
    .map((one) => ({ percent: 100 * peopleShare(one.percentile / 100, effective), faster: one.faster_above }))
    .sort((one, next) => one.percent - next.percent);
  const met = changes.filter((change) => change.percent >= NOBODY_PERCENT);
  const unmet = changes[changes.length - met.length - 1];
  const lowest = changes[0];
  if (unmet !== undefined && met.length === 0) {
    return `${unmet.faster} is faster for all but fewer than ${NOBODY_PERCENT}\u00a0% of the visitors.`;
  }
  const below = unmet?.faster ?? (lowest === undefined ? dominant : lowest.faster === a ? b : a);
  return changesSentence(below, met, of);
}

/** The sentence of the QQ plot. */
export function qqSentence(report: Report, other: number): string {
  const label = report.charts[other]?.label ?? "";
  return `Above the diagonal ${label} is slower: ${fasterSentence(report, other, 1, "")}`;
}

/** The effective QQ plot: median and 99th percentile of users, and the faster side by percentile. */
export function effectiveSentence(report: Report, other: number, page: ChosenPage): string {
  const waits = [0, other].map((side) => {
    const [half, , , , most] = experiencedOf(report, side, page)?.percentiles_ms ?? [];
    return `${ms(half)} and ${ms(most)} with ${report.charts[side]?.label ?? ""}`;
  });
  const who = `Of the visitors of a page with ${plural(page.effective, "effective request")}`;
  return (
    `${who}, half and 99\u00a0% wait at most ${waits.join(", ")}; ` +
    fasterSentence(report, other, page.effective, " of the visitors")
  );
}

/** The request percentiles that determine user latency, according to the comparison. */
export function watchSentence(report: Report): string {
  const { page, percentile_to_watch: watch } = report.comparison;
  const parts = Object.entries(watch)
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([people, request]) => `for ${people}\u00a0% of the visitors it is the ${ordinal(request)}`);
  if (parts.length === 0) return "";
  return (
    `A page with ${plural(page.effective_requests, "effective request")} is as slow as its slowest one, so the request ` +
    `percentile to watch is a high one: ${parts.join(", ")}.`
  );
}
