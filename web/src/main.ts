// Puts the page together from the report that is embedded in it.
import "./style.css";
import { charts } from "./charts/all";
import { readReport } from "./data";
import { el, section } from "./dom";
import { Store } from "./store";
import { followTheme } from "./theme";
import type { Report } from "./types";
import { claims } from "./views/claims";
import { control } from "./views/control";
import { expectations } from "./views/expectations";
import { experienced } from "./views/experienced";
import { fidelity } from "./views/fidelity";
import { header } from "./views/header";
import { notes } from "./views/notes";
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
      theme: "auto",
    },
    sides.length,
  );
  followTheme(store);
  document.title = `${report.valid ? "" : "INVALID: "}${report.title} \u2013 Longhaul`;

  const parts = {
    header: el("header"),
    claims: el("section"),
    sides: el("div"),
    control: el("div", { class: "control" }),
    people: el("div"),
  };
  const rest = { charts: el("div"), percentiles: el("div"), fidelity: el("div"), notes: el("div") };
  root.replaceChildren(
    topBar(store),
    parts.header,
    parts.claims,
    section("expectations", "What to expect", parts.sides),
    parts.control,
    section("people", "What visitors of this page experience", parts.people),
    rest.charts,
    section("percentiles", "Percentiles", rest.percentiles),
    section("fidelity", "Fidelity of the run", rest.fidelity),
    rest.notes,
  );
  header(parts.header, report);
  claims(parts.claims, report);
  control(parts.control, report, store);
  charts(rest.charts, report, store);
  percentiles(rest.percentiles, report);
  fidelity(rest.fidelity, report);
  notes(rest.notes, report);
  store.watch(["requests", "required"], (state) => {
    expectations(parts.sides, report, state);
    experienced(parts.people, report, state);
  });
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
