// Differences by phase between the first two sides, by percentile.
import { el } from "../dom";
import { latency, signed } from "../format";
import { isThin } from "../page";
import type { Report } from "../types";
import { type Cell, type Column, table } from "./table";

export function phaseDifferences(element: HTMLElement, report: Report): void {
  const { phases, sides } = report.comparison;
  const [first, second] = sides.map((side) => side.label);
  if (phases.length === 0) {
    const why =
      sides.length < 2
        ? "There is no second side to compare."
        : "The difference by phase is unknown: a side has no phases.";
    element.replaceChildren(el("p", { class: "absent" }, why));
    return;
  }
  const names = [...new Set(phases.flatMap((at) => at.phases.map((one) => one.phase)))];
  const columns: Column[] = [
    { title: "requests around", align: "text" },
    ...names.map((name): Column => ({ title: `${name} (ms)`, align: "number" })),
    { title: "together (ms)", align: "number" },
  ];
  const thinAbove = Math.min(...sides.slice(0, 2).map((side) => side.thin_above ?? 100));
  const rows = phases.map((at): Cell[] => {
    const thin: Cell["marks"] = isThin(Number(at.percentile), thinAbove) ? ["thin"] : [];
    const total = at.phases.reduce((sum, one) => sum + one.second_ms - one.first_ms, 0);
    return [
      { text: `p${at.percentile}` },
      ...names.map((name): Cell => {
        const one = at.phases.find(({ phase }) => phase === name);
        if (!one) return { text: "not measured", look: "absent-cell" };
        return {
          text: signed(one.second_ms - one.first_ms),
          detail: `${latency(one.first_ms)} \u2192 ${latency(one.second_ms)}`,
          marks: at.decisive === name ? ["decisive", ...thin] : thin,
        };
      }),
      { text: signed(total), marks: thin },
    ];
  });
  element.replaceChildren(
    table(`Difference by phase: ${second} minus ${first}`, columns, rows, {
      note: `small figures: ${first} \u2192 ${second}; above 0 ${second} takes longer`,
    }),
  );
}
