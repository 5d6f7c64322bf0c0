// The page of the speed test: a button, what goes on, and what it came to.
import "./speed.css";
import { el } from "../dom";
import { bytes, ms } from "../format";
import { Refusal } from "./api";
import { Curve } from "./curve";
import { type Live, run } from "./run";
import { results } from "./show";

const root = document.getElementById("speed") as HTMLElement;
const status = el("p", { class: "status", role: "status" });
const bar = el("progress", { max: "1", value: "0", "aria-label": "How far the test is" });
const now = el("p", { class: "now" });
const live = el("div", {});
const found = el("div", { class: "found" });
const start = el("button", { class: "start", type: "button" }, "Start");
const thorough = el("input", { type: "checkbox", id: "thorough" });

let stop: AbortController | undefined;

async function test(): Promise<void> {
  stop = new AbortController();
  start.textContent = "Stop";
  found.replaceChildren();
  const curve = new Curve();
  live.replaceChildren(curve.element, now);
  const began = performance.now();
  let latest: Live | undefined;
  const drawing = setInterval(() => {
    if (latest === undefined) return;
    curve.add((performance.now() - began) / 1e3, latest.moved);
    const { moved, latency } = latest;
    now.textContent = `${bytes(moved.download)} down, ${bytes(moved.upload)} up so far; latency ${ms(latency)}`;
    bar.value = latest.done / latest.of;
  }, 250);
  try {
    const outcome = await run(thorough.checked ? "full" : "quick", stop.signal, (seen) => {
      latest = seen;
      // Said once a step, not at each byte: a screen reader reads it out.
      if (status.textContent !== seen.doing) status.textContent = seen.doing;
    });
    status.textContent = outcome.interrupted ? "stopped; this is what there was" : "done";
    bar.value = 1;
    found.replaceChildren(...results(outcome));
  } catch (error) {
    status.textContent = error instanceof Refusal ? error.message : "The test ended because of a mistake in the page.";
    status.classList.add("problem");
    if (!(error instanceof Refusal)) throw error;
  } finally {
    clearInterval(drawing);
    start.textContent = "Start again";
    stop = undefined;
  }
}

start.addEventListener("click", () => {
  status.classList.remove("problem");
  if (stop === undefined) void test();
  else stop.abort();
});

root.replaceChildren(
  el("h1", {}, "Speed test"),
  el(
    "p",
    { class: "lead" },
    "What the line between you and this server carries, how long it takes, and what that is good for. Nothing is kept, and nothing goes anywhere else.",
  ),
  el("div", { class: "controls" }, start, el("label", { for: "thorough" }, thorough, " thorough: more sizes, up to 970 MB")),
  status,
  bar,
  live,
  found,
);
