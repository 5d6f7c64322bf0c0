// Checks of the special features of each unusual report, by its name.
import assert from "node:assert/strict";
import { latency, plain } from "./browser.mjs";
import * as sections from "./sections.mjs";

export const SPECIAL = {
  "not sure": async (page) => {
    assert.equal(await page.locator(".verdict.open").count(), 1, "what is not sure must not look sure");
    assert.match(plain(await page.locator(".tiles").innerText()), /\? (undecided|likely, but not sure|borderline): \d/);
  },
  "no intervals": async (page, text) => {
    assert.match(text, /contains no confidence intervals/);
    assert.equal(await page.locator("td .ci, .sureness").count(), 0);
    assert.doesNotMatch(text, /Band:/);
  },
  "open ends": async (page, text) => {
    assert.match(plain(await page.locator("#expectations td").first().innerText()), /1\.50 to \?/);
    assert.match(text, /an end that the samples do not bound/);
    assert.match(text, /hatched where the samples do not bound it/);
  },
  "old report": async (page, text) => {
    assert.match(text, /does not contain the difference by percentile/);
    assert.match(text, /contains no data about the correlation of requests of one page/);
    assert.equal(await page.locator("#pairs, #breakdown, #thresholds").count(), 0);
    const cells = await page.locator("#counts tbody tr >> nth=0").locator("td").allInnerTexts();
    assert.deepEqual(cells.map((cell) => plain(cell).trim()), [
      "not in this report",
      "not in this report",
      "60",
      "0",
      "0",
      "not in this report",
      "not in this report",
    ]);
  },
  "three hundred cities": async (page, _, report) => {
    await page.getByText("Show the first 20").click();
    await sections.assertBreakdown(page, report);
  },
  "phases on one side": (_, text) => {
    assert.match(text, /Other sides: The samples have no phases/);
    assert.match(text, /The difference by phase is unknown/);
  },
  "late start": (page, _, report) => {
    assert.ok(report.charts.every(({ heat }) => heat.start_s >= 3600));
    return sections.assertHeat(page, report);
  },
  "transfers and pings alone": async (page, text) => {
    assert.equal(await page.locator("#expectations, #cdf, #percentiles, #method").count(), 0);
    assert.match(text, /The longest stall: tcp, 17\.5/);
    assert.match(plain(text), /89 699 of 89 700/);
    assert.match(text, /99\.99888/, "nearly all is not all");
    assert.match(text, /no reply to any ping: oslo to lima/);
    assert.match(text, /cut: nothing came for 60 s/);
    assert.match(text, /not known/, "what nobody knows is not 0");
    assert.match(plain(text), /30\.44 s 4\.2 MB/);
    assert.match(plain(text), /json\.summary\.restart_s 4\.50 s/);
    assert.match(text, /json\.runs has no \[name=<b>\]/, "what was printed is text");
  },
  "speed tests": async (page) => {
    const names = page.locator("#speed-tests tbody th");
    const [satellite, dsl] = [names.filter({ hasText: "satellite" }).first(), names.filter({ hasText: "dsl" }).first()];
    const heights = async () => Promise.all([satellite, dsl].map(async (name) => (await name.locator(".side").boundingBox()).height));
    await page.setViewportSize({ width: 1200, height: 900 });
    const [long, short] = await heights();
    assert.equal(long, short, "a name is not broken within its word");
    const reasons = page.locator("#speed-tests .with-sentences");
    assert.equal(await reasons.locator(".beneath:visible").count(), 0);
    await page.setViewportSize({ width: 390, height: 844 });
    assert.equal(await reasons.locator(".beneath:visible").count(), 21);
    for (const box of [await reasons.locator(".beneath td").first().boundingBox(), await reasons.boundingBox()]) {
      assert.ok(box.x >= 0 && box.x + box.width <= 390, `reasons are in sight: ${JSON.stringify(box)}`);
    }
    await page.setViewportSize({ width: 1400, height: 900 });
  },
  "requests beside transfers": async (page, text) => {
    assert.match(plain(text), /4\.5 s tablet from 5\.2 s/);
    const colour = (section) => page.locator(`${section} .swatch >> nth=1`).evaluate((one) => getComputedStyle(one).backgroundColor);
    assert.equal(await colour("#transfers"), await colour("#expectations"), "a side has one colour");
  },
  "one side": async (page, text) => {
    assert.equal(await page.locator("#qq, #difference, #pairs, .verdict").count(), 0);
    assert.match(text, /The samples have no phases/);
  },
  "three sides": async (page, _, report) => {
    await sections.assertPairs(page, report);
    await page.locator("#qq fieldset:has(legend:text('against')) label").nth(1).click();
    const title = await page.locator("#qq .chart >> nth=0").locator(".sentence").textContent();
    assert.ok(title.includes(report.charts[2].label));
  },
  "no time": (_, text) => assert.match(text, /Not measured: the samples have no timestamps/),
  "all equal": (_, text) => assert.match(text, /equal at all labelled percentiles/),
  "invalid run": async (page, text, report) => {
    assert.match(text, /INVALID/);
    const reasons = [...report.fidelity.reasons, ...report.comparison.sides.flatMap((side) => side.invalid)];
    assert.ok(reasons.length >= 2);
    for (const reason of reasons)
      assert.ok(await page.locator(".invalid").getByText(reason).isVisible());
    assert.match(text, /machine, of all cores\s+not measured/);
  },
  "few effective requests held": async (page, text, report) => {
    assert.match(text, /contains numbers up to 10; shown for 10/);
    const expected = report.charts.map((chart) => latency(chart.experienced[9].expected_ms));
    const shown = plain(await page.locator("#expectations tbody").innerText());
    for (const one of expected) assert.ok(shown.includes(one), `"${shown}" lacks ${one}`);
    assert.equal(await page.locator("#people td .ci").count(), 0, "intervals are of another page");
  },
  "hostile labels": async (page, text, report) => {
    assert.ok(text.includes(report.charts[0].label), "the label is text");
    assert.equal(await page.locator("img").count(), 0);
    assert.notEqual(await page.title(), "owned");
  },
};
