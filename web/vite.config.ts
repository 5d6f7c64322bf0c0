// Builds a whole page into one HTML file, which the Rust binary carries and fills: `vite build --mode report`, or figures.
import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

export default defineConfig(({ mode }) => ({
  plugins: [viteSingleFile()],
  build: {
    target: "es2023",
    // One file has nothing to preload, and nothing in it should be able to fetch.
    modulePreload: { polyfill: false },
    // The other page is there too.
    emptyOutDir: false,
    rolldownOptions: { input: `${mode}.html` },
  },
}));
