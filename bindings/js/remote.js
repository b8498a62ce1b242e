// SPDX-License-Identifier: Apache-2.0
// An engine in a Worker. The page and worker.js talk over a channel for each client:
//
//   page to Worker: { id, name, args, timeout, session }, { id, abort }, { id, answer, pin }, { close }
//   Worker to page: { id, result, session }, { id, error }, { id, ask, length }
//
// A PIN crosses as bytes whose memory is handed over, so that no copy that is made here stays on this side.

import { utf8 } from "./bytes.js";
import { CALLS } from "./calls.js";
import { MPinError, unpacked } from "./error.js";
import { ask } from "./pin.js";
import { canceled } from "./server.js";

export class RemoteEngine {
  #calls = new Map();
  #next = 0;
  #port;
  #worker;
  #own;
  /** The error of every call from now on: the Worker has failed, or the client was closed. */
  #ended;
  #hasAnswered = false;
  #unwatch = () => {};

  constructor({ worker, userStorage, ...options }) {
    if (options.wasm instanceof URL) options.wasm = options.wasm.href;
    this.#own = typeof worker === "string" || worker instanceof URL;
    this.#worker = Promise.resolve(this.#own ? started(worker) : worker);
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.onmessage = ({ data }) => this.#receive(data);
    port1.unref?.();
    this.#worker
      .then((worker) => {
        this.#watch(worker);
        worker.postMessage({ mpin: options, port: port2 }, [port2]);
      })
      .catch((error) => this.#end(error));
  }

  /** Does what `Engine.call` does. */
  call(name, args, { signal, timeout, session }) {
    if (this.#ended) return Promise.reject(this.#ended);
    if (signal?.aborted) return Promise.reject(canceled(signal));
    return new Promise((resolve, reject) => {
      const id = this.#next++;
      const sources = [];
      const transfer = [];
      const { pins } = CALLS[name];
      const sent = args.map((value, i) => crossing(pins.includes(i) ? asBytes(value) : value, sources, transfer));
      const abort = () => this.#settle(id, (call) => call.reject(canceled(signal)), { id, abort: true });
      this.#calls.set(id, { resolve, reject, sources, signal, abort });
      signal?.addEventListener("abort", abort, { once: true });
      this.#port.ref?.();
      this.#port.postMessage({ id, name, args: sent, timeout, session }, transfer);
    });
  }

  close() {
    this.#end(new MPinError("CANCELED", "The request was aborted"));
    this.#port.postMessage({ close: true });
    this.#port.close();
    // A thread of node whose failure nobody hears ends the program, so a Worker of ours is watched to its end.
    if (this.#own) this.#worker.then((worker) => worker.terminate()).catch(() => {});
    else this.#unwatch();
  }

  #receive({ id, result, session, error, ask, length }) {
    this.#hasAnswered = true;
    if (ask !== undefined) this.#ask(id, ask, length);
    else if (error) this.#settle(id, (call) => call.reject(unpacked(error)));
    else this.#settle(id, (call) => call.resolve({ result, session }));
  }

  async #ask(id, answer, length) {
    const call = this.#calls.get(id);
    if (!call) return;
    try {
      const pin = await ask(call.sources[answer], length, call.signal);
      this.#port.postMessage({ id, answer, pin }, [pin.buffer]);
    } catch (error) {
      this.#settle(id, (call) => call.reject(error), { id, abort: true });
    }
  }

  /** Ends a call, and tells the Worker if it does not know. */
  #settle(id, use, message) {
    const call = this.#calls.get(id);
    if (!call) return;
    this.#calls.delete(id);
    if (this.#calls.size === 0) this.#port.unref?.();
    call.signal?.removeEventListener("abort", call.abort);
    if (message) this.#port.postMessage(message);
    use(call);
  }

  /** Hears of the end of a Worker, whoever has made it: nothing would answer the calls any more. */
  #watch(worker) {
    if (this.#ended && !this.#own) return;
    const failed = (event) => this.#end(new MPinError("FLOW_ERROR", "the Worker failed", { cause: event?.error ?? event }));
    if (worker.addEventListener) {
      // A browser's Worker survives an error of its code: after an answer, this is one of something else that it does.
      const listener = (event) => this.#hasAnswered || failed(event);
      worker.addEventListener("error", listener);
      this.#unwatch = () => worker.removeEventListener("error", listener);
    } else {
      const exited = () => failed();
      worker.on?.("error", failed);
      worker.on?.("exit", exited);
      this.#unwatch = () => worker.off?.("error", failed).off("exit", exited);
    }
  }

  /** Ends every call, those to come, too. */
  #end(error) {
    this.#ended ??= error;
    for (const id of [...this.#calls.keys()]) this.#settle(id, (call) => call.reject(error));
  }
}

/** An argument as it can be sent: functions stay here, under a number, and bytes are copied and handed over. */
function crossing(value, sources, transfer) {
  if (typeof value === "function") return { mpinAsk: sources.push(value) - 1 };
  if (!(value instanceof Uint8Array)) return value;
  const copy = value.slice();
  transfer.push(copy.buffer);
  return copy;
}

const asBytes = (pin) => (typeof pin === "string" ? utf8(pin) : pin);

async function started(url) {
  if (globalThis.Worker) return new Worker(url, { type: "module" });
  const { Worker: Thread } = await import("node:worker_threads");
  const thread = new Thread(new URL(url));
  thread.unref();
  return thread;
}
