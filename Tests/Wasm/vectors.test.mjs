// The shared vectors, as Tests/C and Tests/MPinCryptoTests run them against libmpin.so.

import assert from "node:assert/strict";
import test from "node:test";
import { CryptoError, G1_SIZE as G1, G2_SIZE as G2, PinMapping } from "../../bindings/js/crypto.js";
import { all, dated, hex, integer, outputs, pin14, result, text, unhex, vectors } from "./module.mjs";

const GT = 384;
const KEY = 16;

/** For each operation of bn254cx-mpin.json: what the module gives, and what it should give. */
const operations = {
  hash_id: (i, o) => [outputs("hash_id", [32], unhex(i.id)), [o.hash]],
  map_to_g1: (i, o) => [outputs("map_to_g1", [G1], unhex(i.hash)), [o.point]],
  client_secret: (i, o) => [outputs("get_client_secret", [G1], unhex(i.s), unhex(i.hash_id)), [o.secret]],
  server_secret: (i, o) => [outputs("get_server_secret", [G2], unhex(i.s)), [o.secret]],
  time_permit: (i, o) => [outputs("get_client_permit", [G1], i.date, unhex(i.s), unhex(i.hash_id)), [o.permit]],
  extract_pin(i, o) {
    const pin = pin14(i.pin);
    const { code, outputs } = result("extract_pin", [G1], unhex(i.id), pin.scalar, pin.bits, unhex(i.client_secret));
    return code === 0
      ? [[hex(outputs[0]), integer(pin.scalar)], [o.token, o.effective_scalar]]
      : [code, o.rc];
  },
  client_1(i, o) {
    const pin = pin14(i.pin);
    const inputs = [i.date, unhex(i.id), unhex(i.x), pin.scalar, pin.bits, unhex(i.token), unhex(i.permit)];
    const { code, outputs } = result("client_1", [G1, G1, dated(i.date)], ...inputs);
    return code === 0 ? [outputs.map(hex), [o.sec, o.u, o.ut]] : [code, o.rc];
  },
  client_2(i, o) {
    const { code, outputs } = result("client_2", [G1], unhex(i.x), unhex(i.y), unhex(i.sec));
    return code === 0 ? [outputs.map(hex), [o.v]] : [code, o.rc];
  },
  server_1: (i, o) => [outputs("server_1", [G1, dated(i.date)], i.date, unhex(i.id)), [o.hid, o.htid]],
  server_2(i, o) {
    const size = i.u ? GT : 0;
    const names = ["hid", "htid", "y", "sst", "u", "ut", "v"];
    const { code, outputs } = result("server_2", [size, size], i.date, ...names.map((name) => unhex(i[name])));
    return code === -19 ? [outputs.map(hex), i.u ? [o.e, o.f] : [null, null]] : [code, o.rc];
  },
  recombine_g1(i, o) {
    const { code, outputs } = result("recombine_g1", [G1], unhex(i.a), unhex(i.b));
    // The Milagro library returns the point at infinity, ours an error.
    return code === 0 ? [outputs.map(hex), [o.sum]] : [true, o.rc !== 0 || o.infinity];
  },
  recombine_g2(i, o) {
    const { code, outputs } = result("recombine_g2", [G2], unhex(i.a), unhex(i.b));
    return code === 0 ? [outputs.map(hex), [o.sum]] : [true, o.rc !== 0 || o.infinity];
  },
  g1_add: (i, o) => [outputs("recombine_g1", [G1], unhex(i.a), unhex(i.b)), [o.sum]],
  g2_add: (i, o) => [outputs("recombine_g2", [G2], unhex(i.a), unhex(i.b)), [o.sum]],
  g1_mul(i, o) {
    const { code, outputs } = result("get_g1_multiple", [G1], unhex(i.k), unhex(i.p));
    // The engine has vectors with a scalar of 0 or r, which the function does not take.
    return code === -11 ? null : [outputs.map(hex), [o.r]];
  },
  precompute: (i, o) => [outputs("precompute", [GT, GT], unhex(i.token), unhex(i.hash_id)), [o.g1, o.g2]],
  client_key(i, o) {
    const pin = pin14(i.pin);
    const inputs = [unhex(i.g1), unhex(i.g2), pin.scalar, pin.bits, unhex(i.r), unhex(i.x), unhex(i.t)];
    return i.pin >= 0 && i.pin < 10_000 ? [outputs("client_key", [KEY], ...inputs), [o.key]] : null;
  },
  server_key(i, o) {
    const inputs = ["z", "sst", "w", "u", "ut"].map((name) => unhex(i[name]));
    return [outputs("server_key", [KEY], ...inputs), [o.key]];
  },
  pairing: (i, o) => [outputs("pairing", [GT], unhex(i.q), unhex(i.p)), [o.e]],
  pairing_product(i, o) {
    return [outputs("pairing_product", [GT], ...["q1", "p1", "q2", "p2"].map((name) => unhex(i[name]))), [o.e]];
  },
  elligator_decode: (i, o) => [outputs("decoding", [G1], unhex(i.encoded)), [o.point]],
  pin_hash(i, o) {
    const pin = all.pinToScalar(PinMapping.LEGACY_HASH, unhex(i.pin_utf8));
    return [integer(pin.scalar), o.effective_scalar];
  },
};

