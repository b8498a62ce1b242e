// What the tests of bindings/js share: the built package, the running server, its mails, clients and users.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, unlinkSync, watch } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "../../build/js/client.js";

const { BACKEND, DTA2, MAILS, STATE } = process.env;
export const server = BACKEND;
export const authority = DTA2;
export const root = new URL("../../", import.meta.url).pathname;
export const built = (name) => new URL(`../../build/js/${name}`, import.meta.url);

export const digits = (pin) => new TextEncoder().encode(pin);
export const hex = (bytes) => Buffer.from(bytes).toString("hex");

const work = mkdtempSync(join(tmpdir(), "mpin-js-"));
process.on("exit", () => rmSync(work, { recursive: true, force: true }));

let number = 0;
export const freshPath = () => join(work, `store-${number++}`);
export const freshUser = () => `user-${process.pid}-${number++}@example.com`;

/** A client of the project `web`, with a store of its own. */
export const newClient = (options = {}) =>
  new Client({ server, projectId: "web", deviceName: "test", storeName: freshPath(), ...options });

/** Runs mpind with the state of the server, and returns what it prints. */
export function mpind(...args) {
  const { status, stdout, stderr } = spawnSync(join(root, "build/mpind"), [...args, "--state-dir", STATE], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return stdout;
}

/** The newest mail to an address, which is then removed. Waits for it. */
export async function mailTo(address) {
  const present = () => {
    for (const name of readdirSync(MAILS).filter((name) => name.endsWith(".eml"))) {
      const text = readFileSync(join(MAILS, name), "utf8").replaceAll("\r", "");
      if (!text.includes(address)) continue;
      unlinkSync(join(MAILS, name));
      return text;
    }
    return undefined;
  };
  const watcher = watch(MAILS);
  try {
    for (;;) {
      const changed = new Promise((resolve) => watcher.once("change", resolve));
      const mail = present();
      if (mail) return mail;
      await changed;
    }
  } finally {
    watcher.close();
  }
}

/** Sends JSON to the server, and returns the JSON of its answer. */
export async function post(path, body, headers = {}) {
  const type = { "Content-Type": "application/json" };
  const response = await fetch(server + path, { method: "POST", headers: { ...type, ...headers }, body: JSON.stringify(body) });
  return response.json();
}

/** An activation token that the back end of a project asks for, so that no mail is sent. */
export async function allowDevice(project, userId) {
  const { verificationURL } = await post("/verification", { projectId: project, userId, delivery: "no" },
    { Authorization: `Bearer ${serviceToken(project)}` });
  const query = new URL(verificationURL).searchParams;
  const { actToken } = await post("/verification/confirmation", { userId, code: query.get("code") }, { "X-MIRACL-CID": project });
  return actToken;
}

const tokens = {};
/** What the back end of a project shows the server. */
export function serviceToken(project) {
  tokens[project] ??= mpind("project", "token", "add", project, `tests-${process.pid}`).trim().split(/\s/).pop();
  return tokens[project];
}

export const codeIn = (mail) => mail.match(/^\d{6}$/m)[0];
export const linkIn = (mail) => mail.match(/^https?:\S*user_id=\S*/m)[0];

/** An activation token for a user, by a mail. */
export async function activationToken(client, userId) {
  await client.sendVerificationEmail(userId);
  const { actToken } = await client.getActivationToken(linkIn(await mailTo(userId)));
  return actToken;
}

/** Registers a new user with a PIN. */
export async function newUser(client, pin = "1234", userId = freshUser()) {
  await client.register(userId, await activationToken(client, userId), () => digits(pin));
  return userId;
}

/** The error that a call ends with. */
export async function failure(promise) {
  let result;
  try {
    result = await promise;
  } catch (error) {
    return error;
  }
  assert.fail(`no error, but ${JSON.stringify(result)}`);
}

export const claims = (jwt) => JSON.parse(Buffer.from(jwt.split(".")[1], "base64url"));
