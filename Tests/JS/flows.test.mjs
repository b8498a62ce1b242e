// Every flow of the client with a real server.

import assert from "node:assert/strict";
import { test } from "node:test";
import { claims, newClient, newUser } from "./support.mjs";

test("a device registers by the mailed link and logs in for a JWT", async () => {
  const client = newClient();
  const user = await newUser(client);
  const { jwt } = await client.authenticate(user, "1234");
  assert.equal(claims(jwt).sub, user);
});
