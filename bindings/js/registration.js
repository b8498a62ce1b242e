// SPDX-License-Identifier: Apache-2.0
// Registers this device (TRUST wire sections 1.4 and 4.4 to 4.7).

import { hex, joined, received, unhex, withSecrets } from "./bytes.js";
import { CryptoError, G1_SIZE, PinMapping } from "./crypto.js";
import { MPinError, invalid } from "./error.js";
import { ask, askForPIN, checkPIN } from "./pin.js";
import { named, need, text } from "./server.js";

export const CURVE = "BN254CX";

export async function sendVerificationEmail(engine, [userId], call) {
  need(userId, "Empty user ID");
  const { oidc = {}, projectId, deviceName } = engine.options;
  const body = {
    userId,
    mpinId: (await engine.store.get(projectId, userId))?.mpinId,
    projectId,
    accessId: call.session.accessId,
    deviceName,
    clientId: oidc.client_id,
    redirectURI: oidc.redirect_uri,
    scope: oidc.scope ? oidc.scope.split(" ") : [],
    state: oidc.state,
    nonce: oidc.nonce,
  };
  return named("Verification fail", () => engine.server.post("/verification/email", body, call));
}

export async function getActivationToken(engine, [first, second], call) {
  const { userId, code } = second === undefined ? ofLink(first) : { userId: first, code: second };
  need(userId, "Empty user ID");
  need(code, "Empty verification code");
  const answer = await named("Get activation token fail", async () => {
    const answer = await engine.server.post("/verification/confirmation", { userId, code }, call);
    text(answer, "actToken");
    return answer;
  });
  return { ...answer, userId };
}

function ofLink(link) {
  const query = new URLSearchParams(String(link ?? "").split("#")[0].split("?").pop());
  return { userId: query.get("user_id"), code: query.get("code") };
}

export async function register(engine, [userId, activationToken, source], call) {
  need(userId, "Empty user ID");
  need(activationToken, "Empty activation token");
  const ready = await engine.ready(call);
  return withSecrets(async (keep) => {
    // The activation token is good once, so it is not spent on what cannot be a PIN.
    if (typeof source !== "function") checkPIN(keep(await ask(source)));
    const enrolled = await named("Registration fail", () => enroll(engine, ready, userId, activationToken, call, keep));
    const digits = await askForPIN(source, enrolled.identity.pinLength, call.signal, keep);
    const identity = { ...enrolled.identity, token: keep(tokenFor(ready, enrolled, digits, keep)) };
    await engine.store.change(identity.projectId, userId, (old) => {
      const created = old?.created ?? identity.created;
      return { ...identity, created };
    });
    return identity;
  });
}

/**
 * Makes a key pair and fetches the client secret of a new identity, which has no token yet. What `keep` gets is
 * overwritten by the caller.
 */
export async function enroll(engine, crypto, userId, activationToken, call, keep) {
  const { projectId, deviceName, defaultPinLength } = engine.options;
  const { z, publicKey } = crypto.getDVSKeyPair();
  keep(z);
  const body = { userId, deviceName, activationToken, publicKey: hex(publicKey) };
  const answer = await engine.server.post("/registration", body, call);
  if (answer.projectId !== projectId) throw new MPinError("PROJECT_MISMATCH", "Project mismatch");
  if (answer.curve !== CURVE) throw new MPinError("UNSUPPORTED_CURVE", "Unsupported elliptic curve");
  received(answer, "mpinId");
  const identity = {
    userId,
    projectId,
    state: "REGISTERED",
    created: seconds(),
    mpinId: answer.mpinId,
    curve: answer.curve,
    dtas: text(answer, "dtas"),
    publicKey: body.publicKey,
    pinLength: [4, 5, 6].includes(answer.pinLength) ? answer.pinLength : defaultPinLength,
    verificationType: answer.verificationType,
    nowTime: answer.nowTime,
    updated: seconds(),
  };
  const shares = [];
  for (const url of secretURLs(answer)) shares.push(keep(await fetchShare(engine, url, call)));
  const sum = keep(checked(() => crypto.recombineG1(...shares)));
  return { identity, clientSecret: keep(checked(() => crypto.getG1Multiple(z, sum))) };
}

/** The token of an enrolled identity: its secret without the PIN. */
export function tokenFor(crypto, { identity, clientSecret }, digits, keep) {
  const pin = crypto.pinToScalar(PinMapping.DECIMAL6, digits);
  keep(pin.scalar);
  return checked(() => crypto.extractPIN(idBytes(identity), pin, clientSecret));
}

/** What the point of an identity is made of: its M-Pin ID and its public key, if it has one. */
export const idBytes = ({ mpinId, publicKey }) => joined(unhex(mpinId), unhex(publicKey ?? ""));

/** Turns a refusal of the cryptography into CRYPTO_ERROR. */
export function checked(work) {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error;
    throw new MPinError("CRYPTO_ERROR", `the cryptography refused its input: ${error.message}`, { cause: error });
  }
}

function secretURLs({ secretUrls: urls }) {
  if (Array.isArray(urls) && urls.length === 2 && urls.every((url) => typeof url === "string")) return urls;
  throw new MPinError("RESPONSE_PARSE_ERROR", "the answer has no two secretUrls");
}

/** A share of the client secret. A failed download is repeated once, because the activation token is spent. */
async function fetchShare(engine, url, call) {
  const once = async () => received(await engine.server.get(url, call), "dvsClientSecret", G1_SIZE);
  try {
    return await once();
  } catch (error) {
    if (call.signal?.aborted || error.code === "UNTRUSTED_DOMAIN_ERROR") throw error;
    return once();
  }
}

const seconds = () => Math.floor(Date.now() / 1000);
