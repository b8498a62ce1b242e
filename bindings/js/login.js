// SPDX-License-Identifier: Apache-2.0
// Logs in (TRUST wire sections 1.7 and 4.8 to 4.11), and what needs a login before: QuickCodes, signatures, a new PIN.

import { hex, received, sameBytes, unhex, withSecrets } from "./bytes.js";
import { PinMapping, SCALAR_SIZE } from "./crypto.js";
import { MPinError, invalid } from "./error.js";
import { ask, checkPIN } from "./pin.js";
import { CURVE, checked, enroll, idBytes, tokenFor } from "./registration.js";
import { named, need, text } from "./server.js";
import { ENDS, accessIdOf, fetchAccessId, fetchStatus, sessionDetails } from "./sessions.js";

/** r, the number of points of G1 (TRUST wire section 1.1). */
const ORDER = 0x2400000008702a0db0bddf647a6366d2c43fd6ee0cc906cebe11c0a636eb1f6dn;

export const authenticate = (engine, [userId, pin], call) =>
  login(engine, { userId, scope: "jwt", wid: call.session.accessId }, pin, call);

export const authenticateWithQRCode = (engine, [userId, link, pin], call) =>
  login(engine, { userId, scope: "oidc", wid: accessIdOf(link) }, pin, call);

export function authenticateWithNotificationPayload(engine, [payload, pin], call) {
  if (!payload?.userID) throw invalid("Invalid push notification payload");
  return authenticateWithQRCode(engine, [payload.userID, accessIdOf(payload), pin], call);
}

export async function authenticateThisPage(engine, [userId, pin], call) {
  need(userId, "Empty user ID");
  const isOpen = call.session.qrURL && !ENDS.has((await fetchStatus(engine, [], call)).status);
  const { qrURL } = isOpen ? call.session : await fetchAccessId(engine, [userId], call);
  await authenticateWithQRCode(engine, [userId, qrURL, pin], call);
  return fetchStatus(engine, [], call);
}

export async function generateQuickCode(engine, [userId, pin], call) {
  const { jwt } = await login(engine, { userId, scope: "reg-code" }, pin, call);
  const { projectId, deviceName } = engine.options;
  return named("QuickCode generation fail", async () => {
    const answer = await engine.server.post("/verification/quickcode", { projectId, jwt, deviceName }, call);
    return { ...answer, OTP: text(answer, "code") };
  });
}

export async function changePIN(engine, [userId, oldPIN, newPIN], call) {
  await checkedLogin(engine, { userId, scope: "dvs-auth" }, oldPIN, call, async ({ crypto, identity, pin, keep }) => {
    const digits = keep(await ask(newPIN, identity.pinLength, call.signal));
    checkPIN(digits, identity.pinLength);
    const next = pinNumber(crypto, digits, keep);
    const token = keep(checked(() => crypto.changePIN(idBytes(identity), pin, next, identity.token)));
    await engine.store.change(identity.projectId, userId, (old) => {
      // The token of another identity, or for another PIN, would be destroyed.
      needSame(old, identity);
      return { ...old, token, updated: Math.floor(Date.now() / 1000) };
    });
  });
}

export async function sign(engine, [userId, source, message, timestamp], call) {
  const bytes = unhex(message);
  need(message, "Empty message");
  if (!bytes || bytes.length > 256) throw invalid("the message is not hex of 1 to 256 bytes");
  if (!Number.isInteger(timestamp) || timestamp < 0 || timestamp >= 2 ** 32) {
    throw invalid("the timestamp is not in whole seconds since 1970");
  }
  return named("Signing fail", () =>
    checkedLogin(engine, { userId, scope: "dvs-auth" }, source, call, ({ crypto, identity, pin, keep }) => {
      if (!identity.publicKey) throw new MPinError("FLOW_ERROR", "Empty public key");
      const x = keep(crypto.randomGenerate());
      const { token, mpinId, publicKey, dtas } = identity;
      const { u, v } = checked(() => crypto.client(0, idBytes(identity), x, pin, token, null, timestamp, bytes));
      return { hash: message, u: hex(u), v: hex(v), mpinId, publicKey, dtas };
    }),
  );
}

export async function signWithQRCode(engine, [userId, source, pin], call) {
  const { accessId: wid, hash } = await sessionDetails(engine, [source], call);
  if (!hash) throw new MPinError("FLOW_ERROR", "the session asks for no signature");
  const timestamp = Math.floor(Date.now() / 1000);
  const signature = await sign(engine, [userId, pin, hash, timestamp], call);
  const report = { wid, status: "signed", signature: btoa(JSON.stringify({ ...signature, timestamp })) };
  await named("Signing fail", () => engine.server.post("/rps/v2/codeStatus", report, call));
  return signature;
}

const login = (engine, login, source, call) => checkedLogin(engine, login, source, call, ({ answer }) => answer);

/**
 * Logs in, and calls `use` with the server's answer, the identity and the PIN, whose secrets are overwritten afterwards.
 */
