// Runs the page's thorough test in a headless browser, and saves its result as JSON. Prints the size in bytes
// of its empty requests and of the heads of their responses: {"request": N, "answer": N}.
//   node scripts/speed_result.mjs URL RESULT.json
import { launch } from "../test/chromium.mjs";

/** Size in HTTP/1.1 format. */
const length = (request, fields) => {
  const { pathname, search } = new URL(request.url());
  const first = `${request.method()} ${pathname}${search} HTTP/1.1\r\n\r\n`;
  return fields.reduce((sum, { name, value }) => sum + `${name}: ${value}\r\n`.length, first.length);
};

const [url, path] = process.argv.slice(2);
const browser = await launch();
try {
  const page = await browser.newPage();
  let look;
  page.on("requestfinished", (request) => {
    if (request.url().includes("look=")) look ??= request;
  });
  await page.goto(url);
  await page.getByText("thorough").click();
  await page.getByRole("button", { name: "Start" }).click();
  await page.waitForSelector("#share", { timeout: 600_000 });
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByText("Save as JSON").click()]);
  await download.saveAs(path);
  const { responseHeadersSize } = await look.sizes();
  console.log(JSON.stringify({ request: length(look, await look.headersArray()), answer: responseHeadersSize }));
} finally {
  await browser.close();
}
