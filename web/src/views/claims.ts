// Claims of a scenario and thresholds of the user: statement, result, and the deciding figures.
import { el } from "../dom";
import type { Judgement, Report } from "../types";

export function claims(element: HTMLElement, report: Report): void {
  list(element, "claims", report.claims, (held, all) => `${held} of ${all} claims held`);
}

export function thresholds(element: HTMLElement, report: Report): void {
  list(element, "thresholds", report.comparison.thresholds, (held, all) => `${held} of ${all} thresholds held`);
}

function badge(one: Judgement): HTMLElement {
  if (one.decided === false) return el("span", { class: "badge doubt" }, "? cannot be said");
  return el("span", { class: `badge ${one.holds ? "good" : "bad"}` }, one.holds ? "\u2713 held" : "\u2715 failed");
}

/** Empty if there are no claims. */
function list(
  element: HTMLElement,
  id: string,
  judgements: Judgement[],
  heading: (held: number, all: number) => string,
): void {
  if (judgements.length === 0) return;
  const held = judgements.filter((one) => one.holds).length;
  element.id = id;
  element.replaceChildren(
    el("h2", { id: `${id}-heading` }, heading(held, judgements.length)),
    el(
      "ul",
      { class: "claims" },
      ...judgements.map((one) =>
        el(
          "li",
          { class: one.holds ? "held" : "broken" },
          badge(one),
          el("div", {}, el("p", { class: "claim" }, one.claim), el("p", { class: "figure" }, one.figure)),
        ),
      ),
    ),
  );
}
