// SPDX-License-Identifier: Apache-2.0
// Identities in IndexedDB. Each is sealed under an AES-GCM key that the browser keeps and no script can read.

import { sameBytes } from "./bytes.js";
import { MPinError } from "./error.js";
import { decoded, encoded, open, seal } from "./record.js";
import { canceled } from "./server.js";
import { loadWebCrypto, webCrypto } from "./web-crypto.js";

const VERSION = 1;
const KEYS = "keys";
const IDENTITIES = "identities";
const KEY = "sealing";

/** See store.d.ts. */
export class IndexedDBStore {
  #name;
  #opening;

  constructor(name = "mpin") {
    this.#name = name;
  }

  list() {
    return this.#use(async ({ database, key }) => {
      const store = database.transaction(IDENTITIES).objectStore(IDENTITIES);
      const [places, records] = await Promise.all([done(store.getAllKeys()), done(store.getAll())]);
      return Promise.all(places.map(async (place, i) => decodedOnce(await open(key, JSON.stringify(place), records[i]))));
    });
  }

  get(projectId, userId) {
    return this.#use(async ({ database, key }) => {
      const place = [projectId, userId];
      const record = await present(database, place);
      return record && decodedOnce(await open(key, JSON.stringify(place), record));
    });
  }

  change(projectId, userId, next) {
    return this.#use(({ database, key }) =>
      exclusive(`mpin ${this.#name} identities`, async () => {
        const place = [projectId, userId];
        const name = JSON.stringify(place);
        for (;;) {
          const old = await present(database, place);
          const identity = old && decodedOnce(await open(key, name, old));
          const made = next(identity);
          const record = made && (await seal(key, name, encoded(made)));
          identity?.token.fill(0);
          if (made === undefined || (await replace(database, place, old, record))) return;
        }
      }),
    );
  }

  exclusively(work, signal) {
    return exclusive(`mpin ${this.#name} renewal`, work, signal);
  }

  /** Calls `work` with the open database and the key. */
  async #use(work) {
    try {
      await loadWebCrypto();
      this.#opening ??= opened(this.#name, () => (this.#opening = undefined));
      return await work(await this.#opening);
    } catch (error) {
      if (!(error instanceof DOMException)) throw error;
      throw failed(error);
    }
  }
}

const present = (database, place) => done(database.transaction(IDENTITIES).objectStore(IDENTITIES).get(place));

/**
 * Runs `work` in one tab at a time; `signal` ends the wait. Browsers without Web Locks run it at once; `replace` then
 * finds collisions.
 */
async function exclusive(name, work, signal) {
  const locks = globalThis.navigator?.locks;
  if (!locks) return work();
  let hasBegun = false;
  const begin = () => {
    hasBegun = true;
    return work();
  };
  try {
    return await locks.request(name, { signal }, begin);
  } catch (error) {
    throw !hasBegun && signal?.aborted ? canceled(signal) : error;
  }
}

/** Stores a record (null: removes it) if the present one still is `old`; else returns false. */
async function replace(database, place, old, record) {
  const transaction = database.transaction(IDENTITIES, "readwrite");
  const store = transaction.objectStore(IDENTITIES);
  const present = await done(store.get(place));
  if ((present === undefined) !== (old === undefined) || (old && !sameBytes(old, present))) return false;
  if (record) store.put(record, place);
  else store.delete(place);
  await committed(transaction);
  return true;
}

function decodedOnce(bytes) {
  try {
    return decoded(bytes);
  } finally {
    bytes.fill(0);
  }
}

/** Opens the database. `closed` is called when it cannot be used any more, or not at all. */
async function opened(name, closed) {
  try {
    if (!globalThis.indexedDB) throw new MPinError("STORAGE_ERROR", "this browser has no IndexedDB here");
    const request = indexedDB.open(name, VERSION);
    request.onupgradeneeded = () => {
      request.result.createObjectStore(KEYS);
      request.result.createObjectStore(IDENTITIES);
    };
    const database = await done(request);
    database.onclose = closed;
    // Another tab deletes the database or brings a newer version.
    database.onversionchange = () => {
      database.close();
      closed();
    };
    return { database, key: await sealingKey(database) };
  } catch (error) {
    closed();
    if (error.cause?.name !== "VersionError") throw error;
    throw new MPinError("UNSUPPORTED_FORMAT", "the store is of a newer version", { cause: error.cause });
  }
}

/** The key of this store. If two tabs make one at once, the first one stays. */
async function sealingKey(database) {
  const present = await done(database.transaction(KEYS).objectStore(KEYS).get(KEY));
  if (present) return present;
  const algorithm = { name: "AES-GCM", length: 256 };
  const made = await webCrypto.subtle.generateKey(algorithm, false, ["encrypt", "decrypt"]);
  const transaction = database.transaction(KEYS, "readwrite");
  const store = transaction.objectStore(KEYS);
  const first = await done(store.get(KEY));
  if (first) return first;
  store.put(made, KEY);
  await committed(transaction);
  return made;
}

function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(failed(request.error));
  });
}

function committed(transaction) {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onabort = transaction.onerror = () => reject(failed(transaction.error));
  });
}

const failed = (cause) => new MPinError("STORAGE_ERROR", `the store failed: ${cause?.message}`, { cause });
