// Builds the whole page into one HTML file, which the Rust binary carries and fills with a report.
import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

export default defineConfig({
  plugins: [viteSingleFile()],
  build: {
    target: "es2023",
    // One file has nothing to preload, and nothing in it should be able to fetch.
    modulePreload: { polyfill: false },
    rolldownOptions: { input: "report.html" },
  },
});
