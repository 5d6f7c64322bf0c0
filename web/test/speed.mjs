// Measures the time until the page is usable, with as much data as two sides of a million samples have after
// thinning.
//   node test/speed.mjs
// Not a test, because times depend on the machine. Prints the median of several runs.
import { stat } from "node:fs/promises";
import { end, fill, open } from "./browser.mjs";
import { generator, lognormal, makeReport } from "./report.mjs";

const SAMPLES = 60_000;
/** Maximum number of entries that the Rust program keeps of a million samples (tail_ranks). */
const KEPT = 2100;
const REQUESTS = 400;
const OPENINGS = 9;

const random = generator(7);
const side = (label, median) => ({
  label,
  samples: Array.from({ length: SAMPLES }, (_, i) => {
    const latency_ms = lognormal(random, median, 0.4);
    const phases = { dns: 0.1 * latency_ms, connect: 0.3 * latency_ms, wait: 0.5 * latency_ms };
    return { at_s: i / 100, latency_ms, phases, group: `city ${Math.floor(300 * random() ** 2)}`, page: Math.floor(i / 10) };
  }),
});

/** The same curve with the number of entries of a real report. */
function filled({ share, latency_ms }) {
  const shares = Array.from({ length: KEPT }, (_, i) => (i === KEPT - 1 ? 1 : 1 - 10 ** ((-6 * i) / KEPT)));
  let at = 0;
  const value = (one) => {
    while (share[at + 1] < one) at++;
    const part = (one - share[at]) / (share[at + 1] - share[at]);
    return Number((latency_ms[at] + (latency_ms[at + 1] - latency_ms[at]) * part).toPrecision(7));
  };
  return { share: shares, latency_ms: shares.map(value) };
}

const report = makeReport([side("one", 30), side("other", 33)], { title: "Speed", by: "city", most: 8, interval_s: 5 });
for (const chart of report.charts) {
  chart.quantiles = filled(chart.quantiles);
  chart.experienced = Array.from({ length: REQUESTS }, (_, i) => chart.experienced[i % 8]);
}
const path = await fill("speed", JSON.stringify(report));

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const times = { usable: [], drawn: [], slider: [] };
for (let i = 0; i < OPENINGS; i++) {
  const { page, close } = await open(path, {
    before: () => {
      // The first frame after the script shows all visible charts.
      addEventListener("DOMContentLoaded", () =>
        requestAnimationFrame(() => requestAnimationFrame(() => (window.drawn = performance.now()))),
      );
    },
  });
  await page.waitForFunction(() => window.drawn !== undefined);
  const found = await page.evaluate(() => [
    performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd,
    window.drawn,
  ]);
  times.usable.push(found[0]);
  times.drawn.push(found[1]);
  await page.locator("#qq").scrollIntoViewIfNeeded();
  await page.locator("#qq canvas").first().waitFor();
  times.slider.push(
    await page.evaluate(() => {
      const slider = document.querySelector("input[type=range]");
      const start = performance.now();
      slider.value = "33";
      slider.dispatchEvent(new Event("input"));
      return performance.now() - start;
    }),
  );
  await close();
}
await end();
const { size } = await stat(new URL("../dist/report.html", import.meta.url));
console.log(`page without a report   ${(size / 1000).toFixed(0)} kB`);
console.log(`page with this report   ${(JSON.stringify(report).length / 1000 + size / 1000).toFixed(0)} kB`);
console.log(`usable after            ${median(times.usable).toFixed(0)} ms`);
console.log(`first charts after      ${median(times.drawn).toFixed(0)} ms`);
console.log(`a step of the slider    ${median(times.slider).toFixed(0)} ms`);
