// Runs a speed test in a browser against the real server on loopback: by keyboard, on a wide page and on a
// phone.
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
  await refused(url);
  await linked(url);
  await foreign(url);
  await unfolded(url);
  await narrow(url);
  await verdict(url);
  await uploading(url);
  await overtaken(url);
  const keeping = await serve("--keep", join(folder, "results"), "--operator", sha256);
  const left = await kept(keeping);
  await operator(keeping, left);
  if (options.shots !== undefined) await pictures(keeping, left, options.shots);
} finally {
  await browser.close();
  servers.forEach((server) => server.kill());
  await rm(folder, { recursive: true });
}

/** Starts a server; returns its address. */
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
  assert.match(await page.locator(".lead").textContent(), /Nothing is stored, and nothing is sent to another server/);
  assert.equal(await page.getByRole("button", { name: "Store it" }).count(), 0, "what nobody keeps is not offered");
  // Missing measurements are named: a page cannot measure handshakes.
  assert.match(await page.locator("#about").textContent(), /rpm: there was no probe/);
  // 0 of 200: Wilson's interval ends at z² / (200 + z²).
  assert.match(await page.locator("#meaning").textContent(), /Packet loss0\u00a0%0 of 200; 95 % interval 0\u00a0% to 1\.9\u00a0%/);
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

/** The number of latency samples in the saved result of the server. */
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

/** A stopped test shows its partial result. */
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

/** Without WebRTC, or without replies, loss is missing with a reason, and no score has the best class. */
async function refused(url) {
  for (const [without, words] of [
    [() => delete globalThis.RTCPeerConnection, /loss: this browser has no WebRTC/],
    [() => (globalThis.RTCPeerConnection = class { constructor() { throw new Error("switched off"); } }), /loss: WebRTC failed: Error: switched off/],
    [() => {
      // An SDP answer with an unreachable address.
      const { setRemoteDescription } = RTCPeerConnection.prototype;
      RTCPeerConnection.prototype.setRemoteDescription = function (answer) {
        return setRemoteDescription.call(this, { ...answer, sdp: answer.sdp.replaceAll(/(udp \d+) \S+ \d+/g, "$1 192.0.2.1 9") });
      };
    }, /loss: no WebRTC connection within/],
  ]) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.addInitScript(without);
    await page.goto(url);
    await made(page);
    assert.match(await page.locator("#about").textContent(), words);
    assert.match(await page.locator("#meaning").textContent(), /Packet lossnot measured/);
    assert.match(await page.locator(".card .class").first().textContent(), / to /);
    await context.close();
  }
}

