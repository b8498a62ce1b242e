// No secret stays in the module's memory. The test reads all of that memory after each call, as an attacker who got it
// would. It looks for each secret as it was passed, and with its bytes reversed, as limbs lie in memory.

import assert from "node:assert/strict";
import test from "node:test";
import { Crypto, G1_SIZE as G1, G2_SIZE as G2, PinMapping } from "../../bindings/js/crypto.js";
import { all, built, text } from "./module.mjs";

// crypto.js keeps its module to itself, so this test takes the module's exports when it is instantiated.
const instantiate = WebAssembly.instantiate;
let exports;
WebAssembly.instantiate = async (...parts) => {
  const made = await instantiate(...parts);
  ({ exports } = made.instance);
  return made;
};
const client = await Crypto.load(built("mpin"));
WebAssembly.instantiate = instantiate;

const bytes = () => Buffer.from(exports.memory.buffer);

/** The words of eight bytes of the secrets that are somewhere in the memory. A word as in the secret is big-endian. */
function found(secrets) {
  const memory = bytes();
  return Object.entries(secrets).flatMap(([name, secret]) => {
    const words = [];
    for (let at = secret.length % 8; at < secret.length; at += 8) words.push(Buffer.from(secret.subarray(at, at + 8)));
    return words.flatMap((word, i) =>
      [word, Buffer.from(word).reverse()].some((form) => memory.includes(form)) ? [`${name}, word ${i}`] : [],
    );
  });
}

/** Calls a function of the module by crypto.js, which wipes its inputs and outputs when it is over. */
const call = client.call.bind(client);

const id = text("alice@example.com");
const pin = all.pinToScalar(PinMapping.DECIMAL6, text("918273"));
const factor = all.randomGenerate();
const [s, x, y] = [all.randomGenerate(), all.randomGenerate(), all.randomGenerate()];
const [secret] = all.call("get_client_secret", [G1], s, all.hashID(id));
const [permit] = all.call("get_client_permit", [G1], 20778, s, all.hashID(id));
const token = all.extractPIN(id, pin, secret);
const { sec } = all.client1(20778, id, x, pin, token, permit);
const known = { x, secret, permit, token, sec, factor };

test("a secret in memory would be found", () => {
  const at = exports.mpin_wasm_alloc(32);
  new Uint8Array(exports.memory.buffer, at, 32).set(x);
  assert.equal(found({ x }).length, 4);
  exports.mpin_wasm_free(at, 32);
  assert.deepEqual(found(known), []);
});

const calls = {
  extract_pin: [[G1], id, pin.scalar, pin.bits, secret],
  extract_factor: [[G1], id, factor, 256, token],
  restore_factor: [[G1], id, factor, 256, token],
  change_pin: [[G1], id, pin.scalar, pin.bits, pin.scalar, pin.bits, token],
  client_1: [[G1, G1, G1], 20778, id, x, pin.scalar, pin.bits, token, permit],
  client_2: [[G1], x, y, sec],
  client: [[G1, G1, G1], 20778, id, x, pin.scalar, pin.bits, token, permit, 1n, id],
  get_g1_multiple: [[G1], x, secret],
  recombine_g1: [[G1], secret, token],
  get_dvs_public_key: [[G2], x],
};

for (const [name, [sizes, ...inputs]] of Object.entries(calls)) {
  test(`${name} wipes its secrets`, () => {
    const outputs = call(name, sizes, ...inputs);
    // U, UT and V are sent to the server. All other outputs are secrets, too.
    const own = ["client", "client_2", "get_dvs_public_key"].includes(name) ? {} : { result: outputs[0] };
    assert.deepEqual(found({ ...known, ...own }), []);
  });
}

test("a new key and random number are wiped", () => {
  const [z] = call("get_dvs_keypair", [32, G2]);
  const [random] = call("random_generate", [32]);
  assert.deepEqual(found({ z, random }), []);
});
