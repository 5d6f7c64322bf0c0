// The operator's page: all stored results by time and by network, as distributions that the server computes.
import "./speed.css";
import { el, section } from "../dom";
import { count, figure, moment, plural, span } from "../format";
import { overview, Refusal } from "./api";
import { boxPlot } from "./box_plot";
import type { Group, Overview, Row } from "./operator_types";
import type { During, Spread } from "./types";

type Key = "download_bps" | "upload_bps" | "idle_ms" | "loaded_ms" | "jitter_ms" | "loss_ratio";

interface Figure {
  key: Key;
  name: string;
  unit: string;
  /** Factor from the unit of the document to the unit of the page. */
  scale: number;
  tone: During;
}

const FIGURES: [Figure, ...Figure[]] = [
  { key: "download_bps", name: "Download", unit: "Mbit/s", scale: 1e-6, tone: "download" },
  { key: "upload_bps", name: "Upload", unit: "Mbit/s", scale: 1e-6, tone: "upload" },
  { key: "idle_ms", name: "Latency, idle", unit: "ms", scale: 1, tone: "idle" },
  { key: "loaded_ms", name: "Latency, under load", unit: "ms", scale: 1, tone: "upload" },
  { key: "jitter_ms", name: "Jitter", unit: "ms", scale: 1, tone: "idle" },
  { key: "loss_ratio", name: "Packet loss", unit: "%", scale: 100, tone: "download" },
];
const DAYS: [string, string][] = [["", "all stored results"], ["1", "the last day"], ["7", "the last 7 days"], ["30", "the last 30 days"]];
/** Maximum number of rows in a drawing; the table contains all. */
const MOST_DRAWN = 31;

const root = document.getElementById("operator") as HTMLElement;
const token = el("input", { type: "password", id: "token", autocomplete: "current-password", required: "" });
const days = el("select", { id: "days" }, ...DAYS.map(([value, name]) => el("option", { value }, name)));
const network = el("input", { id: "network", size: "18", placeholder: "192.0.2.0/24", spellcheck: "false" });
const shown = el("select", { id: "shown" }, ...FIGURES.map(({ key, name }) => el("option", { value: key }, name)));
const status = el("p", { class: "status", role: "status" });
const found = el("div", { class: "found" });
const form = el(
  "form",
  { class: "controls" },
  labelled("Token", token),
  labelled("Time", days),
  labelled("Network", network),
  labelled("Figure", shown),
  el("button", { class: "start", type: "submit" }, "Show"),
);

let latest: Overview | undefined;

async function ask(): Promise<void> {
  const query = new URLSearchParams();
  if (days.value !== "") query.set("days", days.value);
  if (network.value.trim() !== "") query.set("network", network.value.trim());
  status.classList.remove("problem");
  status.textContent = "asking";
  try {
    latest = await overview(token.value, query);
    draw();
  } catch (error) {
    latest = undefined;
    found.replaceChildren();
    status.classList.add("problem");
    status.textContent = error instanceof Refusal ? error.message : "The response of the server could not be shown.";
    if (!(error instanceof Refusal)) throw error;
  }
}

function draw(): void {
  if (latest === undefined) return;
  const { all, kept, keep_for_s } = latest;
  const of = all.n === kept ? "" : ` of ${count(kept)} stored`;
  status.textContent = `${plural(all.n, "result")}${of}; each is stored for ${span(keep_for_s)}`;
  found.replaceChildren(...(all.n === 0 ? [] : parts(latest)));
}

function parts({ all, by_time, by_network, networks, period, latest: rows }: Overview): HTMLElement[] {
  const drawn = FIGURES.find(({ key }) => key === shown.value) ?? FIGURES[0];
  const left = networks - by_network.length;
  return [
    section("all", "All results", table("Figures of all results", ["", ...SPREAD], FIGURES.map((one) => ofAll(one, all)))),
    section("time", `By ${period}, UTC`, plot(drawn, by_time.slice(-MOST_DRAWN)), groups(`Medians by ${period}`, by_time)),
    section(
      "networks",
      "By network",
      plot(drawn, by_network.slice(0, MOST_DRAWN)),
      groups("Medians by network", by_network),
      left > 0 && el("p", {}, `${plural(left, "network")} with fewer results omitted.`),
    ),
    section("latest", "The latest", table("The latest results", ["Left, UTC", ...HEADS, "network"], rows.map(one)), saved()),
  ];
}

