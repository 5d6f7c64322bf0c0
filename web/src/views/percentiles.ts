// The percentiles in the report: of a request, and of a user on the report's own page.
import { el, sideName } from "../dom";
import { type Ends, interval, latency, ms, ordinal, percentile, plural, share } from "../format";
import { isThin } from "../page";
import { watchSentence } from "../sentences/distribution";
import { intervalsNote } from "../sentences/intervals";
import { lowestSurely } from "../sentences/sure";
import type { Report, Side } from "../types";
import { type Cell, type Column, table } from "./table";

export function percentiles(element: HTMLElement, report: Report): void {
  const { page, sides, crossovers } = report.comparison;
  const own = `${plural(page.requests, "request")}, ${share(page.required)} required: ${plural(page.effective_requests, "effective request")}`;
  element.replaceChildren(
    el(
      "div",
      { class: "pair" },
      percentileTable(
        report,
        "request",
        "One request (ms)",
        (side) => side.request_percentiles_ms ?? {},
        (side) => side.request_percentiles_ci_ms ?? {},
        (side) => side.thin_above ?? 100,
      ),
      percentileTable(
        report,
        "experienced",
        `A page of ${own} (ms)`,
        (side) => side.experienced_percentiles_ms ?? {},
        (side) => side.experienced_percentiles_ci_ms ?? {},
        (side) => side.experienced_thin_above ?? 100,
      ),
    ),
    el("p", { class: "watch" }, watchSentence(report)),
    ...(sides.length > 1 ? [el("h3", {}, "Crossovers"), crossoverList(report, crossovers)] : []),
  );
}

function percentileTable(
  report: Report,
  kind: "request" | "experienced",
  caption: string,
  of: (side: Side) => Record<string, number>,
  ciOf: (side: Side) => Record<string, Ends>,
  thinAbove: (side: Side) => number,
): HTMLElement {
  const sides = report.comparison.sides;
  const keys = [...new Set(sides.flatMap((side) => Object.keys(of(side))))].sort((a, b) => Number(a) - Number(b));
  const columns: Column[] = [
    { title: "percentile", align: "text" },
    ...sides.map((side, i) => ({ title: sideName(side.label, i), align: "number" as const })),
  ];
  const rows = keys.map((key): Cell[] => {
    const values = sides.map((side) => of(side)[key]);
    const best = lowestSurely(report, kind, key, values);
    return [
      { text: `p${key}` },
      ...sides.map((side, i): Cell => {
        const marks: Cell["marks"] = best.has(i) ? ["best"] : [];
        if (isThin(Number(key), thinAbove(side))) marks.push("thin");
        return { text: latency(values[i]), ci: ciOf(side)[key], marks };
      }),
    ];
  });
  return table(caption, columns, rows, { note: intervalsNote(report) });
}

function crossoverList(report: Report, crossovers: Report["comparison"]["crossovers"]): HTMLElement {
  const [first, second] = report.comparison.sides;
  if (crossovers.length === 0)
    return el("p", {}, `Between ${first?.label} and ${second?.label} the faster side never changes.`);
  return el(
    "ul",
    { class: "plain" },
    ...crossovers.map((one) =>
      el(
        "li",
        {},
        `At the ${ordinal(one.percentile)} percentile${range(report, one)}, ${ms(one.latency_ms)}: above it ` +
          `${one.faster_above} is faster.`,
      ),
    ),
  );
}

/** The confidence interval of a crossover; empty if the report has no intervals. */
function range(report: Report, one: Report["comparison"]["crossovers"][number]): string {
  if (one.ci) return ` (${interval(one.ci, (value) => percentile(value))})`;
  return report.comparison.intervals ? " (the samples do not determine where)" : "";
}
