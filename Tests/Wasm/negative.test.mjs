// The encodings that must be refused, for every argument (Tests/Proof/negative_test.c does the same with libmpin.so).

import assert from "node:assert/strict";
import test from "node:test";
import { G1_SIZE as G1, G2_SIZE as G2 } from "../../bindings/js/crypto.js";
import { all, result, text, unhex, vectors } from "./module.mjs";

const GT = 384;
const DATE = 20778;
const id = text("alice@example.com");
const hash = all.hashID(id);
const pin = all.pinToScalar(0, text("1234")).scalar;
const [g2] = all.call("get_server_secret", [G2], all.randomGenerate());
const g1 = all.mapToG1(hash);
const scalar = all.randomGenerate();
const [gt] = all.call("pairing", [GT], g2, g1);

/** The calls in which `bytes` is the one wrong input. */
const calls = {
  g1_decode: (p) => [
    ["recombine_g1", [G1], p, g1],
    ["recombine_g1", [G1], g1, p],
    ["extract_pin", [G1], id, pin, 20, p],
    ["extract_factor", [G1], id, pin, 20, p],
    ["restore_factor", [G1], id, pin, 20, p],
    ["change_pin", [G1], id, pin, 20, pin, 20, p],
    ["client_1", [G1, G1, 0], 0, id, scalar, pin, 20, p, null],
    ["client_1", [G1, G1, G1], DATE, id, scalar, pin, 20, g1, p],
    ["client", [G1, 0, G1], 0, id, scalar, pin, 20, p, null, 1n, id],
    ["client_2", [G1], scalar, scalar, p],
    ["get_g1_multiple", [G1], scalar, p],
    ["server_2", [GT, GT], DATE, p, g1, scalar, g2, g1, g1, g1],
    ["server_2", [GT, GT], DATE, g1, p, scalar, g2, g1, g1, g1],
    ["server_2", [GT, GT], DATE, g1, g1, scalar, g2, p, g1, g1],
    ["server_2", [GT, GT], DATE, g1, g1, scalar, g2, g1, p, g1],
    ["server_2", [GT, GT], DATE, g1, g1, scalar, g2, g1, g1, p],
    ["pairing", [GT], g2, p],
    ["pairing_product", [GT], g2, p, g2, g1],
    ["pairing_product", [GT], g2, g1, g2, p],
  ],
  g2_decode: (q) => [
    ["recombine_g2", [G2], q, g2],
    ["recombine_g2", [G2], g2, q],
    ["server_2", [GT, GT], 0, g1, null, scalar, q, g1, null, g1],
    ["pairing", [GT], q, g1],
    ["pairing_product", [GT], q, g1, g2, g1],
    ["pairing_product", [GT], g2, g1, q, g1],
  ],
  gt_decode: (value) => [
    ["client_key", [16], value, gt, pin, 20, scalar, scalar, g1],
    ["client_key", [16], gt, value, pin, 20, scalar, scalar, g1],
  ],
  scalar: (s) => [
    ["get_client_secret", [G1], s, hash],
    ["get_server_secret", [G2], s],
    ["get_client_permit", [G1], DATE, s, hash],
    ["get_dvs_public_key", [G2], s],
    ["get_g1_multiple", [G1], s, g1],
    ["client_1", [G1, G1, 0], 0, id, s, pin, 20, g1, null],
    ["client_2", [G1], s, scalar, g1],
    ["client_2", [G1], scalar, s, g1],
    ["server_2", [GT, GT], 0, g1, null, s, g2, g1, null, g1],
  ],
  pin_scalar: (s, { bits }) => [
    ["extract_pin", [G1], id, s, bits, g1],
    ["client_1", [G1, G1, 0], 0, id, scalar, s, bits, g1, null],
  ],
};

for (const [operation, made] of Object.entries(calls)) {
  test(`wrong encodings: ${operation}`, () => {
    let count = 0;
    for (const vector of vectors("bn254cx-negative").filter((vector) => vector.op === operation)) {
      for (const call of made(unhex(vector.in.bytes), vector.in)) {
        const what = `${vector.id} (${vector.reason}), ${call[0]}`;
        assert.equal(result(...call).code, vector.code, what);
        count += 1;
      }
    }
    assert.ok(count > 0);
    console.log(`${count} cases`);
  });
}
