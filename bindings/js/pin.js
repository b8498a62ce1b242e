// SPDX-License-Identifier: Apache-2.0
// Where a PIN comes from, and what is a PIN.

import { utf8 } from "./bytes.js";
import { MPinError } from "./error.js";
import { canceled } from "./server.js";

/** No user needs as many, but a program that always gives the same would be asked without end. */
const MOST_QUESTIONS = 100;

/** The bytes of a PIN, or of none. `own`: the bytes are ours to overwrite. */
function copied(pin, own) {
  if (pin instanceof Uint8Array) {
    const bytes = pin.slice();
    if (own) pin.fill(0);
    return bytes;
  }
  return utf8(typeof pin === "string" ? pin : "");
}

/** The bytes that `source` gives, unchecked. It is a PIN or a function that asks for one (client.d.ts). */
export function ask(source, length, signal) {
  if (typeof source !== "function") return Promise.resolve(copied(source, false));
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(canceled(signal));
    const abort = () => reject(canceled(signal));
    signal?.addEventListener("abort", abort, { once: true });
    const settle = (use, value) => {
      signal?.removeEventListener("abort", abort);
      use(value);
    };
    const pass = (pin) => settle(resolve, copied(pin, true));
    Promise.resolve()
      .then(() => source(pass, length))
      .then((pin) => pin !== undefined && pass(pin))
      .catch((error) => settle(reject, error));
  });
}

/**
 * A PIN of `length` digits that `source` gives. A function is asked again while it gives none, until it declines. What
 * `keep` gets is overwritten by the caller.
 */
export async function askForPIN(source, length, signal, keep) {
  for (let question = 1; ; question++) {
    const digits = keep(await ask(source, length, signal));
    try {
      checkPIN(digits, length);
      return digits;
    } catch (error) {
      const isLast = typeof source !== "function" || question === MOST_QUESTIONS;
      if (isLast || error.code !== "PIN_INVALID") throw error;
    }
  }
}

/** Throws if the bytes are not `length` digits; without a length, 4 to 6. */
export function checkPIN(digits, length) {
  if (digits.length === 0) throw new MPinError("PIN_INPUT_CANCELED", "PIN canceled");
  // Looks at every byte, whatever the others are.
  const others = digits.reduce((found, byte) => found | (byte < 48) | (byte > 57), 0);
  if (others || digits.length < 4 || digits.length > 6) {
    throw new MPinError("PIN_INVALID", "a PIN has 4 to 6 digits");
  }
  if (length && digits.length !== length) throw new MPinError("PIN_INVALID", `a PIN here has ${length} digits`);
}
