// Counts of all samples that were read, including dropped ones.
import { sideName } from "../dom";
import { count, share } from "../format";
import type { Report, Side } from "../types";
import { type Cell, type Column, table } from "./table";

const COLUMNS: { title: string; value: (side: Side) => string; align?: "text" }[] = [
  { title: "read from", value: (side) => side.format ?? "not in this report", align: "text" },
  { title: "read", value: (side) => said(side.read) },
  { title: "used", value: (side) => said(side.n) },
  { title: "failed", value: (side) => said(side.failed) },
  { title: "without this metric", value: (side) => said(side.without_metric) },
  { title: "outside the period", value: (side) => said(side.excluded) },
  { title: "values are within", value: precision },
];

/** Reports of older versions do not contain all counts. */
const said = (value: number | undefined): string => (value === undefined ? "not in this report" : count(value));

function precision({ relative_error: error, read }: Side): string {
  if (typeof error === "number") return `\u00b1${share(error)}`;
  return read === undefined ? "not in this report" : "exact";
}

export function counts(element: HTMLElement, report: Report): void {
  const columns: Column[] = [
    { title: "side", align: "text" },
    ...COLUMNS.map(({ title, align }): Column => ({ title, align: align ?? "number" })),
  ];
  const rows = report.comparison.sides.map((side, i): Cell[] => [
    { text: sideName(side.label, i) },
    ...COLUMNS.map(({ value }) => ({ text: value(side) })),
  ]);
  const note = "read = used + failed + without + outside; failed samples and samples without the metric are not in the latencies";
  element.replaceChildren(table("Samples: from all samples that were read to the samples used", columns, rows, { note }));
}
