// Tests a page of figures in a browser.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import Ajv2020 from "ajv/dist/2020.js";
import { assertDrawn, assertFits, dataOf, drawAll, open, plain, readWithKeys, textOf } from "./browser.mjs";

const schema = JSON.parse(await readFile(new URL("../schema/figures.json", import.meta.url), "utf8"));
const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false });
const isFigures = ajv.compile(schema);

/** Expected number of canvases: one per timeline, per scatter, and per small chart with data. */
const chartsOf = ({ panels }) =>
  panels.filter(({ kind, lines, classes }) => (kind === "timeline" ? lines.length : kind === "scatter" && classes.length))
    .length + panels.flatMap(({ kind, charts }) => (kind === "multiples" ? charts : [])).length;

const timelinesOf = ({ panels }) => panels.filter(({ kind, lines }) => kind === "timeline" && lines.length > 0);

export async function walkFigures(path) {
  const { page, close } = await open(path);
  const figures = await dataOf(page);
  assert.ok(isFigures(figures), ajv.errorsText(isFigures.errors));
  assert.equal(await page.locator("h1").textContent(), figures.title);
  assert.equal(await page.locator(".verdict").textContent(), figures.summary);
  assert.equal(await page.locator(".invalid").count(), figures.valid ? 0 : 1);
  await assertSaid(page, figures);
  await assertDrawn(page, chartsOf(figures));
  await readWithKeys(page);
  await assertSharedCursor(page, figures);
  await assertCrosses(page, figures);
  await page.getByText("dark", { exact: true }).click();
  await assertDrawn(page, chartsOf(figures));
  await assertFits(page);
  await close();
  await prints(path, figures);
}

/** A page with one scatter that has only errors and one small chart without data: both are drawn, and the
 * latter has a note. */
export async function walkPartly(path) {
  const { page, close } = await open(path);
  await drawAll(page);
  assert.equal(await page.locator("canvas").count(), chartsOf(await dataOf(page)));
  assert.equal(await page.getByText("Not measured.", { exact: true }).count(), 1);
  await assertFits(page);
  await close();
}

/** Every title, sentence, cell and amount is on the page. */
async function assertSaid(page, figures) {
  const text = await textOf(page.locator("main"));
  assert.doesNotMatch(text, /NaN|undefined|null|Infinity/);
  const said = (part) => assert.ok(text.includes(plain(part)), `"${part}" is not on the page`);
  for (const panel of figures.panels) said(panel.title);
  for (const { sentence } of timelinesOf(figures)) said(sentence);
  for (const { bars = [] } of figures.panels) for (const { label } of bars) said(label);
  for (const sentence of [...figures.reasons, ...figures.warnings]) said(sentence);
  for (const { name, value } of figures.conditions) said(`${name} ${value}`);
  for (const { title, rows } of figures.tables) {
    const cells = await page.getByRole("table", { name: title }).locator("tbody tr").evaluateAll((found) =>
      found.map((row) => [...row.children].map((cell) => cell.textContent)),
    );
    assert.deepEqual(cells, rows);
  }
}

/** INVALID values are marked: the legend explains crosses, and the read-out shows which value is invalid. */
async function assertCrosses(page, figures) {
  const multiples = figures.panels.filter(({ kind }) => kind === "multiples");
  const sections = page.locator("section:has(.multiples)");
  for (const [i, { charts }] of multiples.entries()) {
    const lines = charts.flatMap((chart) => chart.lines);
    const crosses = lines.filter(({ look }) => look === "crosses");
    assert.equal(await sections.nth(i).locator(".key").getByText("INVALID").count(), crosses.length > 0 ? 1 : 0);
    const names = [...new Set(lines.map(({ name }) => name))];
    if (names.every((name) => name.length <= 12)) continue;
    // Names that are too long for the line ends are listed above, each with a different colour.
    const swatches = await sections.nth(i).locator(".key .swatch").evaluateAll((all) => all.map((one) => one.className));
    assert.equal(swatches.length, names.length);
    assert.equal(new Set(swatches).size, Math.min(6, names.length));
  }
}

/** The cursor of a timeline also reads the values of its neighbours at the same time. */
async function assertSharedCursor(page, figures) {
  const charts = page.locator(".stacked >> nth=0").locator(".chart");
  const together = await charts.count();
  if (together < 2) return;
  await charts.first().scrollIntoViewIfNeeded();
  await charts.first().locator(".u-over").hover({ position: { x: 40, y: 30 } });
  await charts.nth(1).locator(".readout.live").waitFor();
  const [one, other] = await Promise.all([0, 1].map((i) => charts.nth(i).locator(".readout").textContent()));
  const moment = (text) => /^at [^:(]+/.exec(text)?.[0];
  assert.ok(moment(one) && moment(one) === moment(other), `"${one}" and "${other}" are of different moments`);
  for (const { name } of timelinesOf(figures)[1].lines) assert.ok(other.includes(`${name} `), `"${other}" lacks ${name}`);
  // The charts have the same left and right edges.
  const places = await charts.locator(".u-over").evaluateAll((plots) =>
    plots.map((plot) => [plot.getBoundingClientRect().left, plot.clientWidth]),
  );
  for (const place of places) assert.deepEqual(place, places[0]);
}

async function prints(path, figures) {
  const { page, close } = await open(path, { colorScheme: "dark" });
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.equal(await page.locator("canvas").count(), chartsOf(figures));
  assert.equal(await page.locator(":is(.copy, .download, .contents):visible").count(), 0);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
  await close();
}
