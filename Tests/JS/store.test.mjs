// The store of node: several processes at once, processes that are killed, damaged files, wrong keys.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readFileSync, readdirSync, statSync, symlinkSync, truncateSync, unlinkSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { FileStore } from "../../build/js/store-node.js";
import { failure, freshPath, hex } from "./support.mjs";

const TOKEN = Uint8Array.from({ length: 65 }, (_, i) => i + 1);
const identity = (userId, more) => ({ userId, projectId: "web", mpinId: "7b7d", token: TOKEN.slice(), ...more });
const program = fileURLToPath(new URL("writer.mjs", import.meta.url));
const writer = (...args) => spawn(process.execPath, [program, ...args.map(String)], { stdio: ["ignore", "pipe", "inherit"] });
const ended = async (child) => (await once(child, "exit"))[child.signalCode ? 1 : 0];
/** The files that belong to a store. */
const files = (path) => readdirSync(dirname(path)).filter((name) => name.startsWith(basename(path))).sort();

async function filled(users = ["a", "b", "c"]) {
  const path = freshPath();
  for (const user of users) await new FileStore(path).change("web", user, () => identity(user, { note: "ä" }));
  return path;
}

test("what was stored is there, sealed, and only its owner may read it", async () => {
  const path = await filled();
  const store = new FileStore(path);
  assert.deepEqual(await store.get("web", "b"), identity("b", { note: "ä" }));
  assert.equal(await store.get("other", "b"), undefined);
  assert.equal((await store.list()).length, 3);
  await store.change("web", "a", () => null);
  await store.change("web", "b", () => undefined);
  assert.deepEqual((await store.list()).map(({ userId }) => userId), ["b", "c"]);
  const bytes = readFileSync(path);
  for (const secret of [Buffer.from(TOKEN), hex(TOKEN), "7b7d", "userId"]) assert.equal(bytes.indexOf(secret), -1);
  for (const name of [path, `${path}.key`]) assert.equal(statSync(name).mode & 0o777, 0o600);
  assert.deepEqual(files(path), [basename(path), `${basename(path)}.key`]);
});

test("a link in the place of a draft is not followed", async () => {
  const [path, victim] = [await filled(), freshPath()];
  writeFileSync(victim, "precious");
  symlinkSync(victim, `${path}.new`);
  await new FileStore(path).change("web", "d", () => identity("d"));
  assert.equal((await new FileStore(path).list()).length, 4);
  assert.equal(readFileSync(victim, "utf8"), "precious");
  assert.equal(files(path).length, 2);
});

test("an empty store needs no file", async () => {
  const path = freshPath();
  assert.deepEqual(await new FileStore(path).list(), []);
  assert.deepEqual(files(path), []);
});

test("several processes at once lose nothing", async () => {
  const path = freshPath();
  const names = ["a", "b", "c"];
  const codes = await Promise.all(names.map((name) => ended(writer(path, name, 25))));
  assert.deepEqual(codes, [0, 0, 0]);
  const identities = await new FileStore(path).list();
  assert.equal(identities.length, 1 + 3 * 25);
  assert.equal(identities.find(({ userId }) => userId === "shared").count, 3 * 25);
  assert.equal(files(path).length, 2);
});

test("node 18, where Web Crypto is no global", async () => {
  const path = freshPath();
  const child = spawn(process.execPath, ["--no-experimental-global-webcrypto", program, path, "a", "2"], { stdio: "ignore" });
  assert.equal(await ended(child), 0);
  assert.equal((await new FileStore(path).list()).length, 3);
});

test("several stores of one process at once lose nothing", async () => {
  const path = freshPath();
  const stores = [new FileStore(path), new FileStore(path)];
  const add = (store) => store.change("web", "shared", (old) => identity("shared", { count: (old?.count ?? 0) + 1 }));
  await Promise.all(Array.from({ length: 40 }, (_, i) => add(stores[i % 2])));
  assert.equal((await stores[0].get("web", "shared")).count, 40);
});

test("the lock of a killed process is broken, by one of many", async () => {
  const path = freshPath();
  assert.equal(await ended(writer(path, "first", 3, "die")), "SIGKILL");
  assert.ok(existsSync(`${path}.lock`));
  const codes = await Promise.all(["a", "b", "c", "d"].map((name) => ended(writer(path, name, 5))));
  assert.deepEqual(codes, [0, 0, 0, 0]);
  assert.equal((await new FileStore(path).get("web", "shared")).count, 2 + 4 * 5);
  assert.equal(existsSync(`${path}.lock`), false);
});

