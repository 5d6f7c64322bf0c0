// Writes test/fixture.json: two plausible sides, one fast with a bad tail, one slow and steady. Same bytes on every run.
import { writeFile } from "node:fs/promises";
import { generator, lognormal, makeReport } from "./report.mjs";

const SAMPLES = 12_000;
const SECONDS = 600;

const random = generator(20);
const times = Array.from({ length: SAMPLES }, (_, i) => (i * SECONDS) / SAMPLES);
const swift = times.map((at_s) => {
  const lossy = at_s >= 240 && at_s < 330;
  const stalled = random() < (lossy ? 0.03 : 0.01);
  return { at_s, latency_ms: lognormal(random, 20, 0.22) + (stalled ? 220 + 780 * random() : 0) };
});
const steady = times.map((at_s) => ({
  at_s,
  latency_ms: lognormal(random, at_s >= 420 && at_s < 450 ? 118 : 90, 0.08),
}));

const report = makeReport(
  [
    { label: "swift", samples: swift, failed: 37 },
    { label: "steady", samples: steady, failed: 0 },
  ],
  {
    title: "Shop front page from S\u00e3o Paulo, two providers",
    summary:
      "Which of two providers is better for the people who open the shop's front page: 180 requests, half of them required?",
    interval_s: 10,
    start: "2025-03-14T09:26:53Z",
    faults: [
      { label: "london-newyork: loss 5%", at_s: 240, until_s: 330 },
      { label: "saopaulo-miami: delay +28ms", at_s: 420, until_s: 450 },
    ],
    fidelity: {
      valid: true,
      reasons: [],
      delivered: 48_211_337,
      lateness_us: { 50: 3.2, 99: 41, 99.9: 118, max: 1904 },
      lateness_limit_us: 250,
      late_share: 0.000021,
      own_drops: 0,
      bytes_in: 61_402_118_904,
      bytes_out: 61_288_004_180,
      bytes_dropped: 114_090_220,
      bytes_in_flight: 24_504,
      switch_cpu_share: 0.342,
      machine_cpu_share: 0.617,
      receive: "slice",
    },
    conditions: [
      { name: "kernel", value: "Linux 6.12.41 x86_64" },
      { name: "congestion control", value: "cubic" },
      { name: "scenario", value: "scenarios/shop-front.toml" },
      { name: "seed", value: "20" },
    ],
    warnings: ["37 requests of swift failed; failures have no latency and make a side look faster than it is."],
  },
);
const p99 = report.comparison.sides.map((side) => side.request_percentiles_ms["99"]);
report.claims = [
  {
    claim: "For one request swift is the faster side",
    holds: true,
    figure: "Expected request latency, see the table below.",
  },
  {
    claim: "swift keeps p99 within four times that of steady",
    holds: p99[0] <= 4 * p99[1],
    figure: `p99 is ${p99[0].toFixed(1)} ms with swift and ${p99[1].toFixed(1)} ms with steady: ${(p99[0] / p99[1]).toFixed(2)} times.`,
  },
];
await writeFile(new URL("fixture.json", import.meta.url), `${JSON.stringify(report)}\n`);
