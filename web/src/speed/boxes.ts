// Latency as box plots, with a dot for each sample.
import { el } from "../dom";
import { type Box, boxPlot } from "./box_plot";
import type { During, Latency, On, Spread } from "./types";

interface Row {
  name: string;
  during: During;
  on: On;
  spread: Spread;
}

const NAMES: Record<During, string> = { idle: "line idle", download: "downloading", upload: "uploading" };

export function boxes(latency: Latency): HTMLElement {
  const rows = rowsOf(latency);
  if (rows.length === 0) return el("p", {}, "Latency was not measured.");
  const drawn = rows.map(({ name, during, on, spread }): Box => {
    const samples = latency.samples.filter((sample) => sample.during === during && sample.on === on);
    return { name, spread, tone: during, dots: samples.map(({ ms }) => ms) };
  });
  const caption = "Thin: minimum to maximum; thick: the middle half; vertical: the median; a dot for each sample.";
  return boxPlot("Latency", "ms", drawn, caption);
}

function rowsOf(latency: Latency): Row[] {
  const loaded = latency.loaded.map(({ during, on, ms: spread }) => ({ name: NAMES[during], during, on, spread }));
  const twice = (during: During): boolean => loaded.filter((row) => row.during === during).length > 1;
  const named = loaded.map((row) => ({ ...row, name: twice(row.during) ? `${row.name}, ${row.on}` : row.name }));
  const idle: Row[] =
    latency.idle_ms === null ? [] : [{ name: NAMES.idle, during: "idle", on: "same", spread: latency.idle_ms }];
  return [...idle, ...named];
}
