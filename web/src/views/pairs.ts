// Matrix of all sides: the side of the row compared with the side of the column.
import { el, section, sideName } from "../dom";
import { latency, ms, plural, short } from "../format";
import { sureness } from "../sentences/sure";
import type { Store } from "../store";
import type { Report, Verdict } from "../types";
import { segmented } from "./segmented";
import { type Cell, table } from "./table";

/** Empty for two sides: the verdict contains their comparison. */
export function pairs(element: HTMLElement, report: Report, store: Store): void {
  if (report.comparison.pairs.length === 0) return;
  const control = segmented("by", { page: "the page", request: "one request" }, (value) =>
    store.set({ pairs: value as "page" | "request" }),
  );
  const body = el("div");
  element.replaceChildren(
    section("pairs", "All pairs of sides", el("div", { class: "switches" }, control.element), body),
  );
  store.watch(["pairs"], (state) => {
    control.show(state.pairs);
    body.replaceChildren(matrix(report, state.pairs));
  });
}

function matrix(report: Report, by: "page" | "request"): HTMLElement {
  const { sides, page } = report.comparison;
  const labels = sides.map((side) => side.label);
  const columns = [
    { title: "row relative to column", align: "text" as const },
    ...labels.map((label, i) => ({ title: sideName(short(label, 30), i), align: "text" as const })),
  ];
  const rows = labels.map((row, r): Cell[] => [
    { text: sideName(row, r) },
    ...labels.map((column) => cell(report, row, column, by)),
  ]);
  const what = by === "page" ? `experience, ${plural(page.effective_requests, "effective request")}` : "request latency";
  return table(`Difference of the expected ${what}: the row\u2019s side relative to the column\u2019s (ms)`, columns, rows, {
    note: "\u25bc the row is faster \u00b7 \u25b2 the row is slower \u00b7 ? not sure",
  });
}

/** The better side is shown by sign, word and colour; an uncertain result has neither colour nor triangle. */
function cell(report: Report, row: string, column: string, by: "page" | "request"): Cell {
  if (row === column) return { text: "\u2013", look: "self" };
  const pair = report.comparison.pairs.find(
    ({ first, second }) => (first === row && second === column) || (first === column && second === row),
  );
  if (pair === undefined) return { text: "not compared" };
  const verdict: Verdict = by === "page" ? pair.experienced : pair.request;
  if (!verdict.better) return { text: "a tie", look: "open" };
  const sure = sureness(verdict, report.comparison.intervals);
  const faster = verdict.better === row;
  const open = sure?.firm === false;
  const sign = open ? "?" : faster ? "\u25bc" : "\u25b2";
  const figure = `${sign} ${faster ? "\u2212" : "+"}${latency(verdict.difference_ms)}`;
  const said = `${faster ? "faster" : "slower"}${sure ? `, ${sure.words}: ${sure.figure}` : ""}`;
  const title = `${row} is ${faster ? "faster" : "slower"} than ${column} by ${ms(verdict.difference_ms)}`;
  return {
    text: el("b", { title }, figure),
    detail: said,
    look: open ? "open" : faster ? "ahead" : "behind",
  };
}
