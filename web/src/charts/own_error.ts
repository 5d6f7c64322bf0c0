// The emulator's own error as a thin band: from the percentile without the error to the measured percentile.
import { quantile } from "../quantiles";
import type { Band, Report, Side } from "../types";

/** The band of a side; undefined if the report does not contain the error. */
export function ownError(report: Report, index: number): Band | undefined {
  const side: Side | undefined = report.comparison.sides[index];
  const errors = side?.own_error_ms?.request_percentiles;
  const quantiles = report.charts[index]?.quantiles;
  if (errors === undefined || quantiles === undefined) return undefined;
  const known = Object.entries(errors)
    .map(([name, error]): [number, number] => [Number(name) / 100, error])
    .sort(([a], [b]) => a - b);
  const shares = known.map(([share]) => share);
  return {
    share: shares,
    ci_ms: known.map(([share, error]) => {
      const value = quantile(quantiles, share) ?? 0;
      return [value - error, value];
    }),
  };
}

/** The explanation of the band. */
export const OWN_ERROR_NOTE =
  " The band on the left of a line shows the minimum of its percentiles without the emulator's own error.";
