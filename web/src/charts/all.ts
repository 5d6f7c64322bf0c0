// The charts of the page with their switches: which there are depends on what the report holds.
import { el, section, sideName } from "../dom";
import type { Scale, State, Store } from "../store";
import type { Report } from "../types";
import { segmented } from "../views/segmented";
import { cdf } from "./cdf";
import { frame } from "./frame";
import { effectiveQq, qq } from "./qq";
import { overTime, panelHeight } from "./time";

const SCALES: Record<Scale, string> = { log: "log", linear: "linear" };

export function charts(element: HTMLElement, report: Report, store: Store): void {
  timeSection(element, report, store);
  cdfSection(element, report, store);
  if (report.charts.length > 1) qqSection(element, report, store);
}

function choice<K extends "time" | "cdf" | "axis" | "qq">(
  store: Store,
  key: K,
  label: string,
  choices: Record<State[K], string>,
): HTMLElement {
  const control = segmented(label, choices, (value) => store.set({ [key]: value } as Pick<State, K>));
  store.watch([key], (state) => control.show(state[key]));
  return control.element;
}

// Each section is put into the page before its charts are drawn: uPlot needs the width that a frame gets there.

function timeSection(parent: HTMLElement, report: Report, store: Store): void {
  const panels = report.charts.flatMap((chart, side) => {
    if (!chart.over_time || chart.over_time.start_s.length === 0) return [];
    const box = frame("", [], () => panelHeight(report));
    box.title.replaceChildren(sideName(`${chart.label}: percentiles over time`, side));
    return [{ box, side }];
  });
  const missing = report.charts.length - panels.length;
  const absent = `${panels.length === 0 ? "" : "Other sides: "}Not measured: the samples carry no time.`;
  parent.append(
    section(
      "over-time",
      "Over time",
      panels.length > 0 && el("div", { class: "switches" }, choice(store, "time", "latency scale", SCALES)),
      el("div", { class: "charts" }, ...panels.map((panel) => panel.box.element)),
      missing > 0 && el("p", { class: "absent" }, absent),
    ),
  );
  for (const { box, side } of panels) store.watch(["time", "theme"], (state) => overTime(box, report, state, side));
}

function cdfSection(parent: HTMLElement, report: Report, store: Store): void {
  const controls = [
    choice(store, "cdf", "latency scale", SCALES),
    choice(store, "axis", "percentile axis", { percent: "percent", nines: "nines" }),
  ];
  const box = frame("Cumulative distribution of requests", controls, (width) => (width < 600 ? 340 : 420));
  parent.append(section("cdf", "The whole distribution", box.element));
  store.watch(["cdf", "axis", "theme"], (state) => cdf(box, report, state));
}

function qqSection(parent: HTMLElement, report: Report, store: Store): void {
  const square = (width: number): number => Math.min(Math.max(320, width * 0.9), 520);
  const requests = frame("QQ: requests, percentile by percentile", [], square);
  const people = frame("Effective QQ: what visitors experience", [], square);
  const controls = [choice(store, "qq", "latency scale", SCALES)];
  if (report.charts.length > 2) controls.push(otherSide(report, store));
  parent.append(
    section(
      "qq",
      "Side against side",
      el("div", { class: "switches" }, ...controls),
      el("div", { class: "charts" }, requests.element, people.element),
    ),
  );
  store.watch(["qq", "other", "theme"], (state) => qq(requests, report, state));
  store.watch(["qq", "other", "requests", "required", "theme"], (state) => effectiveQq(people, report, state));
}

function otherSide(report: Report, store: Store): HTMLElement {
  const others = report.charts.slice(1).map((chart, i) => [String(i + 1), chart.label] as const);
  const label = `${report.charts[0]?.label ?? ""} against`;
  const control = segmented(label, Object.fromEntries(others), (value) => store.set({ other: Number(value) }));
  store.watch(["other"], (state) => control.show(String(state.other)));
  return control.element;
}
