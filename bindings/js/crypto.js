// SPDX-License-Identifier: Apache-2.0
// The client functions of mpin_crypto.h, from the WebAssembly module. The header describes each function; only the
// form of arguments and results is JavaScript's: bytes are Uint8Array, an absent input is null, a date is a number of
// days since 1970-01-01 UTC (0: no time permit), and a result other than MPIN_CRYPTO_OK is a CryptoError.
//
// What is copied into the module's memory is wiped there. What a function returns belongs to the caller: overwrite
// secrets with `fill(0)`.

import { loadWebCrypto, webCrypto } from "./web-crypto.js";

export const G1_SIZE = 65;
export const G2_SIZE = 128;
export const SCALAR_SIZE = 32;
export const HASH_SIZE = 32;

/** How a PIN becomes a number (MPIN_PIN_* of the header). */
export const PinMapping = Object.freeze({ DECIMAL6: 0, DECIMAL4: 1, LEGACY_HASH: 2, LEGACY14: 3 });

/** The results of the header, by their names without MPIN_CRYPTO_. */
export const CryptoCode = Object.freeze({
  OK: 0, WRONG_PARAMETER: -11, INVALID_POINT: -14, WRONG_ORDER: -18, BAD_PIN: -19, RANDOM_FAILED: -32,
  BUFFER_TOO_SMALL: -33, INVALID_HANDLE: -34,
});

/** A result that is not MPIN_CRYPTO_OK. */
export class CryptoError extends Error {
  constructor(code) {
    const known = Object.entries(CryptoCode).find(([, number]) => number === code);
    super(known ? known[0].toLowerCase().replaceAll("_", " ") : `result ${code}`);
    this.name = "CryptoError";
    this.code = code;
  }
}

/** The largest number of bytes that getRandomValues gives at once. */
const MOST_RANDOM = 65536;

export class Crypto {
  #exports;

  /**
   * Loads the module. `source` is its URL (by default mpin.wasm beside this file), a Response, its bytes or a
   * WebAssembly.Module.
   */
  static async load(source = new URL("mpin.wasm", import.meta.url)) {
    await loadWebCrypto();
    let exports;
    const random = (at, size) => {
      const bytes = new Uint8Array(exports.memory.buffer, at, size);
      for (let start = 0; start < size; start += MOST_RANDOM) {
        webCrypto.getRandomValues(bytes.subarray(start, start + MOST_RANDOM));
      }
    };
    exports = (await instantiate(source, { mpin: { random } })).exports;
    return new Crypto(exports);
  }

  /** Use `Crypto.load`. */
  constructor(exports) {
    this.#exports = exports;
  }

  /** A random scalar, 1 to r-1. */
  randomGenerate() {
    return this.call("random_generate", [SCALAR_SIZE])[0];
  }

  /** SHA-256 of an M-Pin ID. */
  hashID(id) {
    return this.call("hash_id", [HASH_SIZE], id)[0];
  }

  /** The point to which a hash maps. */
  mapToG1(hash) {
    return this.call("map_to_g1", [G1_SIZE], hash)[0];
  }

  /** The sum of two shares of a client secret or of a time permit. */
  recombineG1(a, b) {
    return this.call("recombine_g1", [G1_SIZE], a, b)[0];
  }

