// The bar at the top of every page: title and colour scheme.
import { el } from "../dom";
import type { Store, Themed } from "../store";
import { segmented } from "./segmented";

export function topBar<S extends Themed>(store: Store<S>): HTMLElement {
  const theme = segmented("theme", { auto: "auto", light: "light", dark: "dark" }, (value) =>
    store.set({ theme: value } as Partial<S>),
  );
  store.watch(["theme"], (state) => theme.show(state.theme));
  return el("div", { class: "top" }, el("span", { class: "brand" }, "Longhaul"), theme.element);
}
