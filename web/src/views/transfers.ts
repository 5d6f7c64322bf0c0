// What came of transfers: how fast, the longest silence, and whether every byte arrived.
import { frame } from "../charts/frame";
import { throughput, throughputHeight } from "../charts/throughput";
import { el, section, sideName } from "../dom";
import { bytes, count, elapsed, exactBytes, rate } from "../format";
import type { Store } from "../store";
import type { Report, Transferred } from "../types";
import { type Cell, type Column, table } from "./table";

const COLUMNS: Column[] = [
  { title: "side", align: "text" },
  { title: "from", align: "text" },
  { title: "to", align: "text" },
  { title: "over", align: "text" },
  { title: "goodput", align: "number" },
  { title: "longest stall", align: "number" },
  { title: "bytes lost or damaged", align: "number" },
  { title: "segments sent again", align: "number" },
  { title: "took", align: "number" },
  { title: "sender\u2019s memory, at most", align: "number" },
];

export function transfers(element: HTMLElement, report: Report, store: Store): void {
  if (report.transfers.length === 0) return;
  const arrived = report.transfers.some((transfer) => transfer.intervals.length > 0);
  const box = frame("Throughput over time", [], () => throughputHeight(report));
  const unfinished = report.transfers.flatMap(({ side, unfinished: why }) => (why ? [`${side}: ${why}`] : []));
  element.replaceChildren(
    section(
      "transfers",
      "Transfers",
      arrived && box.element,
      el(
        "div",
        { class: arrived ? "after-charts" : undefined },
        table("What came of each transfer", COLUMNS, report.transfers.map((one) => row(report, one))),
      ),
      unfinished.length > 0 && el("ul", { class: "warnings" }, ...unfinished.map((why) => el("li", {}, why))),
    ),
  );
  if (arrived) store.watch(["theme"], () => throughput(box, report));
}

function row(report: Report, transfer: Transferred): Cell[] {
  const { stall, bytes_lost: lost, bytes_bad: bad, took_s: took, memory } = transfer;
  const known = typeof lost === "number" && typeof bad === "number";
  return [
    { text: sideName(transfer.side, sideIndex(report, transfer.side)) },
    { text: transfer.from },
    { text: transfer.to },
    { text: carrier(transfer) },
    { text: rate(transfer.goodput_mbps == null ? undefined : transfer.goodput_mbps * 1e6) },
    {
      text: stall ? elapsed(stall.longest_s, 10) : "not known",
      detail: stall ? `from ${elapsed(stall.at_s, 100)} on` : undefined,
    },
    { text: known ? exactBytes(lost + bad) : "not known" },
    { text: count(transfer.retransmits) },
    { text: typeof took === "number" ? elapsed(took, 10) : "not known" },
    { text: memory ? bytes(memory.most_bytes) : "not known" },
  ];
}

function carrier({ protocol, fell_back, subflows }: Transferred): string {
  if (fell_back) return `${protocol}, fell back to tcp`;
  return typeof subflows === "number" ? `${protocol}, ${subflows} subflow${subflows === 1 ? "" : "s"}` : protocol;
}

/** The number by which a side has its colour: those that were compared come first. */
export function sideIndex(report: Report, side: string): number {
  const compared = report.comparison.sides.map((one) => one.label);
  return [...new Set([...compared, ...report.transfers.map((one) => one.side)])].indexOf(side);
}
