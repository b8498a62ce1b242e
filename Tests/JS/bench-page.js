// The page of bench.html: measures, and lets bench.mjs measure.

import { Crypto, PinMapping } from "./crypto.js";
import { operations, round } from "./operations.js";

const ROUNDS = 20, RUNS = 10;
const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];

window.load = async (values) => {
  window.all = operations(await Crypto.load(), { PinMapping }, values);
};
window.measure = (runs) => round(window.all, runs);

if (!navigator.webdriver) {
  const values = await (await fetch("values.json")).json();
  await window.load(values);
  const rounds = Array.from({ length: ROUNDS }, () => window.measure(RUNS));
  const rows = Object.keys(rounds[0]).map((name) => `${name.padEnd(10)}${median(rounds.map((one) => one[name])).toFixed(0).padStart(6)}`);
  document.getElementById("result").textContent = rows.join("\n");
}
