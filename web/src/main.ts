// Puts the page together from the report that is embedded in it.
import "./style/base.css";
import "./style/header.css";
import "./style/tables.css";
import "./style/controls.css";
import "./style/charts.css";
import "./style/print.css";
import { charts } from "./charts/all";
import { readReport } from "./data";
import { el, section } from "./dom";
import { Store } from "./store";
import { followTheme } from "./theme";
import type { Report } from "./types";
import { breakdown } from "./views/breakdown";
import { claims, thresholds } from "./views/claims";
import { contents } from "./views/contents";
import { control } from "./views/control";
import { counts } from "./views/counts";
import { expectations } from "./views/expectations";
import { experienced } from "./views/experienced";
import { fidelity } from "./views/fidelity";
import { header } from "./views/header";
import { independence } from "./views/independence";
import { notes } from "./views/notes";
import { pairs } from "./views/pairs";
import { percentiles } from "./views/percentiles";
import { segmented } from "./views/segmented";

function show(root: HTMLElement, report: Report): void {
  const { page, sides } = report.comparison;
  const store = new Store(
    {
      requests: page.requests,
      required: page.required,
      time: "log",
      cdf: "log",
      axis: "percent",
      qq: "log",
      other: 1,
      of: "requests",
      differenceAxis: "nines",
      differenceScale: "linear",
      phaseAxis: "nines",
      phaseUnit: "ms",
      groups: "first",
      pairs: "page",
      theme: "auto",
    },
    sides.length,
  );
  followTheme(store);
  document.title = `${report.valid ? "" : "INVALID: "}${report.title} \u2013 Longhaul`;

  const part = <K extends keyof HTMLElementTagNameMap>(tag: K, look?: string): HTMLElementTagNameMap[K] =>
    el(tag, { class: look });
  const top = { header: part("header"), contents: part("nav", "contents") };
  const answers = { claims: part("section"), thresholds: part("section"), pairs: part("div") };
  const people = { sides: part("div"), control: part("div", "control"), waits: part("div"), independence: part("div") };
  const rest = { breakdown: part("div"), charts: part("div"), percentiles: part("div"), counts: part("div") };
  const end = { fidelity: part("div"), notes: part("div") };
  root.replaceChildren(
    topBar(store),
    top.header,
    top.contents,
    answers.claims,
    answers.thresholds,
    section("expectations", "What to expect", people.sides),
    people.control,
    section("people", "What visitors of this page experience", people.waits),
    answers.pairs,
    rest.breakdown,
    rest.charts,
    section("independence", "Are requests of a page independent?", people.independence),
    section("percentiles", "Percentiles", rest.percentiles),
    section("counts", "Samples", rest.counts),
    section("fidelity", "Fidelity of the run", end.fidelity),
    end.notes,
  );
  header(top.header, report);
  claims(answers.claims, report);
  thresholds(answers.thresholds, report);
  control(people.control, report, store);
  pairs(answers.pairs, report, store);
  breakdown(rest.breakdown, report, store);
  charts(rest.charts, report, store);
  independence(people.independence, report);
  percentiles(rest.percentiles, report);
  counts(rest.counts, report);
  fidelity(end.fidelity, report);
  notes(end.notes, report);
  store.watch(["requests", "required"], (state) => {
    expectations(people.sides, report, state);
    experienced(people.waits, report, state);
  });
  contents(top.contents, root);
}

function topBar(store: Store): HTMLElement {
  const theme = segmented("theme", { auto: "auto", light: "light", dark: "dark" }, (value) =>
    store.set({ theme: value as "auto" | "light" | "dark" }),
  );
  store.watch(["theme"], (state) => theme.show(state.theme));
  return el("div", { class: "top" }, el("span", { class: "brand" }, "Longhaul"), theme.element);
}

function problem(root: HTMLElement, sentence: string): void {
  root.replaceChildren(el("p", { class: "problem", role: "alert" }, sentence));
}

const root = document.getElementById("report") as HTMLElement;
const loaded = readReport("report-data");
if ("problem" in loaded) {
  problem(root, loaded.problem);
} else {
  try {
    show(root, loaded.report);
  } catch (error) {
    // A document of the right schema with parts missing: say so instead of leaving half a page.
    problem(root, `This page's report cannot be drawn: ${error instanceof Error ? error.message : String(error)}.`);
    throw error;
  }
}
