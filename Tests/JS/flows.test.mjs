// Every flow of the client with a real server: with the engine in this thread, and in a Worker.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  activationToken, allowDevice, built, claims, codeIn, digits, failure, freshPath, freshUser, hex, mailTo, mpind,
  newClient, newUser, post, serviceToken,
} from "./support.mjs";

const clients = [];
after(() => clients.forEach((client) => client.close()));

/** A test with the engine here, and one with the engine in a Worker. */
function flow(name, work) {
  for (const worker of [undefined, built("worker.js")]) {
    test(worker ? `${name}, in a Worker` : name, async () => {
      const open = (options = {}) => {
        const client = newClient({ worker, ...options });
        clients.push(client);
        return client;
      };
      await work(open);
    });
  }
}

flow("a device registers by the mailed link and logs in for a JWT", async (open) => {
  const client = open();
  const user = freshUser();
  const token = await activationToken(client, user);
  let asked;
  const registered = await client.register(user, token, (passPin, length) => {
    asked = length;
    passPin("1234");
  });
  assert.equal(asked, 4);
  assert.deepEqual([registered.userId, registered.state, registered.projectId], [user, "REGISTERED", "web"]);
  assert.equal(registered.token, undefined);
  const { jwt } = await client.authenticate(user, "1234");
  assert.deepEqual([claims(jwt).sub, claims(jwt).aud], [user, "web"]);
  assert.equal((await failure(client.register(user, token, "1234"))).message, "Invalid activation token");
});

flow("a device registers by a mailed code, with six digits", async (open) => {
  const client = open({ projectId: "codes" });
  const user = freshUser();
  assert.equal((await client.sendVerificationEmail(user)).method, "code");
  const code = codeIn(await mailTo(user));
  const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, "0");
  assert.equal((await failure(client.getActivationToken(user, wrong))).code, "VERIFICATION_FAILED");
  const { actToken, projectId } = await client.getActivationToken(user, code);
  assert.equal(projectId, "codes");
  assert.equal((await failure(client.register(user, actToken, "1234"))).code, "PIN_INVALID");
  const again = open({ projectId: "codes" });
  const answers = ["1234", "12345a", "123456"];
  const lengths = [];
  await again.register(user, await allowDevice("codes", user), async (_, length) => (lengths.push(length), digits(answers.shift())));
  assert.deepEqual(lengths, [6, 6, 6]);
  assert.equal(claims((await again.authenticate(user, "123456")).jwt).aud, "codes");
});

flow("a QuickCode registers a second device", async (open) => {
  const first = open();
  const user = await newUser(first);
  const { code, ttlSeconds } = await first.generateQuickCode(user, "1234");
  assert.match(code, /^\d{6}$/);
  assert.ok(ttlSeconds > 0);
  const second = open({ deviceName: "second" });
  await second.register(user, code, "4321");
  assert.ok((await second.authenticate(user, "4321")).jwt);
  assert.ok((await first.authenticate(user, "1234")).jwt);
});

flow("a phone logs in a page by its QR code", async (open) => {
  const [page, phone] = [open(), open()];
  const user = await newUser(phone);
  const session = await page.fetchAccessId(user, { description: "The shop" });
  assert.equal((await page.fetchStatus()).status, "new");
  const details = await phone.getSessionDetails(session.qrURL);
  assert.deepEqual([details.userId, details.projectId, details.description, details.hash], [user, "web", "The shop", ""]);
  assert.equal((await page.fetchStatus()).status, "wid");
  const seen = [];
  const waiting = page.waitForStatus({ interval: 10, onChange: ({ status }) => seen.push(status) });
  await phone.authenticateWithQRCode(user, session.qrURL, "1234");
  assert.deepEqual([(await waiting).status, (await waiting).userId], ["authenticated", user]);
  assert.equal(seen.at(-1), "authenticated");
  const late = await failure(phone.authenticateWithAppLink(user, session.qrURL, "1234"));
  assert.deepEqual([late.code, late.serverError], ["SESSION_INVALID", "INVALID_AUTHENTICATION_SESSION"]);
});

