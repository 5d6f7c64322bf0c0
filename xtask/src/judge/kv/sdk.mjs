// Calls the official JavaScript SDK like its users. Arguments: the folder with the packages, and the base URL of the API; the token is
// in the environment. Prints a line per failed step, and then the number of steps.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const [folder, baseURL] = process.argv.slice(2);
const Cloudflare = createRequire(`${folder}/`)("cloudflare");
const client = new Cloudflare({ apiToken: process.env.CLOUDFLARE_API_TOKEN, baseURL, maxRetries: 0 });
const account_id = "0123456789abcdef0123456789abcdef";
const { namespaces } = client.kv;
const all = async (pages) => { const found = []; for await (const one of pages) found.push(one); return found; };
const [{ id: namespace_id, title }] = await all(namespaces.list({ account_id }));
const own = { account_id, namespace_id };
const steps = {
  namespace: async () => assert.equal((await namespaces.get(namespace_id, { account_id })).title, title),
  create: async () => {
    const { id } = await namespaces.create({ account_id, title: "npm made" });
    await namespaces.values.update("a", { account_id, namespace_id: id, value: "1" });
    assert.equal((await namespaces.update(id, { account_id, title: "npm renamed" })).title, "npm renamed");
    assert.ok((await all(namespaces.list({ account_id }))).some((one) => one.id === id && one.title === "npm renamed"));
    await namespaces.delete(id, { account_id });
    await assert.rejects(namespaces.get(id, { account_id }), Cloudflare.NotFoundError);
  },
  taken: () => assert.rejects(namespaces.create({ account_id, title }), Cloudflare.BadRequestError),
  write: () => namespaces.values.update("npm/ü 1", { ...own, value: "hello", metadata: '{"z":1}', expiration_ttl: 100 }),
  read: async () => {
    const response = await namespaces.values.get("npm/ü 1", own);
    assert.equal(await response.text(), "hello");
    assert.ok(Number(response.headers.get("expiration")) > 1e9);
  },
  metadata: async () => assert.deepEqual(await namespaces.metadata.get("npm/ü 1", own), { z: 1 }),
  bulkUpdate: () => namespaces.bulkUpdate(namespace_id, { account_id, body: Array.from({ length: 25 }, (_, n) => ({ key: `npm${n}`, value: `${n}` })) }),
  keys: async () => assert.equal((await all(namespaces.keys.list(namespace_id, { account_id, prefix: "npm", limit: 10 }))).length, 26),
  bulkGet: async () => assert.deepEqual((await namespaces.bulkGet(namespace_id, { account_id, keys: ["npm1", "none"] })).values, { npm1: "1", none: null }),
  bulkDelete: async () => assert.equal((await namespaces.bulkDelete(namespace_id, { account_id, body: ["npm1", "npm2"] })).successful_key_count, 2),
  delete: () => namespaces.values.delete("npm/ü 1", own),
  gone: () => assert.rejects(namespaces.values.get("npm/ü 1", own), Cloudflare.NotFoundError),
};
for (const [name, step] of Object.entries(steps)) {
  try {
    await step();
  } catch (error) {
    console.log(`${name}: ${error}`);
  }
}
console.log(Object.keys(steps).length);
