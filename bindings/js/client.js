// SPDX-License-Identifier: Apache-2.0
// The client of a page or of a program for node. client.d.ts describes every call.

import { MPinError, invalid } from "./error.js";
import { RemoteEngine } from "./remote.js";
import { canceled, unlessAborted } from "./server.js";
import { ENDS } from "./sessions.js";
import { Status } from "./status.js";

export { MPinError, Status };
export { IndexedDBStore } from "./store.js";

const DEFAULT_SERVER = "https://api.mpin.io";
const REQUEST_MILLISECONDS = 10_000;
const POLL_MILLISECONDS = 2000;
/** Where MIRACL's client keeps its identities. */
const MIRACL_KEY = "mfa";

export class Client {
  #options;
  #engine;
  #session = {};
  #moving;
  #closed = false;

  constructor(options) {
    this.#options = complete(options);
    this.users = new Users((name, ...args) => this.#call(name, args));
  }

  get session() {
    return this.#session;
  }

  sendVerificationEmail(userId, options) {
    return this.#call("sendVerificationEmail", [userId], options);
  }

  getActivationToken(link, code, options) {
    if (typeof code === "string") return this.#call("getActivationToken", [link, code], options);
    return this.#call("getActivationToken", [link], code);
  }

  register(userId, activationToken, pin, options) {
    return this.#call("register", [userId, activationToken, pin], options);
  }

  authenticate(userId, pin, options) {
    return this.#call("authenticate", [userId, pin], options);
  }

  authenticateWithQRCode(userId, qrCode, pin, options) {
    return this.#call("authenticateWithQRCode", [userId, qrCode, pin], options);
  }

  authenticateWithAppLink(userId, appLink, pin, options) {
    return this.#call("authenticateWithQRCode", [userId, appLink, pin], options);
  }

  authenticateWithNotificationPayload(payload, pin, options) {
    return this.#call("authenticateWithNotificationPayload", [payload, pin], options);
  }

  authenticateThisPage(userId, pin, options) {
    return this.#call("authenticateThisPage", [userId, pin], options);
  }

  generateQuickCode(userId, pin, options) {
    return this.#call("generateQuickCode", [userId, pin], options);
  }

  changePIN(userId, oldPIN, newPIN, options) {
    return this.#call("changePIN", [userId, oldPIN, newPIN], options);
  }

  sign(userId, pin, message, timestamp, options) {
    return this.#call("sign", [userId, pin, message, timestamp], options);
  }

  signWithQRCode(userId, qrCode, pin, options) {
    return this.#call("signWithQRCode", [userId, qrCode, pin], options);
  }

  fetchAccessId(userId, { description, hash, ...options } = {}) {
    return this.#call("fetchAccessId", [userId, { description, hash }], options);
  }

  setAccessId(accessId) {
    this.#session = { ...this.#session, accessId };
  }

  fetchStatus(options) {
    return this.#call("fetchStatus", [], options);
  }

  async waitForStatus({ interval = POLL_MILLISECONDS, onChange, ...options } = {}) {
    for (let last; ; await pause(interval, options.signal)) {
      const status = await this.fetchStatus(options);
      if (status.status !== last) onChange?.(status);
      last = status.status;
      if (ENDS.has(last)) return status;
    }
  }

  sendPushNotificationForAuth(userId, options) {
    return this.#call("sendPushNotificationForAuth", [userId], options);
  }

  getSessionDetails(source, options) {
    return this.#call("getSessionDetails", [source], options);
  }

  abortSession(source, options) {
    return this.#call("abortSession", [source], options);
  }

  close() {
    this.#engine?.then((engine) => engine.close()).catch(() => {});
    this.#closed = true;
  }

  async #call(name, args, { signal, timeout } = {}) {
    if (this.#closed) throw new MPinError("FLOW_ERROR", "the client is closed");
    const engine = await unlessAborted(this.#open(), signal);
    await unlessAborted((this.#moving ??= this.#move(engine)), signal);
    const { result, session } = await engine.call(name, args, { signal, timeout, session: this.#session });
    // Another call may have opened a session meanwhile, so one that has opened none leaves it.
    if (session !== undefined) this.#session = session;
    return result;
  }

  /** The engine, which the first call makes. If that fails, the next call tries again. */
  #open() {
    this.#engine ??= engineFor(this.#options).catch((error) => {
      this.#engine = undefined;
      throw error;
    });
    return this.#engine;
  }

  /** Moves the identities of MIRACL's client into the store. */
  async #move(engine) {
    const { userStorage } = this.#options;
    const list = userStorage?.getItem(MIRACL_KEY);
    if (!list) return;
    try {
      const { result: left } = await engine.call("moveUsers", [list], {});
      if (left !== null) userStorage.setItem(MIRACL_KEY, left);
    } catch (error) {
      this.#moving = undefined;
      throw error;
    }
  }
}

export default Client;

/** The identities of a client's project (client.d.ts). */
class Users {
  #call;

  constructor(call) {
    this.#call = call;
  }

  async list() {
    const users = await this.all();
    return Object.fromEntries(users.map(({ userId, state }) => [userId, state]));
  }

  all(options) {
    return this.#call("allUsers", options);
  }

  get(userId, property) {
    return this.#call("getUser", userId, property);
  }

  async exists(userId) {
    return (await this.get(userId)) !== undefined;
  }

  async is(userId, state) {
    return (await this.get(userId, "state")) === state;
  }

  async count() {
    return (await this.all()).length;
  }

  remove(userId) {
    return this.#call("removeUser", userId);
  }

  import(text) {
    return this.#call("importUsers", text);
  }

  export() {
    return this.#call("exportUsers");
  }
}

/** The options with what they leave out. Throws for what a client cannot work with. */
function complete(options) {
  if (!options) throw invalid("Invalid configuration");
  if (!options.projectId) throw invalid("Empty project ID");
  const { userStorage } = options;
  if (userStorage && !(userStorage.getItem && userStorage.setItem)) throw invalid("Invalid user storage");
  if (options.worker && options.store) throw invalid("a Worker opens a store of its own: storeName instead of store");
  const { projectUrl = DEFAULT_SERVER, server = projectUrl, requestTimeout, defaultPinLength } = options;
  return {
    ...options,
    server: new URL(server, globalThis.location?.href).href.replace(/\/+$/, ""),
    deviceName: options.deviceName || "Browser",
    requestTimeout: requestTimeout > 0 ? requestTimeout : REQUEST_MILLISECONDS,
    defaultPinLength: [4, 5, 6].includes(defaultPinLength) ? defaultPinLength : 4,
  };
}

async function engineFor(options) {
  if (options.worker) return new RemoteEngine(options);
  const { Engine } = await import("./engine.js");
  return new Engine(options);
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(canceled(signal));
    const abort = () => {
      clearTimeout(timer);
      reject(canceled(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", abort, { once: true });
  });
}