flow("a phone logs in a website of the OpenID provider, whose page goes on", async (open) => {
  const phone = open();
  const user = await newUser(phone);
  const query = new URLSearchParams({
    client_id: "app", redirect_uri: "https://app.example/login", response_type: "code", scope: "openid", state: "s", nonce: "n",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", code_challenge_method: "S256",
  });
  const { webOTT, qrURL } = await post(`/authorize?${query}`, {});
  await phone.authenticateWithAppLink(user, qrURL, () => "1234");
  const { status, redirectURL } = await post("/rps/v2/access", { webOTT });
  assert.equal(status, "authenticated");
  assert.match(redirectURL, /^https:\/\/app\.example\/login\?.*code=/);
});

flow("a push message logs in", async (open) => {
  const [page, phone] = [open(), open()];
  const user = await newUser(phone);
  const { qrURL } = await page.fetchAccessId();
  await phone.authenticateWithNotificationPayload({ userID: user, projectID: "web", qrURL }, "1234");
  assert.equal((await page.fetchStatus()).userId, user);
  const bad = await failure(phone.authenticateWithNotificationPayload({ userID: user }, "1234"));
  assert.deepEqual([bad.code, bad.message], ["INVALID_ARGUMENT", "Invalid push notification payload"]);
  const none = await failure(page.sendPushNotificationForAuth(user));
  assert.deepEqual([none.serverError, none.message], ["NO_PUSH_TOKEN", "No push token"]);
});

flow("a page logs itself in", async (open) => {
  const page = open();
  const user = await newUser(page);
  const { status, userId } = await page.authenticateThisPage(user, "1234");
  assert.deepEqual([status, userId], ["authenticated", user]);
  const { webOTT } = page.session;
  assert.equal((await page.authenticateThisPage(user, "1234")).status, "authenticated");
  assert.notEqual(page.session.webOTT, webOTT);
});

flow("a user declines", async (open) => {
  const [page, phone] = [open(), open()];
  const { qrURL } = await page.fetchAccessId();
  await phone.abortSession(qrURL);
  assert.equal((await page.waitForStatus({ interval: 10 })).status, "abort");
});

flow("a signature that the verifier certifies", async (open) => {
  const client = open();
  const user = await newUser(client);
  const hash = "ab".repeat(32);
  const timestamp = Math.floor(Date.now() / 1000);
  const signature = await client.sign(user, "1234", hash, timestamp);
  assert.deepEqual(Object.keys(signature).sort(), ["dtas", "hash", "mpinId", "publicKey", "u", "v"]);
  const { certificate } = await verified(signature, timestamp);
  assert.equal(claims(certificate).hash, hash);
  assert.equal((await verified({ ...signature, hash: "ac".repeat(32) }, timestamp)).error, "UNSUCCESSFUL_AUTHENTICATION");
  assert.equal((await failure(client.sign(user, "4321", hash, timestamp))).code, "INCORRECT_PIN");
  assert.equal((await failure(client.sign(user, "1234", "", timestamp))).message, "Empty message");
  assert.equal((await failure(client.sign(user, "1234", hash, Date.now()))).code, "INVALID_ARGUMENT");
});

const verified = (signature, timestamp) =>
  post("/dvs/verify", { signature, timestamp, type: "verification" }, { Authorization: `Bearer ${serviceToken("web")}` });

flow("a phone signs what a page asks for", async (open) => {
  const [page, phone] = [open(), open()];
  const user = await newUser(phone);
  const { qrURL } = await page.fetchAccessId(user, { description: "Pay 5", hash: "0f" });
  const made = await phone.signWithQRCode(user, qrURL, "1234");
  const status = await page.waitForStatus({ interval: 10 });
  assert.equal(status.status, "signed");
  assert.equal(JSON.parse(atob(status.signature)).u, made.u);
});

