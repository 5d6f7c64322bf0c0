// The page of the speed test: a button, the progress and the result; or a result from a link.
import "./speed.css";
import { el } from "../dom";
import { bytes, moment, ms, plural, span } from "../format";
import { kept, type Offer, offer, Refusal } from "./api";
import { Curve } from "./curve";
import { HELD, shortened, unpack } from "./link";
import { type Live, run } from "./run";
import { ofNetwork, share } from "./share";
import { results } from "./show";
import type { Outcome } from "./types";

const root = document.getElementById("speed") as HTMLElement;
const status = el("p", { class: "status", role: "status" });
const bar = el("progress", { max: "1", value: "0", "aria-label": "Progress of the test" });
const now = el("p", { class: "now" });
const live = el("div", {});
const found = el("div", { class: "found" });
const start = el("button", { class: "start", type: "button" }, "Start");
const thorough = el("input", { type: "checkbox", id: "thorough" });
const lead = el("p", { class: "lead" });

/** Whether the server keeps results; no, until its response arrives. */
let offered: Offer = { keep_for_s: null, network: null };
let stop: AbortController | undefined;
/** Number of the latest action (a test, or a followed link); only its results are shown. */
let turn = 0;

/** Whether no other action has started since; checked after each wait. */
type IsLatest = () => boolean;

function begins(): IsLatest {
  const own = ++turn;
  return () => own === turn;
}

async function test(): Promise<void> {
  const isLatest = begins();
  const own = new AbortController();
  stop = own;
  start.textContent = "Stop";
  found.replaceChildren();
  const curve = new Curve();
  live.replaceChildren(curve.element, now);
  const began = performance.now();
  let latest: Live | undefined;
  const drawing = setInterval(() => {
    if (latest === undefined || !isLatest()) return;
    const { moved, latency, back, uploading, reported } = latest;
    curve.add((performance.now() - began) / 1e3, moved, uploading, (reported - began) / 1e3);
    const datagrams = back === 0 ? "" : `; ${plural(back, "datagram")} came back`;
    now.textContent = `${bytes(moved.download)} down, ${bytes(moved.upload)} up so far; latency ${ms(latency)}${datagrams}`;
    bar.value = latest.done / latest.of;
  }, 250);
  try {
    const { outcome, test: name } = await run(thorough.checked ? "full" : "quick", own.signal, (seen) => {
      latest = seen;
      // Updated once per step, not per byte, because screen readers read it out.
      if (isLatest() && status.textContent !== seen.doing) status.textContent = seen.doing;
    });
    if (!isLatest()) return;
    status.textContent = outcome.interrupted ? "stopped; these are the results so far" : "done";
    bar.value = 1;
    await show(outcome, name, isLatest);
  } catch (error) {
    if (isLatest()) complain(error, "The test ended because of an error in the page.");
  } finally {
    clearInterval(drawing);
    if (stop === own) {
      start.textContent = "Start again";
      stop = undefined;
    }
  }
}

/** Shows the result immediately, and then the ways to share it, which need time and may fail. */
async function show(made: Outcome, name: string, isLatest: IsLatest): Promise<void> {
  const outcome = shortened(made);
  found.replaceChildren(...results(outcome));
  const further = await share(outcome, offered, name).catch(() =>
    el("p", { class: "problem" }, "This browser cannot create a link with the result; the result can be saved."),
  );
  if (isLatest()) found.append(further);
}

/** Shows the result of the address, if it contains one. */
async function linked(): Promise<void> {
  const { hash } = location;
  const id = hash.startsWith("#k=") ? hash.slice(3) : undefined;
  if (id === undefined && !hash.startsWith(HELD)) return;
  const isLatest = begins();
  if (stop !== undefined) {
    stop.abort();
    stop = undefined;
    start.textContent = "Start";
  }
  live.replaceChildren();
  found.replaceChildren();
  status.classList.remove("problem");
  try {
    const outcome = id === undefined ? await unpack(hash) : await kept(id);
    if (!isLatest()) return;
    const from = `A result of ${moment(outcome.started)}`;
    status.textContent =
      id === undefined
        ? `${from}, read from a link: the creator of the link may have changed it.`
        : `${from}, stored on this server.`;
    bar.hidden = true;
    await show(outcome, "", isLatest);
  } catch (error) {
    if (isLatest()) complain(error, "The result in this link cannot be shown.");
  }
}

function complain(error: unknown, otherwise: string): void {
  status.textContent = error instanceof Refusal ? error.message : otherwise;
  status.classList.add("problem");
  if (!(error instanceof Refusal)) throw error;
}

/** Describes what happens with results. */
async function introduce(): Promise<void> {
  const what = "Measures the rate and the latency of the line between you and this server, and what the line is suitable for.";
  try {
    offered = await offer();
  } catch (error) {
    complain(error, "The server did not report whether it stores results.");
    return;
  }
  lead.textContent =
    offered.keep_for_s === null
      ? `${what} Nothing is stored, and nothing is sent to another server.`
      : `${what} Nothing is sent to another server, and nothing is stored unless you choose so afterwards: then for ${span(offered.keep_for_s)}, with ${ofNetwork(offered)} and without your address.`;
}

start.addEventListener("click", () => {
  if (stop !== undefined) {
    stop.abort();
    return;
  }
  status.classList.remove("problem");
  bar.hidden = false;
  void test();
});
window.addEventListener("hashchange", () => void linked());

root.replaceChildren(
  el("h1", {}, "Speed test"),
  lead,
  el("div", { class: "controls" }, start, el("label", { for: "thorough" }, thorough, " thorough: more sizes, up to 970 MB; several GB on a long and fast line")),
  status,
  bar,
  live,
  found,
);
void introduce().then(linked);
