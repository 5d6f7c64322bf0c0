// Fidelity of an emulated run: lateness, packets lost by the emulator, traffic by link, and load.
import { el } from "../dom";
import { count, exactBytes, share } from "../format";
import type { Fidelity, Report } from "../types";
import { table } from "./table";

export function fidelity(element: HTMLElement, report: Report): void {
  const run = report.fidelity;
  if (!run) {
    element.replaceChildren(el("p", { class: "absent" }, "This run used no emulation."));
    return;
  }
  const verdict = run.valid
    ? el("p", {}, el("span", { class: "badge good" }, "\u2713 VALID"), " The emulator stayed within its limits.")
    : el("p", {}, el("span", { class: "badge bad" }, "\u2715 INVALID"), ` ${run.reasons.join(" ")}`);
  element.replaceChildren(verdict, el("div", { class: "pair" }, latenessTable(run), factsTable(run)), ...latestFlows(run));
}

function latenessTable(run: Fidelity): HTMLElement {
  const isPercentile = (key: string): boolean => key !== "mean" && key !== "max";
  const order = (key: string): number =>
    isPercentile(key) ? Number(key) : key === "mean" ? 0 : Number.POSITIVE_INFINITY;
  const keys = Object.keys(run.lateness_us).sort((a, b) => order(a) - order(b));
  const rows = keys.map((key) => [
    { text: isPercentile(key) ? `p${key}` : key },
    { text: microseconds(run.lateness_us[key]) },
  ]);
  return table(
    "Lateness of packets (\u00b5s)",
    [
      { title: "mean or percentile", align: "text" },
      { title: "lateness (\u00b5s)", align: "number" },
    ],
    rows,
  );
}

/** The flows with the latest packets; empty for a report of an earlier version. */
function latestFlows(run: Fidelity): HTMLElement[] {
  const flows = run.latest_flows ?? [];
  if (flows.length === 0) return [];
  const rows = flows.map((flow) => [
    { text: `${flow.from} \u2192 ${flow.to}` },
    { text: flow.service },
    { text: count(flow.packets) },
    ...["50", "99", "max"].map((name) => ({ text: microseconds(flow.lateness_us[name]) })),
  ]);
  return [
    table(
      "The latest packets, by flow (\u00b5s; p50 and p99 to a factor of two)",
      [
        { title: "from \u2192 to", align: "text" },
        { title: "service", align: "text" },
        { title: "packets", align: "number" },
        { title: "p50, at most (\u00b5s)", align: "number" },
        { title: "p99, at most (\u00b5s)", align: "number" },
        { title: "max (\u00b5s)", align: "number" },
      ],
      rows,
    ),
  ];
}

const microseconds = (value: number | null | undefined): string =>
  value != null && value < 10 ? String(Number(value.toFixed(1))) : count(value);

/** Causes of delayed packets and programs; empty for a report of an earlier version. */
function heldUp(held: Fidelity["held_up"] | undefined): [string, string][] {
  if (held === undefined) return [];
  const wake = (name: string): string => microseconds(held.wake_us?.[name]);
  return [
    ["a packet to the switch and back, median and p99", `${wake("50")} and ${wake("99")} \u00b5s`],
    ["processors were stalled", milliseconds(held.stalls_ms)],
    ["programs of hosts waited for a processor or were stopped", milliseconds(held.programs_ms)],
    ["programs waited for memory", milliseconds(held.memory_ms)],
    ["taken by the hypervisor", milliseconds(held.steal_ms)],
  ];
}

const limited = (what: string, late: number): [string, string] => [what, share(late)];

const milliseconds = (value: number | null | undefined): string => (value == null ? "not known" : `${count(value)} ms`);

function factsTable(run: Fidelity): HTMLElement {
  const unaccounted = run.bytes_in + run.bytes_duplicated - run.bytes_out - run.bytes_dropped - run.bytes_in_flight;
  const rows: [string, string][] = [
    ["packets delivered", count(run.delivered)],
    ...(run.late_share == null
      ? []
      : [limited(`packets later than ${microseconds(run.lateness_limit_us)} \u00b5s, or 1 % of their round trip`, run.late_share)]),
    ...heldUp(run.held_up),
    ["packets lost by the emulator itself", count(run.own_drops)],
    ["bytes in", exactBytes(run.bytes_in)],
    ["bytes out", exactBytes(run.bytes_out)],
    ["bytes dropped by the model", exactBytes(run.bytes_dropped)],
    ["bytes duplicated by the model", exactBytes(run.bytes_duplicated)],
    ["bytes in flight at the end", exactBytes(run.bytes_in_flight)],
    ["bytes unaccounted for", unaccounted === 0 ? "0: in + duplicated = out + dropped + in flight" : exactBytes(unaccounted)],
    ["switch, of one core", share(run.switch_cpu_share)],
    ["machine, of all cores", share(run.machine_cpu_share)],
    ["packets are delivered by", run.receive],
  ];
  return table(
    "The switch",
    [
      { title: "what", align: "text" },
      { title: "value", align: "text" },
    ],
    rows.map(([what, value]) => [{ text: what }, { text: value }]),
  );
}