/** A link contains a whole result; other links are rejected. */
async function linked(url) {
  const { page, problems } = await open(url, {});
  await made(page);
  const [first, link] = [await shown(page), await page.getByText("Link with this").getAttribute("href")];
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
  const incomplete = { schema: "longhaul.speed/1", sentence: "The best line there is." };
  for (const [hash, words] of [
    [link.slice(0, -40), /only a part of it/],
    ["#r=%%%", /contains no result/],
    [`#r=${packed(JSON.stringify(incomplete))}`, /does not contain the result/],
    [`#r=${packed("0".repeat(4_000_000))}`, /contains no result/],
    [`#r=${"A".repeat(400_000)}`, /too long for a result/],
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

/** Texts from a link are shown as text, even if they contain markup. */
async function foreign(url) {
  const markup = '<img src="x" alt="injected">';
  const link = `${url}#r=${packed(JSON.stringify(result(markup)))}`;
  // The same page with texts as markup shows that the test would detect an injection.
  const naive = await browser.newPage();
  await naive.addInitScript(() => {
    const { append } = Element.prototype;
    Element.prototype.append = function (...children) {
      for (const child of children) typeof child === "string" ? this.insertAdjacentHTML("beforeend", child) : append.call(this, child);
    };
  });
  await naive.goto(link);
  await naive.waitForSelector("#share");
  // The sentence, a reason for each score, and six texts about the test.
  assert.equal(await naive.locator("img[alt=injected]").count(), 10, "it is seen where a text becomes an element");
  await naive.close();
  const { page, problems } = await open(link, {});
  await page.waitForSelector("#share");
  assert.equal(await page.locator("img").count(), 0, "no text becomes an element");
  for (const [part, times] of [["#meaning", 1], ["#scores", 3], ["#about", 6]]) {
    assert.equal((await page.locator(part).textContent()).split(markup).length - 1, times, `${part} shows its texts as they are`);
  }
  // Without a rate, there is no limit.
  assert.match(await page.locator("#meaning").textContent(), /Downloadnot measuredUpload50\.0\u00a0Mbit\/slimited by the network/);
  assert.deepEqual(problems, []);
  await page.context().close();
}

/** On a phone the table scrolls visibly, and drawings are redrawn after rotation. */
async function narrow(url) {
  const { page, problems } = await open(`${url}#r=${packed(JSON.stringify(result("text")))}`, { viewport: { width: 390, height: 844 } });
  await page.waitForSelector("#sizes .wide");
  const table = await page.locator("#sizes .wide").evaluate((element) => ({
    hidden: element.scrollWidth - element.clientWidth,
    shadows: getComputedStyle(element).backgroundAttachment,
  }));
  assert.ok(table.hidden > 0, `${table.hidden}`);
  assert.equal(table.shadows, "local, local, scroll, scroll");
  const drawn = () => page.locator("#latency svg").evaluate((svg) => svg.viewBox.baseVal.width);
  assert.equal(await drawn(), 390 - 72);
  await page.setViewportSize({ width: 844, height: 390 });
  await page.waitForFunction((width) => document.querySelector("#latency svg").viewBox.baseVal.width === width, 844 - 72);
  assert.deepEqual(problems, []);
  await page.context().close();
}

/** The limit of a direction is shown in words, and RPM has its explanation. */
async function verdict(url) {
  const made = result("text");
  made.upload.limited_by = "device";
  made.rpm = { value: 224.4, method: "text" };
  const { page } = await open(`${url}#r=${packed(JSON.stringify(made))}`, {});
  await page.waitForSelector("#meaning");
  const text = await page.locator("#meaning").textContent();
  assert.match(text, /Upload50\.0\u00a0Mbit\/slimited by your device/);
  assert.match(text, /Responsiveness \(RPM\)224round trips per minute under load/);
  await page.context().close();
}

/** The curve of uploads shows the bytes that the server has received, not those that the browser has sent. */
async function uploading(url) {
  const context = await browser.newContext();
  const page = await context.newPage();
  let received = 0;
  // 1 MB more has arrived at each sample; the upload ends after several samples.
  await page.route(/__down\?bytes=0/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, headers: { ...response.headers(), "received-bytes": String(received) } });
  });
  let release;
  const released = new Promise((resolve) => (release = resolve));
  await page.route(/__up\?test=/, async (route) => {
    received = 3_000_000;
    await released;
    await route.continue();
  });
  await page.goto(url);
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByText(/ down, 3\.00?\u00a0MB up so far/).waitFor();
  release();
  await page.waitForSelector("#meaning");
  await context.close();
}

/** A result in the format of the server, with the given text in every text field. */
function result(text) {
  const spread = { n: 1, min: 5e7, p25: 5e7, p50: 5e7, p75: 5e7, max: 5e7 };
  const score = { points: 5, points_at_best: 5, max: 50, class: "poor", class_at_best: "poor", missing: [], why: [{ text }] };
  const samples = [{ at_s: 1, during: "idle", on: "same", ms: 20 }];
  return {
    schema: "longhaul.speed/1",
    url: text,
    started: text,
    took_s: 9,
    plan: text,
    protocol: text,
    streams: 1,
    download: { bps_p90: null, sets: [{ ...spread, bytes: 1000, bps: [], min: null, p25: null, p50: null, p75: null, max: null }], limited_by: "network" },
    upload: { bps_p90: 5e7, sets: [{ ...spread, bytes: 1e6, bps: [5e7] }], limited_by: "network" },
    latency: { idle_ms: { n: 1, min: 20, p25: 20, p50: 20, p75: 20, max: 20 }, loaded_down_ms: null, loaded_up_ms: null, jitter_ms: null, loaded: [], samples },
    loss: null,
    scores: { streaming: score, gaming: score, rtc: score },
    rubric: text,
    rpm: { value: null, method: text },
    sentence: text,
    missing: [{ what: text, why: text }],
    interrupted: false,
  };
}

