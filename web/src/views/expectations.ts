// Both expectations side by side: of one request, and of a person who needs many of them, each with its interval.
import { sideName } from "../dom";
import { count, type Ends, latency, plural } from "../format";
import { chosenPage, experiencedOf, isThin, isOwnPage } from "../page";
import { intervalsNote } from "../sentences/intervals";
import type { State } from "../store";
import type { Report, Side } from "../types";
import { type Cell, type Column, lowest, table } from "./table";

interface Figure {
  title: string;
  value: (side: Side, index: number) => number | null | undefined;
  ci?: (side: Side) => Ends | null | undefined;
  thin?: (side: Side) => boolean;
}

export function expectations(element: HTMLElement, report: Report, state: State): void {
  const page = chosenPage(report, state);
  const sides = report.comparison.sides;
  const ownPage = isOwnPage(report, page);
  const figures: Figure[] = [
    {
      title: "expected request (ms)",
      value: (side) => side.expected_request_ms,
      ci: (side) => side.expected_request_ci_ms,
    },
    {
      title: `expected experienced, ${plural(page.effective, "request")} (ms)`,
      value: (side, i) =>
        experiencedOf(report, i, page)?.expected_ms ?? (ownPage ? side.expected_experienced_ms : undefined),
      // The report's interval is of its own page; for another it would be a lie.
      ci: (side) => (ownPage ? side.expected_experienced_ci_ms : undefined),
    },
    {
      title: "median (ms)",
      value: (side) => side.request_percentiles_ms["50"],
      ci: (side) => side.request_percentiles_ci_ms["50"],
      thin: (side) => isThin(50, side.thin_above),
    },
    {
      title: "p99 (ms)",
      value: (side) => side.request_percentiles_ms["99"],
      ci: (side) => side.request_percentiles_ci_ms["99"],
      thin: (side) => isThin(99, side.thin_above),
    },
    { title: "max (ms)", value: (side) => side.max_ms },
  ];
  const best = figures.map((figure) => lowest(sides.map(figure.value)));
  const columns: Column[] = [
    { title: "side", align: "text" },
    ...[...figures.map((figure) => figure.title), "n", "failed"].map((title): Column => ({ title, align: "number" })),
  ];
  const rows = sides.map((side, i): Cell[] => [
    { text: sideName(side.label, i) },
    ...figures.map((figure, f): Cell => {
      const marks: Cell["marks"] = [];
      if (best[f]?.has(i)) marks.push("best");
      if (figure.thin?.(side)) marks.push("thin");
      return { text: latency(figure.value(side, i)), ci: figure.ci?.(side), marks };
    }),
    { text: count(side.n) },
    { text: count(side.failed) },
  ]);
  element.replaceChildren(
    table("One request, and the slowest of those that a page needs", columns, rows, {
      note: intervalsNote(report, page),
    }),
  );
}
