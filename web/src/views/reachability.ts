// Who could reach whom: the longest time without an answer of each side's hosts, and what became of pings.
import { el, section, sideName } from "../dom";
import { count, elapsed, ms, share } from "../format";
import { sideIndex } from "../sides";
import type { Outages, Pinged, Report } from "../types";
import { type Cell, table } from "./table";

/** Where nothing went wrong, the longest time between two answers says nothing. */
export function outages(element: HTMLElement, report: Report): void {
  if (report.outages.length === 0 || report.faults.length === 0) return;
  const rows = report.outages.map((one): Cell[] => {
    const worst = one.hosts.find((host) => host.longest_s >= one.max_s);
    return [
      { text: sideName(one.side, sideIndex(report, one.side)) },
      { text: count(one.hosts.length) },
      { text: seconds(one.p50_s) },
      { text: seconds(one.max_s), detail: worst && `${worst.host}, from ${elapsed(worst.at_s, 100)} on` },
    ];
  });
  element.replaceChildren(
    section(
      "outages",
      "Outages",
      table(
        "Longest time without an answer",
        [
          { title: "side", align: "text" },
          { title: "hosts", align: "number" },
          { title: "median host", align: "number" },
          { title: "worst host", align: "number" },
        ],
        rows,
        { all: report.outages.flatMap(byHost) },
      ),
    ),
  );
}

/** Each host, for the copy of the table. */
const byHost = (one: Outages): Cell[][] =>
  one.hosts.map((host) => [
    { text: one.side },
    { text: host.host },
    { text: seconds(host.longest_s) },
    { text: `from ${elapsed(host.at_s, 100)} on` },
  ]);

const seconds = (value: number): string => elapsed(value, 10);

export function pings(element: HTMLElement, report: Report): void {
  if (report.pings.length === 0) return;
  element.replaceChildren(
    section(
      "pings",
      "Pings",
      table(
        "How many were answered, and how far their round trips are from the world\u2019s",
        [
          { title: "side", align: "text" },
          { title: "hosts", align: "number" },
          { title: "pairs", align: "number" },
          { title: "answered", align: "number" },
          { title: "error, median", align: "number" },
          { title: "p99", align: "number" },
          { title: "max", align: "number" },
        ],
        report.pings.map(pinged),
      ),
      ...report.pings.map(silent),
    ),
  );
}

const pinged = ({ side, hosts, pairs, sent, received, error_ms: error }: Pinged): Cell[] => [
  { text: side },
  { text: count(hosts) },
  { text: count(pairs) },
  { text: `${count(received)} of ${count(sent)}`, detail: sent > 0 ? share(received / sent) : undefined },
  { text: ms(error?.p50) },
  { text: ms(error?.p99) },
  { text: ms(error?.max) },
];

function silent({ silent: pairs }: Pinged): HTMLElement | false {
  const named = pairs.map(({ from, to }) => `${from} to ${to}`).join(", ");
  return pairs.length > 0 && el("p", { class: "absent" }, `No answer at all: ${named}.`);
}
