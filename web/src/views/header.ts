// The top of the page: what was asked, whether the run can be believed, and the answer.
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
      // The title of a run that was interrupted says so; it is not whole, whatever the planet's fidelity.
      report.valid && fidelity && !report.partial && el("span", { class: "badge good" }, "\u2713 VALID run"),
    ),
    el("p", { class: "facts" }, facts),
    ...(report.summary ? [el("p", { class: "summary" }, report.summary)] : []),
    ...verdict(report),
    ...warningsHint(allWarnings(report).length),
  );
}

/** What was our own doing: the emulator's, or that of whatever measured a side. */
function reasons({ fidelity, comparison, doubts }: Report): string[] {
  const measured = comparison.sides.flatMap((side) => side.invalid.map((reason) => `${side.label}: ${reason}`));
  // A report of an earlier version has no list of doubts.
  const others = (doubts ?? []).filter((doubt) => doubt.invalid).map((doubt) => doubt.sentence);
  return [...new Set([...(fidelity?.reasons ?? []), ...measured, ...others])];
}

/** Says that the numbers are the tool's own, and why. */
export const invalidRun = (reasons: string[]): HTMLElement =>
  el(
    "div",
    { class: "invalid", role: "alert" },
    el("strong", {}, "\u2715 INVALID run"),
    el("p", {}, "The tool did not stay within its own limits: these numbers describe the tool, not what it measured."),
    el("ul", {}, ...reasons.map((reason) => el("li", {}, reason))),
  );

/** The way to the warnings, if there are so many. */
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

/** What the browser calls the page. */
export const tabTitle = ({ title, valid }: { title: string; valid: boolean }): string =>
  `${valid ? "" : "INVALID: "}${title} \u2013 Longhaul`;

/** The warnings of the report and of its comparison, each once. */
export const allWarnings = (report: Report): string[] => [
  ...new Set([...report.warnings, ...report.comparison.warnings]),
];
