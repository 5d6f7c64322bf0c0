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
    ...(report.valid ? [] : [invalid(report)]),
    el(
      "div",
      { class: "title-row" },
      el("h1", {}, report.title),
      report.valid && fidelity && el("span", { class: "badge good" }, "\u2713 VALID run"),
    ),
    el("p", { class: "facts" }, facts),
    ...(report.summary ? [el("p", { class: "summary" }, report.summary)] : []),
    ...verdict(report),
    ...warningsHint(report),
  );
}

/** What was our own doing: the emulator's, or that of whatever measured a side. */
function invalid(report: Report): HTMLElement {
  const measured = report.comparison.sides.flatMap((side) => side.invalid.map((reason) => `${side.label}: ${reason}`));
  const reasons = [...(report.fidelity?.reasons ?? []), ...measured];
  return el(
    "div",
    { class: "invalid", role: "alert" },
    el("strong", {}, "\u2715 INVALID run"),
    el("p", {}, "The tool did not stay within its own limits: these numbers describe the tool, not what it measured."),
    el("ul", {}, ...reasons.map((reason) => el("li", {}, reason))),
  );
}

function warningsHint(report: Report): HTMLElement[] {
  const warnings = allWarnings(report).length;
  if (warnings === 0) return [];
  const button = el(
    "button",
    { type: "button", class: "hint" },
    `\u26a0 ${plural(warnings, "warning")} to read before trusting the numbers`,
  );
  button.addEventListener("click", () => document.getElementById("warnings")?.scrollIntoView());
  return [button];
}

/** The warnings of the report and of its comparison, each once. */
export const allWarnings = (report: Report): string[] => [
  ...new Set([...report.warnings, ...report.comparison.warnings]),
];
