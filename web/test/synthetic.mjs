// Comparisons for the rules of all charts: tiny and huge ranges, one sample and many, long labels.
import { generator, makeReport } from "./report.mjs";

/** Latency in ms for a number in 0..1. */
const SHAPES = {
  constant: () => 5,
  zero: () => 0,
  "tiny range": (u) => 100 + 0.02 * u,
  "part of a decade": (u) => 30 + 25 * u,
  "a decade": (u) => 11 * 9.1 ** u,
  "log-normal": (u) => 20 * (u / (1 - u)) ** 0.5,
  "heavy tail": (u) => 10 * (1 - u) ** (-1 / 1.1),
  "two modes": (u) => (u < 0.97 ? 20 + u : 1220 + 300 * u),
  "huge range": (u) => 10 ** (-4 + 11 * u),
  large: (u) => 3e7 + 5e6 * u,
};
const COUNTS = [1, 2, 20, 150, 1200];
const LABELS = [
  ["a", "b", "c"],
  ["swift", "steady", "a rather long name of a recording from the frankfurt office"],
  ["W".repeat(30), "M".repeat(24), "@".repeat(20)],
  ["\u6771\u4eac\u306e\u8a18\u9332\uff1a\u5927\u962a\u307e\u3067\u306e\u9060\u3044\u9053\u306e\u308a", "\u5927\u962a", "</text>"],
];

function samples(shape, n, seed, beside) {
  const random = generator(seed);
  return Array.from({ length: n }, (_, i) => {
    const latency_ms = shape(Math.min(0.9999999, Math.max(1e-7, random())));
    const phases = { dns: 0.05 * latency_ms, connect: 0.3 * latency_ms, wait: 0.5 * latency_ms };
    return {
      latency_ms,
      ...(beside > 0 ? { at_s: 3.7 * beside + 0.037 * i } : {}),
      ...(beside > 1 ? { phases } : {}),
      ...(beside > 2 ? { page: Math.floor(i / 10) } : {}),
    };
  });
}

/** Reports by name: each shape with some of the counts, labels and additional data in turn. */
export function synthetic() {
  const shapes = Object.entries(SHAPES);
  return shapes.flatMap(([name, shape], s) =>
    COUNTS.filter((_, c) => (s + c) % 2 === 0 || c === 0).map((n, c) => {
      const at = s * 3 + c;
      const labels = LABELS[at % LABELS.length];
      const count = [2, 3, 1][at % 3];
      const other = shapes[(s + 3) % shapes.length][1];
      const sides = labels.slice(0, count).map((label, i) => ({
        label,
        samples: samples(i === 2 ? other : shape, i === 1 ? Math.ceil(n / 2) : n, 100 * at + i, at % 4),
      }));
      const fault = (label, at_s, until_s) => ({ label, at_s, until_s });
      const faults = at % 3 === 0 ? [fault("london-newyork: loss 5 %", 8, 12), fault(labels[2], 9, 30), fault("stays", 20)] : [];
      const requests = [1, 20, 180, 500][at % 4];
      const options = { title: name, requests, required: [1, 0.5][at % 2], ci: at % 5 !== 4, interval_s: 1, faults };
      return [`${name}, ${n} samples, ${count} sides`, makeReport(sides, options)];
    }),
  );
}
