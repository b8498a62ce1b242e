// SPDX-License-Identifier: Apache-2.0
// Bytes, hex and secrets.

import { MPinError } from "./error.js";
import { webCrypto } from "./web-crypto.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

export const utf8 = (text) => encoder.encode(text);
export const fromUTF8 = (bytes) => decoder.decode(bytes);

export function hex(bytes) {
  let text = "";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text;
}

/** The bytes of hex digits, or null if they are none or not `size` bytes. */
export function unhex(text, size) {
  if (typeof text !== "string" || text.length % 2 || !/^[0-9a-f]*$/i.test(text)) return null;
  if (size !== undefined && text.length !== 2 * size) return null;
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(text.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

/** The bytes of hex digits in an answer of the server. */
export function received(answer, member, size) {
  const bytes = unhex(answer[member], size);
  if (bytes?.length) return bytes;
  throw new MPinError("RESPONSE_PARSE_ERROR", `${member} in the answer is not hex of ${size ?? "some"} bytes`);
}

export function joined(...parts) {
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Collects secrets, and overwrites all of them at the end of `work`. */
export async function withSecrets(work) {
  const secrets = [];
  const keep = (bytes) => {
    secrets.push(bytes);
    return bytes;
  };
  try {
    return await work(keep);
  } finally {
    for (const bytes of secrets) bytes.fill(0);
  }
}

export const sameBytes = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i]);

export async function sha256(bytes) {
  return new Uint8Array(await webCrypto.subtle.digest("SHA-256", bytes));
}
