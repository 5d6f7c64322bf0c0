// Writes test/fixture.json: two plausible sides, one fast with a slow tail, one slow and steady, in thirty
// cities. The output is reproducible.
import { writeFile } from "node:fs/promises";
import { generator, lognormal, makeReport } from "./report.mjs";

const SAMPLES = 12_000;
const SECONDS = 600;

const random = generator(20);
const times = Array.from({ length: SAMPLES }, (_, i) => (i * SECONDS) / SAMPLES);
/** In descending order of population; the last two occur on one side only. */
const CITIES = [
  ..."S\u00e3o Paulo,Rio de Janeiro,Buenos Aires,Lima,Bogot\u00e1,Santiago,Belo Horizonte,Caracas,Guayaquil,Quito".split(","),
  ..."Medell\u00edn,Fortaleza,Salvador,Bras\u00edlia,Curitiba,Recife,Porto Alegre,Manaus,Montevideo,C\u00f3rdoba".split(","),
  ..."Rosario,Cali,Bel\u00e9m,Goi\u00e2nia,Asunci\u00f3n,La Paz,Santa Cruz,Valencia".split(","),
];
const ONLY = { swift: "Ushuaia", steady: "Iquitos" };
const cityOf = (side) => {
  const at = Math.floor(CITIES.length * random() ** 2.2);
  return random() < 0.002 ? ONLY[side] : random() < 0.001 ? undefined : CITIES[at];
};
const parts = (latency_ms, stall, [dns, connect, tls, wait]) => {
  const base = latency_ms - stall;
  return { dns: dns * base, connect: connect * base + stall, tls: tls * base, wait: wait * base };
};

const swift = times.map((at_s, i) => {
  const lossy = at_s >= 240 && at_s < 330;
  const group = cityOf("swift");
  // Three cities with a good network have almost no stalls.
  const calm = ["Buenos Aires", "Montevideo", "Curitiba"].includes(group);
  const stall = random() < (calm ? 0 : lossy ? 0.03 : 0.01) ? 220 + 780 * random() : 0;
  const latency_ms = lognormal(random, 20, 0.22) + stall;
  return { at_s, latency_ms, group, page: Math.floor(i / 10), phases: parts(latency_ms, stall, [0.04, 0.3, 0.22, 0.4]) };
});
const steady = times.map((at_s, i) => {
  const latency_ms = lognormal(random, at_s >= 420 && at_s < 450 ? 118 : 90, 0.08);
  const phases = parts(latency_ms, 0, [0.02, 0.17, 0.15, 0.6]);
  return { at_s, latency_ms, group: cityOf("steady"), page: Math.floor(i / 10), phases };
});
const shifts = [
  { at_s: 420, before_ms: 90.1, after_ms: 118.2, sure: 0.998 },
  { at_s: 450, before_ms: 118.2, after_ms: 90.4, sure: 0.996 },
];

const report = makeReport(
  [
    { label: "swift", samples: swift, failed: 37, excluded: 240, format: "csv" },
    { label: "steady", samples: steady, failed: 0, format: "hlog", relative_error: 0.001, shifts },
  ],
  {
    title: "Shop front page from S\u00e3o Paulo, two providers",
    summary:
      "Which of two providers is better for the people who open the shop's front page: 180 requests, half of them required?",
    interval_s: 10,
    by: "city",
    thresholds: [
      { claim: "p99 below 400 ms for swift", holds: true, figure: "p99 of swift, see the table of percentiles." },
      { claim: "no side fails more than 0.1 % of its requests", holds: false, figure: "swift failed 37 of 12 037 requests." },
    ],
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
      lateness_histogram: [{ up_to_us: 1, packets: 4_211_337 }, { up_to_us: 4, packets: 40_000_000 }, { up_to_us: 2048, packets: 4_000_000 }],
      lateness_limit_us: 250,
      late_share: 0.000021,
      own_drops: 0,
      bytes_in: 61_402_118_904,
      bytes_out: 61_288_004_180,
      bytes_dropped: 114_090_220,
      bytes_duplicated: 0,
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