async function checkedLogin(engine, { userId, scope, wid }, source, call, use) {
  need(userId, "Empty user ID");
  const crypto = await engine.ready(call);
  return withSecrets(async (keep) => {
    let identity = await stored(engine, userId, keep);
    const digits = keep(await ask(source, identity.pinLength ?? engine.options.defaultPinLength, call.signal));
    checkPIN(digits, identity.pinLength);
    const pin = pinNumber(crypto, digits, keep);
    const prove = () => attempt(engine, crypto, identity, pin, scope, wid, call, keep);
    let answer;
    try {
      answer = await prove();
    } catch (error) {
      const present = error.code === "REVOKED" ? await stored(engine, userId, keep) : identity;
      // Another tab has renewed the identity meanwhile, which ended the one that we had.
      if (present.mpinId === identity.mpinId) throw error;
      identity = present;
      answer = await prove();
    }
    if (answer.dvsRegister) {
      const { made, former } = await renewed(engine, crypto, identity, answer.dvsRegister, digits, call, keep);
      identity = made;
      try {
        answer = await prove();
      } catch (error) {
        throw former && error.code === "INCORRECT_PIN" ? await restored(engine, made, former, error) : error;
      }
      if (answer.dvsRegister) throw new MPinError("CLIENT_SECRET_EXPIRED", "the server wants another renewal at once");
    }
    await mark(engine, identity, { lastUsed: Date.now(), state: "REGISTERED" });
    return use({ answer, crypto, identity, pin, keep });
  });
}

async function stored(engine, userId, keep) {
  const identity = await engine.store.get(engine.options.projectId, userId);
  if (!identity) throw new MPinError("USER_NOT_FOUND", "User not found");
  keep(identity.token);
  return identity;
}

function pinNumber(crypto, digits, keep) {
  const pin = crypto.pinToScalar(PinMapping.DECIMAL6, digits);
  keep(pin.scalar);
  return pin;
}

/** Both passes and the verdict. A refusal for good is kept with the identity. */
async function attempt(engine, crypto, identity, pin, scope, wid, call, keep) {
  const { server } = engine;
  const { mpinId: mpin_id, dtas, publicKey } = identity;
  try {
    return await named("Authentication fail", async () => {
      const x = keep(crypto.randomGenerate());
      const { sec, u } = checked(() => crypto.client1(0, idBytes(identity), x, pin, identity.token));
      keep(sec);
      const first = { scope: [scope], mpin_id, dtas, publicKey, UT: "", U: hex(u) };
      const y = reduced(received(await server.post("/rps/v2/pass1", first, call), "y", SCALAR_SIZE));
      const V = hex(checked(() => crypto.client2(x, y, sec)));
      const second = await server.post("/rps/v2/pass2", { mpin_id, WID: wid, V }, call);
      return server.post("/rps/v2/authenticate", { authOTT: text(second, "authOTT"), wam: "dvs" }, call);
    });
  } catch (error) {
    if (error.code === "REVOKED") await mark(engine, identity, { state: "REVOKED" });
    throw error;
  }
}

/** A challenge modulo r. Some servers send 256 random bits (TRUST wire section 1.2). It is no secret. */
function reduced(y) {
  const rest = BigInt(`0x${hex(y)}`) % ORDER;
  return unhex(rest.toString(16).padStart(2 * SCALAR_SIZE, "0"));
}

/** Stores members of an identity, unless another tab has replaced it meanwhile. */
function mark(engine, identity, members) {
  return engine.store.change(identity.projectId, identity.userId, (old) =>
    old?.mpinId === identity.mpinId ? { ...old, ...members } : undefined,
  );
}

const isSame = (a, b) => a.mpinId === b.mpinId && sameBytes(a.token, b.token);

function needSame(old, identity) {
  if (!old || !isSame(old, identity)) throw new MPinError("FLOW_ERROR", "the identity was changed meanwhile");
}

/**
 * A new identity for the same PIN, and the one whose place it has taken. Tabs do it one after the other, because each
 * renewal ends the identity before: if another tab was first, its identity is used, and there is no former one.
 */
async function renewed(engine, crypto, identity, offer, digits, call, keep) {
  const { userId, projectId, created } = identity;
  const work = async () => {
    const present = await stored(engine, userId, keep);
    if (present.mpinId !== identity.mpinId || present.publicKey !== identity.publicKey) return { made: present };
    // Another tab may have changed the PIN: the new identity would have the old one.
    needSame(present, identity);
    const next = await named("Authentication fail", async () => {
      if (offer.curve && offer.curve !== CURVE) throw new MPinError("UNSUPPORTED_CURVE", "Unsupported elliptic curve");
      const enrolled = await enroll(engine, crypto, userId, text(offer, "token"), call, keep);
      return { ...enrolled.identity, created, token: keep(tokenFor(crypto, enrolled, digits, keep)) };
    });
    next.pinLength = identity.pinLength ?? next.pinLength;
    await engine.store.change(projectId, userId, (old) => {
      needSame(old, present);
      return next;
    });
    return { made: next, former: present };
  };
  return engine.store.exclusively(work, call.signal);
}

/**
 * Puts the former identity back, and returns the error of the call. The PIN was right a moment ago, so that the server
 * has sent a secret that does not fit: the user could never log in with it.
 */
async function restored(engine, made, former, error) {
  await engine.store.change(made.projectId, made.userId, (old) => (old && isSame(old, made) ? former : undefined));
  return new MPinError("RESPONSE_PARSE_ERROR", "Authentication fail", { cause: error });
}
