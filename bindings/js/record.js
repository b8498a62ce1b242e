// SPDX-License-Identifier: Apache-2.0
// An identity as bytes, and sealed bytes.

import { fromUTF8, joined, utf8 } from "./bytes.js";
import { MPinError } from "./error.js";
import { webCrypto } from "./web-crypto.js";

const IV_SIZE = 12;

/** The size of the token (1 byte), the token, and the other members as JSON. The token never is a text. */
export function encoded({ token, ...members }) {
  return joined(Uint8Array.of(token.length), token, utf8(JSON.stringify(members)));
}

export function decoded(bytes) {
  const size = bytes[0];
  return { ...JSON.parse(fromUTF8(bytes.subarray(1 + size))), token: bytes.slice(1, 1 + size) };
}

/** A random IV and the sealed bytes. `place` says where they belong: they cannot be opened as anything else. */
export async function seal(key, place, bytes) {
  const iv = webCrypto.getRandomValues(new Uint8Array(IV_SIZE));
  try {
    const parameters = { name: "AES-GCM", iv, additionalData: utf8(place) };
    return joined(iv, new Uint8Array(await webCrypto.subtle.encrypt(parameters, key, bytes)));
  } finally {
    bytes.fill(0);
  }
}

export async function open(key, place, sealed) {
  const parameters = { name: "AES-GCM", iv: sealed.subarray(0, IV_SIZE), additionalData: utf8(place) };
  try {
    return new Uint8Array(await webCrypto.subtle.decrypt(parameters, key, sealed.subarray(IV_SIZE)));
  } catch (error) {
    throw new MPinError("STORAGE_ERROR", "the store is damaged, or its key is another one", { cause: error });
  }
}
