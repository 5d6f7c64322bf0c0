// Makes the page's thorough test in a headless browser, and saves its result as JSON.
//   node scripts/speed_result.mjs URL RESULT.json
import { launch } from "../test/chromium.mjs";

const [url, path] = process.argv.slice(2);
const browser = await launch();
try {
  const page = await browser.newPage();
  await page.goto(url);
  await page.getByText("thorough").click();
  await page.getByRole("button", { name: "Start" }).click();
  await page.waitForSelector("#share", { timeout: 300_000 });
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByText("Save as JSON").click()]);
  await download.saveAs(path);
} finally {
  await browser.close();
}
