// SPDX-License-Identifier: Apache-2.0
// What a user does in this browser, with the PIN pad.

import { clientOf, page, say } from "./page-setup.js";

const same = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i]);

const wipe = (bytes) => bytes?.fill(0);

export class Flows {
  #pad;
  #wait;

  /** `pad`: the page's <mpin-pad>. `wait`: called with whether the user has to wait, or is asked. */
  constructor(pad, wait) {
    this.#pad = pad;
    this.#wait = wait;
  }

  /** A function that asks for a PIN, and then says that the user has to wait. */
  #asking(title, note, application = page.name) {
    return async (_, length) => {
      this.#wait(false);
      const pin = await this.#pad.ask({ title, note, application, length });
      this.#wait(true);
      return pin;
    };
  }

  /** A function that asks for a new PIN twice, until both are the same. `kept` gets a copy, which the caller wipes. */
  #choosing(kept = () => {}) {
    return async (_, length) => {
      for (let note; ; note = say("clientDifferentPIN")) {
        const first = await this.#asking(say("clientChoosePIN"), note)(null, length);
        if (!first) return null;
        const second = await this.#asking(say("clientRepeatPIN"))(null, first.length);
        const equal = second && same(first, second);
        wipe(second);
        if (equal) {
          kept(first.slice());
          return first;
        }
        wipe(first);
        if (!second) return null;
      }
    };
  }

  /** Calls `work` with a function that asks for the PIN, again after each wrong PIN. */
  async #trying(title, application, work) {
    for (let note; ; note = say("clientWrongPIN")) {
      try {
        return await work(this.#asking(title, note, application));
      } catch (error) {
        if (error.code !== "INCORRECT_PIN") throw error;
      }
    }
  }

  /** Logs in the browser that waits under the name `wid`. `pin`: bytes that are wiped, if the user has just typed them. */
  async logIn({ userId, projectId }, wid, { pin, application } = {}) {
    const client = clientOf(projectId);
    try {
      if (pin) return await client.authenticateWithQRCode(userId, `#${wid}`, pin);
    } finally {
      wipe(pin);
    }
    const title = `${say("clientEnterPIN")}: ${userId}`;
    return this.#trying(title, application, (ask) => client.authenticateWithQRCode(userId, `#${wid}`, ask));
  }

  /** Registers this browser. Resolves to the user, and a copy of the PIN, which the caller wipes. */
  async register(projectId, userId, token) {
    let pin;
    try {
      const user = await clientOf(projectId).register(userId, token, this.#choosing((copy) => (pin = copy)));
      navigator.storage?.persist?.();
      return { user, pin };
    } catch (error) {
      wipe(pin);
      throw error;
    }
  }

  changePIN({ userId, projectId }) {
    return this.#trying(`${say("clientOldPIN")}: ${userId}`, page.name, (ask) =>
      clientOf(projectId).changePIN(userId, ask, this.#choosing()),
    );
  }

  /** A code with which another device of the user registers. */
  quickCode({ userId, projectId }) {
    return this.#trying(`${say("clientEnterPIN")}: ${userId}`, page.name, (ask) =>
      clientOf(projectId).generateQuickCode(userId, ask),
    );
  }
}
