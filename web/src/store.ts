// The view state: the choices of the user, stored in the URL hash, so that a shared link shows the same view.
export type Scale = "log" | "linear";

/** Spacing of a percentile axis: linear, or equal room for each further nine. */
export type ShareAxis = "percent" | "nines";

/** Choices of every page. */
export interface Themed {
  theme: "auto" | "light" | "dark";
}

export interface State extends Themed {
  /** Requests of the page. */
  requests: number;
  /** Required share of the requests, 0..=1. */
  required: number;
  /** Latency scale of the charts over time. */
  time: Scale;
  /** Latency scale of the CDF. */
  cdf: Scale;
  /** Percentile axis of the CDF. */
  axis: ShareAxis;
  /** Scale of both QQ charts. */
  qq: Scale;
  /** Index of the side that the QQ charts and the difference compare with the first side. */
  other: number;
  /** The percentiles of the difference: of requests or of users. */
  of: "requests" | "people";
  /** Percentile axis of the difference. */
  differenceAxis: ShareAxis;
  /** Scale of the difference; "log" is symmetric-logarithmic. */
  differenceScale: Scale;
  /** Percentile axis of the phases. */
  phaseAxis: ShareAxis;
  /** Phases as times or as shares of the total. */
  phaseUnit: "ms" | "share";
  /** The listed groups of the breakdown. */
  groups: "first" | "all";
  /** The comparison in the matrix of sides. */
  pairs: "request" | "page";
}

export type Key = keyof State;

/** More requests than any page has; limits powers and labels if a hash contains nonsense. */
export const MAX_REQUESTS = 100_000;

/** Name, parser and formatter of each part of a state in the hash. */
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

/** The hash fields of a report with this number of sides. */
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

/** The section named in a hash: its first entry, which has no value. "" if there is no section. */
const placeOf = (hash: string): string => {
  const [first = ""] = hash.slice(1).split("&");
  return first.includes("=") ? "" : first;
};

export class Store<S extends object = State> {
  private current: S;
  /** The section named in the hash. */
  private place = placeOf(location.hash);
  /** Without keys: for all changes. */
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

  /** Changes a part of the state, updates the hash, and runs the watchers of changed parts. */
  set(patch: Partial<S>): void {
    this.change({ ...this.current, ...patch });
    const hash = this.toHash();
    // replaceState, so that a slider does not fill the browser's history.
    if (hash !== location.hash)
      history.replaceState(null, "", hash === "" ? location.pathname + location.search : hash);
  }

  /** The hash of the current state with this section. */
  link(place: string): string {
    return this.toHash(place) || "#";
  }

  /** Goes to a section and adds a history entry. */
  go(place: string): void {
    this.place = place;
    const hash = this.link(place);
    if (hash !== location.hash) history.pushState(null, "", hash);
    this.show();
    for (const watcher of this.watchers) if (watcher.keys === undefined) watcher.run(this.current);
  }

  /** Shows the section in the address when the page is opened; after a reload, the browser restores the
   * position. */
  arrive(): void {
    const [opened] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
    if (opened?.type === "navigate") this.show();
  }

  private show(): void {
    if (this.place !== "") document.getElementById(this.place)?.scrollIntoView();
  }

  /** Runs a view now and after each change. */
  watchAll(run: (state: S) => void): void {
    this.watchers.push({ keys: undefined, run });
    run(this.current);
  }

  /** Runs a view now and after each change of one of these parts. */
  watch(keys: readonly (keyof S)[], run: (state: S) => void): void {
    this.watchers.push({ keys, run });
    run(this.current);
  }

  /** Runs the watchers of a part that changed outside of the store, such as the colour scheme of the system. */
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

/** A store of which only the theme is used. */
export interface ThemeStore {
  watch(keys: readonly "theme"[], run: () => void): void;
}
