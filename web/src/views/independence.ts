// Correlation of the requests of a page: the independent model compared with the samples.
import { el, sideName } from "../dom";
import { count, interval, latency, ms, plural, ratio, share, signedShare } from "../format";
import type { Report, SideIndependence } from "../types";
import { type Cell, type Column, table } from "./table";

export function independence(element: HTMLElement, report: Report): void {
  const { independence: found } = report.comparison;
  if (found.sentence === "" && found.sides.length === 0) {
    element.replaceChildren(
      el("p", { class: "absent" }, "This report contains no data about the correlation of requests of one page."),
    );
    return;
  }
  const badge = found.checked
    ? el("span", { class: "badge good" }, "\u2713 checked against real pages")
    : el("span", { class: "badge doubt" }, "? not checked: no page ids");
  element.replaceChildren(
    el("p", { class: "finding" }, badge, ` ${found.sentence}`),
    el("div", { class: "stack" }, pages(found.sides), neighbours(found.sides, report)),
  );
}

const side = (one: SideIndependence, index: number): Cell => ({ text: sideName(one.label, index) });
const number = (title: string): Column => ({ title, align: "number" });

function pages(sides: SideIndependence[]): HTMLElement {
  const rows = sides.flatMap((one, i): Cell[][] => {
    if (!one.pages) return [];
    const { pages: views, requests_min, requests_median, requests_max, ...found } = one.pages;
    return [
      [
        side(one, i),
        { text: latency(found.model_ms) },
        { text: latency(found.observed_ms), ci: found.observed_ci_ms },
        { text: signedShare(found.off), detail: interval(found.off_ci, signedShare) },
        { text: latency(found.first_model_ms) },
        { text: latency(found.first_observed_ms) },
        { text: count(views) },
        { text: `${requests_min} / ${requests_median} / ${requests_max}` },
      ],
    ];
  });
  if (rows.length === 0) return el("p", { class: "absent" }, "No sample has a page id: real pages are unknown.");
  const columns = [
    { title: "side", align: "text" as const },
    number("model (ms)"),
    number("observed (ms)"),
    number("error of the model"),
    number("first k, model (ms)"),
    number("first k, observed (ms)"),
    number("page views"),
    number("requests: minimum / median / maximum"),
  ];
  const note =
    "error above 0: the model predicts longer waits than were observed \u00b7 first k: until the required number of requests is complete, in any order";
  return table("Waits for the pages in the recording", columns, rows, { note });
}

function neighbours(sides: SideIndependence[], report: Report): HTMLElement {
  const rows = sides.flatMap((one, i): Cell[][] => {
    const found = one.neighbours;
    if (!found) return [];
    return [
      [
        side(one, i),
        { text: latency(found.model_ms) },
        { text: latency(found.observed_ms), ci: found.observed_ci_ms },
        { text: ratio(found.correlation) },
        { text: ms(found.slow_above_ms) },
        { text: share(found.slow_share) },
        { text: share(found.slow_after_slow) },
      ],
    ];
  });
  if (rows.length === 0) return el("p", { class: "absent" }, "The samples have no timestamps: neighbours are unknown.");
  const columns = [
    { title: "side", align: "text" as const },
    number("model (ms)"),
    number("observed (ms)"),
    number("correlation"),
    number("threshold for slow"),
    number("slow"),
    number("slow after slow"),
  ];
  const of = plural(report.comparison.page.effective_requests, "neighbour");
  return table(`The slowest of each ${of} in time`, columns, rows, {
    note: "independent requests: correlation 0, and a slow request is as likely after a slow request as after any request",
  });
}
