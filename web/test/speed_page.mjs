// Makes a speed test in a browser against the real server on loopback, as a visitor would: with the keyboard, on a wide page and on a phone.
//   node test/speed_page.mjs [--shots DIR]
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { access, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { deflateRawSync } from "node:zlib";
import { launch } from "./chromium.mjs";

const program = process.env["LONGHAUL"] ?? fileURLToPath(new URL("../../target/debug/longhaul", import.meta.url));
await access(program).catch(() => assert.fail(`${program} is not there: cargo build, or name it with LONGHAUL`));

const { values: options } = parseArgs({ options: { shots: { type: "string" } } });
const folder = await mkdtemp(join(tmpdir(), "longhaul-speed-"));
const { token, sha256 } = JSON.parse(execFileSync(program, ["speed", "token", "--json"]));
const servers = [];
const browser = await launch();
try {
  const url = await serve();
  for (const [width, scheme] of [[1100, "light"], [360, "dark"]]) await visit(url, width, scheme);
  await stopped(url);
  await linked(url);
  const keeping = await serve("--keep", join(folder, "results"), "--operator", sha256);
  const left = await kept(keeping);
  await operator(keeping, left);
  if (options.shots !== undefined) await pictures(keeping, left, options.shots);
} finally {
  await browser.close();
  servers.forEach((server) => server.kill());
  await rm(folder, { recursive: true });
}

/** Starts a server; its address. */
async function serve(...more) {
  const server = spawn(program, ["speed", "serve", "--listen", "127.0.0.1:0", ...more], { stdio: ["ignore", "ignore", "pipe"] });
  servers.push(server);
  for await (const line of createInterface({ input: server.stderr })) {
    const [, url] = line.match(/^listening on (\S+)$/) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error("the server did not start");
}

async function visit(url, width, colorScheme) {
  const { page, problems } = await open(url, { viewport: { width, height: 800 }, colorScheme });
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#meaning");
  assert.equal(await page.locator("[role=status]").textContent(), "done");
  assert.ok((await page.locator(".verdict").textContent()).length > 40);
  assert.equal(await page.locator(".card").count(), 3);
  assert.match(await page.locator(".lead").textContent(), /Nothing is kept, and nothing goes anywhere else/);
  assert.equal(await page.getByRole("button", { name: "Keep it" }).count(), 0, "what nobody keeps is not offered");
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

/** A link holds a whole result, and what is no such link is said to be none. */
async function linked(url) {
  const { page, problems } = await open(url, {});
  await made(page);
  const [first, link] = [await shown(page), await page.getByText("Link that holds").getAttribute("href")];
  assert.match(link, /^#r=[\w-]{500,8000}$/);
  await page.context().close();
  assert.deepEqual(problems, []);
  const other = await open(`${url}${link}`, {});
  const asked = [];
  other.page.on("request", (request) => asked.push(request.url()));
  await other.page.waitForSelector("#meaning");
  assert.equal(await shown(other.page), first, "what was shown is what the link shows");
  assert.match(await other.page.locator("[role=status]").first().textContent(), /^A result of .* may have changed it/);
  assert.ok(!asked.some((address) => address.includes("__result") || address.includes("__kept")), "nothing is told to the server");
  const boasting = { schema: "longhaul.speed/1", sentence: "<img src=x onerror=alert(1)>" };
  for (const [hash, words] of [
    [link.slice(0, -40), /only a part of one/],
    ["#r=%%%", /holds no result/],
    [`#r=${packed(JSON.stringify(boasting))}`, /something else than a result/],
    [`#r=${packed("0".repeat(4_000_000))}`, /holds no result/],
    [`#r=${"A".repeat(400_000)}`, /longer than one/],
    ["#k=0123456789abcdef0123456789abcdef", /keeps no results/],
  ]) {
    const bad = await open(`${url}${hash}`, {});
    await bad.page.waitForSelector(".status.problem");
    assert.match(await bad.page.locator(".status").textContent(), words, hash.slice(0, 50));
    assert.equal(await bad.page.locator("#meaning").count(), 0);
    await bad.page.context().close();
  }
  await other.page.context().close();
}

function packed(text) {
  return deflateRawSync(text).toString("base64url");
}

/** A result is kept if its visitor says so, and only then; its link leads to it. */
async function kept(url) {
  const { page, problems } = await open(url, {});
  assert.match(await page.locator(".lead").textContent(), /nothing is kept unless you say so .* 30 days, with your network, 127\.0\.0\.0\/24/);
  const posted = [];
  page.on("request", (request) => request.method() === "POST" && posted.push(new URL(request.url()).pathname));
  await made(page);
  assert.ok(!posted.includes("/__keep"), "not without being asked");
  const first = await shown(page);
  await page.getByRole("button", { name: "Keep it on this server" }).focus();
  await page.keyboard.press("Enter");
  const link = await page.getByText("link to the kept result").getAttribute("href");
  assert.match(link, /^#k=[0-9a-f]{32}$/);
  assert.equal(posted.filter((path) => path === "/__keep").length, 1);
  await page.context().close();
  assert.deepEqual(problems, []);
  const other = await open(`${url}${link}`, {});
  await other.page.waitForSelector("#meaning");
  assert.equal(await shown(other.page), first);
  assert.match(await other.page.locator("[role=status]").first().textContent(), /left here to be kept/);
  await other.page.context().close();
  return link;
}

/** The operator's page shows what was left to whoever has the token. */
async function operator(url, link) {
  const { page, problems } = await open(`${url}operator`, { viewport: { width: 360, height: 800 } });
  await page.keyboard.press("Tab");
  await page.keyboard.type("a guess");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".status.problem");
  assert.match(await page.locator(".status").textContent(), /takes the operator's token/);
  // A refusal is in the console, and nothing else.
  assert.equal(problems.splice(0).length, 1);
  await page.getByLabel("Token", { exact: true }).fill(token);
  await page.getByRole("button", { name: "Show" }).click();
  await page.waitForSelector("#all");
  assert.match(await page.locator(".status").textContent(), /^1 result; each is kept for 30 days$/);
  assert.match(await page.locator("#all").textContent(), /Download, Mbit\/s1\d/);
  assert.equal(await page.locator("#networks tbody th").textContent(), "127.0.0.0/24");
  assert.equal(await page.locator("#latest a").first().getAttribute("href"), `/${link}`);
  assert.equal(await page.locator("#time svg").count(), 1);
  await page.getByLabel("Figure", { exact: true }).selectOption("Latency, idle");
  assert.match(await page.locator("#time svg").getAttribute("aria-label"), /^Latency, idle\. 20.*median .* ms/);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "it fits");
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#latest").getByText("Save as JSON").click()]);
  assert.equal(JSON.parse(await readFile(await download.path(), "utf8")).schema, "longhaul.speed.kept/1");
  await page.getByLabel("Network", { exact: true }).fill("192.0.2.0/24");
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByText("0 results of the 1 that are kept").waitFor();
  assert.deepEqual(problems, []);
  await page.context().close();
}

/** Makes a test. */
async function made(page) {
  await page.getByRole("button", { name: "Start" }).click();
  await page.waitForSelector("#share");
}

/** What the page says of a result. */
async function shown(page) {
  const parts = ["#meaning", "#scores", "#latency", "#sizes"].map((part) => page.locator(part).textContent());
  return (await Promise.all(parts)).join("\n");
}

/** Pictures to look at, of each page. */
async function pictures(url, link, directory) {
  for (const width of [1200, 390]) {
    for (const colorScheme of ["light", "dark"]) {
      const { page } = await open(url, { viewport: { width, height: 900 }, colorScheme });
      const at = (name) => join(directory, `${name}-${width}-${colorScheme}.png`);
      await page.waitForSelector(".lead:not(:empty)");
      await page.screenshot({ path: at("begin"), fullPage: true });
      await made(page);
      await page.getByRole("button", { name: "Keep it on this server" }).click();
      await page.getByText("link to the kept result").waitFor();
      await page.screenshot({ path: at("made"), fullPage: true });
      await page.goto(`${url}${link}`);
      await page.reload();
      await page.waitForSelector("#meaning");
      await page.screenshot({ path: at("kept"), fullPage: true });
      await page.goto(`${url}operator`);
      await page.getByLabel("Token", { exact: true }).fill(token);
      await page.getByRole("button", { name: "Show" }).click();
      await page.waitForSelector("#all");
      await page.screenshot({ path: at("operator"), fullPage: true });
      await page.context().close();
    }
  }
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
