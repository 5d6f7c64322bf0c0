// Unusual reports: the page must draw each of them without an error.
import { generator, lognormal, makeReport } from "./report.mjs";

const HOSTILE = "<img src=x onerror=\"document.title='owned'\">";

const draws = (seed, n, median, sigma, at = true) => {
  const random = generator(seed);
  return Array.from({ length: n }, (_, i) => ({
    latency_ms: lognormal(random, median, sigma),
    ...(at ? { at_s: i / 10 } : {}),
  }));
};
const constant = (n, latency_ms) => Array.from({ length: n }, (_, i) => ({ latency_ms, at_s: i / 10 }));
const slower = (samples, more) => samples.map((sample) => ({ ...sample, latency_ms: sample.latency_ms + more }));

const BROKEN_FIDELITY = {
  valid: false,
  reasons: ["The switch used 98 % of its core (limit: 80 %).", "0.4 % of the packets were late (limit: 0.1 %)."],
  delivered: 1200,
  lateness_us: { 50: 90, 99: 2100, 99.9: 40_100, max: 81_000 },
  lateness_histogram: [],
  lateness_limit_us: 4000,
  late_share: 0.004,
  own_drops: 12,
  bytes_in: 1000,
  bytes_out: 900,
  bytes_dropped: 50,
  bytes_duplicated: 0,
  bytes_in_flight: 0,
  switch_cpu_share: 0.98,
  receive: "gso",
};

/** A report of an older version, without intervals, differences, phases and later additions. */
function older(report) {
  const { differences, comparison, charts, experiments, ...rest } = report;
  const { intervals, pairs, phases, thresholds, independence, excluded_phases, breakdown, ...compared } = comparison;
  const oldSide = ({ read, excluded, format, shifts, block_length, ...side }) =>
    Object.fromEntries(Object.entries(side).filter(([key]) => !key.includes("_ci_ms")));
  const oldChart = ({ band, heat, phases, ...chart }) => chart;
  const oldVerdict = ({ better, difference_ms }) => ({ ...(better && { better }), difference_ms });
  const { sentence, headline: _, ...verdicts } = compared.verdict;
  const verdict = Object.fromEntries(Object.entries(verdicts).map(([key, one]) => [key, oldVerdict(one)]));
  return {
    ...rest,
    comparison: { ...compared, sides: comparison.sides.map(oldSide), verdict: { ...verdict, sentence } },
    charts: charts.map(oldChart),
  };
}

/** Sides that are too similar, with too few samples to distinguish them. */
const level = (options) =>
  makeReport(
    [
      { label: "left", samples: draws(34, 60, 30, 0.4) },
      { label: "right", samples: draws(134, 60, 30, 0.4) },
    ],
    { title: "Two that are alike", ...options },
  );

/** Sides with phases and a given number of cities. */
const rich = (seed, n, median, cities) => {
  const random = generator(seed);
  return draws(seed, n, median, 0.3).map((sample, i) => ({
    ...sample,
    group: `city ${Math.floor(cities * random() ** 2)}`,
    page: Math.floor(i / 10),
    phases: { connect: sample.latency_ms * 0.4, wait: sample.latency_ms * 0.5 },
  }));
};

/** A document of figures like that of a measurement. */
const figures = (title, tables, panels = [], warnings = []) => ({
  schema: "longhaul.figures/1",
  title,
  summary: "",
  valid: true,
  reasons: [],
  panels,
  tables,
  conditions: [],
  warnings,
  doubts: warnings.map((sentence) => ({ kind: "noticed", sentence, invalid: false })),
});

const columns = (...titles) => titles.map((title, i) => ({ title, align: i === 0 ? "text" : "number" }));

/** Two tables of speed tests: figures by line, and three scores with sentences. */
function speedTests() {
  const lines = ["dsl", "cable", "lte", "fibre", "satellite", "office-near", "office-far"];
  const reasons =
    "idle latency 621 ms: \u221220; jitter 8.31 ms: +10; packet loss 0: +10; added latency under load 165 ms in the worse direction: \u221210";
  const columns = (...titles) =>
    titles.map((title) => ({ title, align: /^(line|limited by|for|is|because of)$/.test(title) ? "text" : "number" }));
  const wide = (all) => all.map((column) => (/ (by|of)$/.test(column.title) ? { ...column, wide: true } : column));
  return figures("Speed tests", [
    {
      title: "What lines carry, and what they add while they do",
      columns: wide(
        columns("line", "download", "limited by", "upload", "limited by", "idle latency", "added under load", "jitter", "lost"),
      ),
      rows: lines.map((line) => [
        ...[line, "47.1 Mbit/s", "receiver window", "9.42 Mbit/s", "network"],
        ...["621.3 ms", "165.2 ms", "8.31 ms", "0 %"],
      ]),
      note: "Added under load: how much longer a round trip is with the line full, in the worse direction.",
    },
    {
      title: "What lines are good for",
      columns: wide(columns("line", "for", "is", "points", "because of")),
      rows: lines.flatMap((line) => ["streaming", "gaming", "calls"].map((use) => [line, use, "average", "15 of 60", reasons])),
      note: "",
    },
  ]);
}

