// The charts of the page with their switches, selected by the contents of the report.
import { el, section, sideName } from "../dom";
import { short } from "../format";
import type { Key, Scale, ShareAxis, State, Store } from "../store";
import type { Report, SideCharts } from "../types";
import { phaseDifferences } from "../views/phases";
import { segmented } from "../views/segmented";
import { cdf } from "./cdf";
import { curveOf, difference } from "./difference";
import { experiencedChart, hasExperienced } from "./experienced";
import { type Frame, frame } from "./frame";
import { heat, heatHeight } from "./heat";
import { legend } from "./legend";
import { phases } from "./phases";
import { effectiveQq, qq } from "./qq";
import { overTime, panelHeight } from "./time";

const SCALES: Record<Scale, string> = { log: "log", linear: "linear" };
const AXES: Record<ShareAxis, string> = { percent: "percent", nines: "nines" };

export function charts(element: HTMLElement, report: Report, store: Store): void {
  cdfSection(element, report, store);
  if (report.charts.length > 1) {
    differenceSection(element, report, store);
    qqSection(element, report, store);
  }
  timeSection(element, report, store);
  heatSection(element, report, store);
  phaseSection(element, report, store);
}

/** Expected wait by number of requests: explains the verdict and is placed directly below it. */
export function pageSection(parent: HTMLElement, report: Report, store: Store): void {
  if (!hasExperienced(report)) return;
  const box = frame("", [], (width) => (width < 600 ? 250 : 280));
  const heading =
    report.charts.length > 1 ? "Who is faster for a page of N requests?" : "Expected wait for a page of N requests";
  parent.append(section("pages", heading, box.element));
  box.title.textContent = "Expected wait for a page, by number of required requests";
  const keys: Key[] = ["requests", "required", "theme"];
  store.watch(keys, (state) => experiencedChart(box, report, state));
}

type Choice = "time" | "cdf" | "axis" | "qq" | "of" | "differenceAxis" | "differenceScale" | "phaseAxis" | "phaseUnit";

function choice<K extends Choice>(
  store: Store,
  key: K,
  label: string,
  choices: Record<State[K], string>,
): HTMLElement {
  const control = segmented(label, choices, (value) => store.set({ [key]: value } as Pick<State, K>));
  store.watch([key], (state) => control.show(state[key]));
  return control.element;
}

// Each section is added to the page before its charts are drawn, because uPlot needs the width of the frame.

interface Panels {
  id: string;
  heading: string;
  title: string;
  /** Whether a side has data for this panel. */
  has: (chart: SideCharts) => boolean;
  height: () => number;
  /** Text for sides without data. */
  absent: string;
  controls: HTMLElement[];
  /** Element between the switches and the panels. */
  above?: HTMLElement;
  keys: Key[];
  draw: (box: Frame, state: State, side: number) => void;
}

/** A section with a panel for each side that has data. */
function panels(parent: HTMLElement, report: Report, store: Store, of: Panels): void {
  const boxes = report.charts.flatMap((chart, side) => {
    if (!of.has(chart)) return [];
    const box = frame("", [], of.height);
    box.title.replaceChildren(sideName(`${chart.label}: ${of.title}`, side));
    return [{ box, side }];
  });
  const missing = report.charts.length - boxes.length;
  parent.append(
    section(
      of.id,
      of.heading,
      boxes.length > 0 && of.controls.length > 0 && el("div", { class: "switches" }, ...of.controls),
      boxes.length > 0 && of.above,
      el("div", { class: "charts" }, ...boxes.map(({ box }) => box.element)),
      missing > 0 && el("p", { class: "absent" }, `${boxes.length === 0 ? "" : "Other sides: "}${of.absent}`),
    ),
  );
  for (const { box, side } of boxes) store.watch([...of.keys, "theme"], (state) => of.draw(box, state, side));
}

function timeSection(parent: HTMLElement, report: Report, store: Store): void {
  panels(parent, report, store, {
    id: "over-time",
    heading: "Over time",
    title: "percentiles over time",
    has: (chart) => (chart.over_time?.start_s.length ?? 0) > 0,
    height: () => panelHeight(report),
    absent: report.charts.some((chart) => chart.over_time)
      ? "Too few samples for percentiles over time."
      : "Not measured: the samples have no timestamps.",
    controls: [choice(store, "time", "latency scale", SCALES)],
    keys: ["time"],
    draw: (box, state, side) => overTime(box, report, state, side),
  });
}

