// Answers that no good server gives: each ends the call with its error, and the store stays as it was.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { failure, newClient } from "./support.mjs";
import { Replay, recorded } from "./replay.mjs";

const replay = await Replay.start();
after(() => replay.stop());

const user = "alice+6d6927@example.com";
const REGISTRATION = recorded("03").slice(2);
const options = { server: replay.url, projectId: "proj-1" };
const client = newClient({ ...options, requestTimeout: 20_000 });
replay.play(REGISTRATION);
await client.register(user, "token", "1234");
const good = await client.users.export();

/** The calls, and the recorded answers that make them succeed. */
const CALLS = {
  mail: [() => client.sendVerificationEmail(user), recorded("01")],
  confirm: [() => client.getActivationToken(user, "123456"), recorded("03").slice(1, 2)],
  register: [() => client.register(user, "token", "1234"), REGISTRATION],
  login: [() => client.authenticate(user, "1234"), recorded("05")],
  quickCode: [() => client.generateQuickCode(user, "1234"), recorded("08").slice(0, 4)],
  renew: [() => client.authenticate(user, "1234"), recorded("10")],
  sign: [() => client.sign(user, "1234", "ab", 1), recorded("09")],
  session: [() => client.fetchAccessId(), recorded("07").slice(0, 1)],
  details: [() => client.getSessionDetails("https://a.example/#abc"), []],
};

const json = (value, status = 200, headers = {}) => (response) => void response.writeHead(status, headers).end(JSON.stringify(value));
const text = (value, status = 200) => (response) => void response.writeHead(status, { "Content-Type": "text/html" }).end(value);
const refused = (status, error, more = {}) => json({ requestID: "r1", error, info: "why", ...more }, status);
/** The recorded answer with other members; undefined removes one. */
const but = (members) => (response, recorded) => void response.end(replay.text({ ...recorded, ...members }));
const redirected = (response) => void response.writeHead(302, { Location: "/elsewhere" }).end();
const cut = (response) => {
  response.writeHead(200, { "Content-Length": 1000 });
  response.write("{", () => response.destroy());
};
const tooLarge = (response) => void response.end(`{"a":"${"x".repeat(1 << 20)}"}`);

const MAIL = "/verification/email", CONFIRM = "/verification/confirmation", REGISTER = "/registration";
const SHARE = /^\/dta\/[01]\//, PASS1 = "/rps/v2/pass1", PASS2 = "/rps/v2/pass2", VERDICT = "/rps/v2/authenticate";
const QUICKCODE = "/verification/quickcode", SESSION = "/rps/v2/session", STATUS = "/rps/v2/codeStatus";

const point = (x) => `04${x}${"0".repeat(64)}`;
const second = { token: "again", curve: "BN254CX" };