const SPREAD = ["results", "min", "25 %", "median", "75 %", "max"];
const HEADS = FIGURES.map(({ name, unit }) => `${name}, ${unit}`);

function ofAll({ key, name, unit, scale }: Figure, { figures }: Group): (string | Node)[] {
  const spread = figures[key];
  if (spread === null) return [`${name}, ${unit}`, "0", ...SPREAD.slice(1).map(() => NONE)];
  const { n, min, p25, p50, p75, max } = spread;
  return [`${name}, ${unit}`, count(n), ...[min, p25, p50, p75, max].map((value) => figure(value * scale))];
}

/** A box per group, for the selected figure. */
function plot({ key, name, unit, scale, tone }: Figure, all: Group[]): HTMLElement {
  const boxes = all.flatMap(({ name: of, n, figures }) => {
    const spread = figures[key];
    return spread === null ? [] : [{ name: of, spread: scaled(spread, scale), tone, dots: [], n }];
  });
  if (boxes.length === 0) return el("p", {}, `${name} was not measured.`);
  return boxPlot(name, unit, boxes, `${name}. Thin: minimum to maximum; thick: the middle half; vertical: the median.`);
}

const scaled = ({ n, min, p25, p50, p75, max }: Spread, by: number): Spread =>
  ({ n, min: min * by, p25: p25 * by, p50: p50 * by, p75: p75 * by, max: max * by });

const groups = (what: string, all: Group[]): HTMLElement =>
  table(what, ["", "results", ...HEADS], all.map(({ name, n, figures }) => [
    name,
    count(n),
    ...FIGURES.map(({ key, scale }) => median(figures[key], scale)),
  ]));

/** A median with the number of results: not every result has every figure. */
const median = (spread: Spread | null, scale: number): string | Node =>
  spread === null ? NONE : el("span", {}, figure(spread.p50 * scale), " ", el("small", {}, `n ${count(spread.n)}`));

/** One result; its time is the link to it. */
function one({ id, kept_s, network: from, measured }: Row): (string | Node)[] {
  const loaded = [measured.loaded_down_ms, measured.loaded_up_ms].filter((value) => value !== undefined && value !== null);
  const own: Record<Key, number | null | undefined> = {
    download_bps: measured.download_bps,
    upload_bps: measured.upload_bps,
    idle_ms: measured.idle_ms,
    loaded_ms: loaded.length === 0 ? undefined : Math.max(...loaded),
    jitter_ms: measured.jitter_ms,
    loss_ratio: measured.loss_ratio,
  };
  const time = moment(new Date(kept_s * 1e3).toISOString()).replace(" UTC", "");
  const link = el("a", { href: `/#k=${id}`, target: "_blank", rel: "noopener" }, time);
  return [link, ...FIGURES.map(({ key, scale }) => cell(own[key], scale)), from];
}

const cell = (value: number | null | undefined, scale: number): string =>
  value === null || value === undefined ? NONE : figure(value * scale);

const NONE = "\u2013";

function table(what: string, head: string[], rows: (string | Node)[][]): HTMLElement {
  return el(
    "div",
    { class: "wide", tabindex: "0", role: "region", "aria-label": what },
    el(
      "table",
      {},
      el("caption", {}, what),
      el("thead", {}, el("tr", {}, ...head.map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, ...rows.map(([first, ...rest]) =>
        el("tr", {}, el("th", { scope: "row" }, first ?? ""), ...rest.map((text) => el("td", {}, text))))),
    ),
  );
}

/** A link that saves the shown data. */
function saved(): HTMLElement {
  const file = new Blob([`${JSON.stringify(latest, null, 2)}\n`], { type: "application/json" });
  const link = el("a", { class: "button", href: URL.createObjectURL(file), download: "results.json" }, "Save as JSON");
  return el("p", {}, link);
}

function labelled(name: string, control: HTMLElement): HTMLElement {
  return el("div", { class: "field" }, el("label", { for: control.id }, name), control);
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void ask();
});
shown.addEventListener("change", draw);

root.replaceChildren(
  el("h1", {}, "Results of speed tests"),
  el(
    "p",
    { class: "lead" },
    "Results that visitors stored on this server. Of their addresses, it stores only the network: 24 bits of IPv4, 48 bits of IPv6. The token is sent to this server only, and is discarded when this page is closed.",
  ),
  form,
  status,
  found,
);
