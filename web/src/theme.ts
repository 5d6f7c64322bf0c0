// Light or dark: the user's choice, or the setting of the system; light for print.
import { fitAll } from "./charts/plot";
import type { Store, Themed } from "./store";

export function followTheme<S extends Themed>(store: Store<S>): void {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const apply = (): void => {
    const { theme } = store.state;
    const dark = theme === "dark" || (theme === "auto" && system.matches);
    root.dataset["theme"] = dark && !root.classList.contains("printing") ? "dark" : "light";
  };
  const redraw = (): void => {
    apply();
    store.touch("theme");
  };
  // This watcher must be first: the charts read their colours from the style sheet.
  store.watch(["theme"], apply);
  system.addEventListener("change", redraw);
  const print = (printing: boolean): void => {
    root.classList.toggle("printing", printing);
    redraw();
    fitAll();
  };
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
}
