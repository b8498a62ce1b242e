// A second process for store.test.mjs: changes a store, and prints a line after each change.
// usage: writer.mjs PATH NAME CHANGES [die]: with `die` it kills itself within its last change, while it holds the lock.

import { FileStore } from "../../build/js/store-node.js";

const [path, name, changes, die] = process.argv.slice(2);
const store = new FileStore(path);
const identity = (userId, more) => ({ userId, projectId: "web", mpinId: "7b7d", token: new Uint8Array(65).fill(4), ...more });

for (let i = 1; i <= Number(changes); i++) {
  await store.change("web", "shared", (old) => {
    if (die && i === Number(changes)) process.kill(process.pid, "SIGKILL");
    return identity("shared", { count: (old?.count ?? 0) + 1 });
  });
  await store.change("web", `${name}-${i}`, () => identity(`${name}-${i}`));
  console.log(i);
}
