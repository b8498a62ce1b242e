// What a client does while its engine begins, ends or fails, and while other calls are under way. A call always ends.

import assert from "node:assert/strict";
import { cpSync, readFileSync } from "node:fs";
import { after, beforeEach, test } from "node:test";
import { Worker } from "node:worker_threads";
import { CALLS } from "../../build/js/calls.js";
import { FileStore } from "../../build/js/store-node.js";
import { built, failure, freshPath, newClient } from "./support.mjs";
import { Replay, recorded } from "./replay.mjs";

const replay = await Replay.start();
const clients = [];
after(() => {
  clients.forEach((client) => client.close());
  replay.stop();
});

beforeEach(() => {
  replay.expected = [];
  replay.meddle = () => false;
});

const limit = { timeout: 10_000 };
const options = { server: replay.url, projectId: "proj-1" };
const open = (more) => {
  const client = newClient({ ...options, ...more });
  clients.push(client);
  return client;
};
const script = (text) => new URL(`data:text/javascript,${encodeURIComponent(text)}`);
const codes = async (...calls) => (await Promise.all(calls.map(failure))).map(({ code }) => code);

test("a call that still waits for its Worker when the client is closed ends, too", limit, async () => {
  const client = open({ worker: built("worker.js") });
  const waiting = codes(client.users.count());
  client.close();
  assert.deepEqual(await waiting, ["CANCELED"]);
});

test("a client that is closed at once does not fail with its Worker, and leaves that of the page alone", limit, async () => {
  open({ worker: script("throw new Error('on purpose')") }).close();
  const broken = open({ worker: script("throw new Error('on purpose')") });
  const waiting = codes(broken.users.count());
  broken.close();
  assert.deepEqual(await waiting, ["CANCELED"]);
  const worker = new Worker(built("worker.js"));
  // A thread that is left would keep the tests from ending.
  after(() => worker.terminate());
  for (let i = 0; i < 3; i++) {
    const client = open({ worker });
    assert.equal(await client.users.count(), 0);
    assert.equal(worker.listenerCount("error"), 1);
    client.close();
    await new Promise(setImmediate);
    assert.equal(worker.listenerCount("error"), 0);
  }
});

for (const [name, worker] of [
  ["that cannot be loaded", () => new URL("none.js", built("worker.js"))],
  ["of the page that fails", () => new Worker(script("throw new Error('on purpose')"))],
  ["of the page that ends", () => new Worker(script("process.exit()"))],
]) {
  test(`a Worker ${name} ends every call, those to come, too`, limit, async () => {
    const client = open({ worker: worker() });
    assert.deepEqual(await codes(client.users.count(), client.users.count()), ["FLOW_ERROR", "FLOW_ERROR"]);
    assert.deepEqual(await codes(client.users.count()), ["FLOW_ERROR"]);
  });
}

/** A Worker of a browser, as far as a client sees it, that keeps what it gets and answers only when the test says so. */
class Silent extends EventTarget {
  messages = [];

  postMessage({ port }) {
    this.port = port;
    port.onmessage = ({ data }) => this.messages.push(data);
    port.unref();
  }

  /** Answers the next call, and returns its arguments. */
  async answer(answer) {
    while (this.messages.length === 0) await new Promise(setImmediate);
    const { id, args } = this.messages.shift();
    if (answer) this.port.postMessage({ id, ...answer });
    return args;
  }
}

test("a browser's Worker that has answered survives errors of other code in it", limit, async () => {
  const worker = new Silent();
  const client = open({ worker });
  const counting = client.users.count();
  await worker.answer({ result: [] });
  assert.equal(await counting, 0);
  worker.dispatchEvent(new Event("error"));
  const again = client.users.count();
  await worker.answer({ result: [{}] });
  assert.equal(await again, 1);
  const broken = new Silent();
  const failed = codes(open({ worker: broken }).users.count());
  await broken.answer();
  broken.dispatchEvent(new Event("error"));
  assert.deepEqual(await failed, ["FLOW_ERROR"]);
});

test("each call names the arguments that client.d.ts declares as PINs", () => {
  const [, text] = readFileSync(built("client.d.ts"), "utf8").split("export declare class Client {");
  const declared = {};
  for (const [, name, parameters] of text.matchAll(/^ {2}(\w+)\(([^()]*(?:\([^()]*\)[^()]*)*)\): Promise/gm)) {
    declared[name] = parameters.split(",").flatMap((parameter, i) => (/: PINSource$/.test(parameter.trim()) ? [i] : []));
  }
  assert.deepEqual(declared.authenticateWithAppLink, CALLS.authenticateWithQRCode.pins);
  for (const [name, { pins }] of Object.entries(CALLS)) assert.deepEqual(pins, declared[name] ?? [], name);
  const known = Object.entries(declared).filter(([name, pins]) => pins.length && name !== "authenticateWithAppLink");
  assert.equal(known.length, Object.values(CALLS).filter(({ pins }) => pins.length).length);
});

