// Tests the page in a browser.
//   node test/walk.mjs [PAGE.html] [--shots DIR] [--only VARIANT]
// Without a file, it fills dist/report.html with test/fixture.json and with each variant, and
// dist/figures.html with documents of figures. With a file, it tests the report or the figures in this file.
// Exit code 0 if all checks passed.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { assertDrawn, assertFits, dataOf, drawAll, end, fill, latency, MARKER, open, plain, readWithKeys } from "./browser.mjs";
import { FIGURES } from "./figures.mjs";
import { assertLinks } from "./links.mjs";
import { assertMarked, assertRules } from "./rules.mjs";
import { synthetic } from "./synthetic.mjs";
import { walkFigures, walkPartly } from "./figures_walk.mjs";
import * as sections from "./sections.mjs";
import { shoot } from "./shots.mjs";
import { SPECIAL } from "./special.mjs";
import { VARIANTS } from "./variants.mjs";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { shots: { type: "string" }, only: { type: "string" } },
});

const heading = (page) => page.locator("h1").textContent();

/** Expected number of charts: one over time, one heat map and one of phases per side, pages, the CDF, both QQ
 * plots, the difference, and those of experiments, as far as there is data. */
const chartsOf = ({ charts, differences = [], experiments = [] }) =>
  experiments.flatMap(({ panels }) => panels).length +
  charts.filter((chart) => (chart.over_time?.start_s.length ?? 0) > 0).length +
  charts.filter((chart) => chart.heat).length +
  charts.filter((chart) => chart.phases).length +
  (charts.length > 0 ? 1 : 0) +
  (charts.length > 0 && charts.every((chart) => chart.experienced.length > 1) ? 1 : 0) +
  (charts.length > 1 ? 2 : 0) +
  (differences.length > 0 ? 1 : 0);

const experiencedRows = (page) =>
  page
    .locator("#people tbody tr")
    .evaluateAll((rows) =>
      rows.map((row) =>
        [...row.querySelectorAll("td")].map(
          (cell) => [...cell.childNodes].find((node) => node.nodeType === Node.TEXT_NODE)?.data,
        ),
      ),
    );

/** The numbers on the page are those of the data for this number of effective requests. */
async function assertShows(page, report, effective) {
  const rows = (await experiencedRows(page)).map((row) => row.map(plain));
  const expected = report.charts.map((chart) => chart.experienced[effective - 1].percentiles_ms.map(latency));
  assert.deepEqual(rows, expected);
  const table = plain(await page.locator("#expectations tbody").textContent());
  for (const chart of report.charts) assert.ok(table.includes(latency(chart.experienced[effective - 1].expected_ms)));
  if (report.charts.length < 2) return;
  const sentence = plain(await page.locator("#qq .chart >> nth=1").locator(".sentence").textContent());
  for (const chart of report.charts.slice(0, 2)) {
    const { percentiles_ms: people } = chart.experienced[effective - 1];
    const said = `${latency(people[0])} ms and ${latency(people[4])} ms with ${chart.label}`;
    assert.ok(sentence.includes(said), `"${sentence}" lacks "${said}"`);
  }
}

const colourOf = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

