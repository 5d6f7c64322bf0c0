// Sections and the view state are links: an address restores the shared view, and the back button keeps the
// state.
import assert from "node:assert/strict";
import { open } from "./browser.mjs";

/** Top of a section in the window, in CSS pixels. */
const topOf = (page, id) => page.locator(`#${id}`).evaluate((section) => section.getBoundingClientRect().top);

/** Asserts that the page is scrolled to a section: it is at the top, or the page ends below it. */
async function assertAt(page, id) {
  const top = await topOf(page, id);
  const atEnd = await page.evaluate(() => Math.ceil(scrollY + innerHeight) >= document.documentElement.scrollHeight - 1);
  assert.ok((top >= -1 && top < 260) || (atEnd && top >= 0), `#${id} begins at ${top}`);
}

const chosen = async (page, name) => {
  const set = page.locator("fieldset.segmented", { has: page.locator("legend", { hasText: name }) }).first();
  return set.locator("input:checked").getAttribute("value");
};

export async function assertLinks(path) {
  const { page, close } = await open(path);
  // The tail decides, so the CDF starts with nines.
  assert.equal(await chosen(page, "percentile axis"), "nines");
  const links = page.locator(".contents a");
  const hrefs = await links.evaluateAll((all) => all.map((link) => link.getAttribute("href")));
  const ids = await page.locator("section[id]:has(h2)").evaluateAll((all) => all.map((one) => one.id));
  assert.deepEqual(hrefs.toSorted(), ids.map((id) => `#${id}`).toSorted());
  assert.equal(await page.locator("h2 .anchor").count(), ids.length);

  // A link to a section keeps the choices, and its address contains them.
  const requests = page.getByLabel("Requests of a page", { exact: true });
  const other = (await requests.inputValue()) === "8" ? "9" : "8";
  await requests.fill(other);
  await page.locator(".contents a[href^='#cdf']").click();
  assert.match(page.url(), new RegExp(`#cdf&n=${other}$`));
  await assertAt(page, "cdf");
  await page.locator("#cdf").getByText("percent", { exact: true }).click();
  await page.locator("#percentiles h2 .anchor").click({ force: true });
  assert.match(page.url(), /#percentiles&/);

  // Back to the previous section with its choices, and to the one before.
  await page.goBack();
  assert.match(page.url(), /#cdf&/);
  assert.equal(await requests.inputValue(), other);
  assert.equal(await chosen(page, "percentile axis"), "percent");
  await assertAt(page, "cdf");
  await page.goBack();
  assert.equal(await requests.inputValue(), other);

  // Forward and reload keep the state.
  await page.goForward();
  const address = page.url();
  await page.reload();
  assert.equal(page.url(), address);
  assert.equal(await requests.inputValue(), other);
  assert.equal(await chosen(page, "percentile axis"), "percent");
  await close();

  // Another user who opens the address sees the section and the choices.
  const sent = await open(path, { hash: address.slice(address.indexOf("#")) });
  assert.equal(await sent.page.getByLabel("Requests of a page", { exact: true }).inputValue(), other);
  await assertAt(sent.page, "cdf");
  await sent.close();
}