test("a process that is killed at any time leaves a whole store", async () => {
  const path = freshPath();
  for (let kill = 1; kill <= 12; kill++) {
    const child = writer(path, `k${kill}`, 1000);
    let last = 0;
    const lines = createInterface({ input: child.stdout });
    lines.on("line", (line) => {
      last = Number(line);
      if (last === kill) child.kill("SIGKILL");
    });
    await once(child, "close");
    const kept = (await new FileStore(path).list()).filter(({ userId }) => userId.startsWith(`k${kill}-`));
    // A change may be on disk whose line was not written any more.
    assert.ok(kept.length >= last && kept.length <= last + 1, `${kept.length} of ${last}`);
  }
});

test("exclusive work is done by one at a time", async () => {
  const path = freshPath();
  const stores = [new FileStore(path), new FileStore(path), new FileStore(path)];
  let inside = 0, most = 0;
  await Promise.all(stores.map((store) => store.exclusively(async () => {
    most = Math.max(most, ++inside);
    await store.change("web", "a", () => identity("a"));
    inside--;
  })));
  assert.equal(most, 1);
});

test("a signal ends the wait for exclusive work of others", { timeout: 10_000 }, async () => {
  const path = freshPath();
  await new FileStore(path).exclusively(async () => {
    const error = await failure(new FileStore(path).exclusively(() => assert.fail("two at once"), AbortSignal.timeout(50)));
    assert.equal(error.code, "CANCELED");
  });
  assert.equal(await new FileStore(path).exclusively(async () => "done", AbortSignal.timeout(5000)), "done");
});

test("a change that throws changes nothing, and does not keep the lock", async () => {
  const path = await filled();
  const before = readFileSync(path);
  const store = new FileStore(path);
  const error = new Error("on purpose");
  assert.equal(await failure(store.change("web", "a", () => { throw error; })), error);
  assert.deepEqual(readFileSync(path), before);
  await store.change("web", "a", () => null);
  assert.equal((await store.list()).length, 2);
});

/** Both reading and changing end with this error, and nothing is written. */
async function refused(path, code) {
  const before = [path, `${path}.key`].map((name) => existsSync(name) && readFileSync(name));
  const store = new FileStore(path);
  const attempts = [() => store.list(), () => store.get("web", "a"), () => store.change("web", "a", () => null)];
  for (const attempt of attempts) {
    const error = await failure(attempt());
    assert.deepEqual([error.name, error.code], ["MPinError", code], error.stack);
  }
  assert.deepEqual([path, `${path}.key`].map((name) => existsSync(name) && readFileSync(name)), before);
  assert.ok(!existsSync(`${path}.lock`));
}

let cases = 0;
test("a truncated file is refused, at every length", async () => {
  const path = await filled(["a"]);
  const whole = readFileSync(path);
  for (let size = whole.length - 1; size >= 0; size--) {
    truncateSync(path, size);
    await refused(path, size >= 6 && size < 8 ? "UNSUPPORTED_FORMAT" : "STORAGE_ERROR");
    cases++;
  }
  writeFileSync(path, whole);
  assert.equal((await new FileStore(path).list()).length, 1);
});

test("a file with a changed bit is refused, at every byte", async () => {
  const path = await filled(["a"]);
  const whole = readFileSync(path);
  for (let at = 0; at < whole.length; at++) {
    const bytes = Buffer.from(whole);
    bytes[at] ^= 1;
    writeFileSync(path, bytes);
    await refused(path, at === 6 || at === 7 ? "UNSUPPORTED_FORMAT" : "STORAGE_ERROR");
    cases++;
  }
  console.log(`${cases} cases`);
});

test("a wrong, missing, short or public key file is refused", async () => {
  const path = await filled();
  const key = readFileSync(`${path}.key`);
  writeFileSync(`${path}.key`, Buffer.alloc(32, 1));
  await refused(path, "STORAGE_ERROR");
  writeFileSync(`${path}.key`, key.subarray(1));
  await refused(path, "STORAGE_ERROR");
  writeFileSync(`${path}.key`, key);
  chmodSync(`${path}.key`, 0o640);
  await refused(path, "STORAGE_ERROR");
  chmodSync(`${path}.key`, 0o600);
  assert.equal((await new FileStore(path).list()).length, 3);
  unlinkSync(`${path}.key`);
  await refused(path, "STORAGE_ERROR");
});

test("the format of a newer version is refused", async () => {
  const path = await filled();
  const bytes = readFileSync(path);
  bytes.write("MPINJS2");
  writeFileSync(path, bytes);
  await refused(path, "UNSUPPORTED_FORMAT");
});

test("a folder that is not there is an error of the store", async () => {
  const store = new FileStore(`${freshPath()}/none/store`);
  assert.equal((await failure(store.change("web", "a", () => identity("a")))).code, "STORAGE_ERROR");
  assert.equal((await failure(store.exclusively(async () => {}))).code, "STORAGE_ERROR");
});