/** The call, the path whose answer is bad, the answer, and the code, message and members of the error. */
const ROWS = [
  ["mail", MAIL, text("<html>"), "RESPONSE_PARSE_ERROR", "Verification fail"],
  ["mail", MAIL, text(""), "RESPONSE_PARSE_ERROR", "Verification fail"],
  ["mail", MAIL, json([]), "RESPONSE_PARSE_ERROR", "Verification fail"],
  ["mail", MAIL, json(null), "RESPONSE_PARSE_ERROR", "Verification fail"],
  ["mail", MAIL, json({}, 201), "HTTP_REQUEST_ERROR", "Verification fail"],
  ["mail", MAIL, tooLarge, "RESPONSE_PARSE_ERROR", "Verification fail"],
  ["mail", MAIL, redirected, "NETWORK_ERROR", "Verification fail"],
  ["mail", MAIL, cut, "NETWORK_ERROR", "Verification fail"],
  ["mail", MAIL, text("<html>", 500), "HTTP_SERVER_ERROR", "Verification fail", { httpStatus: 500 }],
  ["mail", MAIL, refused(503, "SERVICE_UNAVAILABLE"), "HTTP_SERVER_ERROR", "Verification fail", { serverError: "SERVICE_UNAVAILABLE" }],
  ["mail", MAIL, json({}, 503, { "Retry-After": "7" }), "HTTP_SERVER_ERROR", "Verification fail", { retryAfter: 7 }],
  ["mail", MAIL, refused(429, "REQUEST_BACKOFF", { context: { backoff: "1" } }), "REQUEST_BACKOFF", "Request backoff", { retryAfter: 0 }],
  ["mail", MAIL, refused(429, "TOO_MANY_REQUESTS"), "TOO_MANY_REQUESTS", "Verification fail"],
  ["mail", MAIL, json({ requestID: "r2", error: { code: "BACKOFF_ERROR", info: "", context: {} } }, 400), "REQUEST_BACKOFF", "Request backoff", { requestId: "r2" }],
  ["mail", MAIL, json({ error: 7 }, 400), "HTTP_REQUEST_ERROR", "Verification fail"],
  ["mail", MAIL, json({ error: null, context: null }, 400), "HTTP_REQUEST_ERROR", "Verification fail"],
  ["mail", MAIL, refused(403, "FORBIDDEN"), "IDENTITY_NOT_AUTHORIZED", "Verification fail"],
  ["mail", MAIL, refused(406, "X"), "BAD_USER_AGENT", "Verification fail"],
  ["mail", MAIL, refused(408, "X"), "REQUEST_EXPIRED", "Verification fail"],
  ["confirm", CONFIRM, json({}), "RESPONSE_PARSE_ERROR", "Get activation token fail"],
  ["confirm", CONFIRM, but({ actToken: 7 }), "RESPONSE_PARSE_ERROR", "Get activation token fail"],
  ["confirm", CONFIRM, refused(400, "UNSUCCESSFUL_VERIFICATION"), "VERIFICATION_FAILED", "Unsuccessful verification"],
  ["register", REGISTER, refused(400, "INVALID_ACTIVATION_TOKEN"), "ACTIVATION_TOKEN_INVALID", "Invalid activation token"],
  ["register", REGISTER, but({ projectId: "other" }), "PROJECT_MISMATCH", "Project mismatch"],
  ["register", REGISTER, but({ curve: "BLS383" }), "UNSUPPORTED_CURVE", "Registration fail"],
  ["register", REGISTER, but({ curve: undefined }), "UNSUPPORTED_CURVE", "Registration fail"],
  ["register", REGISTER, but({ mpinId: undefined }), "RESPONSE_PARSE_ERROR", "Registration fail"],
  ["register", REGISTER, but({ mpinId: "7b7" }), "RESPONSE_PARSE_ERROR", "Registration fail"],
  ["register", REGISTER, but({ mpinId: "xy" }), "RESPONSE_PARSE_ERROR", "Registration fail"],
  ["register", REGISTER, but({ dtas: 7 }), "RESPONSE_PARSE_ERROR", "Registration fail"],
  ["register", REGISTER, but({ secretUrls: "http://127.0.0.1/" }), "RESPONSE_PARSE_ERROR", "Registration fail"],
  ["register", REGISTER, but({ secretUrls: ["http://127.0.0.1/"] }), "RESPONSE_PARSE_ERROR", "Registration fail"],
  ["register", REGISTER, but({ secretUrls: [1, 2] }), "RESPONSE_PARSE_ERROR", "Registration fail"],
  ["register", REGISTER, but({ secretUrls: ["http://192.0.2.1/", "http://192.0.2.1/"] }), "UNTRUSTED_DOMAIN_ERROR", "Registration fail"],
  ["register", REGISTER, but({ secretUrls: ["file:///etc/passwd", "file:///"] }), "UNTRUSTED_DOMAIN_ERROR", "Registration fail"],
  ["register", REGISTER, but({ secretUrls: ["/dta/0", "/dta/1"] }), "UNTRUSTED_DOMAIN_ERROR", "Registration fail"],
  ["register", REGISTER, but({ secretUrls: ["http://localhost.evil.example/", "http://127.0.0.1.evil.example/"] }), "UNTRUSTED_DOMAIN_ERROR", "Registration fail"],
  ["register", SHARE, but({ dvsClientSecret: undefined }), "RESPONSE_PARSE_ERROR", "Registration fail"],
  ["register", SHARE, but({ dvsClientSecret: "04" }), "RESPONSE_PARSE_ERROR", "Registration fail"],
  ["register", SHARE, but({ dvsClientSecret: point("1".repeat(64)) }), "CRYPTO_ERROR", "Registration fail"],
  ["register", SHARE, but({ dvsClientSecret: point("0".repeat(64)) }), "CRYPTO_ERROR", "Registration fail"],
  ["register", SHARE, refused(500, "X"), "HTTP_SERVER_ERROR", "Registration fail"],
  ["login", PASS1, refused(410, "EXPIRED_MPINID"), "REVOKED", "Revoked", { state: "REVOKED" }],
  ["login", PASS1, refused(400, "UNAUTHORIZED"), "HTTP_REQUEST_ERROR", "Authentication fail"],
  ["login", PASS1, but({ y: undefined }), "RESPONSE_PARSE_ERROR", "Authentication fail"],
  ["login", PASS1, but({ y: "ab" }), "RESPONSE_PARSE_ERROR", "Authentication fail"],
  ["login", PASS1, but({ y: "z".repeat(64) }), "RESPONSE_PARSE_ERROR", "Authentication fail"],
  ["login", PASS1, but({ y: ["ab"] }), "RESPONSE_PARSE_ERROR", "Authentication fail"],
  ["login", PASS2, but({ authOTT: undefined }), "RESPONSE_PARSE_ERROR", "Authentication fail"],
  ["login", PASS2, cut, "NETWORK_ERROR", "Authentication fail"],
  ["login", VERDICT, refused(401, "UNSUCCESSFUL_AUTHENTICATION"), "INCORRECT_PIN", "Unsuccessful authentication"],
  ["login", VERDICT, refused(401, "UNSUCCESSFUL_AUTHENTICATION", { context: { blockedUntil: "1" } }), "INCORRECT_PIN", "Unsuccessful authentication", { retryAfter: 0 }],
  ["login", VERDICT, refused(410, "REVOKED_MPINID"), "REVOKED", "Revoked", { state: "REVOKED" }],
  ["login", VERDICT, refused(400, "INVALID_AUTHENTICATION_SESSION"), "SESSION_INVALID", "Invalid authentication session"],
  ["login", VERDICT, text("", 502), "HTTP_SERVER_ERROR", "Authentication fail"],
  ["quickCode", QUICKCODE, refused(403, "LIMITED_QUICKCODE_GENERATION"), "OPERATION_NOT_ALLOWED", "Limited QuickCode generation"],
  ["quickCode", QUICKCODE, json({}), "RESPONSE_PARSE_ERROR", "QuickCode generation fail"],
  ["renew", REGISTER, refused(400, "INVALID_ACTIVATION_TOKEN"), "ACTIVATION_TOKEN_INVALID", "Invalid activation token"],
  ["renew", SHARE, refused(500, "X"), "HTTP_SERVER_ERROR", "Authentication fail"],
  ["renew", VERDICT, but({ dvsRegister: {} }), "RESPONSE_PARSE_ERROR", "Authentication fail"],
  ["renew", VERDICT, but({ dvsRegister: { ...second, curve: "BLS383" } }), "UNSUPPORTED_CURVE", "Authentication fail"],
  ["sign", VERDICT, refused(401, "UNSUCCESSFUL_AUTHENTICATION"), "INCORRECT_PIN", "Unsuccessful authentication"],
  ["sign", PASS1, cut, "NETWORK_ERROR", "Signing fail"],
  ["session", SESSION, but({ webOTT: undefined }), "RESPONSE_PARSE_ERROR"],
  ["session", SESSION, but({ qrURL: 7 }), "RESPONSE_PARSE_ERROR"],
  ["details", STATUS, refused(400, "INVALID_AUTHENTICATION_SESSION"), "SESSION_INVALID"],
];

