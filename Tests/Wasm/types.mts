// The types of bindings/js, as a TypeScript program uses them. The compiler checks this file; nobody runs it.

import { Crypto, CryptoCode, CryptoError, PinMapping } from "../../bindings/js/crypto.js";

export async function proof(id: Uint8Array, token: Uint8Array, y: Uint8Array): Promise<Uint8Array> {
  const crypto = await Crypto.load(new URL("mpin.wasm", "https://app.example/"));
  const pin = crypto.pinToScalar(PinMapping.DECIMAL6, new TextEncoder().encode("1234"));
  const x = crypto.randomGenerate();
  try {
    const { sec, ut } = crypto.client1(0, id, x, pin, token);
    const absent: Uint8Array | null = ut;
    return absent ?? crypto.client2(x, y, sec);
  } catch (error) {
    if (error instanceof CryptoError && error.code === CryptoCode.INVALID_POINT) return new Uint8Array();
    throw error;
  }
}

// @ts-expect-error: there are four mappings
export const wrong: PinMapping = 7;
// @ts-expect-error: a module is loaded by Crypto.load
export const direct = new Crypto();
// @ts-expect-error: a PIN is a number with its width, not a text
export const plain = (crypto: Crypto, id: Uint8Array) => crypto.extractPIN(id, "1234", id);
