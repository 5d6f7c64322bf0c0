// The end of the page: faults, conditions, warnings and the computation of the numbers.
import { el, section } from "../dom";
import { elapsed } from "../format";
import { intervalsMethod } from "../sentences/intervals";
import type { Condition, Report } from "../types";
import { allWarnings } from "./header";
import { table } from "./table";

export function notes(element: HTMLElement, report: Report): void {
  element.replaceChildren(
    ...(report.faults.length > 0 ? [section("faults", "Faults", faults(report))] : []),
    ...conditions(report.conditions),
    warnings(allWarnings(report)),
    ...(report.comparison.sides.length > 0 ? [method(report)] : []),
  );
}

const method = (report: Report): HTMLElement =>
  section("method", "Method", el("p", {}, report.comparison.method), el("p", {}, intervalsMethod(report)));

function faults(report: Report): HTMLElement {
  const span = Math.max(...report.faults.map((fault) => fault.until_s ?? fault.at_s));
  return table(
    "Events by time since the start of the measurement",
    [
      { title: "#", align: "text" },
      { title: "fault", align: "text" },
      { title: "from", align: "number" },
      { title: "until", align: "number" },
    ],
    report.faults.map((fault, i) => [
      { text: String(i + 1) },
      { text: fault.label },
      { text: elapsed(fault.at_s, span) },
      { text: typeof fault.until_s === "number" ? elapsed(fault.until_s, span) : "the end" },
    ]),
  );
}

/** The conditions of a measurement, if known. */
export function conditions(known: Condition[]): HTMLElement[] {
  if (known.length === 0) return [];
  const shown = table(
    "Conditions of the measurement",
    [
      { title: "condition", align: "text" },
      { title: "value", align: "text" },
    ],
    known.map((condition) => [{ text: condition.name }, { text: condition.value }]),
  );
  return [section("conditions", "Conditions", shown)];
}

/** Warnings about the numbers. */
export const warnings = (sentences: string[]): HTMLElement =>
  section(
    "warnings",
    "Warnings",
    sentences.length === 0
      ? el("p", { class: "absent" }, "None.")
      : el("ul", { class: "warnings" }, ...sentences.map((sentence) => el("li", {}, sentence))),
  );
