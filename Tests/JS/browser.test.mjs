// The client and its store in a page of Chromium, under a strict content security policy.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { Chromium, serveBuilt } from "./chromium.mjs";
import { activationToken, authority, built, freshUser, mpind, newClient, server } from "./support.mjs";

let chromium, site, origin;
before(async () => {
  ({ site, origin } = await serveBuilt([server, authority]));
  mpind("project", "set", "web", "--origin", origin);
  chromium = await Chromium.start();
  await chromium.go(origin);
});
after(async () => {
  await chromium?.stop();
  site?.close();
});

for (const worker of [null, "/worker.js"]) {
  test(`a page registers and logs in ${worker ? "by a Worker" : "by itself"}`, async () => {
    const user = freshUser();
    const token = await activationToken(newClient(), user);
    const jwt = await chromium.run(
      async (options, user, token) => {
        const { Client } = await import("/client.js");
        const client = new Client(options);
        let asked;
        await client.register(user, token, (passPin, length) => {
          asked = length;
          passPin(new TextEncoder().encode("0042"));
        });
        const login = await client.authenticate(user, "0042");
        client.close();
        return [asked, login.jwt.split(".").length];
      },
      { server, projectId: "web", cors: true, worker: worker ?? undefined, storeName: "flows" },
      user,
      token,
    );
    assert.deepEqual(jwt, [4, 3]);
  });
}

/** Registers a user in the page, with a store of this name. */
async function registered(storeName, options = {}) {
  const user = freshUser();
  const token = await activationToken(newClient(), user);
  await chromium.run(
    async (options, user, token) => {
      const { Client } = await import("/client.js");
      await new Client(options).register(user, token, "1234");
    },
    { server, projectId: "web", cors: true, storeName, ...options },
    user,
    token,
  );
  return user;
}

test("an identity lasts over a reload, and with a Worker the page itself does not load the module", async () => {
  const user = await registered("reload");
  for (const worker of ["/worker.js", undefined]) {
    await chromium.go(origin);
    const loads = await chromium.run(
      async (options, user) => {
        const { Client } = await import("/client.js");
        const client = new Client(options);
        await client.authenticate(user, "1234");
        client.close();
        return performance.getEntriesByType("resource").some(({ name }) => name.endsWith("mpin.wasm"));
      },
      { server, projectId: "web", cors: true, storeName: "reload", worker },
      user,
    );
    assert.equal(loads, worker === undefined);
  }
});

test("records are sealed under a key that no script can read, each in its place", async () => {
  const user = await registered("sealed");
  const seen = await chromium.run(async (user) => {
    const open = indexedDB.open("sealed");
    await new Promise((resolve) => (open.onsuccess = resolve));
    const request = (made) => new Promise((resolve) => (made.onsuccess = () => resolve(made.result)));
    const stores = () => open.result.transaction(["keys", "identities"], "readwrite");
    const key = await request(stores().objectStore("keys").get("sealing"));
    const refused = await crypto.subtle.exportKey("raw", key).catch(({ name }) => name);
    const [record] = await request(stores().objectStore("identities").getAll());
    await request(stores().objectStore("identities").put(record, ["web", "mallory"]));
    const { IndexedDBStore } = await import("/client.js");
    const moved = await new IndexedDBStore("sealed").get("web", "mallory").catch(({ code }) => code);
    const { token, mpinId } = await new IndexedDBStore("sealed").get("web", user);
    const text = String.fromCharCode(...record);
    return { refused, moved, token: token.length, clear: [user, mpinId, "mpinId"].filter((part) => text.includes(part)) };
  }, user);
  assert.deepEqual(seen, { refused: "InvalidAccessError", moved: "STORAGE_ERROR", token: 65, clear: [] });
});

