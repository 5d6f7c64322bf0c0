// The view state: what the reader has chosen. It lives in the URL hash, so that a link shows what its sender saw.
export type Scale = "log" | "linear";

/** How a percentile axis is spaced: evenly, or so that each further nine takes the same room. */
export type ShareAxis = "percent" | "nines";

/** What every page lets its reader choose. */
export interface Themed {
  theme: "auto" | "light" | "dark";
}

export interface State extends Themed {
  /** Requests of the page. */
  requests: number;
  /** Share of them that is required, 0..=1. */
  required: number;
  /** Latency scale of the charts over time. */
  time: Scale;
  /** Latency scale of the CDF. */
  cdf: Scale;
  /** Percentile axis of the CDF. */
  axis: ShareAxis;
  /** Scale of both QQ charts. */
  qq: Scale;
  /** Index of the side that the QQ charts and the difference hold against the first. */
  other: number;
  /** Whose percentiles the difference is drawn over. */
  of: "requests" | "people";
  /** Percentile axis of the difference. */
  differenceAxis: ShareAxis;
  /** Scale of the difference; "log" is logarithmic away from 0 on both sides. */
  differenceScale: Scale;
  /** Percentile axis of the phases. */
  phaseAxis: ShareAxis;
  /** Phases as times or as shares of the whole. */
  phaseUnit: "ms" | "share";
  /** Which groups of the breakdown are listed. */
  groups: "first" | "all";
  /** What the matrix of sides compares. */
  pairs: "request" | "page";
}

export type Key = keyof State;

/** More requests than any page makes; keeps powers and labels sane when a hash asks for nonsense. */
export const MAX_REQUESTS = 100_000;

/** How the hash names each part of a state and how it is read back. */
export type Fields<S> = {
  [K in keyof S]: { name: string; read: (text: string) => S[K] | undefined; write: (value: S[K]) => string };
};

const oneOf =
  <T extends string>(...choices: T[]) =>
  (text: string): T | undefined =>
    choices.find((choice) => choice === text);

const numberIn =
  (low: number, high: number) =>
  (text: string): number | undefined => {
    const value = Number(text);
    return text !== "" && value >= low && value <= high ? value : undefined;
  };

const integerIn = (low: number, high: number) => (text: string) => {
  const value = numberIn(low, high)(text);
  return value !== undefined && Number.isInteger(value) ? value : undefined;
};

/** The part of the hash that every page has. */
export const THEMED: Fields<Themed> = {
  theme: { name: "theme", read: oneOf("auto", "light", "dark"), write: String },
};

/** The hash of a report of so many sides. */
export function fieldsOf(sides: number): Fields<State> {
  const scale = oneOf<Scale>("log", "linear");
  const shareAxis = oneOf<ShareAxis>("percent", "nines");
  return {
    requests: { name: "n", read: integerIn(1, MAX_REQUESTS), write: String },
    required: {
      name: "required",
      read: (text) => {
        const percent = numberIn(0, 100)(text);
        return percent === undefined ? undefined : percent / 100;
      },
      write: (value) => String(Number((value * 100).toPrecision(12))),
    },
    time: { name: "time", read: scale, write: String },
    cdf: { name: "cdf", read: scale, write: String },
    axis: { name: "axis", read: shareAxis, write: String },
    qq: { name: "qq", read: scale, write: String },
    other: { name: "with", read: integerIn(1, Math.max(1, sides - 1)), write: String },
    of: { name: "of", read: oneOf("requests", "people"), write: String },
    differenceAxis: { name: "daxis", read: shareAxis, write: String },
    differenceScale: { name: "difference", read: scale, write: String },
    phaseAxis: { name: "paxis", read: shareAxis, write: String },
    phaseUnit: { name: "phases", read: oneOf("ms", "share"), write: String },
    groups: { name: "groups", read: oneOf("first", "all"), write: String },
    pairs: { name: "pairs", read: oneOf("request", "page"), write: String },
    ...THEMED,
  };
}