  /** The number in the place of a PIN: `scalar`, and `bits`, its width. `digits` are the bytes of the PIN in ASCII. */
  pinToScalar(mapping, digits) {
    return this.#lend((room) => {
      const [scalar, bits] = [room.output(SCALAR_SIZE), room.output(4)];
      const pin = room.input(digits);
      check(this.#exports.mpin_crypto_pin_to_scalar(scalar, SCALAR_SIZE, bits, mapping, pin, digits.length));
      return { scalar: room.read(scalar, SCALAR_SIZE), bits: new DataView(room.read(bits, 4).buffer).getInt32(0, true) };
    });
  }

  /** The token: the client secret without the PIN's part. `pin` comes from `pinToScalar`, here and below. */
  extractPIN(id, pin, clientSecret) {
    return this.call("extract_pin", [G1_SIZE], id, pin.scalar, pin.bits, clientSecret)[0];
  }

  /** Subtracts a further factor, a number of up to 256 bits, from a token. */
  extractFactor(id, factor, token) {
    return this.call("extract_factor", [G1_SIZE], id, factor.scalar, factor.bits, token)[0];
  }

  /** Adds a factor again. */
  restoreFactor(id, factor, token) {
    return this.call("restore_factor", [G1_SIZE], id, factor.scalar, factor.bits, token)[0];
  }

  /** The token for a new PIN. The old one cannot be checked here: log in with it first. */
  changePIN(id, oldPIN, newPIN, token) {
    const pins = [oldPIN.scalar, oldPIN.bits, newPIN.scalar, newPIN.bits];
    return this.call("change_pin", [G1_SIZE], id, ...pins, token)[0];
  }

  /** Pass 1: `sec` (secret), `u`, and with a date `ut`. */
  client1(date, id, x, pin, token, permit = null) {
    const sizes = [G1_SIZE, G1_SIZE, date > 0 ? G1_SIZE : 0];
    const [sec, u, ut] = this.call("client_1", sizes, date, id, x, pin.scalar, pin.bits, token, permit);
    return { sec, u, ut };
  }

  /** Pass 2: the proof V. */
  client2(x, y, sec) {
    return this.call("client_2", [G1_SIZE], x, y, sec)[0];
  }

  /** The challenge that a proof in one pass computes from the time in seconds, its commitment and a message. */
  getY(time, u, message) {
    return this.call("get_y", [SCALAR_SIZE], BigInt(time), u, message)[0];
  }

  /** A proof in one pass, which signs the message: `u`, with a date `ut`, and `v`. */
  client(date, id, x, pin, token, permit, time, message) {
    const sizes = [G1_SIZE, date > 0 ? G1_SIZE : 0, G1_SIZE];
    const inputs = [date, id, x, pin.scalar, pin.bits, token, permit, BigInt(time), message];
    const [u, ut, v] = this.call("client", sizes, ...inputs);
    return { u, ut, v };
  }

  /** A key pair: `z` (secret) and `publicKey`. */
  getDVSKeyPair() {
    const [z, publicKey] = this.call("get_dvs_keypair", [SCALAR_SIZE, G2_SIZE]);
    return { z, publicKey };
  }

  /** The public key of a given z. */
  getDVSPublicKey(z) {
    return this.call("get_dvs_public_key", [G2_SIZE], z)[0];
  }

  /** The product of a scalar and a point. */
  getG1Multiple(x, point) {
    return this.call("get_g1_multiple", [G1_SIZE], x, point)[0];
  }

  /**
   * Calls `mpin_crypto_NAME`, whose outputs have these sizes (0: not wanted), and returns the outputs. An input is a
   * Uint8Array, null, a number (int32_t) or a bigint (int64_t). The CryptoError of a wrong PIN has the outputs of
   * `server_2` and `server` that tell how wrong it was.
   */
  call(name, sizes, ...inputs) {
    return this.#lend((room) => {
      const places = sizes.map((size) => (size ? room.output(size) : 0));
      const args = inputs.flatMap((input) => {
        if (input === null) return [0, 0];
        return input instanceof Uint8Array ? [room.input(input), input.length] : [input];
      });
      const code = this.#exports[`mpin_crypto_${name}`](...places.flatMap((at, i) => [at, sizes[i]]), ...args);
      const outputs = places.map((at, i) => (at ? room.read(at, sizes[i]) : null));
      check(code, code === CryptoCode.BAD_PIN ? outputs : undefined);
      return outputs;
    });
  }

  /** Calls `work` with memory of the module, and wipes and frees that memory afterwards. */
  #lend(work) {
    const room = new Room(this.#exports);
    try {
      return work(room);
    } finally {
      room.free();
    }
  }
}

/** Memory of the module, for one call. */
class Room {
  #exports;
  #blocks = [];

  constructor(exports) {
    this.#exports = exports;
  }

  output(size) {
    const at = this.#exports.mpin_wasm_alloc(size) >>> 0;
    if (at === 0) throw new RangeError(`${size} bytes are too many`);
    this.#blocks.push([at, size]);
    return at;
  }

  input(bytes) {
    const at = this.output(bytes.length);
    // The memory may have grown, which detaches all older views.
    new Uint8Array(this.#exports.memory.buffer, at, bytes.length).set(bytes);
    return at;
  }

  read(at, size) {
    return new Uint8Array(this.#exports.memory.buffer, at, size).slice();
  }

  free() {
    for (const [at, size] of this.#blocks) this.#exports.mpin_wasm_free(at, size);
  }
}

function check(code, outputs) {
  if (code === CryptoCode.OK) return;
  const error = new CryptoError(code);
  if (outputs) error.outputs = outputs;
  throw error;
}

async function instantiate(source, imports) {
  if (source instanceof WebAssembly.Module) return WebAssembly.instantiate(source, imports);
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) {
    return (await WebAssembly.instantiate(source, imports)).instance;
  }
  if (source instanceof URL && source.protocol === "file:") {
    const { readFile } = await import("node:fs/promises");
    return (await WebAssembly.instantiate(await readFile(source), imports)).instance;
  }
  const response = source instanceof Response ? source : fetch(source);
  return (await WebAssembly.instantiateStreaming(response, imports)).instance;
}