for (const locks of [true, false]) {
  test(`two tabs at once lose nothing, ${locks ? "with" : "without"} Web Locks`, async () => {
    const name = `tabs-${locks}`;
    const tabs = [await chromium.newTab(), await chromium.newTab()];
    for (const tab of tabs) {
      await chromium.use(tab);
      await chromium.go(origin);
      await chromium.run(async (name, locks) => {
        if (!locks) Object.defineProperty(navigator, "locks", { value: undefined });
        const { IndexedDBStore } = await import("/client.js");
        const store = new IndexedDBStore(name);
        const add = () => store.change("web", "shared", (old) => ({
          userId: "shared", projectId: "web", token: new Uint8Array(65), count: (old?.count ?? 0) + 1,
        }));
        // The page works on while the other tab begins.
        window.working = Promise.all(Array.from({ length: 25 }, add));
      }, name, locks);
    }
    for (const tab of tabs) {
      await chromium.use(tab);
      await chromium.run(() => window.working.then(() => null));
    }
    const count = await chromium.run(async (name) => {
      const { IndexedDBStore } = await import("/client.js");
      return (await new IndexedDBStore(name).get("web", "shared")).count;
    }, name);
    assert.equal(count, 50);
  });
}

test("a signal ends the wait for a tab that renews", async () => {
  // The page before may have no Web Locks.
  await chromium.go(origin);
  const seen = await chromium.run(async () => {
    const { IndexedDBStore } = await import("/client.js");
    const store = new IndexedDBStore("waiting");
    let release;
    const first = store.exclusively(() => new Promise((resolve) => (release = resolve)));
    const code = await store.exclusively(async () => "two at once", AbortSignal.timeout(50)).catch(({ code }) => code);
    release();
    await first;
    return [code, await store.exclusively(async () => "done", AbortSignal.timeout(5000))];
  });
  assert.deepEqual(seen, ["CANCELED", "done"]);
});

test("what MIRACL's client has kept in localStorage is moved", async () => {
  const user = await registered("old");
  const result = await chromium.run(
    async (options, user) => {
      const { Client } = await import("/client.js");
      localStorage.setItem("mfa", await new Client({ ...options, storeName: "old" }).users.export());
      const client = new Client({ ...options, storeName: "new", userStorage: localStorage, worker: "/worker.js" });
      const { jwt } = await client.authenticate(user, "1234");
      client.close();
      return [jwt.split(".").length, localStorage.getItem("mfa")];
    },
    { server, projectId: "web", cors: true },
    user,
  );
  assert.deepEqual(result, [3, "[]"]);
});

test("a module with another content than its integrity says is not run", async () => {
  const user = await registered("integrity");
  const good = `sha384-${createHash("sha384").update(readFileSync(built("mpin.wasm"))).digest("base64")}`;
  const bad = `sha384-${createHash("sha384").update("another").digest("base64")}`;
  for (const [integrity, outcome] of [[good, "jwt"], [bad, "CRYPTO_ERROR"]]) {
    const got = await chromium.run(
      async (options, user) => {
        const { Client } = await import("/client.js");
        return new Client(options).authenticate(user, "1234").then(() => "jwt", ({ code }) => code);
      },
      { server, projectId: "web", cors: true, storeName: "integrity", integrity },
      user,
    );
    assert.equal(got, outcome);
  }
});

test("the database of a newer version is refused", async () => {
  const code = await chromium.run(async () => {
    const open = indexedDB.open("newer", 2);
    await new Promise((resolve) => (open.onsuccess = resolve));
    open.result.close();
    const { IndexedDBStore } = await import("/client.js");
    return new IndexedDBStore("newer").list().catch(({ code }) => code);
  });
  assert.equal(code, "UNSUPPORTED_FORMAT");
});

test("a Worker that cannot be loaded is an error, and not silence", async () => {
  const code = await chromium.run(async () => {
    const { Client } = await import("/client.js");
    return new Client({ projectId: "web", worker: "/none.js" }).users.count().catch(({ code }) => code);
  });
  assert.equal(code, "FLOW_ERROR");
});

test("a store whose database was deleted begins again", async () => {
  const seen = await chromium.run(async () => {
    const { IndexedDBStore } = await import("/client.js");
    const store = new IndexedDBStore("deleted");
    const identity = () => ({ userId: "a", projectId: "web", token: new Uint8Array(65) });
    await store.change("web", "a", identity);
    const deletion = indexedDB.deleteDatabase("deleted");
    await new Promise((resolve) => (deletion.onsuccess = resolve));
    const before = (await store.list()).length;
    await store.change("web", "a", identity);
    return [before, (await store.list()).length];
  });
  assert.deepEqual(seen, [0, 1]);
});
