// The top of the page: the question, the validity of the run, and the answer.
import { el } from "../dom";
import { moment, plural } from "../format";
import type { Report } from "../types";
import { verdict } from "./verdict";

export function header(element: HTMLElement, report: Report): void {
  const { fidelity, comparison } = report;
  const excluded = comparison.excluded_phases.join(", ");
  const facts = [
    comparison.sides.length > 0 && `metric: ${report.metric}${excluded === "" ? "" : ` without ${excluded}`}`,
    report.start && moment(report.start),
  ]
    .filter(Boolean)
    .join(" \u00b7 ");
  element.replaceChildren(
    ...(report.valid ? [] : [invalidRun(reasons(report))]),
    el(
      "div",
      { class: "title-row" },
      el("h1", {}, report.title),
      // An interrupted run has this in its title; it is incomplete, whatever the planet's fidelity.
      report.valid && fidelity && !report.partial && el("span", { class: "badge good" }, "\u2713 VALID run"),
    ),
    el("p", { class: "facts" }, facts),
    ...(report.summary ? [el("p", { class: "summary" }, report.summary)] : []),
    ...verdict(report),
    ...warningsHint(allWarnings(report).length),
  );
}

/** Reasons for an invalid run: errors of the emulator or of the measuring program. */
function reasons({ fidelity, comparison, doubts }: Report): string[] {
  const measured = comparison.sides.flatMap((side) => side.invalid.map((reason) => `${side.label}: ${reason}`));
  // A report of an earlier version has no list of doubts.
  const others = (doubts ?? []).filter((doubt) => doubt.invalid).map((doubt) => doubt.sentence);
  return [...new Set([...(fidelity?.reasons ?? []), ...measured, ...others])];
}

/** A warning that the numbers describe the tool, with the reasons. */
export const invalidRun = (reasons: string[]): HTMLElement =>
  el(
    "div",
    { class: "invalid", role: "alert" },
    el("strong", {}, "\u2715 INVALID run"),
    el("p", {}, "The tool exceeded its own limits: these numbers describe the tool, not the measured system."),
    el("ul", {}, ...reasons.map((reason) => el("li", {}, reason))),
  );

/** A link to the warnings, if there are any. */
export function warningsHint(warnings: number): HTMLElement[] {
  if (warnings === 0) return [];
  const button = el(
    "button",
    { type: "button", class: "hint" },
    `\u26a0 ${plural(warnings, "warning")} to read before trusting the numbers`,
  );
  button.addEventListener("click", () => document.getElementById("warnings")?.scrollIntoView());
  return [button];
}

/** The title of the browser tab. */
export const tabTitle = ({ title, valid }: { title: string; valid: boolean }): string =>
  `${valid ? "" : "INVALID: "}${title} \u2013 Longhaul`;

/** The warnings of the report and of its comparison, without duplicates. */
export const allWarnings = (report: Report): string[] => [
  ...new Set([...report.warnings, ...report.comparison.warnings]),
];
