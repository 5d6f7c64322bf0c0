// Both expectations side by side: of one request, and of a user who needs many requests, each with its
// interval.
import { sideName } from "../dom";
import { count, type Ends, interval, latency, percentile, plural, share } from "../format";
import { chosenPage, experiencedOf, isThin, isOwnPage } from "../page";
import { intervalsNote } from "../sentences/intervals";
import { isBest } from "../sentences/sure";
import type { State } from "../store";
import type { Report, Side, Verdict } from "../types";
import { type Cell, type Column, table } from "./table";

interface Figure {
  title: string;
  value: (side: Side, index: number) => number | null | undefined;
  ci?: (side: Side) => Ends | null | undefined;
  thin?: (side: Side) => boolean;
  /** The verdict for this expectation, if the report has one. */
  verdict?: Verdict | null;
}

export function expectations(element: HTMLElement, report: Report, state: State): void {
  const page = chosenPage(report, state);
  const sides = report.comparison.sides;
  const ownPage = isOwnPage(report, page);
  const verdicts = report.comparison.verdict;
  const byPages = verdicts?.experienced?.basis === "observed pages";
  const figures: Figure[] = [
    {
      title: "expected request (ms)",
      value: (side) => side.expected_request_ms,
      ci: (side) => side.expected_request_ci_ms,
      verdict: verdicts?.request,
    },
    {
      title: `expected experienced, ${plural(page.effective, "request")} (ms)`,
      value: (side, i) =>
        experiencedOf(report, i, page)?.expected_ms ?? (ownPage ? side.expected_experienced_ms : undefined),
      // The report's interval is only valid for its own page.
      ci: (side) => (ownPage ? side.expected_experienced_ci_ms : undefined),
      verdict: ownPage ? (byPages ? verdicts?.model : verdicts?.experienced) : undefined,
    },
    ...(sides.some((side) => side.pages)
      ? [
          {
            title: "real page views, mean (ms)",
            value: (side: Side) => side.pages?.expected_ms,
            ci: (side: Side) => side.pages?.expected_ci_ms,
            verdict: byPages ? verdicts?.experienced : undefined,
          },
        ]
      : []),
    {
      title: "median (ms)",
      value: (side) => side.request_percentiles_ms?.["50"],
      ci: (side) => side.request_percentiles_ci_ms?.["50"],
      verdict: verdicts?.median_request,
      thin: (side) => isThin(50, side.thin_above ?? 100),
    },
    {
      title: "p99 (ms)",
      value: (side) => side.request_percentiles_ms?.["99"],
      ci: (side) => side.request_percentiles_ci_ms?.["99"],
      thin: (side) => isThin(99, side.thin_above ?? 100),
    },
    { title: "max (ms)", value: (side) => side.max_ms },
    ...(sides.some((side) => side.own_error_ms) ? OWN_ERROR : []),
  ];
  const columns: Column[] = [
    { title: "side", align: "text" },
    ...[...figures.map((figure) => figure.title), "n", "failed requests", "failed page views"].map((title): Column => ({ title, align: "number" })),
  ];
  const rows = sides.map((side, i): Cell[] => [
    { text: sideName(side.label, i) },
    ...figures.map((figure): Cell => {
      const marks: Cell["marks"] = [];
      if (isBest(figure.verdict, side.label)) marks.push("best");
      if (figure.thin?.(side)) marks.push("thin");
      return { text: latency(figure.value(side, i)), ci: figure.ci?.(side), marks };
    }),
    { text: count(side.n) },
    failed(side),
    failedPages(side),
  ]);
  element.replaceChildren(
    table("One request, and the slowest request that a page needs", columns, rows, {
      note: intervalsNote(report, page),
    }),
  );
}

/** Figures about the emulator's own error. */
const OWN_ERROR: Figure[] = [
  { title: "emulator's own, of the expected request, at most (ms)", value: (side) => side.own_error_ms?.expected_request },
  { title: "of the median", value: (side) => side.own_error_ms?.request_percentiles["50"] },
  { title: "of p99", value: (side) => side.own_error_ms?.request_percentiles["99"] },
];

const percents = (ends: Ends): string => `${interval(ends, (value) => percentile(value * 100))}\u00a0%`;

/** The number of failed requests, and their share with its interval. */
function failed({ failed: requests, failures }: Side): Cell {
  if (failures?.basis == null) return { text: count(requests) };
  const ci = failures.request_share_ci;
  return { text: `${count(requests)} (${share(failures.request_share)})`, detail: ci ? percents(ci) : undefined };
}

/** The share of failed page views: of real views, or by the model. */
function failedPages({ failures }: Side): Cell {
  if (failures?.basis == null) return { text: "not in this report" };
  const by = failures.basis === "model" ? "by the model" : "of real views";
  const ci = failures.page_share_ci;
  return { text: share(failures.page_share), detail: ci ? `${percents(ci)} ${by}` : by };
}
