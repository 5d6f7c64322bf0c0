// The charts of a document of figures: adjacent charts of one kind are drawn together in one section.
import { axisText, valuesOf } from "../charts/figure_axes";
import { type Frame, frame } from "../charts/frame";
import { legendOf, multiples, SMALL_HEIGHT } from "../charts/multiples";
import { scatters } from "../charts/scatter";
import { TIMELINE_HEIGHT, timelines } from "../charts/timeline";
import { el, section, sideName } from "../dom";
import type { Bars, Multiples, Panel, Scatter, Timeline } from "../figure_types";
import type { ThemeStore } from "../store";
import { bars } from "./bars";

export function panels(element: HTMLElement, all: Panel[], store: ThemeStore): void {
  groups(all.filter(hasSomething)).forEach((group, i) => {
    const id = `figure-${i + 1}`;
    const [first] = group;
    // Each section is added to the page before its charts are drawn, because uPlot needs the width of the
    // frame.
    if (first?.kind === "timeline") timelineSection(element, id, group as Timeline[], store);
    if (first?.kind === "scatter") scatterSection(element, id, group as Scatter[], store);
    if (first?.kind === "multiples") multiplesSection(element, id, first, store);
    if (first?.kind === "bars") barsSection(element, id, first);
  });
  const without = all.filter((panel) => !hasSomething(panel)).map(({ title }) => title);
  if (without.length === 0) return;
  element.append(section("absent", "Not measured", el("p", { class: "absent" }, `${without.join(", ")}.`)));
}

/** Whether the panel has data. */
function hasSomething(panel: Panel): boolean {
  switch (panel.kind) {
    case "timeline":
      return valuesOf(panel.lines).length > 0;
    case "scatter":
      return [...panel.classes, ...panel.lines, ...panel.marks].some(({ x }) => x.length > 0);
    case "multiples":
      return panel.charts.some(({ lines }) => valuesOf(lines).length > 0);
    case "bars":
      return panel.bars.length > 0;
  }
}

/** Consecutive timelines, consecutive scatters with the same axes, and each other panel by itself. */
function groups(all: Panel[]): Panel[][] {
  const found: Panel[][] = [];
  for (const panel of all) {
    const last = found.at(-1);
    if (last?.[0] !== undefined && belongs(last[0], panel)) last.push(panel);
    else found.push([panel]);
  }
  return found;
}

function belongs(first: Panel, other: Panel): boolean {
  if (first.kind === "timeline") return other.kind === "timeline";
  return first.kind === "scatter" && other.kind === "scatter" && axesOf(first) === axesOf(other);
}

const axesOf = ({ x, y }: Scatter): string => [x, y].map((axis) => `${axisText(axis)} ${axis.scale}`).join("; ");

function timelineSection(element: HTMLElement, id: string, group: Timeline[], store: ThemeStore): void {
  const boxes = group.map(({ title }) => frame(title, [], () => TIMELINE_HEIGHT));
  element.append(section(id, "Over time", el("div", { class: "stacked" }, ...boxes.map((box) => box.element))));
  store.watch(["theme"], () => timelines(boxes, group, id));
}

function scatterSection(element: HTMLElement, id: string, group: Scatter[], store: ThemeStore): void {
  const boxes = group.map(({ title }) => frame(title, [], () => 360));
  const [{ x, y }] = group as [Scatter];
  element.append(
    section(
      id,
      sentenceCase(`${y.title} by ${x.title}`),
      el("div", { class: "charts" }, ...boxes.map((box) => box.element)),
    ),
  );
  store.watch(["theme"], () => scatters(boxes, group));
}

function multiplesSection(element: HTMLElement, id: string, panel: Multiples, store: ThemeStore): void {
  const boxes = panel.charts.map(({ row, column }) => small([row, column].filter(Boolean).join(" \u00b7 ")));
  const columns = new Set(panel.charts.map(({ column }) => column)).size;
  // More columns are broken into several rows.
  const across = columns > 1 && columns <= 4 ? columns : Math.min(3, boxes.length);
  element.append(
    section(
      id,
      panel.title,
      el("p", { class: "finding" }, panel.sentence),
      key(panel),
      el("div", { class: "multiples", style: `--across:${across}` }, ...boxes.map((box) => box.element)),
    ),
  );
  store.watch(["theme"], () => multiples(boxes, panel));
}

/** The names that are too long for the line ends, and the meaning of crosses. */
function key(panel: Multiples): HTMLElement | false {
  const { names, crosses } = legendOf(panel);
  if (names.length === 0 && !crosses) return false;
  return el(
    "p",
    { class: "key" },
    ...names.map((name, i) => sideName(name, i)),
    crosses && el("span", {}, "\u2715 INVALID: the tool affected this measurement"),
  );
}

function small(title: string): Frame {
  const box = frame(title, [], () => SMALL_HEIGHT);
  box.element.classList.add("small");
  return box;
}

function barsSection(element: HTMLElement, id: string, panel: Bars): void {
  element.append(section(id, panel.title, el("p", { class: "finding" }, panel.sentence), bars(panel)));
}

const sentenceCase = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
