// Calls all functions of a KV binding, and returns the results as JSON.
async function attempt(work) {
  try { return await work(); } catch (error) { return `${error.name}: ${error.message}`; }
}
function bytes(buffer) { return [...new Uint8Array(buffer)].slice(0, 8).join(","); }
async function walk(kv) {
  const said = {};
  const note = async (name, work) => { said[name] = await attempt(work); };
  const far = Math.floor(Date.now() / 1000) + 100000;
  await note("missing", async () => await kv.get("missing"));
  await note("missing json", async () => await kv.get("missing", "json"));
  await note("missing with metadata", async () => { const { value, metadata } = await kv.getWithMetadata("missing"); return [value, metadata]; });
  await note("put text", async () => (await kv.put("text", "héllo\n wörld")) ?? "ok");
  await note("get text", async () => await kv.get("text"));
  await note("get stream", async () => await new Response(await kv.get("text", "stream")).text());
  await note("get arrayBuffer", async () => bytes(await kv.get("text", { type: "arrayBuffer" })));
  await note("get json of text", async () => await kv.get("text", "json"));
  await note("put empty", async () => { await kv.put("empty", ""); return await kv.get("empty"); });
  await note("put bytes", async () => { await kv.put("bytes", new Uint8Array([0, 255, 128, 13, 10]).buffer); return bytes(await kv.get("bytes", "arrayBuffer")); });
  await note("put stream", async () => {
    const { readable, writable } = new FixedLengthStream(300000);
    const writer = writable.getWriter();
    const writing = (async () => { for (let i = 0; i < 3; i++) await writer.write(new Uint8Array(100000).fill(i + 1)); await writer.close(); })();
    await kv.put("stream", readable); await writing;
    const back = await kv.get("stream", "arrayBuffer");
    return [back.byteLength, new Uint8Array(back)[299999]];
  });
  await note("put stream of unknown length", async () => {
    const { readable, writable } = new TransformStream();
    const writer = writable.getWriter();
    const writing = (async () => { await writer.write(new TextEncoder().encode("one ")); await writer.write(new TextEncoder().encode("two")); await writer.close(); })();
    await kv.put("unknown", readable); await writing;
    return await kv.get("unknown");
  });
  await note("json", async () => { await kv.put("json", JSON.stringify({ b: [1, null], a: "x" })); return await kv.get("json", { type: "json", cacheTtl: 60 }); });
  await note("metadata", async () => { await kv.put("meta", "v", { metadata: { z: "ü", a: [1, { b: null }] } }); const { value, metadata } = await kv.getWithMetadata("meta"); return [value, metadata]; });
  await note("metadata json", async () => { await kv.put("meta2", "[1]", { metadata: "text" }); const { value, metadata } = await kv.getWithMetadata("meta2", { type: "json" }); return [value, metadata]; });
  await note("metadata is gone", async () => { await kv.put("meta", "w"); const { value, metadata } = await kv.getWithMetadata("meta"); return [value, metadata]; });
  await note("expiration", async () => { await kv.put("expires", "v", { expiration: far, metadata: 1 }); return await kv.get("expires"); });
  await note("expirationTtl", async () => { await kv.put("ttl", "v", { expirationTtl: 60 }); return await kv.get("ttl"); });
  await note("expirationTtl 59", async () => await kv.put("bad", "v", { expirationTtl: 59 }));
  await note("expirationTtl 0", async () => await kv.put("bad", "v", { expirationTtl: 0 }));
  await note("expirationTtl -1", async () => await kv.put("bad", "v", { expirationTtl: -1 }));
  await note("expiration past", async () => await kv.put("bad", "v", { expiration: 1000 }));
  await note("nothing of these was stored", async () => await kv.get("bad"));
  await note("cacheTtl 10", async () => await kv.get("text", { cacheTtl: 10 }));
  for (const key of ["a/b/c", "with space", "ünï/çode €", "100%", "%41", "a+b", "a?b=c&d", "#", "\"quoted\"", "a\\b", "..a", "a;b:c@d,e", "😀"]) {
    await note(`key ${key}`, async () => { await kv.put(key, `value of ${key}`); return await kv.get(key); });
  }
  await note("key empty", async () => await kv.get(""));
  await note("key .", async () => await kv.put(".", "v"));
  await note("key ..", async () => await kv.delete(".."));
  await note("key 512", async () => { await kv.put("k".repeat(512), "long"); return await kv.get("k".repeat(512)); });
  await note("key 513", async () => await kv.put("k".repeat(513), "long"));
  await note("key 513 get", async () => await kv.get("€".repeat(171)));
  await note("metadata 1024", async () => { await kv.put("m", "v", { metadata: "x".repeat(1022) }); return (await kv.getWithMetadata("m")).metadata.length; });
  await note("metadata 1025", async () => await kv.put("m", "v", { metadata: "x".repeat(1023) }));
  await note("value 25 MiB", async () => {
    const value = new Uint8Array(25 << 20); value[0] = 7; value[value.length - 1] = 9;
    await kv.put("large", value.buffer);
    const back = new Uint8Array(await kv.get("large", "arrayBuffer"));
    return [back.length, back[0], back[back.length - 1]];
  });
  await note("value 25 MiB + 1", async () => await kv.put("larger", new ArrayBuffer((25 << 20) + 1)));
  await note("too large is not stored", async () => await kv.get("larger"));
  await note("bulk", async () => [...(await kv.get(["text", "json", "missing", "meta2"])).entries()]);
  await note("bulk json", async () => [...(await kv.get(["json", "meta2", "missing"], { type: "json", cacheTtl: 60 })).entries()]);
  await note("bulk with metadata", async () => [...(await kv.getWithMetadata(["meta2", "text", "missing"])).entries()]);
  await note("bulk json of text", async () => await kv.get(["text"], "json"));
  await note("bulk stream", async () => await kv.get(["text"], "stream"));
  await note("bulk none", async () => await kv.get([]));
  await note("bulk 101", async () => await kv.get(Array.from({ length: 101 }, (_, i) => `k${i}`)));
  await note("bulk too large", async () => await kv.get(["large", "stream"]));
  await note("list", async () => { const { keys, list_complete } = await kv.list(); return [keys.map((key) => [key.name, key.metadata ?? null, key.name === "expires" ? key.expiration - far : "expiration" in key]), list_complete]; });
  await note("list prefix", async () => { const { keys, list_complete, cursor } = await kv.list({ prefix: "a" }); return [keys.map((key) => key.name), list_complete, cursor ?? null]; });
  await note("list prefix none", async () => { const { keys, list_complete } = await kv.list({ prefix: "zzz" }); return [keys, list_complete]; });
  await note("list pages", async () => {
    const pages = []; let cursor;
    do { const page = await kv.list({ limit: 7, cursor }); pages.push([page.keys.map((key) => key.name), page.list_complete]); cursor = page.cursor; } while (cursor);
    return pages;
  });
  await note("list limit 1001", async () => await kv.list({ limit: 1001 }));
  await note("list prefix 513", async () => await kv.list({ prefix: "p".repeat(513) }));
  await note("delete", async () => { await kv.delete("text"); return await kv.get("text"); });
  await note("delete again", async () => (await kv.delete("text")) ?? "ok");
  await note("delete odd keys", async () => { for (const key of ["a/b/c", "ünï/çode €", "100%", "a+b", "😀"]) await kv.delete(key); return (await kv.list({ prefix: "a" })).keys.map((key) => key.name); });
  await note("cacheStatus", async () => { const { cacheStatus } = await kv.getWithMetadata("json"); return cacheStatus === null || ["HIT", "MISS"].includes(cacheStatus); });
  return said;
}
export default { async fetch(request, env) { return Response.json(await walk(env.KV)); } };
