// Checks of each section against the data of the report, without comparing pictures.
import assert from "node:assert/strict";
import { latency, plain, textOf } from "./browser.mjs";

const rowsOf = async (page, id) =>
  (await page.locator(`${id} tbody tr`).evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.innerText)))).map(
    (row) => row.map(plain),
  );
const ends = (ci) => ci.map((end) => (end === null ? "?" : latency(end))).join(" to ");
const choose = (page, section, text) => page.locator(section).getByText(text, { exact: true }).first().click();

/** Whether the better side is certain. Older reports contain only an interval. */
const isClear = (verdict) => (verdict.certainty ? verdict.certainty === "sure" : (verdict.ci_ms?.[0] ?? 0) > 0);

/** An uncertain verdict must not look certain. */
export async function assertVerdict(page, report) {
  const { verdict } = report.comparison;
  const tiles = page.locator(".tiles > div");
  if (!verdict) return assert.equal(await tiles.count(), 0);
  assert.equal(await page.locator("header .verdict").textContent(), verdict.headline ?? verdict.sentence);
  if (verdict.certainty) assert.equal(await page.locator("header .certainty").textContent(), verdict.certainty);
  const order = [verdict.median_request, verdict.request, verdict.experienced];
  for (const [i, one] of order.entries()) {
    const text = await textOf(tiles.nth(i));
    const firm = one.sure === undefined ? undefined : isClear(one);
    assert.equal(await tiles.nth(i).evaluate((tile) => tile.classList.contains("open")), firm === false, text);
    if (one.ci_ms) assert.ok(text.includes(ends(one.ci_ms)), `"${text}" lacks ${ends(one.ci_ms)}`);
    assert.doesNotMatch(text, /sure: 100/, "no number of resamples is certain");
    if (firm === undefined) assert.doesNotMatch(text, /sure/);
    else assert.match(text, firm ? /✓ sure: / : /\? (undecided|likely, but not sure|borderline): /);
  }
  const open = verdict.experienced.sure !== undefined && !isClear(verdict.experienced);
  assert.equal(await page.locator("header .verdict.open").count(), open ? 1 : 0);
}

