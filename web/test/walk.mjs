// Walks through the page in a browser as a reader would.
//   node test/walk.mjs [REPORT.html] [--shots DIR]
// Without a file it fills dist/report.html with test/fixture.json and then with each of the variants; with one it walks
// through the report that is in that file. Exit code 0 if everything held.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { VARIANTS } from "./variants.mjs";

const { values: options, positionals } = parseArgs({ allowPositionals: true, options: { shots: { type: "string" } } });
const folder = await mkdtemp(join(tmpdir(), "longhaul-walk-"));
const MARKER = "/*LONGHAUL-REPORT-DATA*/";
const WIDTHS = [360, 768, 1400];

const template = async () => readFile(new URL("../dist/report.html", import.meta.url), "utf8");

/** Does what the Rust side does: the marker gives way to JSON in which `<` is escaped. */
async function fill(name, text) {
  const page = await template();
  assert.equal(page.split(MARKER).length, 2, "the marker must be in the built page exactly once");
  const path = join(folder, `${name.replaceAll(" ", "-")}.html`);
  await writeFile(
    path,
    page.replace(MARKER, () => text.replaceAll("<", "\\u003c")),
  );
  return path;
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
  ],
});

/** Opens a page that must stay silent: no console error, no exception, nothing asked of any network. */
async function open(path, { hash = "", width = 1400, height = 900, colorScheme = "light" } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion: "reduce" });
  const page = await context.newPage();
  const noise = [];
  page.on(
    "console",
    (message) => ["error", "warning"].includes(message.type()) && noise.push(`console: ${message.text()}`),
  );
  page.on("pageerror", (error) => noise.push(`exception: ${error.message}`));
  page.on("request", (request) => request.url().split("#")[0] !== url && noise.push(`request: ${request.url()}`));
  const url = pathToFileURL(path).href;
  await page.goto(url + hash);
  return {
    page,
    close: async () => {
      assert.deepEqual(noise, [], "the page must be silent");
      await context.close();
    },
  };
}

const dataOf = (page) => page.evaluate(() => JSON.parse(document.getElementById("report-data").textContent));
const heading = (page) => page.locator("h1").textContent();

/** Every canvas holds pixels, and among them some of the colour of a side. */
async function assertDrawn(page, charts) {
  await page.waitForFunction((n) => document.querySelectorAll("canvas").length === n, charts);
  const drawn = await page.evaluate(() => {
    const style = getComputedStyle(document.documentElement);
    const hues = [0, 1, 2, 3, 4, 5].map((i) => {
      const hex = style.getPropertyValue(`--side-${i}`).trim();
      return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
    });
    return [...document.querySelectorAll("canvas")].map((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const found = { any: 0, side: 0 };
      for (let i = 0; i < data.length; i += 4) {
        if (data[i + 3] === 0) continue;
        found.any++;
        if (hues.some((hue) => hue.every((value, c) => Math.abs(value - data[i + c]) < 12))) found.side++;
      }
      return found;
    });
  });
  // A dot of radius 4 has some 50 pixels: less than that is no drawn side. Axes and grid alone exceed 500.
  for (const found of drawn)
    assert.ok(found.any > 500 && found.side > 20, `a chart is blank: ${JSON.stringify(drawn)}`);
}

async function assertFits(page) {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    // Charts follow the window a moment later; a page that never fits ends in the wait's own time limit.
    await page.waitForFunction(
      (w) => {
        const { scrollWidth, clientWidth } = document.documentElement;
        const plots = [...document.querySelectorAll(".uplot")];
        return scrollWidth <= clientWidth && plots.every((plot) => plot.clientWidth <= w);
      },
      width,
    );
  }
}

const chartsOf = (report) =>
  report.charts.filter((chart) => chart.over_time).length + 1 + (report.charts.length > 1 ? 2 : 0);

/** As the page writes a latency: three or four digits; see src/format.ts. Spaces of any kind count as one. */
function latency(value) {
  if (value === 0) return "0";
  const decimals = value >= 1000 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : value >= 0.1 ? 3 : 4;
  return value.toFixed(decimals).replace(/\B(?=(\d{3})+(\.|$))(?<!\.\d*)/g, " ");
}
const plain = (text) => text.replace(/\s/g, " ");

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

/** The numbers on the page are those of the data for so many effective requests. */
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

