// A sentence about the phases in which a side's requests spend their time.
import { ms, share } from "../format";
import { quantile } from "../quantiles";
import type { PhaseStack } from "../types";

/** The largest phase of the median request and of slow requests. */
export function phasesSentence(label: string, stack: PhaseStack): string {
  const at = (where: number): string | undefined => {
    const parts = stack.phases.map(({ phase, mean_ms }) => ({
      phase,
      value: quantile({ share: stack.share, latency_ms: mean_ms }, where) ?? 0,
    }));
    const total = parts.reduce((sum, part) => sum + part.value, 0);
    const largest = parts.toSorted((a, b) => b.value - a.value)[0];
    if (largest === undefined || total <= 0) return undefined;
    return `${named(largest.phase)} with ${ms(largest.value)} (${share(largest.value / total)})`;
  };
  const [median, slow] = [at(0.5), at(0.99)];
  if (median === undefined || slow === undefined) return `No phase of ${label}\u2019s requests took time.`;
  return `The largest part of ${label}\u2019s median requests is ${median}; around p99 it is ${slow}.`;
}

const named = (phase: string): string => (phase === "rest" ? "time outside of all phases" : phase);
