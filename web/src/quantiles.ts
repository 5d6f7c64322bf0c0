// Look-ups in the quantile functions of the report. Nothing is estimated here: values between two entries are
// interpolated linearly, as the report's schema specifies.
import type { Quantiles } from "./types";

/** The latency at a share of 0..=1 of the samples; undefined if the function has no entries. */
export function quantile(quantiles: Quantiles | undefined, share: number): number | undefined {
  const shares = quantiles?.share ?? [];
  const latencies = quantiles?.latency_ms ?? [];
  let low = 0;
  let high = shares.length - 1;
  if (high < 0) return undefined;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((shares[middle] as number) <= share) low = middle;
    else high = middle;
  }
  const from = latencies[low];
  const to = latencies[high];
  if (from === undefined || to === undefined) return undefined;
  const width = (shares[high] as number) - (shares[low] as number);
  if (width <= 0) return to;
  const position = Math.min(1, Math.max(0, (share - (shares[low] as number)) / width));
  return from + (to - from) * position;
}

/** The share of requests for a share of users who need `effective` requests: Q_exp(u) = Q(u^(1/N)). */
export const requestShare = (people: number, effective: number): number => people ** (1 / effective);

/** The inverse: the share of users without a request slower than this share of requests. */
export const peopleShare = (request: number, effective: number): number => request ** effective;

/** All shares at which one of these functions has an entry, ascending. */
export function commonShares(functions: (Quantiles | undefined)[]): number[] {
  const all = functions.flatMap((one) => one?.share ?? []);
  return [...new Set(all)].sort((a, b) => a - b);
}
