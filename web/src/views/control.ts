// The control for the page: its number of requests, and the required share.
import { el, sideName } from "../dom";
import { count, ms, plural } from "../format";
import { chosenPage } from "../page";
import { winner } from "../sentences/experienced";
import { MAX_REQUESTS, type State, type Store } from "../store";
import type { Report } from "../types";

const SLIDER_MAX = 400;

export function control(element: HTMLElement, report: Report, store: Store): void {
  const number = (label: string, max: number, min: number): HTMLInputElement =>
    el("input", { type: "number", min: String(min), max: String(max), "aria-label": label, inputmode: "decimal" });
  const requests = number("Requests of a page", MAX_REQUESTS, 1);
  const required = number("Required share of them in percent", 100, 0);
  required.step = "any";
  const slider = el("input", {
    type: "range",
    min: "1",
    max: String(SLIDER_MAX),
    "aria-label": "Requests of a page, slider",
  });
  const result = el("output", { class: "effective", "aria-live": "polite" });
  const answer = el("output", { class: "winner", "aria-live": "polite" });
  const reset = el("button", { type: "button", class: "quiet", title: "Back to the report's own page" }, "Reset");

  onValid(requests, (value) => store.set({ requests: Math.round(value) }));
  onValid(required, (value) => store.set({ required: value / 100 }));
  onValid(slider, (value) => store.set({ requests: value }));
  reset.addEventListener("click", () =>
    store.set({ requests: store.defaults.requests, required: store.defaults.required }),
  );

  element.replaceChildren(
    el(
      "div",
      { class: "control-row" },
      el("span", {}, "A page makes"),
      requests,
      slider,
      el("span", {}, "requests, of which"),
    ),
    el("div", { class: "control-row" }, required, el("span", {}, "% are required"), result, reset),
    answer,
  );
  store.watch(["requests", "required"], (state) => {
    // Only changed values are written: writing into a field moves the cursor of a user who types.
    if (requests.valueAsNumber !== state.requests) requests.valueAsNumber = state.requests;
    const percent = Number((state.required * 100).toPrecision(12));
    if (required.valueAsNumber !== percent) required.valueAsNumber = percent;
    slider.valueAsNumber = Math.min(SLIDER_MAX, state.requests);
    result.replaceChildren(...effective(report, state));
    answer.replaceChildren(...winnerOf(report, state));
    reset.hidden = state.requests === store.defaults.requests && state.required === store.defaults.required;
  });
}

/** Calls `use` with numbers within the field's limits, and restores the last valid number when the user
 * leaves the field. */
function onValid(input: HTMLInputElement, use: (value: number) => void): void {
  let last = input.value;
  input.addEventListener("focus", () => (last = input.value));
  input.addEventListener("input", () => {
    const value = input.valueAsNumber;
    if (Number.isNaN(value) || value < Number(input.min) || value > Number(input.max)) return;
    last = input.value;
    use(value);
  });
  input.addEventListener("change", () => {
    if (Number.isNaN(input.valueAsNumber) || !input.validity.valid) input.value = last;
  });
}

/** The winner of the selected page and its certainty: a report has intervals for its own page only. */
function winnerOf(report: Report, state: State): (string | Node)[] {
  const page = chosenPage(report, state);
  const found = winner(report, page);
  if (found === undefined) return [];
  const size = `For a page that waits for ${plural(page.effective, "request")}`;
  if (report.charts.length === 1) return [`${size}, ${ms(found.by)} are expected.`];
  const honest = el("span", { class: found.firm ? "firm" : "doubted" }, found.honest);
  if (found.side === undefined) return [`${size} the sides are equal; `, honest];
  const name = sideName(report.charts[found.side]?.label ?? "", found.side);
  return [`${size} `, el("b", {}, name), ` is faster by ${ms(found.by)}; `, honest];
}

function effective(report: Report, state: State): (string | Node)[] {
  const page = chosenPage(report, state);
  const shown: (string | Node)[] = [
    "\u2192 ",
    el("b", {}, count(page.asked)),
    ` effective request${page.asked === 1 ? "" : "s"}`,
  ];
  if (page.held > 0 && page.asked > page.held) {
    shown.push(
      el(
        "span",
        { class: "clamped" },
        ` (the report contains numbers up to ${count(page.held)}; shown for ${plural(page.effective, "request")})`,
      ),
    );
  }
  return shown;
}