test("a PIN that is a text crosses to the Worker as bytes, and nothing else does", limit, async () => {
  const worker = new Silent();
  const client = open({ worker });
  const bytes = Uint8Array.of(49, 50, 51, 52);
  for (const [call, args] of [
    [() => client.register("5678", "5678", "1234"), ["5678", "5678", bytes]],
    [() => client.authenticate("5678", "1234"), ["5678", bytes]],
    [() => client.authenticateWithQRCode("5678", "#5678", "1234"), ["5678", "#5678", bytes]],
    [() => client.authenticateWithAppLink("5678", "#5678", "1234"), ["5678", "#5678", bytes]],
    [() => client.authenticateWithNotificationPayload({ userID: "5678" }, "1234"), [{ userID: "5678" }, bytes]],
    [() => client.authenticateThisPage("5678", "1234"), ["5678", bytes]],
    [() => client.generateQuickCode("5678", "1234"), ["5678", bytes]],
    [() => client.changePIN("5678", "1234", "1234"), ["5678", bytes, bytes]],
    [() => client.sign("5678", "1234", "5678", 1), ["5678", bytes, "5678", 1]],
    [() => client.signWithQRCode("5678", "#5678", "1234"), ["5678", "#5678", bytes]],
  ]) {
    const ended = failure(call());
    assert.deepEqual(await worker.answer({ error: { code: "CANCELED" } }), args);
    await ended;
  }
});

for (const worker of [undefined, built("worker.js")]) {
  test(`a call that ends late leaves the session of a later one${worker ? ", in a Worker" : ""}`, limit, async () => {
    const page = open({ worker });
    replay.play(recorded("07").slice(0, 1));
    const { webOTT } = await page.fetchAccessId();
    let late;
    const asked = new Promise((resolve) => {
      replay.meddle = (_, response) => {
        late = response;
        resolve();
        return true;
      };
    });
    const status = page.fetchStatus();
    await asked;
    page.setAccessId("later");
    late.end(JSON.stringify({ status: "new" }));
    assert.equal((await status).status, "new");
    assert.deepEqual([page.session.webOTT, page.session.accessId], [webOTT, "later"]);
  });
}

test("the session of a push message has nothing of the one before", limit, async () => {
  const page = open();
  replay.play(recorded("07").slice(0, 1));
  await page.fetchAccessId();
  replay.meddle = (_, response) => void response.end(JSON.stringify({ webOTT: "pushed" })) ?? true;
  await page.sendPushNotificationForAuth("a@example.com");
  assert.deepEqual(page.session, { webOTT: "pushed" });
});

for (const worker of [undefined, built("worker.js")]) {
  test(`a module that does not come: time-out and signal${worker ? ", in a Worker" : ""}`, limit, async () => {
    const module = await Replay.start();
    after(() => module.stop());
    const asked = new Promise((resolve) => (module.meddle = () => (resolve(), true)));
    const client = open({ worker, wasm: new URL(module.url) });
    assert.deepEqual(await codes(client.authenticate("a", "1234", { timeout: 50 })), ["TIMED_OUT"]);
    await asked;
    const signal = AbortSignal.timeout(50);
    assert.deepEqual(await codes(client.authenticate("a", "1234", { signal })), ["CANCELED"]);
    assert.deepEqual(await codes(client.register("a", "token", "1234", { signal: AbortSignal.timeout(50) })), ["CANCELED"]);
  });
}

test("a signal ends the wait for another tab that renews", limit, async () => {
  const storeName = freshPath();
  const client = open({ storeName });
  replay.play([...recorded("03").slice(2), ...recorded("10")]);
  const { userId } = await client.register("alice+6d6927@example.com", "token", "1234");
  await new FileStore(storeName).exclusively(async () => {
    const signal = AbortSignal.timeout(300);
    assert.deepEqual(await codes(client.authenticate(userId, "1234", { signal })), ["CANCELED"]);
  });
  // The login came to the renewal, which has not begun.
  assert.equal(replay.expected.length, 6);
});

test("an engine that could not be loaded is loaded by the next call", limit, async () => {
  const folder = freshPath();
  cpSync(built(""), folder, { recursive: true, filter: (path) => !path.endsWith("engine.js") });
  const { Client } = await import(`${folder}/client.js`);
  const client = new Client({ ...options, storeName: freshPath() });
  await failure(client.users.count());
  cpSync(built("engine.js"), `${folder}/engine.js`);
  assert.equal(await client.users.count(), 0);
});
