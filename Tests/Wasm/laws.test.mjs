// The laws of the groups, of the pairing and of the protocol, with new random values in each round.

import assert from "node:assert/strict";
import test from "node:test";
import { G1_SIZE as G1, G2_SIZE as G2, PinMapping } from "../../bindings/js/crypto.js";
import { all, hex, result, text } from "./module.mjs";

const ROUNDS = 20;
const GT = 384;
const DATE = 20778;

/** One output of a call, as hex. */
const one = (name, size, ...inputs) => hex(all.call(name, [size], ...inputs)[0]);
const times = (x, point) => all.getG1Multiple(x, point);
const pin = (digits) => all.pinToScalar(PinMapping.DECIMAL6, text(digits));

function law(name, check) {
  test(name, () => {
    for (let round = 0; round < ROUNDS; round++) check(round);
    console.log(`${ROUNDS} cases`);
  });
}

/** What a D-TA and a registration make for a new user. */
function user(round) {
  const [id, s] = [text(`user${round}@example.com`), all.randomGenerate()];
  const [secret] = all.call("get_client_secret", [G1], s, all.hashID(id));
  const [permit] = all.call("get_client_permit", [G1], DATE, s, all.hashID(id));
  const [serverSecret] = all.call("get_server_secret", [G2], s);
  return { id, s, secret, permit, serverSecret, token: all.extractPIN(id, pin("271828"), secret) };
}

/** The server's verdict about a login with this PIN. */
function login({ id, token, permit, serverSecret }, digits, date) {
  const [x, y] = [all.randomGenerate(), all.randomGenerate()];
  const { sec, u, ut } = all.client1(date, id, x, pin(digits), token, date > 0 ? permit : null);
  const v = all.client2(x, y, sec);
  const [hid, htid] = all.call("server_1", [G1, date > 0 ? G1 : 0], date, id);
  return result("server_2", [0, 0], date, hid, htid, y, serverSecret, date > 0 ? null : u, ut, v).code;
}

law("addition commutes, and multiplication distributes over it", () => {
  const [x, p] = [all.randomGenerate(), all.mapToG1(all.hashID(all.randomGenerate()))];
  const q = all.mapToG1(all.hashID(all.randomGenerate()));
  const sum = all.recombineG1(p, q);
  assert.equal(hex(sum), hex(all.recombineG1(q, p)));
  assert.equal(hex(times(x, sum)), hex(all.recombineG1(times(x, p), times(x, q))));
});

law("multiplication by two scalars commutes", () => {
  const [x, y] = [all.randomGenerate(), all.randomGenerate()];
  const p = all.mapToG1(all.hashID(x));
  assert.equal(hex(times(x, times(y, p))), hex(times(y, times(x, p))));
});

law("the pairing is bilinear", () => {
  const s = all.randomGenerate();
  const [p, one_] = [all.mapToG1(all.hashID(s)), new Uint8Array(32).fill(0, 0, 31)];
  one_[31] = 1;
  const [q] = all.call("get_server_secret", [G2], one_);
  const [sq] = all.call("get_server_secret", [G2], s);
  assert.equal(one("pairing", GT, sq, p), one("pairing", GT, q, times(s, p)));
});

law("the shares of two D-TAs give the secret of their sum", (round) => {
  const [a, b] = [user(round), user(round)];
  const both = { ...a, token: all.extractPIN(a.id, pin("1234"), all.recombineG1(a.secret, b.secret)) };
  [both.serverSecret] = all.call("recombine_g2", [G2], a.serverSecret, b.serverSecret);
  assert.equal(login(both, "1234", 0), 0);
});

law("the right PIN is accepted and a wrong one refused, with and without time permit", (round) => {
  const alice = user(round);
  for (const date of [0, DATE]) {
    assert.equal(login(alice, "271828", date), 0);
    assert.equal(login(alice, "271829", date), -19);
  }
});

law("a changed PIN and a further factor", (round) => {
  const alice = user(round);
  const token = all.changePIN(alice.id, pin("271828"), pin("4711"), alice.token);
  assert.equal(login({ ...alice, token }, "4711", 0), 0);
  assert.equal(login({ ...alice, token }, "271828", 0), -19);
  const factor = { scalar: all.randomGenerate(), bits: 256 };
  const less = all.extractFactor(alice.id, factor, token);
  assert.equal(login({ ...alice, token: less }, "4711", 0), -19);
  assert.equal(hex(all.restoreFactor(alice.id, factor, less)), hex(token));
});

law("a signature with a key pair is for one message and one time", (round) => {
  const { s, serverSecret } = user(round);
  const { z, publicKey } = all.getDVSKeyPair();
  assert.equal(hex(all.getDVSPublicKey(z)), hex(publicKey));
  const id = new Uint8Array([...text("signer"), ...publicKey]);
  const [share] = all.call("get_client_secret", [G1], s, all.hashID(id));
  const token = all.extractPIN(id, pin("123456"), times(z, share));
  const [time, message] = [1_700_000_000n + BigInt(round), all.randomGenerate()];
  const { u, v } = all.client(0, id, all.randomGenerate(), pin("123456"), token, null, time, message);
  const verdict = (time, message) =>
    result("server", [0, 0], 0, id, serverSecret, publicKey, u, null, v, time, message).code;
  assert.equal(verdict(time, message), 0);
  assert.equal(verdict(time + 1n, message), -19);
  assert.equal(verdict(time, all.randomGenerate()), -19);
});

law("both sides of M-Pin Full get one key", (round) => {
  const { id, serverSecret, token } = user(round);
  const [r, x, w] = [all.randomGenerate(), all.randomGenerate(), all.randomGenerate()];
  const a = all.mapToG1(all.hashID(id));
  const { u } = all.client1(0, id, x, pin("271828"), token);
  const [g1, g2] = all.call("precompute", [GT, GT], token, all.hashID(id));
  const { scalar, bits } = pin("271828");
  const mine = one("client_key", 16, g1, g2, scalar, bits, r, x, times(w, a));
  assert.equal(mine, one("server_key", 16, times(r, a), serverSecret, w, u, null));
});

law("elligator squared is undone", () => {
  const p = all.mapToG1(all.hashID(all.randomGenerate()));
  assert.equal(one("decoding", G1, all.call("encoding", [65], p)[0]), hex(p));
});