/** Makes the recorded identity the only one again. */
async function restore() {
  await client.users.remove(user);
  await client.users.import(good);
}

for (const [call, path, bad, code, message, members = {}] of ROWS) {
  const [work, exchanges] = CALLS[call];
  test(`${call}: ${path} ${code} ${JSON.stringify(members)} ${bad}`.slice(0, 90), async () => {
    await restore();
    replay.expected = [...exchanges];
    replay.meddle = (target, response) => {
      if (path instanceof RegExp ? !path.test(target) : path !== target) return false;
      bad(response, replay.expected.shift()?.response.body);
      return true;
    };
    const { state = "REGISTERED", ...rest } = members;
    const error = await failure(work());
    assert.deepEqual([error.name, error.code], ["MPinError", code], error.stack);
    if (message) assert.equal(error.message, message);
    for (const [name, value] of Object.entries(rest)) assert.equal(error[name], value, name);
    const [{ lastUsed, ...stored }] = JSON.parse(await client.users.export());
    assert.deepEqual(stored, { ...JSON.parse(good)[0], state });
  });
}

test("a second renewal at once is refused, and the renewed identity stays", async () => {
  await restore();
  const exchanges = recorded("10");
  const again = structuredClone(exchanges.at(-1));
  again.response.body.dvsRegister = second;
  replay.expected = [...exchanges.slice(0, -1), again];
  replay.meddle = () => false;
  assert.equal((await failure(client.authenticate(user, "1234"))).code, "CLIENT_SECRET_EXPIRED");
  assert.equal(await client.users.get(user, "mpinId"), exchanges[3].response.body.mpinId);
});

