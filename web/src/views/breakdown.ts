// The first two sides by the value of a label, in the order of the report: groups in which the first side is
// worse come first.
import { el, section, sideName } from "../dom";
import { count, latency, ms, plural, share } from "../format";
import { breakdownSentence } from "../sentences/breakdown";
import { intervalsNote } from "../sentences/intervals";
import { isBest, sureness } from "../sentences/sure";
import type { Store } from "../store";
import type { Breakdown, Group, GroupSide, Report } from "../types";
import { type Cell, type Column, table } from "./table";

/** Number of groups that are listed by default. */
const LISTED = 20;

/** Empty if there is no breakdown. */
export function breakdown(element: HTMLElement, report: Report, store: Store): void {
  const found = report.comparison.breakdown;
  if (!found) return;
  const body = el("div");
  const more = el("button", { type: "button", class: "quiet more" });
  more.addEventListener("click", () => store.set({ groups: store.state.groups === "all" ? "first" : "all" }));
  more.hidden = found.groups.length <= LISTED;
  element.replaceChildren(
    section(
      "breakdown",
      `By ${found.label}: where is ${report.comparison.sides[0]?.label ?? ""} worse?`,
      el("p", { class: "finding" }, breakdownSentence(report, found)),
      body,
      more,
      found.omitted > 0 && el("p", { class: "facts" }, `${count(found.omitted)} more with fewer samples are omitted.`),
    ),
  );
  store.watch(["groups"], (state) => {
    const all = state.groups === "all";
    more.textContent = all ? `Show the first ${LISTED}` : `Show all ${count(found.groups.length)}`;
    body.replaceChildren(groupTable(report, found, all ? found.groups.length : LISTED));
  });
}

function groupTable(report: Report, found: Breakdown, listed: number): HTMLElement {
  const [first = "", second = ""] = report.comparison.sides.map((side) => side.label);
  const named = (index: number, label: string, what: string): Column => ({
    title: el("span", {}, sideName(label, index), ` ${what}`),
    align: "number",
  });
  const columns: Column[] = [
    { title: found.label, align: "text" },
    { title: "share of people", align: "text" },
    { title: "better side (ms)", align: "text" },
    { title: "how sure", align: "text" },
    named(0, first, "experience (ms)"),
    named(1, second, "experience (ms)"),
    named(0, first, "median (ms)"),
    named(1, second, "median (ms)"),
    named(0, first, "n"),
    named(1, second, "n"),
  ];
  const most = Math.max(...found.groups.map((group) => group.share), 1e-9);
  const rows = found.groups.map((group) => row(report, group, most));
  const { page } = report.comparison;
  return table(
    `Expected experience, ${plural(page.effective_requests, "effective request")}; ${Math.min(listed, rows.length)} of ` +
      `${plural(rows.length, "group")}, first those where ${first} is worse`,
    columns,
    rows.slice(0, listed),
    { note: intervalsNote(report), all: rows },
  );
}

function row(report: Report, group: Group, most: number): Cell[] {
  const both = [group.first, group.second];
  const labels = report.comparison.sides.map((side) => side.label);
  const figures = (of: (side: GroupSide) => number, mayBeThin: boolean): Cell[] => {
    return both.map((side, i) => {
      if (!side) return { text: "no samples", look: "absent-cell" };
      const marks: Cell["marks"] = mayBeThin && isBest(group.experienced, labels[i] ?? "") ? ["best"] : [];
      if (side.thin && mayBeThin) marks.push("thin");
      return { text: latency(of(side)), marks };
    });
  };
  return [
    { text: group.name === "" ? "(empty)" : group.name },
    { text: bar(group.share, most) },
    ...better(report, group),
    ...figures((side) => side.expected_experienced_ms, true),
    ...figures((side) => side.median_ms, false),
    ...both.map((side): Cell => (side ? { text: count(side.n) } : { text: "0" })),
  ];
}

function bar(value: number, most: number): HTMLElement {
  const filled = el("i", { style: `width:${((100 * value) / most).toFixed(1)}%` });
  return el(
    "span",
    { class: "bar-cell" },
    el("span", { class: "bar-figure" }, share(value)),
    el("span", { class: "bar", "aria-hidden": "true" }, filled),
  );
}

/** The better side, the difference, and its certainty. */
function better(report: Report, group: Group): [Cell, Cell] {
  const verdict = group.experienced;
  if (!verdict) return [{ text: "samples on only one side", look: "absent-cell" }, { text: "" }];
  if (!verdict.better) return [{ text: "a tie", look: "open" }, { text: "" }];
  const index = report.comparison.sides.findIndex((side) => side.label === verdict.better);
  const sure = sureness(verdict, report.comparison.intervals);
  const look = sure?.firm === false ? "open" : index === 0 ? "ahead" : "behind";
  const name = el("span", { class: "who" }, sideName(verdict.better, index), ` by ${ms(verdict.difference_ms)}`);
  return [
    { text: name, ci: verdict.ci_ms, look },
    sure
      ? { text: `${sure.firm ? "\u2713" : "?"} ${sure.words}`, detail: sure.figure, look }
      : { text: "not known", look: "absent-cell" },
  ];
}
