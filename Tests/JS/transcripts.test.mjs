// The recorded flows of MIRACL's client: ours sends the same requests, member by member, and takes the recorded answers.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { digits, failure, freshPath, newClient } from "./support.mjs";
import { Replay, recorded } from "./replay.mjs";

const alice = "alice+6d6927@example.com";
const replay = await Replay.start();
after(() => replay.stop());

// The options are those of MIRACL's client 8.8.
const newPage = (options = {}) =>
  newClient({
    server: undefined, projectUrl: `${replay.url}/`, projectId: "proj-1", deviceName: "harness", applicationInfo: "accept/1",
    oidc: { client_id: "rp", redirect_uri: "http://rp.example/login", response_type: "code", scope: "openid email", state: "st" },
    ...options,
  });
/** The device of most flows, a second one, and a copy of the first for a flow that replaces the identity. */
const [client, second] = [newPage(), newPage()];
const pin = (passPin) => passPin(digits("1234"));
const accessIdOf = (exchanges) => exchanges.find(({ request }) => request.body?.WID).request.body.WID;

/** Members that are random: each is hex of this many digits. */
const RANDOM = { publicKey: 256, U: 130, V: 130 };
const shaped = (body) =>
  body && Object.fromEntries(Object.entries(body).map(([name, value]) => [name, name in RANDOM ? shape(name, value) : value]));
function shape(name, value) {
  assert.match(value, /^[0-9a-f]+$/);
  assert.equal(value.length, RANDOM[name]);
  return `${RANDOM[name]} hex digits`;
}

/** Plays a recorded flow by `work`, and compares its requests. Counts the members. */
let cases = 0;
function flow(number, name, work) {
  test(`${number}: ${name}`, async () => {
    const exchanges = recorded(number);
    const first = replay.requests.length;
    replay.play(exchanges);
    await work(exchanges.map(({ response }) => response.body), exchanges);
    const sent = replay.requests.slice(first);
    assert.equal(sent.length, exchanges.length);
    exchanges.forEach(({ request }, i) => {
      assert.deepEqual([sent[i].method, sent[i].target], [request.method, request.target]);
      assert.deepEqual(shaped(sent[i].body), shaped(request.body));
      for (const name of ["X-MIRACL-CID", "Content-Type"]) {
        assert.equal(sent[i].headers[name.toLowerCase()], request.headers[name], name);
      }
      assert.match(sent[i].headers["x-miracl-client"], /^mpin\.js\/[\d.]+ accept\/1$/);
      cases += 5 + Object.keys(request.body ?? {}).length;
    });
  });
}
after(() => console.log(`${cases} cases`));

flow("01", "a mail with a link", async ([answer]) => assert.deepEqual(await client.sendVerificationEmail(alice), answer));

flow("02", "a wrong code", async ([answer]) => {
  const error = await failure(client.getActivationToken(`https://a.example/verification/confirmation?user_id=${encodeURIComponent(alice)}&code=nope`));
  assert.deepEqual([error.message, error.context, error.requestId], ["Unsuccessful verification", answer.context, answer.requestID]);
});

const registered = async (page, code) => {
  await page.sendVerificationEmail(alice);
  const { actToken } = await page.getActivationToken(alice, code);
  return [actToken, await page.register(alice, actToken, pin)];
};

flow("03", "a registration", async (answers) => {
  const [, user] = await registered(client, "818324");
  const { mpinId, dtas, pinLength, verificationType } = answers[2];
  assert.deepEqual({ ...user, ...{ mpinId, dtas, pinLength, verificationType } }, user);
});

flow("04", "an activation token is good once", async () => {
  const copy = newPage({ storeName: freshPath() });
  await copy.users.import(await client.users.export());
  const [token] = await registered(copy, "953165");
  assert.equal((await failure(copy.register(alice, token, pin))).message, "Invalid activation token");
});

flow("05", "a JWT", async (answers) => assert.deepEqual(await client.authenticate(alice, "1234"), answers[2]));

flow("06", "a wrong PIN, then the right one", async (answers) => {
  assert.equal((await failure(client.authenticate(alice, "4321"))).message, "Unsuccessful authentication");
  assert.deepEqual(await client.authenticate(alice, "1234"), answers[5]);
});

flow("07", "a session of a browser", async (answers) => {
  const page = newPage();
  const { qrURL } = await page.fetchAccessId(alice);
  assert.deepEqual(await page.fetchStatus(), answers[1]);
  await client.authenticateWithQRCode(alice, qrURL, "1234");
  assert.deepEqual(await page.fetchStatus(), answers[5]);
});

flow("08", "a QuickCode for a second device", async (answers) => {
  const { code, OTP } = await client.generateQuickCode(alice, "1234");
  assert.equal(OTP, code);
  assert.equal(code, answers[3].code);
  await second.register(alice, code, pin);
  assert.deepEqual(await second.authenticate(alice, "1234"), answers[9]);
});

flow("09", "a signature", async () => {
  const { u, v } = await client.sign(alice, "1234", "ab".repeat(32), 1795325150);
  assert.deepEqual([u.length, v.length], [130, 130]);
});

flow("10", "a renewal", async (answers) => {
  assert.deepEqual(await client.authenticate(alice, "1234"), answers[8]);
  assert.equal(await client.users.get(alice, "mpinId"), answers[3].mpinId);
});

flow("11", "push messages", async (answers, exchanges) => {
  const page = newPage();
  assert.equal((await failure(page.sendPushNotificationForAuth("nobody@example.com"))).message, "No push token");
  await page.sendPushNotificationForAuth(alice);
  const qrURL = `http://app.example/#${accessIdOf(exchanges)}`;
  await client.authenticateWithNotificationPayload({ userID: alice, qrURL }, "1234");
  assert.deepEqual(await page.fetchStatus(), answers[5]);
});

flow("12", "mails that come too soon", async (answers) => {
  await client.sendVerificationEmail("b@example.com");
  const error = await failure(client.sendVerificationEmail("b@example.com"));
  assert.deepEqual([error.message, error.context, error.httpStatus], ["Request backoff", answers[1].context, 429]);
});

flow("13", "three wrong PINs", async () => {
  for (const message of ["Unsuccessful authentication", "Unsuccessful authentication", "Revoked"]) {
    assert.equal((await failure(client.authenticate(alice, "4321"))).message, message);
  }
  assert.equal(await client.users.get(alice, "state"), "REVOKED");
  assert.equal((await failure(client.authenticate(alice, "1234"))).message, "Revoked");
});

flow("14", "a page of another origin", async ([answer]) => {
  const { webOTT } = await newPage({ cors: true }).fetchAccessId(alice);
  assert.equal(webOTT, answer.webOTT);
});
