// SPDX-License-Identifier: Apache-2.0
// A lock file: at most one process at a time holds it. It says who holds it, so that the lock of a process that has died
// can be broken.

import { randomUUID } from "node:crypto";
import { link, readFile, unlink, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { MPinError } from "./error.js";
import { canceled } from "./server.js";

const LONGEST_MILLISECONDS = 30_000;

/** Runs `work` while this process holds the lock. `signal` ends the wait for others. */
export async function locked(path, work, signal) {
  const owner = { id: randomUUID(), pid: process.pid, host: hostname(), start: await startOf(process.pid) };
  await acquire(path, owner, Date.now() + LONGEST_MILLISECONDS, signal);
  try {
    return await work();
  } finally {
    await unlink(path);
  }
}

async function acquire(path, owner, deadline, signal) {
  while (!(await create(path, owner))) {
    const holder = await read(path);
    if (holder && (await isDead(holder))) await breakLock(path, holder, owner, deadline);
    else if (signal?.aborted) throw canceled(signal);
    else if (Date.now() > deadline) throw heldBy(path, holder);
    else await pause(1 + Math.random() * 10);
  }
}

const heldBy = (path, holder) => new MPinError("STORAGE_ERROR", `${path} is held by process ${holder?.pid}`);

/** Makes the lock file with its content, in one step. */
async function create(path, owner) {
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, JSON.stringify(owner), { mode: 0o600, flag: "wx" });
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  } finally {
    await unlink(draft);
  }
}

/**
 * Removes the lock of a dead holder. Who does so must hold a lock of its own on this holder: otherwise two processes
 * could both see the dead holder, and the slower one would remove the lock of the faster one.
 */
async function breakLock(path, holder, owner, deadline) {
  const right = `${path}.${holder.id}`;
  await acquire(right, owner, deadline);
  try {
    if ((await read(path))?.id === holder.id) await unlink(path);
  } finally {
    await unlink(right);
  }
}

async function read(path) {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    if (error.code === "ENOENT") return null;
    throw error;
  }
}

/** Whether a holder has died. Of other machines nobody can say, so their locks are never broken. */
async function isDead({ pid, host, start }) {
  if (host !== hostname()) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error.code === "ESRCH";
  }
  return (await startOf(pid)) !== start;
}

/** When a process was started, where the system says it: another process may have got the same number. */
async function startOf(pid) {
  try {
    return (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ").pop().split(" ")[19];
  } catch {
    return null;
  }
}
