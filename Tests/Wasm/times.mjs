// Tests the module for constant time by measuring, in node, as Tests/Proof/dudect.c does for libmpin.so: functions are
// called with a fixed secret and with random ones, in random order, and Welch's t-test shows whether the times differ.
// |t| above LEAK is a leak. The control, a comparison that stops at the first difference, must be far above.
//
// Secrets of both classes lie in one and the same buffer when they are used: with a buffer for each class, the engine's
// memory alone makes a difference.
//
// usage: times.mjs SAMPLES (1000 or more)

import { Crypto, PinMapping } from "../../bindings/js/crypto.js";
import { built, text } from "./module.mjs";

const LEAK = 10, CROPS = 10, WARM_UP = 500, SCALAR = 32;
const samples = Number(process.argv[2]);
if (!(samples >= 1000)) {
  console.error("usage: times.mjs SAMPLES (1000 or more)");
  process.exit(2);
}

const crypto = await Crypto.load(built("mpin"));
const id = text('{"userID":"alice@example.com"}');
const y = new Uint8Array(SCALAR);
y[SCALAR - 1] = 1;
const x = crypto.randomGenerate();
const secret = crypto.getG1Multiple(x, crypto.mapToG1(crypto.hashID(id)));

/** The one buffer. A PIN is a number of 20 bits, or six digits at its start. */
const buffer = new Uint8Array(SCALAR);
const digits = buffer.subarray(0, 6);
const pin = { scalar: buffer, bits: 20 };
const other = crypto.pinToScalar(PinMapping.DECIMAL6, text("271828"));

function randomPIN(bytes) {
  const value = globalThis.crypto.getRandomValues(new Uint32Array(1))[0] % 1_000_000;
  bytes.fill(0);
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(SCALAR - 4, value);
}
function randomDigits(bytes) {
  const value = globalThis.crypto.getRandomValues(new Uint32Array(1))[0] % 1_000_000;
  bytes.fill(0);
  bytes.set(text(String(value).padStart(6, "0")));
}
const randomScalar = (bytes) => bytes.set(crypto.randomGenerate());
const number = (value) => Uint8Array.from({ length: SCALAR }, (_, i) => (i === SCALAR - 1 ? value : 0));
const fixedDigits = new Uint8Array(SCALAR);
fixedDigits.set(text("000000"));

/** Stops at the first difference, which a random secret has in its first bytes. */
const wanted = number(1);
let seen = 0;
function leaky() {
  for (let round = 0; round < 100; round++) {
    for (let i = 0; i < SCALAR && buffer[i] === wanted[i]; i++) seen++;
  }
}

/** What is measured, what makes a random secret, and the fixed one: an extreme, for which a loop that skips zeros differs. */
const FUNCTIONS = {
  "pin_to_scalar (PIN)": [() => crypto.pinToScalar(PinMapping.DECIMAL6, digits), randomDigits, fixedDigits],
  "extract_pin (PIN)": [() => crypto.extractPIN(id, pin, secret), randomPIN, number(0)],
  "change_pin (PIN)": [() => crypto.changePIN(id, pin, other, secret), randomPIN, number(0)],
  "client_1 (PIN)": [() => crypto.client1(0, id, x, pin, secret), randomPIN, number(0)],
  "client_1 (x)": [() => crypto.client1(0, id, buffer, other, secret), randomScalar, number(1)],
  "client_2 (x)": [() => crypto.client2(buffer, y, secret), randomScalar, number(1)],
  "client (x)": [() => crypto.client(0, id, buffer, other, secret, null, 1, y), randomScalar, number(1)],
  "get_dvs_public_key (z)": [() => crypto.getDVSPublicKey(buffer), randomScalar, number(1)],
};

/** |t| of Welch's t-test for the times of the two classes that are not above `limit`. */
function welch(times, classes, limit) {
  const count = [0, 0], mean = [0, 0], square = [0, 0];
  times.forEach((time, i) => {
    if (time > limit) return;
    const c = classes[i], delta = time - mean[c];
    mean[c] += delta / ++count[c];
    square[c] += delta * (time - mean[c]);
  });
  if (count[0] < 100 || count[1] < 100) return 0;
  const variance = square[0] / (count[0] - 1) / count[0] + square[1] / (count[1] - 1) / count[1];
  return variance > 0 ? Math.abs(mean[0] - mean[1]) / Math.sqrt(variance) : 0;
}

/** The largest |t| with all times, and with those below each percentile: slow outliers come from the machine. */
function largest(times, classes) {
  const sorted = Float64Array.from(times).sort();
  const limits = [Infinity];
  for (let crop = 1; crop <= CROPS; crop++) limits.push(sorted[Math.floor((1 - 0.5 ** crop) * sorted.length)]);
  return Math.max(...limits.map((limit) => welch(times, classes, limit)));
}

function measure(work, random, fixed) {
  const times = new Float64Array(samples), classes = new Uint8Array(samples);
  const coins = Uint8Array.from({ length: samples + WARM_UP }, () => Math.random() * 2);
  for (let i = -WARM_UP; i < samples; i++) {
    const c = coins[i + WARM_UP];
    // A random secret is made even if the fixed one is used, so that the caches are in the same state for both.
    random(buffer);
    if (c === 0) buffer.set(fixed);
    const began = performance.now();
    work();
    const time = performance.now() - began;
    if (i >= 0) [times[i], classes[i]] = [time, c];
  }
  return largest(times, classes);
}

let failed = 0;
const report = (name, t, good) => {
  console.log(`  ${name.padEnd(24)} max |t| ${t.toFixed(2).padStart(8)}${good ? "" : "  FAILED"}`);
  if (!good) failed++;
};
const control = measure(leaky, randomScalar, number(1));
report("control, leaky", control, control > LEAK && seen > 0);
for (const [name, [work, random, fixed]] of Object.entries(FUNCTIONS)) {
  const t = measure(work, random, fixed);
  report(name, t, t < LEAK);
}
console.log(failed ? `${failed} failed` : `${1 + Object.keys(FUNCTIONS).length} passed`);
process.exitCode = failed ? 1 : 0;