for (const [operation, run] of Object.entries(operations)) {
  test(`vectors of ${operation}`, () => {
    const own = vectors("bn254cx-mpin").filter((vector) => vector.op === operation);
    let count = 0;
    for (const { id, in: input, out } of own) {
      const pair = run(input, out);
      if (!pair) continue;
      assert.deepEqual(pair[0], pair[1], id);
      count += 1;
    }
    assert.ok(count > 0);
    console.log(`${count} cases`);
  });
}

const trust = vectors("bn254cx-trust");
const kind = (name) => trust.filter((vector) => vector.kind === name);

/** The identities of the registration vectors: the M-Pin ID with the public key, the PIN and the token. */
const registered = Object.fromEntries(
  kind("registration").map(({ id, input: i, output: o }) => {
    const pin = all.pinToScalar(PinMapping.DECIMAL6, text(i.pin));
    return [id, { id: new Uint8Array([...unhex(i.mpinId), ...unhex(o.publicKey)]), pin, token: unhex(o.token) }];
  }),
);

test("PINs are mapped as by the Trust clients", () => {
  for (const { id, input, output } of kind("pin-mapping")) {
    const mapped = (mapping) => integer(all.pinToScalar(mapping, text(input.pin)).scalar);
    assert.equal(mapped(PinMapping.DECIMAL6), output.clientJsInteger % 1_000_000, id);
    assert.equal(mapped(PinMapping.DECIMAL4), output.trustNativeInteger_4digitField % 10_000, id);
    assert.equal(mapped(PinMapping.LEGACY14), output.clientJsInteger % 10_000, id);
  }
});

test("registrations of Trust clients", () => {
  for (const { id, input: i, output: o } of kind("registration")) {
    const publicKey = all.getDVSPublicKey(unhex(i.z));
    const full = new Uint8Array([...unhex(i.mpinId), ...publicKey]);
    const hash = all.hashID(full);
    const sum = all.recombineG1(unhex(o.clientSecretShare1), unhex(o.clientSecretShare2));
    const secret = all.getG1Multiple(unhex(i.z), sum);
    const token = all.extractPIN(full, registered[id].pin, secret);
    const got = [publicKey, hash, all.mapToG1(hash), sum, secret, token].map(hex);
    assert.deepEqual(got, [o.publicKey, o.hashOfIdAndKey, o.A, o.combined, o.zTimesCombined, o.token], id);
  }
});

test("logins of Trust clients", () => {
  const own = kind("two-pass").filter(({ input }) => registered[input.registration]);
  assert.ok(own.length > 0);
  for (const { id, input: i, output: o } of own) {
    const user = registered[i.registration];
    const pin = all.pinToScalar(PinMapping.DECIMAL6, text(i.pin));
    const { sec, u } = all.client1(0, user.id, unhex(i.x), pin, user.token);
    const got = [u, sec, all.client2(unhex(i.x), unhex(i.y), sec)].map(hex);
    assert.deepEqual(got, [o.U, o.SECbeforePass2, o.V], id);
  }
});

test("signatures of Trust clients", () => {
  for (const { id, input: i, output: o } of kind("dvs-sign")) {
    const user = registered[i.registration];
    const signed = all.client(0, user.id, unhex(i.x), user.pin, user.token, null, i.timestamp, unhex(i.message));
    assert.deepEqual([signed.u, signed.v].map(hex), [o.u, o.v], id);
  }
});

test("an error has the code and the name of the header", () => {
  assert.throws(
    () => all.mapToG1(new Uint8Array(31)),
    (error) => error instanceof CryptoError && error.code === -11 && error.message === "wrong parameter",
  );
});