/** An ordinary report: reads it, changes N, follows its link, switches scales and colours. */
async function walk(path) {
  const { page, close } = await open(path);
  const report = await dataOf(page);
  const { page: own, verdict } = report.comparison;
  assert.equal(await heading(page), report.title);
  if (verdict) assert.equal(await page.locator(".verdict").textContent(), verdict.headline ?? verdict.sentence);
  assert.equal(await page.locator("#claims li").count(), report.claims.length);
  await assertDrawn(page, chartsOf(report));
  await sections.assertVerdict(page, report);
  if (report.differences !== undefined) await assertSections(page, report);
  const held = Math.min(...report.charts.map((chart) => chart.experienced.length));
  await assertShows(page, report, Math.min(held, own.effective_requests));
  await sections.assertIntervals(page, report, held >= own.effective_requests);

  const requests = page.getByLabel("Requests of a page", { exact: true });
  const other = own.requests === 7 ? 11 : 7;
  const effective = Math.min(held, Math.max(1, Math.round(other * own.required)));
  await sections.assertPages(page, report, own.effective_requests);
  await requests.fill(String(other));
  await assertShows(page, report, effective);
  await sections.assertPages(page, report, effective);
  await sections.assertIntervals(page, report, effective === own.effective_requests);
  await page.getByLabel("Required share of them in percent").fill("100");
  await assertShows(page, report, Math.min(held, other));

  await page.getByText("dark", { exact: true }).click();
  const chosen = await chooseEverything(page);
  const dark = await colourOf(page);
  await assertDrawn(page, chartsOf(report));
  await page.reload();
  assert.equal(await requests.inputValue(), String(other));
  assert.deepEqual(await choicesOf(page), chosen, "the link brings back every choice");
  assert.equal(await colourOf(page), dark);
  await assertShows(page, report, Math.min(held, other));
  await assertDrawn(page, chartsOf(report));
  await readWithKeys(page);
  await assertFits(page);
  await close();

  const night = await open(path, { colorScheme: "dark" });
  assert.equal(await colourOf(night.page), dark, "the system's dark scheme is followed");
  await assertDrawn(night.page, chartsOf(report));
  await night.close();
  await assertLinks(path);
  await copies(path, report);
  await saves(path);
  await prints(path, report);
  return report;
}

/** Sections of reports with intervals. */
async function assertSections(page, report) {
  await sections.assertThresholds(page, report);
  await sections.assertIndependence(page, report);
  await sections.assertCounts(page, report);
  if (report.differences.length > 0) await sections.assertDifference(page, report);
  await sections.assertHeat(page, report);
  if (report.comparison.phases.length > 0) await sections.assertPhases(page, report);
  await sections.assertBreakdown(page, report);
  if (report.comparison.pairs.length > 0) await sections.assertPairs(page, report);
}

const choicesOf = (page) =>
  page.locator("fieldset.segmented").evaluateAll((sets) =>
    sets.map((set) => {
      const inputs = [...set.querySelectorAll("input")];
      return `${set.querySelector("legend").textContent}: ${inputs.find((input) => input.checked)?.value}`;
    }),
  );

/** Selects another choice in every control except the theme; returns the choices. */
async function chooseEverything(page) {
  const before = await choicesOf(page);
  // Two controls may share a choice and change together, so each is read immediately before its change.
  for (const set of (await page.locator("fieldset.segmented").all()).slice(1)) {
    const text = (await set.locator("legend").textContent()) ?? "";
    const wanted = set.locator("label:has(input:not(:checked))").first();
    if (!text.endsWith("against")) await wanted.click();
  }
  const more = page.locator("#breakdown .more:visible");
  if ((await more.count()) > 0) await more.click();
  const after = await choicesOf(page);
  after.slice(1).forEach((choice, i) => {
    if (!choice.includes("against")) assert.notEqual(choice, before[i + 1]);
  });
  return after;
}

/** Copies the first table through the clipboard API, and through a selection if the API is not available. */
async function copies(path, report) {
  const stub = (open) => {
    window.copied = [];
    const writeText = async (text) => {
      if (!open) throw new Error("shut");
      window.copied.push(text);
    };
    Object.defineProperty(navigator, "clipboard", { value: { writeText } });
    document.execCommand = (command) => window.copied.push(`${command}: ${document.activeElement.value}`) > 0;
  };
  for (const shut of [false, true]) {
    const { page, close } = await open(path, { before: `(${stub})(${!shut})` });
    await page.locator("#expectations .copy").click();
    await page.locator("#expectations").getByText("Copied", { exact: true }).waitFor();
    const [text, ...more] = await page.evaluate(() => window.copied);
    assert.deepEqual(more, []);
    assert.equal(text.startsWith("copy: "), shut);
    sections.assertCopied(shut ? text.slice(6) : text, report);
    await close();
  }
}

/** A chart is saved as a picture with its name. */
async function saves(path) {
  const { page, close } = await open(path);
  await drawAll(page);
  const waited = page.waitForEvent("download");
  await page.locator("#cdf .download").click();
  const download = await waited;
  assert.equal(download.suggestedFilename(), "cumulative-distribution-of-requests.png");
  const bytes = await readFile(await download.path());
  assert.deepEqual([...bytes.subarray(1, 4)], [...Buffer.from("PNG")]);
  await close();
}

