// Takes the screenshot of a speed test in docs/speed.md.
//   node scripts/speed_picture.mjs URL PICTURE.png
import { launch } from "../test/chromium.mjs";

const [url, path] = process.argv.slice(2);
const browser = await launch();
try {
  // The certificate is a temporary one.
  const page = await browser.newPage({ viewport: { width: 1100, height: 800 }, ignoreHTTPSErrors: true });
  await page.goto(url);
  await page.getByRole("button", { name: "Start" }).click();
  await page.waitForSelector("#share", { timeout: 120_000 });
  await page.screenshot({ path, fullPage: true });
} finally {
  await browser.close();
}
