// Rules for every chart of the page: three labelled ticks per axis, nothing outside of the picture, no text
// over another text or a dot, and the mark of few samples where tables have it.
import assert from "node:assert/strict";
import { drawAll, open, setWidth, WIDTHS } from "./browser.mjs";

/** Runs in the page before its scripts: records the texts and dots on each canvas since it was last cleared. */
export function spy() {
  const pen = CanvasRenderingContext2D.prototype;
  const record = (canvas) => (canvas.drawn ??= { texts: [], dots: [] });
  const wrap = (name, before) => {
    const original = pen[name];
    pen[name] = function (...args) {
      before.call(this, ...args);
      return original.apply(this, args);
    };
  };
  wrap("clearRect", function (x, y, width, height) {
    if (width >= this.canvas.width && height >= this.canvas.height) this.canvas.drawn = { texts: [], dots: [] };
  });
  wrap("fillText", function (text, x, y) {
    const size = Number.parseFloat(/([\d.]+)px/.exec(this.font)[1]);
    const wide = this.measureText(text).width;
    const left = { center: x - wide / 2, right: x - wide, end: x - wide }[this.textAlign] ?? x;
    const top = { middle: y - size / 2, top: y, hanging: y, bottom: y - size }[this.textBaseline] ?? y - 0.8 * size;
    const at = this.getTransform();
    // Letters do not fill the whole height of their line.
    const corners = [
      [left, top + 0.12 * size],
      [left + wide, top + 0.88 * size],
    ].map(([cx, cy]) => [at.a * cx + at.c * cy + at.e, at.b * cx + at.d * cy + at.f]);
    const [xs, ys] = [corners.map(([cx]) => cx), corners.map(([, cy]) => cy)];
    const box = { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
    if (String(text).trim() !== "") record(this.canvas).texts.push({ text: String(text), turned: at.b !== 0, ...box });
  });
  wrap("arc", function (x, y, radius) {
    record(this.canvas).dots.push({ x, y, radius });
  });
}

/** Violations of the rules in the charts of a page, a sentence each. */
const broken = (page) =>
  page.evaluate(() => {
    const scale = devicePixelRatio;
    const found = [];
    for (const canvas of document.querySelectorAll(".uplot canvas")) {
      const chart = canvas.closest(".chart");
      const where = `${canvas.closest("section").id} (${chart.querySelector("h3").textContent})`;
      const { texts, dots } = canvas.drawn ?? { texts: [], dots: [] };
      const say = (sentence) => found.push(`${where}: ${sentence}`);
      const told = (one) => `"${one.text}" at ${[one.left, one.top, one.right, one.bottom].map(Math.round)}`;
      for (const one of texts) {
        const inside = one.left >= -1 && one.top >= -1 && one.right <= canvas.width + 1 && one.bottom <= canvas.height + 1;
        if (!inside) say(`${told(one)} leaves ${canvas.width} x ${canvas.height}`);
      }
      texts.forEach((one, i) => {
        for (const other of texts.slice(0, i)) {
          const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
          const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
          if (across > 1 && down > 1) say(`${told(one)} on ${told(other)}`);
        }
      });
      for (const { x, y, radius } of dots.filter((dot) => dot.radius >= 3.5 * scale)) {
        for (const one of texts) {
          const away = Math.hypot(x - Math.min(one.right, Math.max(one.left, x)), y - Math.min(one.bottom, Math.max(one.top, y)));
          if (away < radius - scale) say(`${told(one)} on a dot at ${Math.round(x)}, ${Math.round(y)}`);
        }
      }
      // The plot within the canvas: numbers of axes are to the left of it and below it.
      const over = canvas.parentElement.querySelector(".u-over").getBoundingClientRect();
      const frame = canvas.getBoundingClientRect();
      const [left, bottom] = [(over.left - frame.left) * scale, (over.bottom - frame.top) * scale];
      const ticks = {
        upright: texts.filter((one) => !one.turned && one.right <= left + 1),
        level: texts.filter((one) => one.top >= bottom && one.bottom <= bottom + 24 * scale),
      };
      for (const [axis, own] of Object.entries(ticks)) {
        const distinct = new Set(own.map((one) => one.text));
        if (distinct.size < 3) say(`its ${axis} axis says ${[...distinct].join(", ") || "nothing"}`);
      }
      // Clipped drawings leave colour at the edge.
      const copy = document.createElement("canvas");
      [copy.width, copy.height] = [canvas.width, canvas.height];
      const pen = copy.getContext("2d", { willReadFrequently: true });
      pen.drawImage(canvas, 0, 0);
      const edges = {
        left: [0, 0, 1, canvas.height],
        right: [canvas.width - 1, 0, 1, canvas.height],
        top: [0, 0, canvas.width, 1],
        bottom: [0, canvas.height - 1, canvas.width, 1],
      };
      for (const [edge, box] of Object.entries(edges)) {
        const { data } = pen.getImageData(...box);
        if (data.some((value, i) => i % 4 === 3 && value > 40)) say(`something is cut off at its ${edge}`);
      }
    }
    return found;
  });

/** Every chart of this page follows the rules, at each of these widths, in both colour schemes. */
export async function assertRules(path, widths = WIDTHS) {
  const all = [];
  const { page, close } = await open(path, { width: widths[0], before: `(${spy})()` });
  for (const [i, width] of widths.entries()) {
    await page.emulateMedia({ colorScheme: i % 2 === 0 ? "light" : "dark" });
    await setWidth(page, width);
    await drawAll(page);
    all.push(...(await broken(page)).map((sentence) => `at ${width}: ${sentence}`));
    // The other choice of every switch draws other charts; the next width starts with it.
    await page.evaluate(() => {
      const others = document.querySelectorAll("fieldset.segmented label:has(input:not(:checked))");
      for (const label of others) if (label.checkVisibility()) label.click();
    });
    await drawAll(page);
    all.push(...(await broken(page)).map((sentence) => `at ${width}, switched: ${sentence}`));
  }
  await close();
  assert.deepEqual(all, [], `${all.length} broken rules`);
}

/** If figures in a table have the mark of few samples, charts of the same samples have it too. */
export async function assertMarked(page, report) {
  const { sides } = report.comparison;
  if (sides.length === 0 || report.charts.length === 0) return;
  const said = async (section) => (await page.locator(`${section} .sentence`).allTextContents()).join(" ");
  const thin = (percent) => sides.some((side) => side.thin_above <= percent);
  const shares = report.charts.flatMap((chart) => chart.quantiles.share).filter((share) => share < 1);
  assert.equal((await said("#cdf")).includes("~"), shares.some((share) => thin(100 * share)), "the CDF");
  const phased = report.charts.map((chart, i) => [chart.phases, sides[i].thin_above]).filter(([phases]) => phases);
  const pale = phased.some(([phases, above]) => phases.share.some((share) => share < 1 && 100 * share >= above - 1e-9));
  if (phased.length > 0) assert.equal((await said("#phases")).includes("~"), pale, "the phases");
  const cells = await page.locator("#phases tbody tr").evaluateAll((rows) =>
    rows.map((row) => [row.querySelector("th").textContent.replace("p", ""), row.querySelectorAll(".thin-mark").length > 0]),
  );
  const least = Math.min(...sides.slice(0, 2).map((side) => side.thin_above));
  for (const [percent, marked] of cells) assert.equal(marked, Number(percent) >= least - 1e-9, `phases at p${percent}`);
}
