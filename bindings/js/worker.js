// SPDX-License-Identifier: Apache-2.0
// The Worker of clients: it runs an engine for each of them (remote.js).

import { Engine } from "./engine.js";
import { MPinError, packed } from "./error.js";

function serve(options, port) {
  const engine = new Engine(options);
  const calls = new Map();

  const receive = async ({ id, name, args, timeout, session }) => {
    const control = new AbortController();
    const answers = [];
    calls.set(id, { control, answers });
    try {
      const local = args.map((value) => (value?.mpinAsk === undefined ? value : asking(id, value.mpinAsk, answers)));
      const own = local.filter((value) => value instanceof Uint8Array);
      const done = await engine.call(name, local, { signal: control.signal, timeout, session }).finally(() => wipe(own));
      port.postMessage({ id, ...done });
    } catch (error) {
      const isKnown = error instanceof MPinError;
      const known = isKnown ? error : new MPinError("FLOW_ERROR", String(error?.message), { cause: error });
      port.postMessage({ id, error: packed(known) });
    } finally {
      calls.delete(id);
    }
  };

  const asking = (id, ask, answers) => (_, length) =>
    new Promise((resolve) => {
      answers[ask] = resolve;
      port.postMessage({ id, ask, length });
    });

  port.onmessage = ({ data }) => {
    if (data.close) {
      engine.close();
      port.close();
    } else if (data.abort) calls.get(data.id)?.control.abort();
    else if (data.answer !== undefined) calls.get(data.id)?.answers[data.answer]?.(data.pin);
    else receive(data);
  };
}

const wipe = (list) => list.forEach((bytes) => bytes.fill(0));

if (globalThis.self?.postMessage) {
  self.onmessage = ({ data: { mpin, port } }) => mpin && serve(mpin, port);
} else {
  const { parentPort } = await import("node:worker_threads");
  parentPort.on("message", ({ mpin, port }) => mpin && serve(mpin, port));
}
