// Builds the page from the embedded report.
import "./style/all.css";
import { charts, pageSection } from "./charts/all";
import { readReport } from "./data";
import { el, section } from "./dom";
import { showEmbedded } from "./embedded";
import { fieldsOf, type State, Store } from "./store";
import { followTheme } from "./theme";
import type { Report } from "./types";
import { breakdown } from "./views/breakdown";
import { claims, thresholds } from "./views/claims";
import { contents } from "./views/contents";
import { control } from "./views/control";
import { counts } from "./views/counts";
import { expectations } from "./views/expectations";
import { experienced } from "./views/experienced";
import { experiments } from "./views/experiments";
import { fidelity } from "./views/fidelity";
import { header, tabTitle } from "./views/header";
import { independence } from "./views/independence";
import { notes } from "./views/notes";
import { pairs } from "./views/pairs";
import { percentiles } from "./views/percentiles";
import { topBar } from "./views/top";
import { tiles } from "./views/verdict";

function show(root: HTMLElement, report: Report): void {
  const { page, sides } = report.comparison;
  const store = new Store<State>(
    {
      requests: page.requests,
      required: page.required,
      time: "log",
      cdf: "log",
      axis: "nines",
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
    fieldsOf(sides.length),
  );
  followTheme(store);
  document.title = tabTitle(report);

  const top = { header: part("header"), pages: part("div"), tiles: part("div"), contents: part("nav", "contents") };
  const answers = { claims: part("section"), thresholds: part("section") };
  const network = part("div");
  const end = { fidelity: part("div"), notes: part("div") };
  // A scenario may have measured only transfers or pings.
  const asked = sides.length > 0 ? requests(report, store) : undefined;
  root.replaceChildren(
    topBar(store),
    top.header,
    top.pages,
    ...(asked?.control ?? []),
    top.tiles,
    top.contents,
    answers.claims,
    answers.thresholds,
    network,
    ...(asked?.parts ?? []),
    section("fidelity", "Fidelity of the run", end.fidelity),
    end.notes,
  );
  header(top.header, report);
  tiles(top.tiles, report);
  pageSection(top.pages, report, store);
  claims(answers.claims, report);
  thresholds(answers.thresholds, report);
  experiments(network, report, store);
  asked?.fill();
  fidelity(end.fidelity, report);
  notes(end.notes, report);
  contents(top.contents, root, store);
}

interface Asked {
  control: HTMLElement[];
  parts: HTMLElement[];
  fill: () => void;
}

/** The parts of the page about requests, and the function that fills them after they are added. */
function requests(report: Report, store: Store): Asked {
  const people = { sides: part("div"), control: part("div", "control"), waits: part("div"), independence: part("div") };
  const rest = { pairs: part("div"), breakdown: part("div"), charts: part("div") };
  const tables = { percentiles: part("div"), counts: part("div") };
  const parts = [
    section("expectations", "What to expect", people.sides),
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
  return { control: [people.control], parts, fill };
}

const part = <K extends keyof HTMLElementTagNameMap>(tag: K, look?: string): HTMLElementTagNameMap[K] =>
  el(tag, { class: look });

showEmbedded(readReport(), "report", show);