/** A line of 8 Mbit/s that stalls for a while, in means over half a second. */
const arrived = (name, [from, until]) => {
  const x = Array.from({ length: 61 }, (_, i) => i / 2);
  return { name, x, y: x.map((at) => (at >= from && at < until ? 0 : 8)), look: "steps" };
};

const transfers = (...cut) =>
  figures(
    "Transfers",
    [
      {
        title: "Results of transfers",
        columns: columns("transfer", "goodput", "longest stall", "lost", "took", "memory", "over"),
        rows: [
          ["mptcp", "8.0 Mbit/s", "1.20 s at 5.0 s", "0 B", "30.44 s", "4.2 MB", "mptcp, 2 subflows"],
          ["tcp", "8.0 Mbit/s", "17.50 s at 5.0 s", "0 B", "30.44 s", "4.2 MB", "tcp"],
          ...cut.map((side) => [side, "8.0 Mbit/s", "not known", "not known", "30.44 s", "4.2 MB", "tcp"]),
        ],
        note: "Memory: the maximum that the sender's kernel held.",
      },
    ],
    [
      {
        kind: "timeline",
        title: "Throughput over time",
        sentence:
          "What arrived of 2 transfers during 1 fault. The longest stall: tcp, 17.50 s from 5.0 s. Means over 0.50 s.",
        y: { title: "arrived", unit: "Mbit/s", scale: "linear" },
        lines: [arrived("mptcp", [5, 6]), arrived("tcp", [5, 22.5])],
        phases: [{ label: "phone's cable: down", from_s: 5, to_s: 20 }],
      },
    ],
    cut.map((side) => `${side}: nothing came for 60 s`),
  );