test("a renewed identity that does not fit gives way to the former one", async () => {
  await restore();
  const exchanges = recorded("10");
  const wrong = { response: { status: 401, body: { requestID: "r1", error: "UNSUCCESSFUL_AUTHENTICATION", info: "why" } } };
  replay.expected = [...exchanges.slice(0, -1), wrong];
  replay.meddle = () => false;
  const { code, cause } = await failure(client.authenticate(user, "1234"));
  assert.deepEqual([code, cause.code], ["RESPONSE_PARSE_ERROR", "INCORRECT_PIN"]);
  const [{ lastUsed, ...stored }] = JSON.parse(await client.users.export());
  assert.deepEqual(stored, JSON.parse(good)[0]);
});

/** Renews, and does `work` in another tab before the answer with this number. */
async function meanwhile(number, work) {
  await restore();
  replay.expected = recorded("10");
  replay.meddle = (_, response) => {
    if (--number !== 0) return false;
    const answer = replay.expected.shift().response.body;
    work().then(() => response.end(replay.text(answer)));
    return true;
  };
  assert.equal((await failure(client.authenticate(user, "1234"))).code, "FLOW_ERROR");
}

test("a renewal does not bring back a user who was removed meanwhile", async () => {
  await meanwhile(6, () => client.users.remove(user));
  assert.equal(await client.users.count(), 0);
});

test("a renewal does not undo what another tab has stored meanwhile", async () => {
  const [entry] = JSON.parse(good);
  const other = { ...entry, token: `04${"ab".repeat(64)}`, updated: entry.updated + 1 };
  for (const number of [3, 6]) {
    await meanwhile(number, () => client.users.import(JSON.stringify([other])));
    assert.deepEqual(JSON.parse(await client.users.export()), [other]);
    // Before the renewal has begun, it does not begin.
    assert.equal(replay.expected.length, 9 - number);
  }
});

test("no activation token is spent on what cannot be a PIN", async () => {
  await restore();
  const first = replay.requests.length;
  for (const [pin, code] of [["123", "PIN_INVALID"], ["12a4", "PIN_INVALID"], [new Uint8Array(7), "PIN_INVALID"], ["", "PIN_INPUT_CANCELED"]]) {
    assert.equal((await failure(client.register(user, "token", pin))).code, code);
  }
  assert.equal(replay.requests.length, first);
});

test("a registration asks again while it gets no PIN", async () => {
  replay.meddle = () => false;
  for (const [given, outcome] of [[["12", "12345", "1234"], "REGISTERED"], [["12", null], "PIN_INPUT_CANCELED"], [Array(200).fill("12"), "PIN_INVALID"]]) {
    await restore();
    replay.expected = [...REGISTRATION];
    const left = [...given];
    const ended = await client.register(user, "token", () => left.shift()).then(({ state }) => state, ({ code }) => code);
    assert.deepEqual([ended, left.length], [outcome, outcome === "PIN_INVALID" ? 100 : 0]);
  }
});

test("a share that fails once is fetched again", async () => {
  await restore();
  replay.expected = [...REGISTRATION];
  let failures = 1;
  replay.meddle = (target, response) => {
    if (!SHARE.test(target) || failures-- !== 1) return false;
    response.destroy();
    return true;
  };
  assert.equal((await client.register(user, "token", "1234")).state, "REGISTERED");
});

test("a challenge larger than r is taken modulo r", async () => {
  const proofs = [];
  for (const y of ["0".repeat(63) + "1", "2400000008702a0db0bddf647a6366d2c43fd6ee0cc906cebe11c0a636eb1f6e", "f".repeat(64)]) {
    await restore();
    replay.expected = structuredClone(recorded("05"));
    replay.expected[0].response.body.y = y;
    replay.meddle = () => false;
    assert.ok((await client.authenticate(user, "1234")).jwt);
    proofs.push(replay.requests.at(-2).body.V);
  }
  assert.ok(proofs.every((proof) => /^04[0-9a-f]{128}$/.test(proof)));
});

test("a server that does not answer: time-out and abort", async () => {
  await restore();
  const control = new AbortController();
  replay.meddle = () => true;
  assert.equal((await failure(client.authenticate(user, "1234", { timeout: 50 }))).code, "TIMED_OUT");
  replay.meddle = () => {
    control.abort(new Error("the user left"));
    return true;
  };
  const error = await failure(client.authenticate(user, "1234", { signal: control.signal }));
  assert.deepEqual([error.code, error.cause.message], ["CANCELED", "the user left"]);
  replay.meddle = () => true;
  const closing = newClient({ ...options });
  await closing.users.import(good);
  const waiting = failure(closing.authenticate(user, "1234"));
  replay.meddle = () => {
    closing.close();
    return true;
  };
  assert.equal((await waiting).code, "CANCELED");
});

test("nobody listens", async () => {
  const port = new URL(replay.url).port;
  replay.stop();
  assert.ok(port);
  assert.equal((await failure(client.sendVerificationEmail(user))).code, "NETWORK_ERROR");
});
