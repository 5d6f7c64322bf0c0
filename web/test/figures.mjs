// Documents of figures like those of the Rust program: a reader that alternates between fast and slow, a
// sweep, ports.
import { generator } from "./report.mjs";

const linear = (title, unit) => ({ title, unit, scale: "linear" });
const log = (title, unit) => ({ title, unit, scale: "log" });
const share = (title) => ({ title, unit: "%", scale: "share" });
const line = (name, points, look = "solid") => ({
  name,
  x: points.map(([x]) => x),
  y: points.map(([, y]) => y),
  look,
});
const steps = (name, values) => line(name, [...values, values.at(-1)].map((value, i) => [i, value]), "steps");
const seconds = (of) => Array.from({ length: 60 }, (_, second) => of(second));
const everyTenth = (of) => Array.from({ length: 601 }, (_, i) => [i / 10, of(i / 10)]);

/** Fast for 5 s of every 20 s. */
const isFast = (at) => at % 20 < 5;
const phases = [0, 20, 40].flatMap((from) => [
  { label: "fast", from_s: from, to_s: from + 5 },
  { label: "slow", from_s: from + 5, to_s: from + 20 },
]);

function oscillating() {
  const window = (at) => Math.min(128, 2 ** Math.min(20, at * 4) / 8);
  const filled = (at) => (isFast(at) ? 0.1 : Math.min(1, (at % 20) / 9));
  const timeline = (title, sentence, y, lines) => ({ kind: "timeline", title, sentence, y, lines, phases });
  return [
    timeline("Throughput", "Fast phases reach 941 Mbit/s; the restart takes 4 s.", linear("read", "Mbit/s"), [
      steps("read", seconds((second) => (isFast(second) ? [4, 40, 402, 508, 941][second % 20] : 47))),
    ]),
    timeline("Window", "The window opens to 128 MiB within two seconds and closes when the queue is full.", linear("window", "MiB"), [
      line("rcv_wnd", everyTenth((at) => window(at) * (1 - 0.9 * filled(at)))),
      line("rcv_ssthresh", everyTenth(window)),
      line("snd_cwnd", everyTenth((at) => (at > 30 && at < 32 ? null : window(at) * 0.8))),
    ]),
    timeline("Receive queue", "The queue is full after nine seconds of slow reading.", linear("memory", "MiB"), [
      line("rmem", everyTenth((at) => 512 * filled(at) * (0.97 + 0.03 * Math.sin(9 * at)))),
      line("rcvbuf", everyTenth(() => 512), "dashed"),
    ]),
    timeline("What the kernel counted", "Pruning begins when the queue is full.", linear("events in a second", ""), [
      steps("PruneCalled", seconds((second) => (isFast(second) || second % 20 < 14 ? 0 : 3))),
      steps("RcvCollapsed", seconds((second) => (isFast(second) || second % 20 < 14 ? 0 : 12_400 + 90 * second))),
    ]),
  ];
}

function ports() {
  const random = generator(3);
  const noisy = (us) => us * Math.exp(0.35 * (random() + random() + random() - 1.5));
  const strategy = (title, sentence, us, isOdd, marks) => {
    const classes = ["even", "odd"].map((name) => ({ name, count: 0, x: [], y: [] }));
    for (let i = 0; i < 4000; i++) {
      const fill = i / 4000;
      const one = classes[isOdd(fill) ? 1 : 0];
      one.x.push(fill);
      one.y.push(Number(noisy(us(fill)).toPrecision(4)));
      one.count++;
    }
    const p50 = line("p50", Array.from({ length: 20 }, (_, i) => [(i + 0.5) / 20, us((i + 0.5) / 20)]));
    const p99 = line("p99", Array.from({ length: 20 }, (_, i) => [(i + 0.5) / 20, 2 * us((i + 0.5) / 20)]), "dashed");
    return { kind: "scatter", title, sentence, x: share("ports used"), y: log("connect time", "\u00b5s"), classes, lines: [p50, p99], marks };
  };
  const errors = Array.from({ length: 300 }, (_, i) => 1 - (i / 300) ** 2 * 0.25);
  return [
    strategy("kernel default", "From half the range on a connect costs 20 times as much.", (fill) => (fill < 0.5 ? 12 : 246), (fill) => fill >= 0.5, []),
    strategy("select, test, repeat", "Good to three quarters of the range.", (fill) => 9 / (1 - fill * 0.97), () => random() < 0.5, []),
    strategy("random window of 500", "Always quick; what finds no port fails.", () => 11, () => random() < 0.5, [
      { name: "errors", count: 868, x: errors.toSorted((a, b) => a - b) },
    ]),
    strategy("full range", "Without the parity split.", (fill) => 12 + 20 * fill, () => random() < 0.5, []),
  ];
}