/** Name to report. */
export const VARIANTS = {
  "not sure": () => level(),
  "no intervals": () => level({ ci: false, title: "No intervals" }),
  "open ends": () => {
    const report = level({ title: "Ends that nothing bounds" });
    for (const side of report.comparison.sides) side.expected_request_ci_ms = [1.5, null];
    for (const curve of report.differences) curve.ci_ms = curve.ci_ms.map(() => [null, null]);
    for (const chart of report.charts) chart.band.ci_ms = chart.band.ci_ms.map(() => [null, null]);
    report.comparison.verdict.experienced.ci_ms = [null, null];
    return report;
  },
  "old report": () => older(level({ title: "From before all that" })),
  "three hundred cities": () =>
    makeReport(
      [
        { label: "near", samples: rich(23, 6000, 30, 300) },
        { label: "far", samples: rich(24, 6000, 33, 300) },
      ],
      { title: "Three hundred cities", by: "city", most: 100 },
    ),
  "phases on one side": () =>
    makeReport(
      [
        { label: "with", samples: rich(25, 600, 30, 3) },
        { label: "without", samples: draws(26, 600, 33, 0.3) },
      ],
      { title: "Phases on one side only" },
    ),
  "transfers and pings alone": () =>
    makeReport([], {
      title: "No requests at all",
      experiments: [
        transfers("cut"),
        figures(
          "Pings",
          [
            {
              title: "How many were answered",
              columns: columns("pings", "hosts", "pairs", "answered", "share", "error, median", "p99", "max"),
              rows: [["mesh", "300", "89 700", "89 699 of 89 700", "99.998885 %", "310.0 us", "2.1 ms", "41.0 ms"]],
              note: "",
            },
          ],
          [],
          ["mesh: no reply to any ping: oslo to lima"],
        ),
        figures("Commands", [
          {
            title: "The numbers in the commands' output that claims are about",
            columns: columns("command", "host", "figure", "value"),
            rows: [
              ["oscillating", "reader", "json.summary.restart_s", "4.50 s"],
              ["oscillating", "reader", "json.runs[name=<b>].errors", "json.runs has no [name=<b>]"],
            ],
            note: "",
          },
        ]),
      ],
      faults: [{ label: "phone's cable: down", at_s: 5, until_s: 20 }],
    }),
  "speed tests": () => makeReport([], { title: "Lines at home", experiments: [speedTests()] }),
  "requests beside transfers": () =>
    makeReport(
      [
        { label: "mptcp", samples: draws(31, 300, 30, 0.3) },
        { label: "tcp", samples: draws(32, 300, 33, 0.3) },
      ],
      {
        title: "Requests beside transfers",
        experiments: [
          figures("Outages", [
            {
              title: "Longest time without an answer",
              columns: columns("longest outage", "hosts", "median host", "worst host", ""),
              rows: ["mptcp", "tcp"].map((side, i) => [side, "2", `${1.2 + i} s`, `${3.5 + i} s`, "tablet from 5.2 s"]),
              note: "",
            },
          ]),
          transfers(),
        ],
        faults: [{ label: "phone's cable: down", at_s: 5, until_s: 20 }],
      },
    ),
  "one side": () => makeReport([{ label: "alone", samples: draws(1, 500, 30, 0.4) }], { title: "One side" }),
  "three sides": () =>
    makeReport(
      [
        { label: "amber", samples: draws(2, 900, 30, 0.5) },
        { label: "birch", samples: draws(3, 700, 45, 0.2) },
        {
          label: "a third side with quite a long name, from a file called recording-2025-03-14.jsonl.zst",
          samples: draws(4, 800, 25, 0.9),
        },
      ],
      { title: "Three sides" },
    ),
  "no time": () =>
    makeReport(
      [
        { label: "a", samples: draws(5, 300, 10, 0.3, false) },
        { label: "b", samples: draws(6, 300, 12, 0.3, false) },
      ],
      { title: "No time, no fidelity, no claims" },
    ),
  "gap in time": () =>
    makeReport(
      [{ label: "paused", samples: draws(17, 600, 30, 0.3).filter((sample) => sample.at_s < 20 || sample.at_s > 40) }],
      {
        title: "No samples for a while",
      },
    ),
  "late start": () =>
    makeReport(
      [
        { label: "late", samples: slower(draws(27, 600, 30, 0.3), 5).map((one) => ({ ...one, at_s: one.at_s + 3600 })) },
        { label: "later", samples: draws(28, 600, 30, 0.3).map((one) => ({ ...one, at_s: one.at_s + 3620 })) },
      ],
      { title: "The first sample comes an hour after the start" },
    ),
  "one sample": () =>
    makeReport(
      [
        { label: "a", samples: constant(1, 7) },
        { label: "b", samples: constant(1, 9) },
      ],
      { title: "One sample a side" },
    ),
  "all equal": () =>
    makeReport(
      [
        { label: "a", samples: constant(200, 5) },
        { label: "b", samples: constant(200, 5) },
      ],
      { title: "All equal" },
    ),
  "one constant": () =>
    makeReport(
      [
        { label: "flat", samples: constant(200, 50) },
        { label: "spread", samples: draws(7, 200, 50, 0.6) },
      ],
      { title: "One side is constant" },
    ),
  "zero latency": () =>
    makeReport(
      [
        { label: "zero", samples: constant(50, 0) },
        { label: "some", samples: draws(8, 50, 1, 0.5) },
      ],
      { title: "Latencies of 0" },
    ),
  "wide range": () =>
    makeReport(
      [
        { label: "tiny", samples: [...draws(9, 400, 0.05, 0.5), ...constant(1, 0.01)] },
        { label: "huge", samples: [...slower(draws(10, 400, 900, 1), 0), ...constant(1, 60_000)] },
      ],
      { title: "0.01 ms to 60000 ms" },
    ),
  "invalid run": () =>
    makeReport(
      [
        { label: "a", samples: draws(11, 300, 10, 0.3) },
        { label: "b", samples: draws(12, 300, 12, 0.3), invalid: ["one request in a thousand started 8 ms late"] },
      ],
      {
        title: "An invalid run",
        fidelity: BROKEN_FIDELITY,
        faults: Array.from({ length: 6 }, (_, i) => ({
          label: `frankfurt-singapore: fault number ${i + 1} with a long description`,
          at_s: 4 * i + 3,
        })),
      },
    ),
  "few effective requests held": () =>
    makeReport(
      [
        { label: "a", samples: draws(13, 300, 10, 0.3) },
        { label: "b", samples: draws(14, 300, 12, 0.3) },
      ],
      { title: "Ten held", most: 10 },
    ),
  "hostile labels": () =>
    makeReport(
      [
        { label: HOSTILE, samples: draws(15, 300, 10, 0.3) },
        { label: "</script><script>document.title='owned'</script>", samples: draws(16, 300, 12, 0.3) },
      ],
      {
        title: HOSTILE,
        summary: HOSTILE,
        claims: [{ claim: HOSTILE, holds: false, figure: HOSTILE }],
        faults: [{ label: HOSTILE, at_s: 5, until_s: 9 }],
        conditions: [{ name: HOSTILE, value: HOSTILE }],
        warnings: [HOSTILE],
      },
    ),
};
