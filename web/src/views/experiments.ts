// Other measurements of a scenario: a section for each kind.
import { type Frame, frame } from "../charts/frame";
import { TIMELINE_HEIGHT, timelines } from "../charts/timeline";
import { el, section, sideName } from "../dom";
import type { Panel, Table, Timeline } from "../figure_types";
import type { Store } from "../store";
import type { Figures, Report } from "../types";
import { panels } from "./panels";
import { type Cell, table } from "./table";

export function experiments(element: HTMLElement, report: Report, store: Store): void {
  const index = sideIndexes(report);
  for (const experiment of report.experiments) one(element, experiment, index, store);
}

/** The colour index of a side. */
type SideIndex = (side: string) => number;

function one(element: HTMLElement, experiment: Figures, index: SideIndex, store: Store): void {
  const id = experiment.title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  const over = experiment.panels.filter(isTimeline);
  const boxes = over.map(({ title, phases }) => frame(title, [], () => TIMELINE_HEIGHT + (phases.length > 0 ? 30 : 0)));
  const others = el("div");
  const known = [...experiment.reasons, ...experiment.warnings];
  element.append(
    section(
      id,
      experiment.title,
      experiment.summary !== "" && el("p", { class: "finding" }, experiment.summary),
      ...boxes.map((box: Frame) => box.element),
      others,
      el("div", { class: boxes.length > 0 ? "after-charts" : undefined }, ...experiment.tables.map((rows) => shown(rows, index))),
      known.length > 0 && el("ul", { class: "warnings" }, ...known.map((sentence) => el("li", {}, sentence))),
    ),
  );
  panels(others, experiment.panels.filter((panel) => !isTimeline(panel)), store);
  if (over.length > 0) store.watch(["theme"], () => timelines(boxes, over, id, index));
}

const isTimeline = (panel: Panel): panel is Timeline & Panel => panel.kind === "timeline";

/** The first column contains the side of each row. */
function shown({ title, columns, rows, note }: Table, index: SideIndex): HTMLElement {
  const cells = (row: string[]): Cell[] => row.map((text, i) => ({ text: i === 0 ? sideName(text, index(text)) : text }));
  return table(title, columns, rows.map(cells), { note });
}

/** Compared sides come first, so that a side has the same colour everywhere. */
function sideIndexes(report: Report): SideIndex {
  const compared = report.comparison.sides.map(({ label }) => label);
  const measured = report.experiments.flatMap(({ tables }) => tables.flatMap(({ rows }) => rows.map(([side]) => side ?? "")));
  const all = [...new Set([...compared, ...measured])];
  return (side) => all.indexOf(side);
}