/** The walk through an ordinary report: reads it, changes N, takes the link along, switches scales and colours. */
async function walk(path) {
  const { page, close } = await open(path);
  const report = await dataOf(page);
  const { page: own, verdict } = report.comparison;
  assert.equal(await heading(page), report.title);
  if (verdict) assert.equal(await page.locator(".verdict").textContent(), verdict.sentence);
  assert.equal(await page.locator(".claims li").count(), report.claims.length);
  await assertDrawn(page, chartsOf(report));
  const held = Math.min(...report.charts.map((chart) => chart.experienced.length));
  await assertShows(page, report, Math.min(held, own.effective_requests));

  const requests = page.getByLabel("Requests of a page", { exact: true });
  const other = own.requests === 7 ? 11 : 7;
  const effective = Math.min(held, Math.max(1, Math.round(other * own.required)));
  await requests.fill(String(other));
  await assertShows(page, report, effective);
  await page.getByLabel("Required share of them in percent").fill("100");
  await assertShows(page, report, Math.min(held, other));

  await page.locator("#cdf").getByText("nines").click();
  await page.locator("#cdf").getByText("linear").click();
  await page.getByText("dark", { exact: true }).click();
  const dark = await colourOf(page);
  await assertDrawn(page, chartsOf(report));
  await page.reload();
  assert.equal(await requests.inputValue(), String(other));
  assert.ok(await page.locator("#cdf").getByRole("radio", { name: "nines" }).isChecked());
  assert.ok(await page.locator("#cdf").getByRole("radio", { name: "linear" }).isChecked());
  assert.equal(await colourOf(page), dark);
  await assertShows(page, report, Math.min(held, other));
  await assertDrawn(page, chartsOf(report));

  await page.getByText("Copy table").first().click();
  await page.getByText(/^(Copied|Selected: press Ctrl\+C)$/).waitFor();
  await readWithKeys(page);
  await assertFits(page);
  await close();

  const night = await open(path, { colorScheme: "dark" });
  assert.equal(await colourOf(night.page), dark, "the system's dark scheme is followed");
  await assertDrawn(night.page, chartsOf(report));
  await night.close();
  return report;
}

/** Every chart says values when it is focused and an arrow key is pressed. */
async function readWithKeys(page) {
  for (const chart of await page.locator(".chart").all()) {
    await chart.locator(".plot").focus();
    await page.keyboard.press("ArrowRight");
    await chart.locator(".readout.live").waitFor();
    await page.keyboard.press("Escape");
    await chart.locator(".readout:not(.live)").waitFor();
  }
}

/** Each unusual report is drawn whole and says what is special about it. */
async function walkVariant(name, report) {
  const { page, close } = await open(await fill(name, JSON.stringify(report)));
  assert.equal(await heading(page), report.title);
  await assertDrawn(page, chartsOf(report));
  for (const choice of ["nines", "linear"]) {
    for (const label of await page.getByText(choice, { exact: true }).all()) await label.click();
  }
  await assertDrawn(page, chartsOf(report));
  await readWithKeys(page);
  const text = await page.locator("main").innerText();
  assert.doesNotMatch(text, /NaN|undefined|null|Infinity/);
  await SPECIAL[name]?.(page, text, report);
  await assertFits(page);
  await close();
}

const SPECIAL = {
  "one side": async (page) => assert.equal(await page.locator("#qq, .verdict").count(), 0),
  "three sides": async (page, _, report) => {
    await page.locator("#qq").getByText(report.charts[2].label).click();
    const title = await page.locator("#qq .chart >> nth=0").locator(".sentence").textContent();
    assert.ok(title.includes(report.charts[2].label));
  },
  "no time": (_, text) => assert.match(text, /Not measured: the samples carry no time/),
  "all equal": (_, text) => assert.match(text, /equal at every percentile/),
  "invalid run": async (page, text, report) => {
    assert.match(text, /INVALID/);
    const reasons = [...report.fidelity.reasons, ...report.comparison.sides.flatMap((side) => side.invalid)];
    assert.ok(reasons.length >= 2);
    for (const reason of reasons)
      assert.ok(await page.locator(".invalid").getByText(reason).isVisible());
    assert.match(text, /machine, of all cores\s+not measured/);
  },
  "few effective requests held": async (page, text, report) => {
    assert.match(text, /holds numbers up to 10; shown for 10/);
    await assertShows(page, report, 10);
  },
  "hostile labels": async (page, text, report) => {
    assert.ok(text.includes(report.charts[0].label), "the label is text");
    assert.equal(await page.locator("img").count(), 0);
    assert.notEqual(await page.title(), "owned");
  },
};

async function walkProblem(name, text, said) {
  const { page, close } = await open(await fill(name, text));
  assert.match(await page.locator("main").innerText(), said);
  await close();
}

async function shoot(path, directory, name) {
  await mkdir(directory, { recursive: true });
  for (const width of [1400, 390]) {
    for (const colorScheme of ["light", "dark"]) {
      const { page, close } = await open(path, { width, colorScheme });
      await page.screenshot({ path: join(directory, `${name}-${width}-${colorScheme}.png`), fullPage: true });
      await close();
    }
  }
}

const step = async (name, run) => {
  await run();
  console.log(`ok  ${name}`);
};

try {
  const given = positionals[0] === undefined ? undefined : resolve(positionals[0]);
  const path = given ?? (await fill("fixture", await readFile(new URL("fixture.json", import.meta.url), "utf8")));
  await step(given ?? "fixture", () => walk(path));
  if (given === undefined) {
    for (const [name, make] of Object.entries(VARIANTS)) await step(name, () => walkVariant(name, make()));
    await step("empty", () => walkProblem("empty", MARKER, /holds no report/));
    await step("broken", () => walkProblem("broken", '{"schema": ', /cannot be read/));
    await step("other schema", () =>
      walkProblem("other schema", '{"schema":"longhaul.report/9"}', /longhaul\.report\/9/),
    );
  }
  if (options.shots !== undefined) {
    await shoot(path, options.shots, "report");
    if (given === undefined) {
      for (const [name, make] of Object.entries(VARIANTS)) {
        await shoot(await fill(name, JSON.stringify(make())), options.shots, name.replaceAll(" ", "-"));
      }
    }
  }
} finally {
  await browser.close();
  await rm(folder, { recursive: true });
}
