// The page and the terminal run a plan in the same way: both are checked against
// crates/measure/speedtest/src/size_ramp/cases.json, in virtual time.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { transformWithOxc } from "vite";

const read = (path) => readFile(new URL(path, import.meta.url), "utf8");

const { code } = await transformWithOxc(await read("../src/speed/course.ts"), "course.ts");
const { Course } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
const { plan, cases } = JSON.parse(await read("../../crates/measure/speedtest/src/size_ramp/cases.json"));

const said = ({ kind, bytes, samples, messages, count }) =>
  `${kind} ${bytes ?? samples ?? messages}${count === undefined ? "" : ` x${count}`}`;

/** The steps of a plan, if each body takes the time of its bits plus a round trip. */
function walk({ bps, round_trip_ms, largest }) {
  const course = new Course(plan, largest);
  const steps = [];
  for (let next = course.nextStep(); next !== undefined; next = course.nextStep()) {
    const { step, left } = next;
    steps.push(`${left} left: ${said(step)}`);
    if (step.kind !== "download" && step.kind !== "upload") continue;
    const took = (step.bytes * 8e3) / bps[step.kind === "download" ? 0 : 1] + (round_trip_ms ?? 0);
    const all = [];
    while (all.length < step.count && course.goesOn(took * all.length)) all.push(took);
    course.finished(step.kind, step.bytes, all, round_trip_ms ?? undefined);
  }
  return steps;
}

for (const one of cases) assert.deepEqual(walk(one), one.steps, one.name);
console.log(`plans: ${cases.length} lines as on the terminal`);
