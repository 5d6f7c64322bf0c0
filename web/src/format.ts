// Formats all numbers of the page, so that the same value looks the same everywhere.

/** Text for a missing figure. */
const ABSENT = "not measured";

type Maybe = number | null | undefined;

const isNumber = (value: Maybe): value is number => typeof value === "number" && Number.isFinite(value);

/** A decimal number with narrow spaces as thousands separators; -0 is 0. */
function decimal(value: number, decimals: number): string {
  const [whole = "", fraction] = Math.abs(value).toFixed(decimals).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const digits = fraction === undefined ? grouped : `${grouped}.${fraction}`;
  return value < 0 && Number(value.toFixed(decimals)) !== 0 ? `\u2212${digits}` : digits;
}

/** A figure with three or four digits, without unit, for tables and axes with the unit in their heading. */
export function figure(value: Maybe): string {
  if (!isNumber(value)) return ABSENT;
  if (value === 0) return "0";
  const size = Math.abs(value);
  // Larger values would need too many digits for a table.
  if (size >= 1e8) return value.toExponential(2).replace("e+", "e").replace("-", "\u2212");
  const decimals = size >= 1000 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : size >= 0.1 ? 3 : 4;
  return decimal(value, decimals);
}

/** A latency in ms, without its unit. */
export const latency = figure;

/** A latency with its unit. */
export const ms = (value: Maybe): string => (isNumber(value) ? `${latency(value)}\u00a0ms` : ABSENT);

/** A difference in ms with its sign, without unit. */
export const signed = (value: Maybe): string =>
  isNumber(value) && value > 0 ? `+${latency(value)}` : latency(value);

/** The ends of a confidence interval; null if the samples do not bound it. */
export type Ends = readonly [Maybe, Maybe];

/** Text for an unbounded end. */
export const UNBOUNDED = "?";

/** A confidence interval without unit: "26.1 to 28.5", "26.1 to ?". */
export const interval = (ends: Ends, write: (value: number) => string = latency): string =>
  ends.map((end) => (isNumber(end) ? write(end) : UNBOUNDED)).join(" to ");

/** An integer. */
export const count = (value: Maybe): string => (isNumber(value) ? decimal(value, 0) : ABSENT);

/** A value at an axis tick, with the fewest digits possible. */
export function tick(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-5 || size >= 1e9)) {
    return String(Number(value.toPrecision(10)).toExponential()).replace("e+", "e").replaceAll("-", "\u2212");
  }
  const [whole = "", fraction] = String(Number(value.toPrecision(10))).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, "\u202f");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** A difference at an axis tick, with its sign. */
export const signedTick = (value: number): string =>
  value === 0 ? "0" : `${value > 0 ? "+" : "\u2212"}${tick(Math.abs(value))}`;

/** A percentage with enough digits to distinguish it from 0 and 100: 50, 97.1, 99.986. */
export function percentile(percent: Maybe): string {
  if (!isNumber(percent)) return ABSENT;
  const room = Math.min(percent, 100 - percent);
  if (room <= 0) return String(Number(percent.toFixed(3)));
  const decimals = Math.min(9, Math.max(0, 1 - Math.floor(Math.log10(room) + 1e-9)));
  return String(Number(percent.toFixed(decimals)));
}

/** Percentiles in common use. */
const NAMED = ["0", "50", "75", "90", "95", "99", "99.9", "99.99"];

/** A position among the percentiles: 97.1, but 98.98 instead of 99, because p99 is a different figure. */
export function place(percent: number): string {
  const text = percentile(percent);
  if (!NAMED.includes(text)) return text;
  for (let decimals = 1; decimals <= 7; decimals++) {
    const told = String(Number(percent.toFixed(decimals)));
    if (told !== text) return told;
  }
  return text;
}

/** A share of 0..=1 as a percentage. */
export const share = (value: Maybe): string => (isNumber(value) ? `${percentile(value * 100)}\u00a0%` : ABSENT);

/** A change as a percentage with its sign. */
export const signedShare = (value: Maybe): string =>
  isNumber(value) ? `${signedTick(Number((value * 100).toFixed(1)))}\u00a0%` : ABSENT;

