// SPDX-License-Identifier: Apache-2.0
// What the page has told its scripts, the clients of this page, and how elements are made.

import { Client } from "./client.js";

/** The element that the scripts fill. */
export const place = document.getElementById("client-here");
export const page = place.dataset;

const texts = JSON.parse(page.texts);

/** A text in the page's language, with its values. */
export const say = (name, values = {}) => texts[name].replace(/\{\{(\w+)\}\}/g, (_, key) => values[key] ?? "");

/** An element with properties and children. Texts are set as texts, never as markup. */
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [property, value] of Object.entries(properties)) {
    if (property in made) made[property] = value;
    else made.setAttribute(property, value);
  }
  made.append(...children);
  return made;
}

export const button = (text, act, className = "") => element("button", { type: "button", className, onclick: act }, text);

// The scripts of this page's Worker and service worker. Nothing else becomes a script's URL.
const scripts = new Set([page.worker, page.serviceWorker]);
const createScriptURL = (url) => {
  if (scripts.has(url)) return url;
  throw new TypeError("not a script of this page");
};
const policy = globalThis.trustedTypes?.createPolicy("mpin", { createScriptURL }) ?? { createScriptURL };

const clients = new Map();
let worker;

/** The client of a project. All clients of a page share one Worker, in which everything secret happens. */
export function clientOf(projectId = page.project) {
  worker ??= new Worker(policy.createScriptURL(page.worker), { type: "module" });
  const { wasm, integrity } = page;
  const server = location.origin;
  if (!clients.has(projectId)) clients.set(projectId, new Client({ projectId, server, worker, wasm, integrity }));
  return clients.get(projectId);
}

/** Lets the browser install the page as an app, and show a page of its own while there is no connection. */
export function install() {
  navigator.serviceWorker?.register(policy.createScriptURL(page.serviceWorker)).catch(() => {});
}
