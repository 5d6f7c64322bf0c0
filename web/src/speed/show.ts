// The result of a test. The server computes all figures and sentences; this file shows them.
import { el, section } from "../dom";
import { count, figure, ms, rate, share } from "../format";
import { boxes } from "./boxes";
import type { Bandwidth, Loss, Outcome, Score, Set } from "./types";

export function results(outcome: Outcome): HTMLElement[] {
  return [
    section("meaning", "What the line is suitable for", el("p", { class: "verdict" }, outcome.sentence), figures(outcome)),
    section("scores", "Scores", el("div", { class: "cards" }, ...scores(outcome))),
    section("latency", "Latency", boxes(outcome.latency)),
    section("sizes", "Each size", sizes(outcome)),
    section("about", "About this test", about(outcome)),
  ];
}

function figures({ download, upload, latency, loss, rpm }: Outcome): HTMLElement {
  const { idle_ms, jitter_ms, loaded_down_ms, loaded_up_ms } = latency;
  const all: [string, string, string?][] = [
    ["Download", rate(download.bps_p90), limited(download)],
    ["Upload", rate(upload.bps_p90), limited(upload)],
    ["Latency, idle", ms(idle_ms?.p50)],
    ["downloading", ms(loaded_down_ms)],
    ["uploading", ms(loaded_up_ms)],
    ["Jitter", ms(jitter_ms)],
    ["Packet loss", share(loss?.ratio), loss === null ? undefined : lost(loss)],
    ["Responsiveness (RPM)", rpm.value === null ? "not measured" : rpm.value.toFixed(0), "round trips per minute under load"],
  ];
  return el(
    "dl",
    { class: "figures" },
    ...all.map(([name, value, note]) =>
      el("div", {}, el("dt", {}, name), el("dd", {}, value, note !== undefined && el("small", {}, note))),
    ),
  );
}

/** Number of datagrams, and the confidence interval. */
const lost = ({ sent, lost, low, high }: Loss): string =>
  `${count(lost)} of ${count(sent)}${high === undefined ? "" : `; 95 % interval ${share(low)} to ${share(high)}`}`;

/** Omitted for transfers that are too short for a rate: their limit does not describe the line. */
const limited = ({ bps_p90, limited_by }: Bandwidth): string | undefined =>
  bps_p90 === null || limited_by === null ? undefined : `limited by ${limited_by === "device" ? "your device" : `the ${limited_by}`}`;

const scores = ({ scores: { streaming, gaming, rtc } }: Outcome): HTMLElement[] => [
  card("Streaming", streaming),
  card("Gaming", gaming),
  card("Calls", rtc),
];

function card(name: string, score: Score): HTMLElement {
  const range = (least: unknown, best: unknown): string => (least === best ? `${least}` : `${least} to ${best}`);
  return el(
    "article",
    { class: `card ${score.class}` },
    el("h3", {}, name),
    el("p", { class: "class" }, range(score.class, score.class_at_best)),
    el("p", {}, `${range(score.points, score.points_at_best)} of ${score.max} points`),
    el("ul", {}, ...score.why.map(({ text }) => el("li", {}, text))),
  );
}

/** A row for each size, which expands to a row for each request. */
function sizes({ download, upload }: Outcome): HTMLElement {
  const head = ["", "requests", "min", "25 %", "median", "75 %", "max"];
  const all: [string, Set][] = [
    ...download.sets.map((set): [string, Set] => ["download", set]),
    ...upload.sets.map((set): [string, Set] => ["upload", set]),
  ];
  // Outside of the table, which may be wider than the page.
  const note = el("p", { class: "note", id: "sizes-note" }, "Mbit/s; for bodies that take less than 100 ms, including the round trip");
  const table = el(
    "div",
    { class: "wide", tabindex: "0", role: "region", "aria-label": "Rates by size" },
    el(
      "table",
      { "aria-label": "Rates by size", "aria-describedby": note.id },
      el("thead", {}, el("tr", {}, ...head.map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, ...all.map(([name, set]) => row(name, set))),
    ),
  );
  return el("div", {}, note, table);
}

function row(direction: string, set: Set): HTMLElement {
  const size = set.bytes >= 1e6 ? `${set.bytes / 1e6} MB` : `${set.bytes / 1e3} KB`;
  const requests = set.bps.length === 0 ? ["each took less than 10 ms, too short for a rate"] : set.bps.map((bps) => mbits(bps));
  const cells = [set.min, set.p25, set.p50, set.p75, set.max];
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, el("details", {}, el("summary", {}, `${direction} ${size}`), requests.join(", "))),
    el("td", {}, String(set.n)),
    ...cells.map((bps) => el("td", {}, bps === null ? "\u2013" : mbits(bps))),
  );
}

const mbits = (bps: number): string => figure(bps / 1e6);

function about(outcome: Outcome): HTMLElement {
  const { url, protocol, plan, took_s, rubric, missing } = outcome;
  const list = missing.map(({ what, why }) => el("li", {}, `${what}: ${why}`));
  const made = `Plan ${plan} over ${protocol || "HTTP"} against ${url}, ${took_s.toFixed(1)} s; scores by ${rubric}.`;
  return el(
    "div",
    {},
    el("p", {}, made),
    ...(list.length === 0 ? [] : [el("p", {}, "Not measured:"), el("ul", {}, ...list)]),
    el("p", {}, saved(outcome, "json"), " ", saved(outcome, "csv")),
  );
}

/** A link that saves the result. */
function saved(outcome: Outcome, kind: "json" | "csv"): HTMLElement {
  const text = kind === "json" ? `${JSON.stringify(outcome, null, 2)}\n` : csv(outcome);
  const file = new Blob([text], { type: kind === "json" ? "application/json" : "text/csv" });
  const link = el("a", { class: "button", href: URL.createObjectURL(file), download: `speed.${kind}` });
  link.append(`Save as ${kind.toUpperCase()}`);
  return link;
}

/** A row for each latency and each rate; `longhaul compare` reads the latencies. */
function csv({ latency, download, upload }: Outcome): string {
  const latencies = latency.samples.map(({ during, on, ms: value, at_s }) => `latency,${during},${on},,${value},,${at_s}`);
  const rates = ([["download", download], ["upload", upload]] as const).flatMap(([name, { sets }]) =>
    sets.flatMap(({ bytes, bps }) => bps.map((value) => `${name},,,${bytes},,${value},`)),
  );
  return ["what,line,connection,bytes,latency_ms,bps,started_s", ...latencies, ...rates, ""].join("\n");
}