/** The chart and the control name the winner of the selected page, and its certainty. */
export async function assertPages(page, report, effective) {
  const waits = report.charts.map((chart) => chart.experienced[effective - 1].expected_ms);
  const order = [...waits.keys()].sort((a, b) => waits[a] - waits[b]);
  const answer = await textOf(page.locator(".winner"));
  assert.ok(answer.includes(`waits for ${effective} request`), answer);
  if (waits.length === 1) return assert.ok(answer.includes(`${latency(waits[0])} ms are expected`), answer);
  const by = waits[order[1]] - waits[order[0]];
  if (by > 0) assert.ok(answer.includes(`${report.charts[order[0]].label} is faster by ${latency(by)} ms`), answer);
  else assert.match(answer, /the sides are equal/);
  const own = report.comparison.page.effective_requests === effective;
  const verdicts = report.comparison.verdict;
  const real = verdicts.experienced.basis === "observed pages";
  const verdict = real ? verdicts.model : verdicts.experienced;
  if (own && real) assert.ok(answer.includes("by the model; on the real pages"), answer);
  if (own && verdict.sure !== undefined) assert.match(answer, isClear(verdict) ? /; sure \(/ : /; (not sure|undecided|borderline|likely, but not sure) \(/);
  else assert.match(answer, /certainty unknown: /);
  // The sentence names the lead changes of the curves.
  const sentence = await textOf(page.locator("#pages .sentence"));
  const leader = (n) => {
    const at = report.charts.map((chart) => chart.experienced[n].expected_ms);
    return at.indexOf(Math.min(...at));
  };
  const held = Math.min(...report.charts.map((chart) => chart.experienced.length));
  const changes = Array.from({ length: held - 1 }, (_, n) => n + 1).filter((n) => leader(n) !== leader(n - 1));
  if (changes.length === 1) assert.ok(sentence.includes(`for pages of ${changes[0] + 1} and more`), sentence);
  // The chart is visible without scrolling in a window of usual height.
  const bottom = await page.locator("#pages .plot").evaluate((plot) => plot.getBoundingClientRect().bottom + scrollY);
  if (report.valid && !report.summary) assert.ok(bottom <= 900, `the chart ends at ${bottom}`);
}

/** Intervals are shown beneath the figures of the requested page only. */
export async function assertIntervals(page, report, own) {
  const cis = report.comparison.sides.map((side) => side.expected_experienced_ci_ms).filter(Boolean);
  // The columns of the table: the side, one request, a user who needs many; other columns may contain equal
  // ends.
  const rows = await rowsOf(page, "#expectations");
  report.comparison.sides.forEach(({ expected_request_ci_ms: request, expected_experienced_ci_ms: experienced }, i) => {
    if (request) assert.ok(rows[i][1].includes(ends(request)), `${ends(request)} in "${rows[i][1]}"`);
    if (experienced) assert.equal(rows[i][2].includes(ends(experienced)), own, `${ends(experienced)} in "${rows[i][2]}"`);
  });
  const note = await textOf(page.locator("#people .note"));
  if (cis.length > 0) assert.equal(note.includes("exist only for the requested page"), !own, note);
  assert.equal(await page.locator("#people td .ci").count() > 0, own && cis.length > 0);
}

export async function assertCounts(page, report) {
  const rows = await rowsOf(page, "#counts");
  report.comparison.sides.forEach((side, i) => {
    const numbers = rows[i].slice(2, 7).map((text) => Number(text.replaceAll(" ", "")));
    assert.deepEqual(numbers, [side.read, side.n, side.failed, side.without_metric, side.excluded]);
    assert.equal(numbers[0], numbers.slice(1).reduce((sum, one) => sum + one, 0), "nothing is dropped");
    const error = rows[i][7].trim();
    if (side.relative_error === undefined) return assert.equal(error, "exact");
    const said = Number(error.replace("\u00b1", "").replace(" %", "")) / 100;
    assert.ok(Math.abs(said / side.relative_error - 1) < 0.05, error);
  });
}

export async function assertThresholds(page, report) {
  const { thresholds } = report.comparison;
  const items = page.locator("#thresholds li");
  assert.equal(await items.count(), thresholds.length);
  for (const [i, one] of thresholds.entries()) {
    const text = await textOf(items.nth(i));
    assert.ok(text.includes(one.claim) && text.includes(one.figure) && text.includes(one.holds ? "held" : "failed"));
  }
}

/** Q_other - Q_first at the median, of requests and of users on the page, in the sentence. */
export async function assertDifference(page, report) {
  const [curve] = report.differences;
  const at = (share) => {
    const i = curve.share.findIndex((one) => one >= share);
    const [x0, x1, y0, y1] = [curve.share[i - 1], curve.share[i], curve.difference_ms[i - 1], curve.difference_ms[i]];
    return y0 + ((y1 - y0) * (share - x0)) / (x1 - x0);
  };
  const said = (value) => `${latency(Math.abs(value))} ms ${value > 0 ? "slower" : "faster"}`;
  const sentence = () => textOf(page.locator("#difference .sentence"));
  assert.ok((await sentence()).includes(`median of requests it is ${said(at(0.5))}`), await sentence());
  await choose(page, "#difference", "people");
  const effective = report.comparison.page.effective_requests;
  const expected = `it is ${said(at(0.5 ** (1 / effective)))}`;
  assert.ok((await sentence()).includes(expected), `"${await sentence()}" lacks "${expected}"`);
  const labels = report.comparison.crossovers.length;
  if (labels > 0) assert.match(await sentence(), /The faster side changes/);
  await choose(page, "#difference", "requests");
}

/** The read-out of a cell selected by keyboard contains the counts of the data. */
export async function assertHeat(page, report) {
  for (const [side, { heat }] of report.charts.entries()) {
    if (!heat) continue;
    const chart = page.locator("#heat .chart").nth(side);
    const rows = heat.edges_ms.length - 1;
    const column = (i) => heat.counts.slice(i * rows, (i + 1) * rows);
    const row = column(0).indexOf(Math.max(...column(0)));
    const said = (i, r) => {
      const total = column(i).reduce((sum, one) => sum + one, 0);
      const [low, high] = [heat.edges_ms[r], heat.edges_ms[r + 1]];
      // JSON has no infinity: the last row may be unbounded.
      const range = `${latency(low)} ${typeof high === "number" ? `to ${latency(high)}` : "and more"} ms: `;
      return `${range}${total === 0 ? "no sample" : `${column(i)[r]} of ${total} samples`}`;
    };
    // A short recording has one interval, so the arrow keys do not move further.
    const next = Math.min(1, heat.intervals - 1);
    await chart.locator(".plot").focus();
    for (const [key, i, r] of [
      ["ArrowRight", 0, row],
      ["ArrowRight", next, row],
      ["ArrowUp", next, Math.min(rows - 1, row + 1)],
      ["ArrowLeft", 0, Math.min(rows - 1, row + 1)],
    ]) {
      await page.keyboard.press(key);
      const text = await textOf(chart.locator(".readout"));
      assert.ok(text.includes(said(i, r)), `after ${key} "${text}" lacks "${said(i, r)}"`);
    }
    await page.keyboard.press("Escape");
    const sentence = await textOf(chart.locator(".sentence"));
    for (const shift of report.comparison.sides[side].shifts.slice(0, 3))
      assert.ok(sentence.includes(`from ${latency(shift.before_ms)} to ${latency(shift.after_ms)} ms`), sentence);
  }
}

export async function assertPhases(page, report) {
  const rows = await rowsOf(page, "#phases");
  const { phases } = report.comparison;
  assert.equal(rows.length, phases.length);
  for (const [i, at] of phases.entries()) {
    const marked = await page.locator("#phases tbody tr").nth(i).locator(".decisive").count();
    assert.equal(marked, at.decisive ? 1 : 0);
    if (!at.decisive) continue;
    const column = at.phases.findIndex((one) => one.phase === at.decisive);
    const { first_ms, second_ms } = at.phases[column];
    assert.ok(rows[i][column + 1].startsWith("\u25c6"), rows[i].join(" | "));
    assert.ok(rows[i][column + 1].includes(latency(second_ms - first_ms)));
  }
}

/** The first twenty groups in the order of the data; all after a click. */
export async function assertBreakdown(page, report) {
  const { breakdown, sides } = report.comparison;
  if (!breakdown) return assert.equal(await page.locator("#breakdown").count(), 0);
  const names = async () => (await rowsOf(page, "#breakdown")).map((row) => row[0]);
  const wanted = breakdown.groups.map((group) => group.name);
  assert.deepEqual(await names(), wanted.slice(0, 20));
  if (wanted.length > 20) {
    await page.getByText(`Show all ${wanted.length}`).click();
    assert.deepEqual(await names(), wanted);
    assert.match(page.url(), /groups=all/);
  }
  const rows = await rowsOf(page, "#breakdown");
  breakdown.groups.forEach((group, i) => {
    const thin = rows[i].filter((text) => text.includes("~")).length;
    assert.equal(thin, [group.first, group.second].filter((side) => side?.thin).length, group.name);
    assert.ok(rows[i][2].includes(group.experienced ? (group.experienced.better ?? "a tie") : "only one side"));
  });
  const worse = breakdown.groups.filter((group) => group.experienced?.better === sides[1].label).length;
  const sentence = await textOf(page.locator("#breakdown .finding"));
  assert.ok(sentence.includes(worse === 0 ? "not worse in any group" : `worse in ${worse} of ${wanted.length} groups`), sentence);
  if (wanted.length > 20) await page.getByText("Show the first 20").click();
}

/** Each pair is in two cells with opposite signs. */
export async function assertPairs(page, report) {
  const { pairs, sides } = report.comparison;
  const at = (label) => sides.findIndex((side) => side.label === label);
  for (const [choice, of] of [
    ["one request", (pair) => pair.request],
    ["the page", (pair) => pair.experienced],
  ]) {
    await choose(page, "#pairs", choice);
    const rows = await rowsOf(page, "#pairs");
    for (const pair of pairs) {
      const verdict = of(pair);
      if (!verdict.better) {
        assert.ok(rows[at(pair.first)][at(pair.second) + 1].includes("a tie"));
        continue;
      }
      const [better, worse] = verdict.better === pair.first ? [pair.first, pair.second] : [pair.second, pair.first];
      const [ahead, behind] = [rows[at(better)][at(worse) + 1], rows[at(worse)][at(better) + 1]];
      const figure = latency(verdict.difference_ms);
      const firm = verdict.sure === undefined || isClear(verdict);
      assert.ok(ahead.includes(`\u2212${figure}`) && ahead.includes("faster"), ahead);
      assert.ok(behind.includes(`+${figure}`) && behind.includes("slower"), behind);
      assert.deepEqual([ahead[0], behind[0]], firm ? ["\u25bc", "\u25b2"] : ["?", "?"]);
    }
  }
}

export async function assertIndependence(page, report) {
  const { independence } = report.comparison;
  const text = await textOf(page.locator("#independence"));
  if (independence.sentence === "" && independence.sides.length === 0) return assert.match(text, /contains no data/);
  assert.ok(text.includes(independence.sentence));
  assert.ok(text.includes(independence.checked ? "checked against real pages" : "not checked"));
  for (const side of independence.sides) {
    if (side.pages) {
      const { off, off_ci } = side.pages;
      const said = [off, ...off_ci].map((one) => `${one < 0 ? "\u2212" : "+"}${Number(Math.abs(100 * one).toFixed(1))} %`);
      assert.ok(text.includes(said[0]) && text.includes(`${said[1]} to ${said[2]}`), `"${text}" lacks ${said}`);
    }
    for (const found of [side.pages, side.neighbours]) {
      if (found?.observed_ms === undefined) continue;
      assert.ok(text.includes(latency(found.model_ms)) && text.includes(latency(found.observed_ms)), text);
    }
  }
}

/** The copy is tab-separated, with interval ends in separate columns and plain numbers. */
export function assertCopied(text, report) {
  const [head, ...rows] = text.split("\n").map((line) => line.split("\t"));
  for (const row of rows) assert.equal(row.length, head.length);
  const column = head.indexOf("expected request (ms)");
  report.comparison.sides.forEach((side, i) => {
    assert.equal(rows[i][column], latency(side.expected_request_ms).replace(" ", ""));
    if (!side.expected_request_ci_ms) return;
    assert.equal(head[column + 1], "expected request (ms), low end");
    assert.deepEqual(rows[i].slice(column + 1, column + 3), side.expected_request_ci_ms.map((end) => String(end ?? "")));
  });
}