flow("a new PIN takes the place of the old one", async (open) => {
  const client = open();
  const user = await newUser(client);
  await client.changePIN(user, "1234", async () => digits("0042"));
  assert.equal((await failure(client.authenticate(user, "1234"))).code, "INCORRECT_PIN");
  assert.ok((await client.authenticate(user, "0042")).jwt);
  assert.equal((await failure(client.changePIN(user, "1234", "5555"))).code, "INCORRECT_PIN");
  assert.equal((await failure(client.changePIN(user, "0042", "55555"))).code, "PIN_INVALID");
  assert.equal((await failure(client.changePIN(user, "0042", () => null))).code, "PIN_INPUT_CANCELED");
  assert.ok((await client.authenticate(user, "0042")).jwt);
});

flow("wrong PINs are counted, and the last one revokes the identity", async (open) => {
  const client = open();
  const user = await newUser(client);
  for (const message of ["Unsuccessful authentication", "Unsuccessful authentication", "Revoked"]) {
    assert.equal((await failure(client.authenticate(user, "9999"))).message, message);
  }
  assert.equal(await client.users.get(user, "state"), "REVOKED");
  assert.deepEqual([(await failure(client.authenticate(user, "1234"))).code], ["REVOKED"]);
  mpind("user", "unblock", user);
  assert.ok((await client.authenticate(user, "1234")).jwt);
  assert.ok(await client.users.is(user, "REGISTERED"));
});

flow("a renewal, which the user does not see", async (open) => {
  const client = open();
  const user = await newUser(client);
  const before = await client.users.get(user);
  mpind("user", "renew", user);
  let asked = 0;
  const { jwt } = await client.authenticate(user, () => (asked++, "1234"));
  assert.equal(claims(jwt).sub, user);
  assert.equal(asked, 1);
  const after = await client.users.get(user);
  assert.notEqual(after.mpinId, before.mpinId);
  assert.equal(after.created, before.created);
  mpind("user", "renew", user);
  const signature = await client.sign(user, "1234", "00", Math.floor(Date.now() / 1000));
  assert.equal(signature.mpinId, await client.users.get(user, "mpinId"));
  assert.notEqual(signature.mpinId, after.mpinId);
});

flow("two tabs renew at once, and both log in", async (open) => {
  const storeName = freshPath();
  const tabs = [open({ storeName }), open({ storeName })];
  const user = await newUser(tabs[0]);
  mpind("user", "renew", user);
  const logins = await Promise.all(tabs.map((tab) => tab.authenticate(user, "1234")));
  assert.ok(logins.every(({ jwt }) => claims(jwt).sub === user));
  assert.ok((await tabs[1].authenticate(user, "1234")).jwt);
  // The old identity and the new one: no tab has made a second new one.
  assert.equal(mpind("user", "show", user, "--json").trim().split("\n").length, 2);
});

flow("several users and projects are in one store", async (open) => {
  const storeName = freshPath();
  const [web, codes] = [open({ storeName }), open({ storeName, projectId: "codes" })];
  const [first, second] = [await newUser(web), await newUser(web, "5555")];
  await codes.register(first, await allowDevice("codes", first), "654321");
  assert.deepEqual(await web.users.list(), { [first]: "REGISTERED", [second]: "REGISTERED" });
  assert.deepEqual([await codes.users.count(), await codes.users.exists(second)], [1, false]);
  assert.equal((await web.users.all({ everyProject: true })).length, 3);
  await web.authenticate(second, "5555");
  await web.authenticate(first, "1234");
  assert.deepEqual(Object.keys(await web.users.list()), [second, first]);
  assert.ok((await codes.authenticate(first, "654321")).jwt);
  await web.users.remove(first);
  const gone = await failure(web.authenticate(first, "1234"));
  assert.deepEqual([gone.code, gone.message], ["USER_NOT_FOUND", "User not found"]);
  assert.ok((await codes.authenticate(first, "654321")).jwt);
});

