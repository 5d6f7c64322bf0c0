// Builds the page of figures from the embedded document.
import "./style/all.css";
import { el, section } from "./dom";
import { readEmbedded, showEmbedded } from "./embedded";
import type { Figures, Table } from "./figure_types";
import { Store, THEMED, type Themed } from "./store";
import { followTheme } from "./theme";
import { contents } from "./views/contents";
import { invalidRun, tabTitle, warningsHint } from "./views/header";
import { conditions, warnings } from "./views/notes";
import { panels } from "./views/panels";
import { table } from "./views/table";
import { topBar } from "./views/top";

function show(root: HTMLElement, figures: Figures): void {
  const store = new Store<Themed>({ theme: "auto" }, THEMED);
  followTheme(store);
  document.title = tabTitle(figures);
  const [parts, charts] = [el("nav", { class: "contents" }), el("div")];
  root.replaceChildren(
    topBar(store),
    header(figures),
    parts,
    charts,
    ...tables(figures.tables),
    ...conditions(figures.conditions),
    warnings(figures.warnings),
  );
  panels(charts, figures.panels, store);
  contents(parts, root, store);
}

const header = ({ valid, reasons, title, summary, warnings: known }: Figures): HTMLElement =>
  el(
    "header",
    {},
    ...(valid ? [] : [invalidRun(reasons)]),
    el("h1", {}, title),
    el("p", { class: "verdict" }, summary),
    ...warningsHint(known.length),
  );

function tables(all: Table[]): HTMLElement[] {
  if (all.length === 0) return [];
  return [section("tables", "Tables", el("div", { class: "stack" }, ...all.map(shown)))];
}

const shown = ({ title, columns, rows, note }: Table): HTMLElement =>
  table(title, columns, rows.map((cells) => cells.map((text) => ({ text }))), { note });

showEmbedded(readEmbedded<Figures>("longhaul.figures/1", "document of figures"), "document of figures", show);