/** "91st", "50th", "97.1th". */
export function ordinal(percent: number): string {
  const text = place(percent);
  const whole = Number(text);
  const teen = whole >= 11 && whole <= 13;
  const suffix = !Number.isInteger(whole) || teen ? "th" : (["th", "st", "nd", "rd"][whole % 10] ?? "th");
  return text + suffix;
}

/** A factor or correlation with two decimals. */
export const ratio = (value: Maybe): string => (isNumber(value) ? decimal(value, 2) : ABSENT);

/** A number in the largest of ascending units in which it is at least 1, with three significant digits. */
function scaled(value: number, units: readonly (readonly [string, number])[]): string {
  // A value that would be rounded to 1000 of a unit is 1 of the next.
  const [unit, scale] = units.findLast(([, scale]) => Math.abs(value) >= 0.9995 * scale) ?? units[0] ?? ["", 1];
  const size = Math.abs(value / scale);
  // Whole numbers of the smallest unit have no decimals: 12 B, 12 us.
  const counted = Math.abs(size - Math.round(size)) > 1e-9 ? 1 : 0;
  const decimals = size >= 99.95 ? 0 : scale <= 1 ? counted : size >= 9.995 ? 1 : 2;
  return `${(value / scale).toFixed(decimals).replace("-", "\u2212")}\u00a0${unit}`;
}

const RATES = [["bit/s", 1], ["Kbit/s", 1e3], ["Mbit/s", 1e6], ["Gbit/s", 1e9]] as const;

/** A rate from bits per second. */
export const rate = (value: Maybe): string => (isNumber(value) ? scaled(value, RATES) : ABSENT);

const SIZES = [["B", 1], ["KB", 1e3], ["MB", 1e6], ["GB", 1e9], ["TB", 1e12]] as const;

/** An amount of data. */
export const bytes = (value: Maybe): string => (isNumber(value) ? scaled(value, SIZES) : ABSENT);

/** The exact number of bytes, and for large numbers also a rounded one. */
export function exactBytes(value: Maybe): string {
  if (!isNumber(value)) return ABSENT;
  const exact = `${count(value)} bytes`;
  return value < 1000 ? exact : `${exact} (${bytes(value)})`;
}

// In microseconds.
const TIMES = [["us", 1], ["ms", 1e3], ["s", 1e6]] as const;

/** A time from seconds. */
export const time = (value: Maybe): string =>
  isNumber(value) ? scaled(value * 1e6, TIMES) : ABSENT;

/** An RFC 3339 time in readable form in UTC; other text is unchanged. */
export function moment(text: string): string {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? text : `${time.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** The unit for times within a span of this many seconds. */
export function timeUnit(span: number): { name: string; seconds: number } {
  if (span <= 300) return { name: "s", seconds: 1 };
  return span <= 6 * 3600 ? { name: "min", seconds: 60 } : { name: "h", seconds: 3600 };
}

/** A time as "312 s" or "5.21 min", to a thousandth of the span. */
export function elapsed(seconds: number, span: number): string {
  const unit = timeUnit(span);
  const decimals = Math.min(6, Math.max(0, Math.ceil(-Math.log10(span / unit.seconds / 1000) - 1e-9)));
  return `${Number((seconds / unit.seconds).toFixed(Number.isFinite(decimals) ? decimals : 3))}\u00a0${unit.name}`;
}

/** A duration from seconds, in whole units: "30 days", "36 hours", "5 minutes". */
export function span(seconds: Maybe): string {
  if (!isNumber(seconds)) return ABSENT;
  const units = [["day", 86400], ["hour", 3600], ["minute", 60]] as const;
  const [unit, length] = units.find(([, length]) => seconds >= length && seconds % length === 0) ?? ["second", 1];
  return plural(Math.round(seconds / length), unit);
}

/** A noun with its number: "1 request", "2 requests". */
export const plural = (n: number, noun: string): string => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;

/** A label shortened for a drawing. */
export const short = (label: string, length = 26): string =>
  label.length > length ? `${label.slice(0, length - 1)}\u2026` : label;
