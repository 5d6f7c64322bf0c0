// The claims of a scenario: what was claimed, whether it held, and the figures that decide it.
import { el } from "../dom";
import type { Report } from "../types";

export function claims(element: HTMLElement, report: Report): void {
  if (report.claims.length === 0) return;
  const held = report.claims.filter((claim) => claim.holds).length;
  element.replaceChildren(
    el("h2", { id: "claims-heading" }, `${held} of ${report.claims.length} claims held`),
    el(
      "ul",
      { class: "claims" },
      ...report.claims.map((claim) =>
        el(
          "li",
          { class: claim.holds ? "held" : "broken" },
          el("span", { class: `badge ${claim.holds ? "good" : "bad"}` }, claim.holds ? "\u2713 held" : "\u2715 failed"),
          el("div", {}, el("p", { class: "claim" }, claim.claim), el("p", { class: "figure" }, claim.figure)),
        ),
      ),
    ),
  );
}
