// A server that gives recorded answers, and the flows of the recordings as calls of our client.

import { once } from "node:events";
import { readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";

const folder = new URL("../Vectors/transcripts/", import.meta.url);

/** The exchanges of the recorded flow with this number. */
export function recorded(number) {
  const name = readdirSync(folder).find((name) => name.startsWith(`trust-${number}-`));
  return JSON.parse(readFileSync(new URL(name, folder), "utf8")).exchanges;
}

/** Gives the answers of `expected` in their order, and keeps the requests that it gets. */
export class Replay {
  requests = [];
  expected = [];
  /** Changes an answer before it is sent: gets the request's path and the response; answers itself if it returns true. */
  meddle = () => false;

  static async start() {
    const replay = new Replay();
    replay.site = createServer((request, response) => replay.#answer(request, response));
    await once(replay.site.listen(0, "127.0.0.1"), "listening");
    replay.url = `http://127.0.0.1:${replay.site.address().port}`;
    return replay;
  }

  stop() {
    this.site.closeAllConnections();
    this.site.close();
  }

  play(exchanges) {
    this.expected.push(...exchanges);
  }

  async #answer(request, response) {
    let text = "";
    for await (const part of request) text += part;
    const { method, url: target, headers } = request;
    this.requests.push({ method, target, headers, body: text === "" ? undefined : JSON.parse(text) });
    if (this.meddle(target.split("?")[0], response)) return;
    const next = this.expected.shift();
    response.statusCode = next?.response.status ?? 599;
    response.end(this.text(next?.response.body ?? {}));
  }

  /** An answer as JSON. Its URLs are those of the recorded server. */
  text(body) {
    return JSON.stringify(body).replaceAll(/http:\/\/127\.0\.0\.1:34053/g, this.url);
  }
}
