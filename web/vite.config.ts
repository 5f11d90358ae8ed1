// Bundles src/main.ts into one script and one style sheet, report.js and report.css, which the build embeds in the
// program. BANYAN_WEB_OUT names the folder that they go to.
import { readFileSync } from "node:fs";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** The page carries uPlot, so it carries uPlot's licence too. */
function withLicences(): Plugin {
  return {
    name: "with-licences",
    generateBundle(_options, bundle) {
      const licence = readFileSync(new URL("node_modules/uplot/LICENSE", import.meta.url), "utf8").trim();
      for (const file of Object.values(bundle)) {
        if (file.type === "chunk") file.code = `/*! uPlot: ${licence} */\n${file.code}`;
      }
    },
  };
}

export default defineConfig({
  plugins: [withLicences()],
  build: {
    target: "es2020",
    outDir: process.env.BANYAN_WEB_OUT ?? "../build/bundle",
    emptyOutDir: true,
    cssCodeSplit: false,
    modulePreload: false,
    rollupOptions: {
      input: "src/main.ts",
      output: { format: "iife", entryFileNames: "report.js", assetFileNames: "report[extname]" },
    },
  },
  test: {
    include: ["tests/**/*.test.ts", "e2e/**/*.test.ts"],
    // A test machine may be busy with everything else.
    testTimeout: 120_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 15_000 } },
  },
});
