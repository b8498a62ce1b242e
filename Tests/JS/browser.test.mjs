// The client and its store in a page of Chromium, under a strict content security policy.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Chromium, serveBuilt } from "./chromium.mjs";
import { activationToken, authority, freshUser, mpind, newClient, server } from "./support.mjs";

let chromium, site, origin;
before(async () => {
  ({ site, origin } = await serveBuilt(server, authority));
  mpind("project", "set", "web", "--origin", origin);
  chromium = await Chromium.start();
  await chromium.go(origin);
});
after(async () => {
  await chromium?.stop();
  site?.close();
});

for (const worker of [null, "/worker.js"]) {
  test(`a page registers and logs in ${worker ? "by a Worker" : "by itself"}`, async () => {
    const user = freshUser();
    const token = await activationToken(newClient(), user);
    const jwt = await chromium.run(
      async (options, user, token) => {
        const { Client } = await import("/client.js");
        const client = new Client(options);
        let asked;
        await client.register(user, token, (passPin, length) => {
          asked = length;
          passPin(new TextEncoder().encode("0042"));
        });
        const login = await client.authenticate(user, "0042");
        client.close();
        return [asked, login.jwt.split(".").length];
      },
      { server, projectId: "web", cors: true, worker: worker ?? undefined, storeName: "flows" },
      user,
      token,
    );
    assert.deepEqual(jwt, [4, 3]);
  });
}
