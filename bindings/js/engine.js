// SPDX-License-Identifier: Apache-2.0
// What a client is, in the page or in a Worker: its options, its store and its cryptography.

import { CALLS } from "./calls.js";
import { Crypto } from "./crypto.js";
import { MPinError, invalid } from "./error.js";
import { Server, timed, unlessAborted } from "./server.js";
import { loadWebCrypto } from "./web-crypto.js";

export class Engine {
  #loading;
  #closing = new AbortController();

  constructor(options) {
    this.options = options;
    this.server = new Server(options);
  }

  /** Runs a call. Returns its result, and the session that it has opened, if it has opened one. */
  async call(name, args, { signal, timeout, session }) {
    await loadWebCrypto();
    this.store ??= this.options.store ?? (await ownStore(this.options.storeName));
    const ending = either(signal, this.#closing.signal);
    const call = { signal: ending.signal, timeout, session };
    try {
      const result = await CALLS[name].run(this, args, call);
      return { result, session: call.session === session ? undefined : call.session };
    } finally {
      ending.release();
    }
  }

  /** The cryptography, which the first call that needs it loads. If that call ends before, the next ones still get it. */
  ready({ signal, timeout }) {
    const { wasm, integrity, requestTimeout } = this.options;
    this.#loading ??= load(wasm, integrity).catch((error) => {
      this.#loading = undefined;
      throw new MPinError("CRYPTO_ERROR", `the WebAssembly module cannot be loaded: ${error.message}`, { cause: error });
    });
    return timed(signal, timeout ?? requestTimeout, (limit) => unlessAborted(this.#loading, limit));
  }

  close() {
    this.#closing.abort();
  }
}

/** A signal that is aborted by one of these; `release` ends that. */
function either(...signals) {
  const control = new AbortController();
  const given = signals.filter(Boolean);
  const abort = () => control.abort(given.find(({ aborted }) => aborted).reason);
  for (const signal of given) signal.addEventListener("abort", abort, { once: true });
  if (given.some(({ aborted }) => aborted)) abort();
  return { signal: control.signal, release: () => given.forEach((signal) => signal.removeEventListener("abort", abort)) };
}

async function ownStore(name) {
  if (globalThis.indexedDB) {
    const { IndexedDBStore } = await import("./store.js");
    return new IndexedDBStore(name);
  }
  if (!globalThis.process?.versions?.node) throw new MPinError("STORAGE_ERROR", "this browser has no IndexedDB here");
  if (!name) throw invalid("storeName or store is needed in node");
  const { FileStore } = await import("./store-node.js");
  return new FileStore(name);
}

async function load(wasm, integrity) {
  if (!integrity) return Crypto.load(wasm);
  return Crypto.load(await fetch(wasm ?? new URL("mpin.wasm", import.meta.url), { integrity }));
}
