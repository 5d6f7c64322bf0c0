// The top of the page: what was asked, whether the run can be believed, and the answer.
import { el, sideName } from "../dom";
import { moment, ms, plural } from "../format";
import type { Report, Verdict } from "../types";

export function header(element: HTMLElement, report: Report): void {
  const { fidelity, comparison } = report;
  const facts = [`metric: ${report.metric}`, report.start && moment(report.start)].filter(Boolean).join(" \u00b7 ");
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
    ...(comparison.verdict ? verdict(report) : []),
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

function verdict(report: Report): HTMLElement[] {
  const { verdict: verdicts, page } = report.comparison;
  if (!verdicts) return [];
  return [
    el("p", { class: "verdict" }, verdicts.sentence),
    el(
      "dl",
      { class: "tiles" },
      ...tile(report, "Median request", verdicts.median_request),
      ...tile(report, "Expected request", verdicts.request),
      ...tile(report, `Expected experience, ${plural(page.effective_requests, "request")}`, verdicts.experienced),
    ),
  ];
}

function tile(report: Report, what: string, one: Verdict): HTMLElement[] {
  const index = report.comparison.sides.findIndex((side) => side.label === one.better);
  const answer =
    index < 0
      ? [el("b", {}, "a tie")]
      : [el("b", {}, sideName(one.better ?? "", index)), ` faster by ${ms(one.difference_ms)}`];
  return [el("div", {}, el("dt", {}, what), el("dd", {}, ...answer))];
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
