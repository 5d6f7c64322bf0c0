// The colour legend of the heat maps: the share of an interval's samples for each colour.
import { el } from "../dom";
import { share } from "../format";
import type { Store } from "../store";
import type { Report } from "../types";
import { depth, grids, largestShare } from "./heat";
import { palette } from "./palette";
import { gradient } from "./ramp";

/** Shares that may be labelled, most important first. */
const NAMED = [0.01, 0.1, 0.5, 1, 0.25, 0.001, 0.05, 0.75];
/** Minimum distance of labels as a fraction of the scale. */
const APART = 0.13;

export function legend(report: Report, store: Store): HTMLElement {
  const most = largestShare(grids(report));
  const bar = el("span", { class: "ramp-bar" });
  const named: number[] = [];
  for (const part of NAMED) {
    const free = named.every((other) => Math.abs(depth(other, most) - depth(part, most)) >= APART);
    if (part <= most && free) named.push(part);
  }
  const names = named.map((part) =>
    el("span", { style: `left:${(100 * depth(part, most)).toFixed(1)}%` }, share(part)),
  );
  store.watch(["theme"], () => (bar.style.background = gradient(palette().dark)));
  return el(
    "p",
    { class: "ramp" },
    el("span", { class: "ramp-title" }, "share of an interval\u2019s samples"),
    el("span", { class: "ramp-scale" }, bar, el("span", { class: "ramp-names" }, ...names)),
  );
}
