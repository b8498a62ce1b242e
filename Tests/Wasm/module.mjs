// What all tests of the WebAssembly modules share: the modules, the vectors, and octets.

import { readFileSync } from "node:fs";
import { Crypto, G1_SIZE, PinMapping } from "../../bindings/js/crypto.js";

const root = new URL("../../", import.meta.url);
/** The bytes of a built module: `mpin` ships, `mpin-all` has every function of the header. */
export const built = (name) => readFileSync(new URL(`build/wasm/${name}.wasm`, root));
export const read = (path) => readFileSync(new URL(path, root), "utf8");
export const vectors = (name) => JSON.parse(read(`Tests/Vectors/${name}.json`)).vectors;

export const unhex = (hex) => (hex == null ? null : Uint8Array.from(Buffer.from(hex, "hex")));
export const hex = (bytes) => (bytes == null ? null : Buffer.from(bytes).toString("hex"));
export const text = (string) => new TextEncoder().encode(string);
/** The number that a scalar of a PIN is. */
export const integer = (scalar) => parseInt(hex(scalar), 16);

export const all = await Crypto.load(built("mpin-all"));

/** The result code of a call, and its outputs. After an error there are none, but for those of a wrong PIN. */
export function result(name, sizes, ...inputs) {
  try {
    return { code: 0, outputs: all.call(name, sizes, ...inputs) };
  } catch (error) {
    if (error.code === undefined) throw error;
    return { code: error.code, outputs: error.outputs };
  }
}

/** The outputs of a call as hex. After an error they are null. */
export function outputs(name, sizes, ...inputs) {
  const { code, outputs } = result(name, sizes, ...inputs);
  return code === 0 ? outputs.map(hex) : sizes.map(() => null);
}

/** A PIN as the Milagro library took it. */
export const pin14 = (number) => all.pinToScalar(PinMapping.LEGACY14, text(String(number)));
/** The size of UT and of permits, which are there only with a date. */
export const dated = (date) => (date > 0 ? G1_SIZE : 0);
