// SPDX-License-Identifier: Apache-2.0
// Identities in IndexedDB. Each is sealed under an AES-GCM key that the browser keeps and no script can read.

import { sameBytes } from "./bytes.js";
import { MPinError } from "./error.js";
import { decoded, encoded, open, seal } from "./record.js";

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

  async list() {
    const { database, key } = await this.#open();
    const store = database.transaction(IDENTITIES).objectStore(IDENTITIES);
    const [places, records] = await Promise.all([done(store.getAllKeys()), done(store.getAll())]);
    return Promise.all(places.map(async (place, i) => decodedOnce(await open(key, JSON.stringify(place), records[i]))));
  }

  async get(projectId, userId) {
    const { database, key } = await this.#open();
    const place = [projectId, userId];
    const record = await done(database.transaction(IDENTITIES).objectStore(IDENTITIES).get(place));
    return record && decodedOnce(await open(key, JSON.stringify(place), record));
  }

  async change(projectId, userId, next) {
    const { database, key } = await this.#open();
    const place = [projectId, userId];
    const name = JSON.stringify(place);
    const read = () => done(database.transaction(IDENTITIES).objectStore(IDENTITIES).get(place));
    await exclusive(`mpin ${this.#name} identities`, async () => {
      for (;;) {
        const old = await read();
        const identity = old && decodedOnce(await open(key, name, old));
        const made = next(identity);
        const record = made && (await seal(key, name, encoded(made)));
        identity?.token.fill(0);
        if (made === undefined || (await replace(database, place, old, record))) return;
      }
    });
  }

  exclusively(work) {
    return exclusive(`mpin ${this.#name} renewal`, work);
  }

  #open() {
    this.#opening ??= opened(this.#name).catch((error) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }
}

/** Runs `work` in one tab at a time. Browsers without Web Locks run it at once; `replace` then finds collisions. */
function exclusive(name, work) {
  const locks = globalThis.navigator?.locks;
  return locks ? locks.request(name, work) : work();
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

async function opened(name) {
  if (!globalThis.indexedDB) throw new MPinError("STORAGE_ERROR", "this browser has no IndexedDB here");
  const request = indexedDB.open(name, VERSION);
  request.onupgradeneeded = () => {
    request.result.createObjectStore(KEYS);
    request.result.createObjectStore(IDENTITIES);
  };
  const database = await done(request, (error) =>
    error?.name === "VersionError"
      ? new MPinError("UNSUPPORTED_FORMAT", "the store is of a newer version", { cause: error })
      : undefined,
  );
  // Another tab may delete the database or bring a newer version.
  database.onversionchange = () => database.close();
  return { database, key: await sealingKey(database) };
}

/** The key of this store. If two tabs make one at once, the first one stays. */
async function sealingKey(database) {
  const present = await done(database.transaction(KEYS).objectStore(KEYS).get(KEY));
  if (present) return present;
  const algorithm = { name: "AES-GCM", length: 256 };
  const made = await globalThis.crypto.subtle.generateKey(algorithm, false, ["encrypt", "decrypt"]);
  const transaction = database.transaction(KEYS, "readwrite");
  const store = transaction.objectStore(KEYS);
  const first = await done(store.get(KEY));
  if (first) return first;
  store.put(made, KEY);
  await committed(transaction);
  return made;
}

function done(request, known = () => undefined) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(known(request.error) ?? failed(request.error));
    request.onblocked = () => reject(failed(new Error("another tab has an older version open")));
  });
}

function committed(transaction) {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onabort = transaction.onerror = () => reject(failed(transaction.error));
  });
}

const failed = (cause) => new MPinError("STORAGE_ERROR", `the store failed: ${cause?.message}`, { cause });
