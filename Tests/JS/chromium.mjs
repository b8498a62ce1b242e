// Headless Chromium over WebDriver, and a web server with the built package under a strict content security policy.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { built } from "./support.mjs";

const TYPES = { js: "text/javascript", wasm: "application/wasm", html: "text/html", json: "application/json" };

/** Serves the package, and `more` by name, to pages that may send requests to these origins. Returns the server and its own. */
export async function serveBuilt(origins, more = {}) {
  const policy = `default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' ${origins.join(" ")}; worker-src 'self'`;
  const site = createServer(async (request, response) => {
    const name = request.url.slice(1).split("?")[0];
    const type = TYPES[name.split(".").pop()] ?? "text/html";
    const body = name === "" ? "<!doctype html><title>mpin</title>" : more[name] ?? (await readFile(built(name)).catch(() => null));
    response.writeHead(body === null ? 404 : 200, { "Content-Type": type, "Content-Security-Policy": policy });
    response.end(body);
  });
  await once(site.listen(0, "127.0.0.1"), "listening");
  return { site, origin: `http://127.0.0.1:${site.address().port}` };
}

/** A browser with a fresh profile. */
export class Chromium {
  #driver;
  #base;
  #session;

  static async start() {
    const chromium = new Chromium();
    chromium.#driver = spawn("/usr/bin/chromedriver", ["--port=0"], { stdio: ["ignore", "pipe", "inherit"] });
    for await (const line of createInterface({ input: chromium.#driver.stdout })) {
      const port = line.match(/started successfully on port (\d+)/)?.[1];
      if (port) chromium.#base = `http://127.0.0.1:${port}`;
      if (port) break;
    }
    const args = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"];
    const capabilities = { alwaysMatch: { "goog:chromeOptions": { args } } };
    const { sessionId } = await chromium.#post("/session", { capabilities });
    chromium.#session = `/session/${sessionId}`;
    await chromium.#command("/timeouts", { script: 60_000 });
    return chromium;
  }

  async stop() {
    await fetch(this.#base + this.#session, { method: "DELETE" });
    this.#driver.kill();
    await once(this.#driver, "exit");
  }

  go(url) {
    return this.#command("/url", { url });
  }

  /** Opens a further tab and returns its handle; `use` goes to a tab. */
  async newTab() {
    return (await this.#command("/window/new", { type: "tab" })).handle;
  }

  use(handle) {
    return this.#command("/window", { handle });
  }

  /** Runs an async function with these arguments in the page, and returns what it resolves to. */
  async run(work, ...args) {
    const script = `const done = arguments[arguments.length - 1];
      (${work})(...[...arguments].slice(0, -1)).then((value) => done({ value }), (error) => {
        let failed = "";
        for (let cause = error; cause; cause = cause.cause) failed += (cause.stack ?? cause) + "\\n";
        done({ failed });
      });`;
    const { value, failed } = await this.#command("/execute/async", { script, args });
    if (failed !== undefined) throw new Error(failed);
    return value;
  }

  #command(path, body) {
    return this.#post(this.#session + path, body);
  }

  async #post(path, body) {
    const response = await fetch(this.#base + path, { method: "POST", body: JSON.stringify(body) });
    const { value } = await response.json();
    if (!response.ok) throw new Error(`${value.error}: ${value.message}`);
    return value;
  }
}