function heatSection(parent: HTMLElement, report: Report, store: Store): void {
  panels(parent, report, store, {
    id: "heat",
    heading: "Every sample over time",
    title: "all samples over time",
    has: (chart) => (chart.heat?.intervals ?? 0) > 0,
    height: () => heatHeight(report),
    absent: "No heat map in this report: the samples have no timestamps.",
    controls: [],
    above: legend(report, store),
    keys: [],
    draw: (box, _, side) => heat(box, report, side),
  });
}

function phaseSection(parent: HTMLElement, report: Report, store: Store): void {
  panels(parent, report, store, {
    id: "phases",
    heading: "Where the time goes",
    title: "phases by percentile",
    has: (chart) => (chart.phases?.phases.length ?? 0) > 0,
    height: () => 340,
    absent: "The samples have no phases.",
    controls: [
      choice(store, "phaseUnit", "phases as", { ms: "times", share: "shares" }),
      choice(store, "phaseAxis", "percentile axis", AXES),
    ],
    keys: ["phaseUnit", "phaseAxis"],
    draw: (box, state, side) => phases(box, report, state, side),
  });
  if (report.charts.every((chart) => !chart.phases) && report.comparison.phases.length === 0) return;
  const table = el("div", { class: "after-charts" });
  document.getElementById("phases")?.append(table);
  phaseDifferences(table, report);
}

function cdfSection(parent: HTMLElement, report: Report, store: Store): void {
  const controls = [choice(store, "cdf", "latency scale", SCALES), choice(store, "axis", "percentile axis", AXES)];
  const box = frame("Cumulative distribution of requests", controls, (width) => (width < 600 ? 340 : 420));
  parent.append(section("cdf", "The whole distribution", box.element));
  store.watch(["cdf", "axis", "theme"], (state) => cdf(box, report, state));
}

function differenceSection(parent: HTMLElement, report: Report, store: Store): void {
  const box = frame("", [], (width) => (width < 600 ? 320 : 380));
  const absent = el("p", { class: "absent" }, "This report does not contain the difference by percentile.");
  const controls = [
    choice(store, "of", "percentiles of", { requests: "requests", people: "people" }),
    choice(store, "differenceAxis", "axis", AXES),
    choice(store, "differenceScale", "difference", SCALES),
  ];
  if (report.charts.length > 2) controls.push(otherSide(report, store));
  const held = report.differences.length > 0;
  parent.append(
    section(
      "difference",
      "The difference by percentile",
      held && el("div", { class: "switches" }, ...controls),
      held && box.element,
      absent,
    ),
  );
  if (!held) return;
  const keys: Key[] = ["of", "differenceAxis", "differenceScale", "other", "requests", "required", "theme"];
  store.watch(keys, (state) => {
    const known = curveOf(report, state.other) !== undefined;
    box.element.hidden = !known;
    absent.hidden = known;
    box.title.textContent = `${report.charts[state.other]?.label} less ${report.charts[0]?.label}`;
    if (known) difference(box, report, state);
  });
}

function qqSection(parent: HTMLElement, report: Report, store: Store): void {
  const square = (width: number): number => Math.min(Math.max(320, width * 0.9), 520);
  const requests = frame("QQ plot of requests", [], square);
  const people = frame("Effective QQ plot: what visitors experience", [], square);
  const controls = [choice(store, "qq", "latency scale", SCALES)];
  if (report.charts.length > 2) controls.push(otherSide(report, store));
  parent.append(
    section(
      "qq",
      "Comparison of two sides",
      el("div", { class: "switches" }, ...controls),
      el("div", { class: "charts" }, requests.element, people.element),
    ),
  );
  store.watch(["qq", "other", "theme"], (state) => qq(requests, report, state));
  store.watch(["qq", "other", "requests", "required", "theme"], (state) => effectiveQq(people, report, state));
}

function otherSide(report: Report, store: Store): HTMLElement {
  const others = report.charts.slice(1).map((chart, i) => [String(i + 1), short(chart.label, 34)] as const);
  const label = `${report.charts[0]?.label ?? ""} against`;
  const control = segmented(label, Object.fromEntries(others), (value) => store.set({ other: Number(value) }));
  store.watch(["other"], (state) => control.show(String(state.other)));
  return control.element;
}