flow("MIRACL's list is moved into the store, and can be had again", async (open) => {
  const old = open();
  const user = await newUser(old);
  const kept = { mfa: await old.users.export(), getItem: (key) => kept[key] ?? null, setItem: (key, text) => (kept[key] = text) };
  const [entry] = JSON.parse(kept.mfa);
  assert.equal(entry.token.length, 130);
  const broken = { userId: "b@example.com", state: "STARTED" };
  kept.mfa = JSON.stringify([broken, { ...entry, projectId: undefined, customerId: "web" }]);
  const client = open({ userStorage: kept });
  assert.ok((await client.authenticate(user, "1234")).jwt);
  assert.deepEqual(JSON.parse(kept.mfa), [broken]);
  assert.equal(await client.users.import(JSON.stringify([entry])), 0);
  assert.equal((await failure(client.users.import("{}"))).code, "INVALID_ARGUMENT");
});

flow("a call ends when its signal says so, and the user keeps everything", async (open) => {
  const client = open();
  const user = await newUser(client);
  const signal = AbortSignal.abort();
  assert.equal((await failure(client.authenticate(user, "1234", { signal }))).code, "CANCELED");
  const control = new AbortController();
  const asking = client.authenticate(user, () => void control.abort(), { signal: control.signal });
  assert.equal((await failure(asking)).code, "CANCELED");
  assert.ok((await client.authenticate(user, "1234")).jwt);
});

flow("a PIN is checked before anything is sent", async (open) => {
  const client = open({ server: "http://127.0.0.1:9" });
  await client.users.import(JSON.stringify([await oneEntry()]));
  for (const [pin, code] of [["", "PIN_INPUT_CANCELED"], [null, "PIN_INPUT_CANCELED"], ["12a4", "PIN_INVALID"], ["123", "PIN_INVALID"],
    ["12345", "PIN_INVALID"], ["1234567", "PIN_INVALID"], ["١٢٣٤", "PIN_INVALID"], [digits("12 4"), "PIN_INVALID"]]) {
    assert.equal((await failure(client.authenticate("a@example.com", pin))).code, code, JSON.stringify(pin));
    assert.equal((await failure(client.authenticate("a@example.com", () => pin))).code, code, JSON.stringify(pin));
  }
  const thrown = new Error("the page's own");
  const error = await failure(client.authenticate("a@example.com", () => { throw thrown; }));
  assert.equal(error, thrown);
});

/** An entry of MIRACL's list. Its point is the generator of G1, its user does not exist. */
async function oneEntry() {
  const { G1_SIZE } = await import("../../build/js/crypto.js");
  const point = new Uint8Array(G1_SIZE);
  point[0] = 4;
  return { userId: "a@example.com", projectId: "web", state: "REGISTERED", mpinId: "7b7d", token: hex(point), dtas: "WyJhIl0=", pinLength: 4 };
}

flow("bytes of a callback are overwritten, those of an argument are not", async (open) => {
  const client = open();
  const user = await newUser(client);
  const [given, argument] = [digits("1234"), digits("1234")];
  await client.authenticate(user, () => given);
  await client.authenticate(user, argument);
  assert.deepEqual([...given], [0, 0, 0, 0]);
  assert.deepEqual([...argument], [...digits("1234")]);
});

flow("a closed client sends nothing more", async (open) => {
  const client = open();
  await client.users.count();
  client.close();
  assert.equal((await failure(client.users.count())).code, "FLOW_ERROR");
});

test("the constructor refuses what no client can work with", () => {
  for (const [options, message] of [[undefined, "Invalid configuration"], [{}, "Empty project ID"],
    [{ projectId: "web", userStorage: {} }, "Invalid user storage"]]) {
    assert.throws(() => newClientOf(options), { name: "MPinError", code: "INVALID_ARGUMENT", status: 33, message });
  }
  const insecure = newClient({ server: "http://192.0.2.1" });
  return failure(insecure.fetchAccessId()).then(({ code }) => assert.equal(code, "UNTRUSTED_DOMAIN_ERROR"));
});

const { Client } = await import("../../build/js/client.js");
const newClientOf = (options) => new Client(options);
