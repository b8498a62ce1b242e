// SPDX-License-Identifier: Apache-2.0
// The identities on this device, and the form in which MIRACL's client keeps them (TRUST wire section 8).

import { hex, sha256, unhex } from "./bytes.js";
import { G1_SIZE, G2_SIZE } from "./crypto.js";
import { invalid } from "./error.js";
import { CURVE } from "./registration.js";

/** What callers see of an identity: everything but its token. */
export async function shown(identity) {
  const { token, ...user } = identity;
  token.fill(0);
  return { ...user, hashedMpinId: hex(await sha256(unhex(user.mpinId))) };
}

const used = ({ lastUsed = 0 }) => lastUsed;

export async function all(engine, [{ everyProject = false } = {}]) {
  const identities = await engine.store.list();
  const own = identities.filter(({ projectId }) => everyProject || projectId === engine.options.projectId);
  const users = await Promise.all(own.map(shown));
  return users.sort((a, b) => used(a) - used(b));
}

export async function get(engine, [userId, property]) {
  const identity = await engine.store.get(engine.options.projectId, String(userId));
  if (!identity) return undefined;
  const user = await shown(identity);
  return property === undefined ? user : user[property];
}

export async function remove(engine, [userId]) {
  await engine.store.change(engine.options.projectId, String(userId), () => null);
}

/** Takes the list of MIRACL's client. Returns how many identities were taken. */
export async function importUsers(engine, [text]) {
  const list = parsed(text);
  if (!list) throw invalid("not the JSON list of MIRACL's client");
  let taken = 0;
  for (const entry of list) taken += (await take(engine, entry)) === "taken";
  return taken;
}

/** Takes the list, too. Returns what is left of it, and null if nothing changes or there is no list. */
export async function moveUsers(engine, [text]) {
  const list = parsed(text) ?? [];
  const left = [];
  for (const entry of list) if (!(await take(engine, entry))) left.push(entry);
  return left.length < list.length ? JSON.stringify(left) : null;
}

function parsed(text) {
  try {
    const list = JSON.parse(text);
    return Array.isArray(list) ? list : undefined;
  } catch {
    return undefined;
  }
}

/** Stores an entry: "taken", "present" if there is a newer one, or undefined if the entry is none that can be used. */
async function take(engine, entry) {
  const identity = imported(entry);
  if (!identity) return undefined;
  let result;
  await engine.store.change(identity.projectId, identity.userId, (old) => {
    result = old && (old.updated ?? 0) >= (identity.updated ?? 0) ? "present" : "taken";
    return result === "taken" ? identity : undefined;
  });
  identity.token.fill(0);
  return result;
}

/** An entry as an identity, or null if it is unfinished, of another curve, or malformed. */
function imported(entry) {
  const { userId, customerId, projectId = customerId, state, token, mpinId, publicKey, curve = CURVE, dtas } = entry ?? {};
  const texts = [userId, projectId, mpinId, dtas].every((text) => typeof text === "string" && text !== "");
  const point = unhex(token, G1_SIZE);
  if (!texts || !point || !unhex(mpinId) || (publicKey && !unhex(publicKey, G2_SIZE)) || curve !== CURVE) return null;
  if (state !== "REGISTERED" && state !== "REVOKED") return null;
  const { csHex, regOTT, customerId: _, ...rest } = entry;
  return { ...rest, projectId, curve, token: point };
}

export async function exportUsers(engine) {
  const identities = (await engine.store.list()).sort((a, b) => used(a) - used(b));
  return JSON.stringify(
    identities.map(({ token, ...entry }) => {
      const kept = Object.entries({ ...entry, token: hex(token) }).filter(([, value]) => value);
      token.fill(0);
      return Object.fromEntries(kept);
    }),
  );
}
