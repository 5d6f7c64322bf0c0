// Sentences about the faster side by page size.
import { count, type Ends, ms, plural } from "../format";
import { type ChosenPage, experiencedOf, isOwnPage } from "../page";
import type { Report } from "../types";
import { sureness } from "./sure";

/** The numbers of requests at which the side with the least expected wait changes. */
export function leads(lines: number[][]): { from: number; side: number }[] {
  const found: { from: number; side: number }[] = [];
  const most = Math.min(...lines.map((line) => line.length));
  for (let i = 0; i < most; i++) {
    let best = 0;
    lines.forEach((line, side) => {
      if ((line[i] as number) < (lines[best]?.[i] as number)) best = side;
    });
    if (found.at(-1)?.side !== best) found.push({ from: i + 1, side: best });
  }
  return found;
}

/** The mean wait on a side's real pages, at their number of requests, if there are enough pages. */
export function observedPages(report: Report, held: number): { side: number; requests: number; value: number; ci?: Ends }[] {
  return report.comparison.independence.sides.flatMap(({ pages }, side) => {
    if (!pages || pages.conclusive === false) return [];
    const required = Math.round(pages.requests_median * report.comparison.page.required);
    const requests = Math.min(held, Math.max(1, required));
    return [{ side, requests, value: pages.observed_ms, ...(pages.observed_ci_ms ? { ci: pages.observed_ci_ms } : {}) }];
  });
}

/** The faster side by page size. */
export function experiencedSentence(report: Report, page: ChosenPage, thin: boolean): string {
  const lines = report.charts.map((chart) => chart.experienced.slice(0, page.held).map((one) => one.expected_ms));
  const label = (side: number | undefined): string => report.charts[side ?? 0]?.label ?? "";
  const all = leads(lines);
  const note = thin ? " ~ and dotted: fewer than 10 samples decide." : "";
  const [first, second] = all;
  const best = lines.length > 2 ? "fastest" : "faster";
  if (lines.length === 1) {
    const ends = [lines[0]?.[0], lines[0]?.at(-1)];
    return `From ${ms(ends[0])} for one request to ${ms(ends[1])} for a page of ${count(page.held)}.${note}`;
  }
  if (second === undefined) return `In these samples ${label(first?.side)} is ${best} for pages of every size.${note}`;
  const upTo = second.from === 2 ? "one request" : `up to ${plural(second.from - 1, "request")}`;
  if (all.length === 2) {
    return (
      `In these samples ${label(first?.side)} is ${best} for ${upTo}, ${label(second.side)} for pages of ` +
      `${count(second.from)} and more.${note}`
    );
  }
  const last = all.at(-1);
  return (
    `In these samples the ${best} side changes ${all.length - 1} times as pages grow; from ${count(last?.from)} requests ` +
    `on it is ${label(last?.side)}.${note}`
  );
}

/** The faster side of the selected page, and its certainty. */
export interface Winner {
  /** Undefined for a tie or a single side. */
  side: number | undefined;
  /** The lead over the next side, or the wait of a single side. */
  by: number;
  /** The certainty, as the end of a sentence. */
  honest: string;
  /** Whether the result is certain enough. */
  firm: boolean;
}

/** The verdict contains the certainty of the report's own page; that of any other page is unknown. */
export function winner(report: Report, page: ChosenPage): Winner | undefined {
  const waits = report.charts.map((_, side) => ({ side, wait: experiencedOf(report, side, page)?.expected_ms }));
  const known = waits.flatMap(({ side, wait }) => (typeof wait === "number" ? [{ side, wait }] : []));
  const [best, next] = known.toSorted((a, b) => a.wait - b.wait);
  if (best === undefined) return undefined;
  if (next === undefined) return { side: undefined, by: best.wait, honest: "", firm: true };
  const by = next.wait - best.wait;
  const { verdict, intervals, page: own } = report.comparison;
  const side = by > 0 ? best.side : undefined;
  if (!isOwnPage(report, page)) {
    const only = `intervals exist only for ${plural(own.effective_requests, "request")}`;
    const none = "this report contains no intervals";
    return { side, by, honest: `certainty unknown: ${intervals ? only : none}`, firm: false };
  }
  // If the verdict is based on real pages, the curve of this control is still that of the model.
  const real = verdict?.experienced?.basis === "observed pages" ? verdict.experienced : undefined;
  const ofPage = real ? verdict?.model : verdict?.experienced;
  const sure = ofPage && sureness(ofPage, intervals);
  const honest = sure ? `${sure.words} (${sure.figure})` : "certainty unknown: this report contains no intervals";
  const firm = sure?.firm ?? false;
  if (!real) return { side, by, honest, firm };
  const doubt = sureness(real, intervals);
  const pages = real.better ? `${real.better} is faster by ${ms(real.difference_ms)}` : "the sides are equal";
  const agrees = real.better === report.charts[side ?? -1]?.label;
  return {
    side,
    by,
    honest: `${honest} by the model; on the real pages ${pages}${doubt ? `: ${doubt.words} (${doubt.figure})` : ""}`,
    firm: firm && agrees,
  };
}
