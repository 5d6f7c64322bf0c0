// Opens pages for the browser tests, and inspects drawings.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./chromium.mjs";

export const MARKER = "/*LONGHAUL-REPORT-DATA*/";
export const WIDTHS = [360, 768, 1400];

const folder = await mkdtemp(join(tmpdir(), "longhaul-walk-"));

/** Inserts a document like the Rust program: replaces the marker in a built page by JSON with `<` escaped. */
export async function fill(name, text, built = "report") {
  const page = await readFile(new URL(`../dist/${built}.html`, import.meta.url), "utf8");
  assert.equal(page.split(MARKER).length, 2, "the marker must be in the built page exactly once");
  const path = join(folder, `${name.replaceAll(" ", "-")}.html`);
  await writeFile(
    path,
    page.replace(MARKER, () => text.replaceAll("<", "\\u003c")),
  );
  return path;
}

const browser = await launch();

export async function end() {
  await browser.close();
  await rm(folder, { recursive: true });
}

/** Opens a page that must cause no console error, no exception and no network request. */
export async function open(path, { hash = "", width = 1400, height = 900, colorScheme = "light", before } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion: "reduce" });
  if (before) await context.addInitScript(before);
  const page = await context.newPage();
  const noise = [];
  page.on(
    "console",
    (message) => ["error", "warning"].includes(message.type()) && noise.push(`console: ${message.text()}`),
  );
  page.on("pageerror", (error) => noise.push(`exception: ${error.message}`));
  page.on("request", (request) => {
    const asked = request.url();
    if (asked.split("#")[0] !== url && !asked.startsWith("blob:")) noise.push(`request: ${asked}`);
  });
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

export const dataOf = (page) => page.evaluate(() => JSON.parse(document.getElementById("report-data").textContent));

/** Scrolls to every chart once: a chart out of sight is not drawn. */
export async function drawAll(page) {
  await page.evaluate(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    for (const plot of document.querySelectorAll(".plot")) {
      if (!plot.checkVisibility()) continue;
      plot.scrollIntoView({ block: "center" });
      // Two frames: the observer reports visible charts after a frame, and they are drawn in the next. The
      // caller detects charts that are missing.
      for (let i = 0; i < 60 && (i < 2 || plot.querySelector("canvas") === null); i++) await frame();
    }
  });
}

/** Every canvas contains pixels, some of them coloured: in the colour of a side where lines are drawn,
 * otherwise in any colour. */
export async function assertDrawn(page, charts) {
  await drawAll(page);
  const drawn = await page.evaluate(() => {
    const style = getComputedStyle(document.documentElement);
    const hues = [0, 1, 2, 3, 4, 5].map((i) => {
      const hex = style.getPropertyValue(`--side-${i}`).trim();
      return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
    });
    return [...document.querySelectorAll("canvas")].map((canvas) => {
      // Reads a copy, so that the browser does not warn about read-backs.
      const copy = document.createElement("canvas");
      [copy.width, copy.height] = [canvas.width, canvas.height];
      const pen = copy.getContext("2d", { willReadFrequently: true });
      pen.drawImage(canvas, 0, 0);
      const { data } = pen.getImageData(0, 0, copy.width, copy.height);
      const areas = canvas.closest("#heat, #phases") !== null;
      const found = { any: 0, coloured: 0, where: canvas.closest("section").id };
      for (let i = 0; i < data.length; i += 4) {
        if (data[i + 3] === 0) continue;
        found.any++;
        const rgb = [data[i], data[i + 1], data[i + 2]];
        const ofSide = hues.some((hue) => hue.every((value, c) => Math.abs(value - rgb[c]) < 12));
        if (areas ? Math.max(...rgb) - Math.min(...rgb) > 40 : ofSide) found.coloured++;
      }
      return found;
    });
  });
  assert.equal(drawn.length, charts, `charts drawn: ${JSON.stringify(drawn)}`);
  // A dot of radius 4 has about 50 pixels: fewer coloured pixels mean a missing side. Axes and grid alone
  // exceed 500.
  for (const found of drawn)
    assert.ok(found.any > 500 && found.coloured > 20, `a chart is blank: ${JSON.stringify(drawn)}`);
}

/** Sets the width of the window, and waits until nothing on the page is wider. */
export async function setWidth(page, width) {
  await page.setViewportSize({ width, height: 900 });
  // Charts follow the window with a delay; if the page never fits, this times out.
  await page.waitForFunction(
    (w) => {
      const { scrollWidth, clientWidth } = document.documentElement;
      const plots = [...document.querySelectorAll(".uplot")];
      return innerWidth === w && scrollWidth <= clientWidth && plots.every((plot) => plot.clientWidth <= w);
    },
    width,
  );
}

/** Nothing is wider than the window at each width. */
export async function assertFits(page) {
  for (const width of WIDTHS) await setWidth(page, width);
}

/** Every chart shows values when it is focused and an arrow key is pressed. */
export async function readWithKeys(page) {
  for (const chart of await page.locator(".chart:visible:has(.plot)").all()) {
    await chart.locator(".plot").focus();
    await page.keyboard.press("ArrowRight");
    await chart.locator(".readout.live").waitFor();
    await page.keyboard.press("Escape");
    await chart.locator(".readout:not(.live)").waitFor();
  }
}

/** Formats a latency like src/format.ts, with three or four digits. Spaces of any kind count as one. */
export function latency(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  const decimals = size >= 1000 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : size >= 0.1 ? 3 : 4;
  return value.toFixed(decimals).replace(/\B(?=(\d{3})+(\.|$))(?<!\.\d*)/g, " ").replace("-", "\u2212");
}
export const plain = (text) => text.replace(/\s/g, " ");
export const textOf = async (locator) => plain(await locator.innerText());
