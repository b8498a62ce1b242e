// SPDX-License-Identifier: Apache-2.0
// Identities in a file of a program for node, and the key in a second one.
//
// The file is MAGIC, then the sealed list (record.js): for each identity its size, 4 bytes, big-endian, and its bytes.

import { link, open as openFile, readFile, rename, rm, stat, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { joined, sameBytes, utf8 } from "./bytes.js";
import { MPinError } from "./error.js";
import { locked } from "./lock-node.js";
import { decoded, encoded, open, seal } from "./record.js";
import { loadWebCrypto, webCrypto } from "./web-crypto.js";

const FORMAT = "MPINJS";
const MAGIC = utf8(`${FORMAT}1\n`);
const KEY_SIZE = 32;

/** See store-node.d.ts. */
export class FileStore {
  #path;

  constructor(path) {
    this.#path = path;
  }

  list() {
    return failing(async () => {
      const bytes = await present(this.#path);
      return bytes ? unpack(await this.#key(), bytes) : [];
    });
  }

  async get(projectId, userId) {
    const identities = await this.list();
    const [found] = identities.filter(isOf(projectId, userId));
    for (const other of identities) if (other !== found) other.token.fill(0);
    return found;
  }

  change(projectId, userId, next) {
    return failing(() =>
      locked(`${this.#path}.lock`, async () => {
        const old = await present(this.#path);
        const key = await (old ? this.#key() : this.#newKey());
        const identities = old ? await unpack(key, old) : [];
        const at = identities.findIndex(isOf(projectId, userId));
        const made = next(identities[at]);
        if (made !== undefined) {
          const others = identities.filter((_, i) => i !== at);
          await replaced(this.#path, await pack(key, made ? [...others, made] : others));
        }
        for (const { token } of identities) token.fill(0);
      }),
    );
  }

  exclusively(work, signal) {
    return failing(() => locked(`${this.#path}.renewal.lock`, work, signal));
  }

  /** The key of a store that is there. */
  async #key() {
    const path = `${this.#path}.key`;
    const bytes = await present(path);
    if (!bytes) throw new MPinError("STORAGE_ERROR", `the key file ${path} is missing`);
    const { mode } = await stat(path);
    if (process.platform !== "win32" && mode & 0o077) {
      throw new MPinError("STORAGE_ERROR", `others may read the key file ${path}: chmod 600`);
    }
    if (bytes.length !== KEY_SIZE) throw new MPinError("STORAGE_ERROR", `the key file ${path} has not ${KEY_SIZE} bytes`);
    return imported(bytes);
  }

  /** A key for a new store. One that is there already stays. The caller holds the lock. */
  async #newKey() {
    const path = `${this.#path}.key`;
    if (await present(path)) return this.#key();
    const bytes = webCrypto.getRandomValues(new Uint8Array(KEY_SIZE));
    await replaced(path, bytes, link);
    return imported(bytes);
  }
}

const isOf = (projectId, userId) => (identity) => identity.projectId === projectId && identity.userId === userId;

async function imported(bytes) {
  try {
    return await webCrypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
  } finally {
    bytes.fill(0);
  }
}

async function pack(key, identities) {
  const parts = identities.flatMap((identity) => {
    const bytes = encoded(identity);
    const size = new Uint8Array(4);
    new DataView(size.buffer).setUint32(0, bytes.length);
    return [size, bytes];
  });
  const sealed = await seal(key, FORMAT, joined(...parts));
  for (const part of parts) part.fill(0);
  return joined(MAGIC, sealed);
}

async function unpack(key, file) {
  const magic = file.subarray(0, MAGIC.length);
  if (!sameBytes(magic, MAGIC)) {
    const ours = new TextDecoder().decode(magic).startsWith(FORMAT);
    if (ours) throw new MPinError("UNSUPPORTED_FORMAT", "the store was written by a newer version");
    throw new MPinError("STORAGE_ERROR", "the file is no store");
  }
  const bytes = await open(key, FORMAT, file.subarray(MAGIC.length));
  const identities = [];
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < bytes.length; ) {
    const size = view.getUint32(at);
    identities.push(decoded(bytes.subarray(at + 4, at + 4 + size)));
    at += 4 + size;
  }
  bytes.fill(0);
  return identities;
}

/** The bytes of a file, or null if there is none. */
async function present(path) {
  try {
    return new Uint8Array(await readFile(path));
  } catch (error) {
    if (error.code === "ENOENT") return null;
    throw error;
  }
}

/**
 * Writes a file that only its owner may read, completely or not at all. The caller holds the lock. `link` does not replace
 * a file that is there.
 */
async function replaced(path, bytes, put = rename) {
  const draft = `${path}.new`;
  // What a crash has left, or a link that somebody has put there, is not written to.
  await rm(draft, { force: true });
  const file = await openFile(draft, "wx", 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await put(draft, path);
  if (put !== rename) await unlink(draft);
  await syncFolder(dirname(path));
}

/** Makes a rename last, where the system can do that. */
async function syncFolder(path) {
  if (process.platform === "win32") return;
  const folder = await openFile(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function failing(work) {
  await loadWebCrypto();
  try {
    return await work();
  } catch (error) {
    if (error instanceof MPinError || !error.code) throw error;
    throw new MPinError("STORAGE_ERROR", `the store failed: ${error.message}`, { cause: error });
  }
}
