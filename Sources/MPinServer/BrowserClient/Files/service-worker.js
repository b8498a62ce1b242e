// SPDX-License-Identifier: Apache-2.0
// Shows a page of its own if the server cannot be reached. It keeps nothing else, so that a page is never an old one.

const KEPT = "mpin-offline";
const FILES = ["/offline", "/style.css", "/times.js", "/icon.svg"];

self.addEventListener("install", (event) => {
  const keep = async () => (await caches.open(KEPT)).addAll(FILES.map((url) => new Request(url, { cache: "reload" })));
  event.waitUntil(keep().then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (origin !== location.origin) return;
  if (request.mode === "navigate") {
    event.respondWith(fetch(request).catch(async () => (await caches.match("/offline")) ?? Response.error()));
  } else if (request.method === "GET" && FILES.includes(pathname)) {
    event.respondWith(fetch(request).catch(async () => (await caches.match(pathname)) ?? Response.error()));
  }
});
