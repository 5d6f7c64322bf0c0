// Makes a speed test in a browser against the real server on loopback, as a visitor would: with the keyboard, on a wide page and on a phone.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { access, readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { launch } from "./chromium.mjs";

const program = process.env["LONGHAUL"] ?? fileURLToPath(new URL("../../target/debug/longhaul", import.meta.url));
await access(program).catch(() => assert.fail(`${program} is not there: cargo build, or name it with LONGHAUL`));

const server = spawn(program, ["speed", "serve", "--listen", "127.0.0.1:0"], { stdio: ["ignore", "ignore", "pipe"] });
const browser = await launch();
try {
  let url;
  for await (const line of createInterface({ input: server.stderr })) {
    url = line.match(/^listening on (\S+)$/)?.[1];
    if (url !== undefined) break;
  }
  for (const [width, scheme] of [[1100, "light"], [360, "dark"]]) await visit(url, width, scheme);
  await stopped(url);
} finally {
  await browser.close();
  server.kill();
}

async function visit(url, width, colorScheme) {
  const { page, problems } = await open(url, { viewport: { width, height: 800 }, colorScheme });
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#meaning");
  assert.equal(await page.locator("[role=status]").textContent(), "done");
  assert.ok((await page.locator(".verdict").textContent()).length > 40);
  assert.equal(await page.locator(".card").count(), 3);
  // A page sends no datagrams: what was not measured is named, and no score is the best that there is.
  assert.match(await page.locator("#about").textContent(), /loss: a page sends no datagrams/);
  assert.match(await page.locator(".card .class").first().textContent(), / to /);
  assert.equal(await page.locator("#latency svg .dot").count(), await samples(page));
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "it fits");
  const first = page.locator("#sizes details").first();
  await first.locator("summary").click();
  assert.match(await first.textContent(), /download 100 KB.*\d/);
  const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(ground === "rgb(246, 247, 248)", colorScheme === "light", ground);
  assert.deepEqual(problems, []);
  await page.context().close();
}

/** How many latencies the saved result has, which the server has made. */
async function samples(page) {
  const [json, csv] = [await saved(page, "JSON"), await saved(page, "CSV")];
  const outcome = JSON.parse(json);
  assert.equal(outcome.schema, "longhaul.speed/1");
  assert.ok(outcome.download.sets.length >= 3 && outcome.latency.idle_ms.n === 20, "the plan was gone through");
  const rows = csv.trim().split("\n");
  assert.equal(rows.filter((row) => row.startsWith("latency,")).length, outcome.latency.samples.length);
  return outcome.latency.samples.length;
}

async function saved(page, kind) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByText(`Save as ${kind}`).click()]);
  return readFile(await download.path(), "utf8");
}

/** A test that is stopped shows what there was. */
async function stopped(url) {
  const { page } = await open(url, {});
  await page.getByText("thorough").click();
  await page.getByRole("button", { name: "Start" }).click();
  await page.waitForSelector(".curve svg");
  await page.getByRole("button", { name: "Stop" }).click();
  await page.waitForSelector("#meaning");
  assert.match(await page.locator("[role=status]").textContent(), /^stopped/);
  await page.context().close();
}

async function open(url, options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const problems = [];
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(String(error)));
  await page.goto(url);
  return { page, problems };
}
