// Takes screenshots of a report: each section, narrow and wide, light and dark.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { drawAll, open } from "./browser.mjs";

export async function shoot(path, directory, name, sections = true) {
  await mkdir(directory, { recursive: true });
  for (const width of [1400, 360]) {
    for (const colorScheme of ["light", "dark"]) {
      const { page, close } = await open(path, { width, height: 1600, colorScheme });
      await drawAll(page);
      await page.evaluate(() => scrollTo(0, 0));
      const at = (part) => join(directory, `${name}-${width}-${colorScheme}${part}.png`);
      await page.screenshot({ path: at(""), fullPage: true });
      if (sections) {
        // Sticky elements would cover the parts below.
        await page.addStyleTag({ content: ".control { position: static !important; }" });
        await page.locator("header").screenshot({ path: at("-header") });
        for (const section of await page.locator("section[id]:visible").all()) {
          await section.screenshot({ path: at(`-${await section.getAttribute("id")}`) });
        }
      }
      await close();
    }
  }
}
