// Takes the README's screenshot of a report.
//   node scripts/picture.mjs REPORT.html PICTURE.png
import { writeFile } from "node:fs/promises";
import { drawAll, end, open } from "../test/browser.mjs";

const [report, picture] = process.argv.slice(2);
try {
  const { page, close } = await open(report, { width: 1100, height: 900 });
  await drawAll(page);
  await page.evaluate(() => scrollTo(0, 0));
  // Only the part of the page that is visible in the window.
  await writeFile(picture, await page.screenshot());
  await close();
} finally {
  await end();
}
