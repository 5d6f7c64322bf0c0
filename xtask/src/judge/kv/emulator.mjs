// Runs the walk in the emulator's namespace. Arguments: the folder with the packages, and the walk.
import fs from "node:fs";
import { createRequire } from "node:module";

const [folder, walk] = process.argv.slice(2);
const { Miniflare } = createRequire(`${folder}/`)("miniflare");
const emulator = new Miniflare({
  modules: true,
  script: fs.readFileSync(walk, "utf8"),
  kvNamespaces: ["KV"],
  compatibilityDate: "2025-09-01",
});
const response = await emulator.dispatchFetch("http://walk/");
process.stdout.write(await response.text());
await emulator.dispose();