/** A link that decompresses to a thousand times its size is decompressed only up to the limit. */
async function unfolded(url) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.addInitScript(() => {
    globalThis.taken = 0;
    const { write } = WritableStreamDefaultWriter.prototype;
    WritableStreamDefaultWriter.prototype.write = function (piece) {
      globalThis.taken += piece.byteLength;
      return write.call(this, piece);
    };
  });
  const hash = `#r=${packed("0".repeat(200_000_000))}`;
  assert.ok(hash.length > 250_000 && hash.length < 350_000, `${hash.length}: it is not refused for its length`);
  await page.goto(`${url}${hash}`);
  await page.getByText("contains no result").waitFor();
  // 2 KiB decompress to at most 2 MiB.
  const taken = await page.evaluate(() => globalThis.taken);
  assert.ok(taken > 0 && taken <= 2048, `${taken} bytes were unfolded`);
  await context.close();
}

/** A result is shown before its link is ready; results of an older action are not shown. */
async function overtaken(url) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.addInitScript(() => {
    // At first, creating a link never finishes.
    globalThis.isHeld = true;
    globalThis.CompressionStream = class extends CompressionStream {
      get readable() {
        return globalThis.isHeld ? new ReadableStream() : super.readable;
      }
    };
  });
  const link = `#r=${packed(JSON.stringify({ ...result("text"), sentence: "from a link" }))}`;
  await page.goto(`${url}${link}`);
  await page.waitForSelector("#meaning");
  assert.equal(await page.locator("#share").count(), 0, "its link is not there yet");
  await page.evaluate(() => (globalThis.isHeld = false));
  // Two links to stored results, of which the first response arrives last.
  let release;
  const released = new Promise((resolve) => (release = resolve));
  await page.route("**/__kept?id=*", async (route) => {
    const isFirst = route.request().url().endsWith("=1");
    if (isFirst) await released;
    const sentence = isFirst ? "the first" : "the second";
    await route.fulfill({ json: { ...result("text"), sentence } });
  });
  await Promise.all([page.waitForRequest(/__kept\?id=1$/), page.evaluate(() => (location.hash = "#k=1"))]);
  await page.evaluate(() => (location.hash = "#k=2"));
  await page.getByText("the second").waitFor();
  await Promise.all([page.waitForResponse(/__kept\?id=1$/), release()]);
  // The page handles the response before the next task.
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
  assert.equal(await page.locator(".verdict").textContent(), "the second");
  // A link that is followed during a test replaces the test and its status.
  await page.getByRole("button", { name: "Start" }).click();
  await page.waitForSelector(".curve svg");
  const concluded = page.waitForResponse(/__result/);
  await page.evaluate((hash) => (location.hash = hash), link);
  await page.getByText("from a link", { exact: true }).waitFor();
  await concluded;
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
  assert.equal(await page.locator(".verdict").textContent(), "from a link");
  assert.match(await page.locator("[role=status]").first().textContent(), /the creator of the link/);
  await context.close();
}

function packed(text) {
  return deflateRawSync(text).toString("base64url");
}