/** The part of the page that a hash leads to: its first entry, which has no value. "" if it leads to none. */
const placeOf = (hash: string): string => {
  const [first = ""] = hash.slice(1).split("&");
  return first.includes("=") ? "" : first;
};

export class Store<S extends object = State> {
  private current: S;
  /** The part of the page that the hash names. */
  private place = placeOf(location.hash);
  /** Without keys: of everything. */
  private readonly watchers: { keys: readonly (keyof S)[] | undefined; run: (state: S) => void }[] = [];

  constructor(
    readonly defaults: S,
    private readonly fields: Fields<S>,
  ) {
    this.current = this.fromHash();
    window.addEventListener("hashchange", () => {
      this.place = placeOf(location.hash);
      this.change(this.fromHash());
      this.show();
    });
  }

  get state(): S {
    return this.current;
  }

  /** Changes a part of the state, writes the hash and runs whoever watches the parts that differ. */
  set(patch: Partial<S>): void {
    this.change({ ...this.current, ...patch });
    const hash = this.toHash();
    // replaceState: a slider must not fill the browser's history.
    if (hash !== location.hash)
      history.replaceState(null, "", hash === "" ? location.pathname + location.search : hash);
  }

  /** The hash of the present state at this part of the page. */
  link(place: string): string {
    return this.toHash(place) || "#";
  }

  /** Goes to a part of the page, so that the browser's way back leads here again. */
  go(place: string): void {
    this.place = place;
    const hash = this.link(place);
    if (hash !== location.hash) history.pushState(null, "", hash);
    this.show();
    for (const watcher of this.watchers) if (watcher.keys === undefined) watcher.run(this.current);
  }

  /** Shows the part that the address named when the page was opened; where it was left, the browser knows the place. */
  arrive(): void {
    const [opened] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
    if (opened?.type === "navigate") this.show();
  }

  private show(): void {
    if (this.place !== "") document.getElementById(this.place)?.scrollIntoView();
  }

  /** Runs a view now and again whenever anything changes. */
  watchAll(run: (state: S) => void): void {
    this.watchers.push({ keys: undefined, run });
    run(this.current);
  }

  /** Runs a view now and again whenever one of these parts changes. */
  watch(keys: readonly (keyof S)[], run: (state: S) => void): void {
    this.watchers.push({ keys, run });
    run(this.current);
  }

  /** Runs the watchers of a part whose meaning changed from outside, as the system's colour scheme does. */
  touch(key: keyof S): void {
    for (const watcher of this.watchers) if (watcher.keys?.includes(key)) watcher.run(this.current);
  }

  private change(next: S): void {
    const changed = (Object.keys(next) as (keyof S)[]).filter((key) => next[key] !== this.current[key]);
    this.current = next;
    if (changed.length === 0) return;
    for (const { keys, run } of this.watchers) if (keys?.some((key) => changed.includes(key)) ?? true) run(next);
  }

  private fromHash(): S {
    const given = new URLSearchParams(location.hash.slice(1));
    const state = { ...this.defaults };
    const take = <K extends keyof S>(key: K): void => {
      const value = this.fields[key].read(given.get(this.fields[key].name) ?? "");
      if (value !== undefined) state[key] = value;
    };
    for (const key of Object.keys(state) as (keyof S)[]) take(key);
    return state;
  }

  private toHash(place = this.place): string {
    const hash = new URLSearchParams();
    const put = <K extends keyof S>(key: K): void => {
      const field = this.fields[key];
      if (this.current[key] !== this.defaults[key]) hash.set(field.name, field.write(this.current[key]));
    };
    for (const key of Object.keys(this.current) as (keyof S)[]) put(key);
    const text = [place, hash.toString()].filter((part) => part !== "").join("&");
    return text === "" ? "" : `#${text}`;
  }
}

/** A store of which only the theme is of interest. */
export interface ThemeStore {
  watch(keys: readonly "theme"[], run: () => void): void;
}
