// Scores the figures on standard input with the peer's package: one line of JSON for each set of figures. The package does not
// export its scoring function, so a copy in the temporary folder exports it; the copy is otherwise unchanged.
//
// node rubric.mjs FOLDER_WITH_NODE_MODULES

import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const dist = join(folder, "node_modules/@cloudflare/speedtest/dist");
const opened = join(dist, "opened.mjs");
copyFileSync(join(dist, "speedtest.js"), opened);
writeFileSync(opened, "\nexport { ScoresCalculations, internalConfig };\n", { flag: "a" });
const { ScoresCalculations, internalConfig } = await import(pathToFileURL(opened).href);
const peer = new ScoresCalculations(internalConfig);

const points = (figures) => {
  const named = {
    download: figures.download_bps,
    upload: figures.upload_bps,
    latency: figures.idle_ms,
    downLoadedLatency: figures.loaded_down_ms,
    upLoadedLatency: figures.loaded_up_ms,
    jitter: figures.jitter_ms,
    packetLoss: figures.loss_ratio,
  };
  const known = Object.fromEntries(Object.entries(named).filter(([, figure]) => figure !== undefined));
  const scores = peer.getScores(known);
  const one = (score) => (score === undefined ? null : { points: score.points, class: score.classificationName });
  return { streaming: one(scores.streaming), gaming: one(scores.gaming), rtc: one(scores.rtc) };
};
process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(points)));
