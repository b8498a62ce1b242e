// Measures what a client computes in node, in Chromium and in libmpin.so, in turn, and prints the medians in microseconds.
// client_1 and client_2 together may take at most LARGEST times the time of libmpin.so.
// usage: bench.mjs [--serve]: --serve only serves the page bench.html for a browser of yours, until Ctrl-C.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Crypto, PinMapping } from "../../build/js/crypto.js";
import { Chromium, serveBuilt } from "./chromium.mjs";
import { operations, round } from "./operations.js";

const LARGEST = 6, ROUNDS = 20, RUNS = 10;
const NATIVE = fileURLToPath(new URL("../../build/js-bench/native", import.meta.url));

/** A registration of the vectors, whose shares are those of its identity, and a challenge. */
function sample() {
  const { vectors } = JSON.parse(readFileSync(new URL("../Vectors/bn254cx-trust.json", import.meta.url), "utf8"));
  const { input, output } = vectors.find(({ kind }) => kind === "registration");
  const shares = [output.clientSecretShare1, output.clientSecretShare2];
  return { id: input.mpinId + output.publicKey, shares, y: "1b".repeat(32) };
}

/** Each gives a round: the microseconds of each operation. */
async function nativeRounds({ id, shares, y }) {
  const child = spawn(NATIVE, [id, ...shares, y], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout });
  const died = once(child, "exit").then(([code]) => Promise.reject(new Error(`${NATIVE} ended with ${code}`)));
  died.catch(() => {});
  const measure = async () => {
    const line = Promise.race([once(lines, "line"), died]);
    child.stdin.write(`${RUNS}\n`);
    const words = (await line)[0].trim().split(" ");
    return Object.fromEntries(words.flatMap((word, i) => (i % 2 ? [] : [[word, Number(words[i + 1])]])));
  };
  return { measure, stop: () => child.stdin.end() };
}

async function nodeRounds(values) {
  const all = operations(await Crypto.load(), { PinMapping }, values);
  return { measure: async () => round(all, RUNS), stop() {} };
}

async function chromiumRounds(values, origin) {
  const chromium = await Chromium.start();
  await chromium.go(`${origin}/bench.html`);
  await chromium.run((values) => window.load(values), values);
  return { measure: () => chromium.run(async (runs) => window.measure(runs), RUNS), stop: () => chromium.stop() };
}

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

/** The medians of ROUNDS rounds of each, taken in turn. */
async function measured(all) {
  // Engines compile what runs often: the first rounds are not counted.
  for (let warm = 0; warm < 5; warm++) for (const { measure } of Object.values(all)) await measure();
  const rounds = Object.fromEntries(Object.keys(all).map((name) => [name, []]));
  for (let i = 0; i < ROUNDS; i++) {
    for (const [name, { measure }] of Object.entries(all)) {
      const one = await measure();
      rounds[name].push({ ...one, "client_1 + client_2": one.client_1 + one.client_2 });
    }
  }
  const names = Object.keys(rounds.native[0]);
  return names.map((name) => [name, Object.values(rounds).map((list) => median(list.map((one) => one[name])))]);
}

const values = sample();
const { site, origin } = await serveBuilt([], {
  "bench.html": readFileSync(new URL("bench.html", import.meta.url)),
  "bench-page.js": readFileSync(new URL("bench-page.js", import.meta.url)),
  "operations.js": readFileSync(new URL("operations.js", import.meta.url)),
  "values.json": JSON.stringify(values),
});
if (process.argv[2] === "--serve") {
  console.log(`${origin}/bench.html`);
} else {
  const all = { native: await nativeRounds(values), node: await nodeRounds(values), chromium: await chromiumRounds(values, origin) };
  const rows = await measured(all);
  for (const { stop } of Object.values(all)) await stop();
  site.close();
  console.log(`${"microseconds".padEnd(22)}${Object.keys(all).map((name) => name.padStart(10)).join("")}  times native`);
  let tooSlow = 0;
  for (const [name, medians] of rows) {
    const ratios = medians.slice(1).map((value) => value / medians[0]);
    console.log(`${name.padEnd(22)}${medians.map((value) => value.toFixed(1).padStart(10)).join("")}  ${ratios.map((ratio) => ratio.toFixed(2)).join(" ")}`);
    if (name === "client_1 + client_2") tooSlow = ratios.filter((ratio) => ratio > LARGEST).length;
  }
  if (tooSlow) console.log(`FAILED: client_1 + client_2 may take ${LARGEST} times native`);
  else console.log("2 passed");
  process.exitCode = tooSlow ? 1 : 0;
}
