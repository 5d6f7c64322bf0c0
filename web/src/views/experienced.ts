// Latency of users on the selected page, by percentile.
import { el, sideName } from "../dom";
import { latency, plural } from "../format";
import { chosenPage, experiencedOf, experiencedThinAbove, isOwnPage, isThin, PEOPLE_PERCENTILES } from "../page";
import { intervalsNote } from "../sentences/intervals";
import { lowestSurely } from "../sentences/sure";
import type { State } from "../store";
import type { Report } from "../types";
import { type Cell, type Column, table } from "./table";

export function experienced(element: HTMLElement, report: Report, state: State): void {
  const page = chosenPage(report, state);
  const sides = report.comparison.sides;
  const ownPage = isOwnPage(report, page);
  if (page.held === 0) {
    element.replaceChildren(el("p", { class: "absent" }, "Latency of visitors on other pages: not in this report."));
    return;
  }
  const value = (side: number, column: number): number | undefined =>
    experiencedOf(report, side, page)?.percentiles_ms[column];
  const known = report.comparison.intervals && report.comparison.differences;
  const best = PEOPLE_PERCENTILES.map((people, column): Set<number> => {
    const values = sides.map((_, side) => value(side, column));
    // The report contains the certainty of its own page only.
    if (known && !ownPage) return new Set();
    return lowestSurely(report, "experienced", String(people), values);
  });
  const columns: Column[] = [
    { title: "share of visitors", align: "text" },
    ...PEOPLE_PERCENTILES.map((people): Column => ({ title: `${people}\u00a0%`, align: "number" })),
  ];
  const rows = sides.map((side, i): Cell[] => [
    { text: sideName(side.label, i) },
    ...PEOPLE_PERCENTILES.map((people, column): Cell => {
      const marks: Cell["marks"] = best[column]?.has(i) ? ["best"] : [];
      if (isThin(people, experiencedThinAbove(side.thin_above ?? 100, page.effective))) marks.push("thin");
      const ci = ownPage ? side.experienced_percentiles_ci_ms?.[String(people)] : undefined;
      return { text: latency(value(i, column)), ci, marks };
    }),
  ]);
  const caption = `Maximum wait (ms) by share of visitors, page of ${plural(page.effective, "effective request")}`;
  element.replaceChildren(table(caption, columns, rows, { note: intervalsNote(report, page) }));
}
