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
import { commands } from "./views/commands";
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
import { outages, pings } from "./views/reachability";
import { segmented } from "./views/segmented";
import { transfers } from "./views/transfers";

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

  const top = { header: part("header"), contents: part("nav", "contents") };
  const answers = { claims: part("section"), thresholds: part("section") };
  const network = { outages: part("div"), transfers: part("div"), pings: part("div"), commands: part("div") };
  const end = { fidelity: part("div"), notes: part("div") };
  // A scenario may have measured transfers or pings alone.
  const asked = sides.length > 0 ? requests(report, store) : undefined;
  root.replaceChildren(
    topBar(store),
    top.header,
    top.contents,
    answers.claims,
    answers.thresholds,
    network.outages,
    network.transfers,
    network.pings,
    network.commands,
    ...(asked?.parts ?? []),
    section("fidelity", "Fidelity of the run", end.fidelity),
    end.notes,
  );
  header(top.header, report);
  claims(answers.claims, report);
  thresholds(answers.thresholds, report);
  outages(network.outages, report);
  transfers(network.transfers, report, store);
  pings(network.pings, report);
  commands(network.commands, report);
  asked?.fill();
  fidelity(end.fidelity, report);
  notes(end.notes, report);
  contents(top.contents, root);
}

/** The parts of the page that are about requests, and what fills them once they are on it. */
function requests(report: Report, store: Store): { parts: HTMLElement[]; fill: () => void } {
  const people = { sides: part("div"), control: part("div", "control"), waits: part("div"), independence: part("div") };
  const rest = { pairs: part("div"), breakdown: part("div"), charts: part("div") };
  const tables = { percentiles: part("div"), counts: part("div") };
  const parts = [
    section("expectations", "What to expect", people.sides),
    people.control,
    section("people", "What visitors of this page experience", people.waits),
    rest.pairs,
    rest.breakdown,
    rest.charts,
    section("independence", "Are requests of a page independent?", people.independence),
    section("percentiles", "Percentiles", tables.percentiles),
    section("counts", "Samples", tables.counts),
  ];
  const fill = (): void => {
    control(people.control, report, store);
    pairs(rest.pairs, report, store);
    breakdown(rest.breakdown, report, store);
    charts(rest.charts, report, store);
    independence(people.independence, report);
    percentiles(tables.percentiles, report);
    counts(tables.counts, report);
    store.watch(["requests", "required"], (state) => {
      expectations(people.sides, report, state);
      experienced(people.waits, report, state);
    });
  };
  return { parts, fill };
}

const part = <K extends keyof HTMLElementTagNameMap>(tag: K, look?: string): HTMLElementTagNameMap[K] =>
  el(tag, { class: look });

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
