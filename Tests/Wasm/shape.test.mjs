// What the module that ships imports and exports, how large it is, and how fast it starts.

import assert from "node:assert/strict";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { Crypto, CryptoCode, PinMapping } from "../../bindings/js/crypto.js";
import { all, built, read, text } from "./module.mjs";

const bytes = built("mpin");
const names = (list) => list.map(({ name }) => name).sort();
const header = read("include/mpin_crypto.h");
const CLIENT = [
  "random_generate", "hash_id", "map_to_g1", "recombine_g1", "pin_to_scalar", "extract_pin", "extract_factor",
  "restore_factor", "change_pin", "client_1", "client_2", "client", "get_y", "get_dvs_keypair", "get_dvs_public_key",
  "get_g1_multiple",
].map((name) => `mpin_crypto_${name}`);
const MEMORY = ["memory", "mpin_wasm_alloc", "mpin_wasm_free"];

test("it has one import and the client's functions", async () => {
  const module = await WebAssembly.compile(bytes);
  assert.deepEqual(WebAssembly.Module.imports(module), [{ module: "mpin", name: "random", kind: "function" }]);
  assert.deepEqual(names(WebAssembly.Module.exports(module)), [...CLIENT, ...MEMORY].sort());
});

test("the module for the tests has every function of the header", async () => {
  const module = await WebAssembly.compile(built("mpin-all"));
  const declared = new Set(header.match(/\bmpin_crypto_[a-z0-9_]+(?=\()/g));
  assert.ok(declared.size > 40);
  assert.deepEqual(names(WebAssembly.Module.exports(module)), [...declared, ...MEMORY].sort());
});

test("it has at most 64 KB with gzip", () => {
  const size = gzipSync(bytes, { level: 9 }).length;
  assert.ok(size <= 65_536, `${size}`);
});

test("it starts within 10 ms", async () => {
  let best = Infinity;
  for (let round = 0; round < 20; round++) {
    const start = performance.now();
    await Crypto.load(bytes);
    best = Math.min(best, performance.now() - start);
  }
  assert.ok(best <= 10, `${best} ms`);
});

test("names and numbers of codes and PIN mappings are those of the header", () => {
  const numbers = (prefix) =>
    Object.fromEntries(
      [...header.matchAll(new RegExp(`#define ${prefix}_(\\w+) \\(?(-?\\d+)\\)?$`, "gm"))].map((m) => [m[1], +m[2]]),
    );
  assert.deepEqual(numbers("MPIN_CRYPTO"), { ...CryptoCode });
  assert.deepEqual(numbers("MPIN_PIN"), { ...PinMapping });
});

test("memory that a call grew does not spoil its inputs", () => {
  const message = new Uint8Array(1 << 20).fill(7);
  const [u, y] = [all.mapToG1(all.hashID(text("a"))), () => all.getY(1, u, message)];
  assert.deepEqual(y(), y());
  assert.throws(() => all.hashID(new Uint8Array((1 << 20) + 1)), RangeError);
});