/** A result is stored only after a click; its link shows it. */
async function kept(url) {
  const { page, problems } = await open(url, {});
  await page.waitForSelector(".lead:not(:empty)");
  assert.match(await page.locator(".lead").textContent(), /nothing is stored unless you choose so .* 30 days, with your network, 127\.0\.0\.0\/24/);
  const posted = [];
  page.on("request", (request) => request.method() === "POST" && posted.push(new URL(request.url()).pathname));
  await made(page);
  assert.ok(!posted.includes("/__keep"), "not without being asked");
  const first = await shown(page);
  await page.getByRole("button", { name: "Store it on this server" }).focus();
  await page.keyboard.press("Enter");
  const link = await page.getByText("link to the stored result").getAttribute("href");
  assert.match(link, /^#k=[0-9a-f]{32}$/);
  assert.equal(posted.filter((path) => path === "/__keep").length, 1);
  await page.context().close();
  assert.deepEqual(problems, []);
  const other = await open(`${url}${link}`, {});
  await other.page.waitForSelector("#meaning");
  assert.equal(await shown(other.page), first);
  assert.match(await other.page.locator("[role=status]").first().textContent(), /stored on this server/);
  await other.page.context().close();
  return link;
}

/** The operator's page shows the stored results to a user with the token. */
async function operator(url, link) {
  const { page, problems } = await open(`${url}operator`, { viewport: { width: 360, height: 800 } });
  await page.keyboard.press("Tab");
  await page.keyboard.type("a guess");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".status.problem");
  assert.match(await page.locator(".status").textContent(), /takes the operator's token/);
  // The console contains the rejected request and nothing else.
  assert.equal(problems.splice(0).length, 1);
  await page.getByLabel("Token", { exact: true }).fill(token);
  await page.getByRole("button", { name: "Show" }).click();
  await page.waitForSelector("#all");
  assert.match(await page.locator(".status").textContent(), /^1 result; each is stored for 30 days$/);
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
  await page.getByText("0 results of 1 stored").waitFor();
  assert.deepEqual(problems, []);
  await page.context().close();
  await crowded(url);
}

/** IPv6 networks and all figures fit on a wide page, and a median shows its number of results. */
async function crowded(url) {
  const { page, problems } = await open(`${url}operator`, { viewport: { width: 1200, height: 900 } });
  const spread = (n, value) => ({ n, min: value / 2, p25: value * 0.8, p50: value, p75: value * 1.2, max: value * 2 });
  const figures = {
    download_bps: spread(12_345, 123.4e6),
    upload_bps: spread(12_344, 123.4e6),
    idle_ms: spread(12_345, 123.4),
    loaded_ms: spread(2000, 1234),
    jitter_ms: spread(12_345, 12.34),
    loss_ratio: spread(7, 0.0123),
  };
  const name = "2001:db8:1234::/48";
  const measured = { download_bps: 123.4e6, upload_bps: 123.4e6, idle_ms: 123.4, loaded_up_ms: 1234, jitter_ms: 12.34, loss_ratio: 0.0123 };
  const row = { id: "0123456789abcdef0123456789abcdef", kept_s: 1_777_852_800, network: name, plan: "quick", protocol: "h2", measured };
  const group = { name, n: 12_345, figures };
  const overview = {
    schema: "longhaul.speed.kept/1",
    keep_for_s: 86_400,
    kept: 12_345,
    all: { ...group, name: "all" },
    period: "hour",
    by_time: [{ ...group, name: "2026-05-04 00:00" }],
    by_network: [group],
    networks: 1,
    latest: [row],
  };
  await page.route(/\/operator\.json/, (route) => route.fulfill({ json: overview }));
  await page.getByLabel("Token", { exact: true }).fill("any");
  await page.getByRole("button", { name: "Show" }).click();
  await page.waitForSelector("#latest");
  const cells = await page.locator("#networks tbody td").allTextContents();
  assert.deepEqual(cells.slice(-3), ["1\u202f234 n 2\u202f000", "12.3 n 12\u202f345", "1.23 n 7"]);
  const cut = await page.locator(".wide").evaluateAll((all) =>
    all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => `${one.ariaLabel}: ${one.scrollWidth} px in ${one.clientWidth}`),
  );
  assert.deepEqual(cut, []);
  if (options.shots !== undefined) await page.screenshot({ path: join(options.shots, "operator-crowded-1200.png"), fullPage: true });
  assert.deepEqual(problems, []);
  await page.context().close();
}

/** Runs a test. */
async function made(page) {
  await page.getByRole("button", { name: "Start" }).click();
  await page.waitForSelector("#share");
}

/** The texts of a result. */
async function shown(page) {
  const parts = ["#meaning", "#scores", "#latency", "#sizes"].map((part) => page.locator(part).textContent());
  return (await Promise.all(parts)).join("\n");
}

/** Screenshots of each page. */
async function pictures(url, link, directory) {
  for (const width of [1200, 390]) {
    for (const colorScheme of ["light", "dark"]) {
      const { page } = await open(url, { viewport: { width, height: 900 }, colorScheme });
      const at = (name) => join(directory, `${name}-${width}-${colorScheme}.png`);
      await page.waitForSelector(".lead:not(:empty)");
      await page.screenshot({ path: at("begin"), fullPage: true });
      await made(page);
      await page.getByRole("button", { name: "Store it on this server" }).click();
      await page.getByText("link to the stored result").waitFor();
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
