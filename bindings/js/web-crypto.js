// SPDX-License-Identifier: Apache-2.0
// The Web Crypto API. In node 18 it is a module, and no global.

export let webCrypto = globalThis.crypto;

/** Must have ended before anything of this package uses `webCrypto`. */
export async function loadWebCrypto() {
  webCrypto ??= (await import("node:crypto")).webcrypto;
}