function sweep() {
  const rtts = [0.3, 20, 121, 282, 300];
  const settings = { "4 MiB": 4, "16 MiB": 16, "128 MiB": 128 };
  const charts = [1000, 10_000].flatMap((rate) =>
    ["cubic", "bbr"].map((control) => ({
      row: `${rate / 1000} Gbit/s`,
      column: control,
      lines: Object.entries(settings).map(([name, mib]) =>
        line(name, rtts.map((rtt) => [rtt, Math.min(rate * 0.94, (mib * 8388.608) / rtt) * (control === "bbr" ? 0.97 : 1)])),
      ),
    })),
  );
  return [
    {
      kind: "multiples",
      title: "Throughput by round trip",
      sentence: "A window of 4 MiB caps every path longer than 33 ms at 1 Gbit/s.",
      x: log("round trip", "ms"),
      y: log("throughput", "Mbit/s"),
      charts,
    },
  ];
}

const limits = {
  kind: "bars",
  title: "What limited the connection",
  sentence: "The receiver's window limited it for two thirds of the time.",
  axis: linear("time", "s"),
  bars: [
    { label: "receiver's window", value: 40.2 },
    { label: "congestion window", value: 15 },
    { label: "send buffer", value: 0 },
  ],
};

const table = {
  title: "What each setting gave",
  columns: [
    { title: "tcp_rmem (MiB)", align: "number" },
    { title: "PruneCalled", align: "number" },
    { title: "throughput in fast phases (Mbit/s)", align: "number" },
    { title: "longest pause (ms)", align: "number" },
  ],
  rows: [
    ["512", "0", "402 to 941", "310"],
    ["170", "24", "1 to 605", ""],
  ],
  note: "The pause is the longest that the application saw.",
};

const document = (title, panels, more = {}) => ({
  schema: "longhaul.figures/1",
  title,
  summary: "508 Mbit/s after four seconds, and a restart of four seconds after each slow phase.",
  valid: true,
  reasons: [],
  panels,
  tables: [table],
  conditions: [
    { name: "kernel", value: "6.18" },
    { name: "round trip", value: "300 ms" },
  ],
  warnings: ["One run: how much it varies is not known."],
  doubts: [{ kind: "noticed", sentence: "One run: how much it varies is not known.", invalid: false }],
  ...more,
});

/** A sweep with INVALID measurements: crosses with the name of their setting. */
function unsound(rename = (name) => name) {
  const [grid] = sweep();
  const split = (chart, c) => ({
    ...chart,
    lines: chart.lines.flatMap((one, i) => {
      const valid = { ...one, name: rename(one.name) };
      if (i !== c % 3) return [valid];
      const part = (keep) => ({ x: valid.x.filter((_, at) => keep(at)), y: valid.y.filter((_, at) => keep(at)) });
      // One setting is INVALID in all points.
      const bad = (at) => c === 0 || at === 2;
      return [{ ...valid, ...part((at) => !bad(at)) }, { ...valid, ...part(bad), look: "crosses" }];
    }),
  });
  return { ...grid, charts: grid.charts.map(split).map((chart) => ({ ...chart, lines: chart.lines.filter(({ x }) => x.length > 0) })) };
}

/** Documents by name. */
export const FIGURES = {
  oscillating: () => document("An oscillating reader", oscillating()),
  ports: () => document("Source ports", ports()),
  sweep: () => document("A sweep", sweep()),
  "sweep with INVALID": () =>
    document("A sweep with INVALID cells", [unsound(), unsound((name) => `default default ${name} cubic`)]),
  "all kinds": () =>
    document("All kinds", [...oscillating().slice(0, 2), ports()[0], ...sweep(), limits, oscillating()[0]], {
      valid: false,
      reasons: ["The reader itself was busy for 97 % of the time."],
    }),
  "partly measured": () => {
    const [scatter, [grid]] = [ports()[2], sweep()];
    const failed = { ...scatter, title: "all failed", classes: [{ name: "even", count: 0, x: [], y: [] }], lines: [] };
    return document("Partly measured", [
      failed,
      { ...grid, charts: grid.charts.map((chart, i) => (i === 1 ? { ...chart, lines: [] } : chart)) },
    ]);
  },
  "hostile names": () => {
    const hostile = '</script><img src=x onerror="alert(1)">&\u202e';
    const [timeline] = oscillating();
    const lines = timeline.lines.map((one) => ({ ...one, name: hostile }));
    const bars = limits.bars.map((bar) => ({ ...bar, label: hostile }));
    return document(hostile, [
      { ...timeline, title: hostile, sentence: hostile, lines, phases: [{ label: hostile, from_s: 0, to_s: 60 }] },
      { ...sweep()[0], title: hostile },
      { ...limits, title: hostile, bars },
    ]);
  },
  "nothing drawn": () =>
    document("Nothing", [
      { ...oscillating()[0], lines: [], phases: [] },
      { ...ports()[0], classes: [], lines: [], marks: [] },
      { ...sweep()[0], charts: [] },
      { ...limits, bars: [] },
    ]),
};