/** Print omits controls and includes charts that were never visible. */
async function prints(path, report) {
  const { page, close } = await open(path, { colorScheme: "dark" });
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.equal(await page.locator("canvas").count(), chartsOf(report));
  assert.equal(await page.locator(":is(.copy, .download, .switches, .contents):visible").count(), 0);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
  const cut = await page
    .locator(".scroll")
    .evaluateAll((boxes) => boxes.filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.ariaLabel));
  assert.deepEqual(cut, [], "paper does not scroll");
  await close();
}

/** Each unusual report is drawn completely and shows its special feature. */
async function walkVariant(name, path, report) {
  const { page, close } = await open(path);
  assert.equal(await heading(page), report.title);
  await assertDrawn(page, chartsOf(report));
  await sections.assertVerdict(page, report);
  await assertMarked(page, report);
  const { sides } = report.comparison;
  if (sides.length > 0 && sides.every((side) => side.read !== undefined)) await sections.assertCounts(page, report);
  await chooseEverything(page);
  await assertDrawn(page, chartsOf(report));
  await readWithKeys(page);
  const text = await page.locator("main").innerText();
  assert.doesNotMatch(text, /NaN|undefined|null|Infinity/);
  await SPECIAL[name]?.(page, text, report);
  await assertFits(page);
  await close();
}

async function walkProblem(name, text, said) {
  const { page, close } = await open(await fill(name, text));
  assert.match(await page.locator("main").innerText(), said);
  await close();
}

const step = async (name, run) => {
  await run();
  console.log(`ok  ${name}`);
};

/** All included documents: the report, its variants, invalid reports, and figures. */
async function walkOurs(only) {
  const isAsked = ([name]) => (only ?? name) === name;
  const report = await fill("fixture", await readFile(new URL("fixture.json", import.meta.url), "utf8"));
  const variants = await filled(Object.entries(VARIANTS).filter(isAsked), "report");
  const figures = await filled(Object.entries(FIGURES).filter(isAsked), "figures");
  if (isAsked(["fixture"])) await step("fixture", () => walk(report));
  for (const { name, path, document } of variants) await step(name, () => walkVariant(name, path, document));
  // Each at the narrowest width and at one other width.
  for (const [i, [name, made]] of synthetic().filter(isAsked).entries()) {
    await step(`rules: ${name}`, async () => {
      await assertRules(await fill(`rules ${i}`, JSON.stringify(made)), [360, i % 2 === 0 ? 1400 : 768]);
    });
  }
  for (const { name, path } of [...variants, ...figures]) {
    await step(`rules: ${name}`, () => assertRules(path, [360]));
  }
  for (const { name, path } of figures) {
    await step(name, () => (name === "partly measured" ? walkPartly(path) : walkFigures(path)));
  }
  await step("empty", () => walkProblem("empty", MARKER, /contains no report/));
  await step("broken", () => walkProblem("broken", '{"schema": ', /cannot be read/));
  await step("other schema", () =>
    walkProblem("other schema", '{"schema":"longhaul.report/9"}', /longhaul\.report\/9/),
  );
  return [{ name: "report", path: report, sections: true }, ...variants, ...figures];
}

const filled = (entries, built) =>
  Promise.all(
    entries.map(async ([name, make]) => {
      const document = make();
      return { name, document, path: await fill(name, JSON.stringify(document), built) };
    }),
  );

/** The report or the figures in a file. */
async function walkGiven(path) {
  // A report contains documents of figures, so its schema name decides.
  const isFigures = !(await readFile(path, "utf8")).includes('"schema":"longhaul.report/1"');
  await step(path, () => (isFigures ? walkFigures(path) : walk(path)));
  return [{ name: isFigures ? "figures" : "report", path, sections: true }];
}

try {
  const [given] = positionals;
  const walked = given === undefined ? await walkOurs(options.only) : await walkGiven(resolve(given));
  for (const { name, path, sections } of options.shots === undefined ? [] : walked) {
    await shoot(path, options.shots, name.replaceAll(" ", "-"), sections === true);
  }
} finally {
  await end();
}
