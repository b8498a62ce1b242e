// The types of the client, as a TypeScript program uses them. The compiler checks this file; nobody runs it.

import MIRACLTrust, { Client, IndexedDBStore, MPinError, Status } from "../../build/js/client.js";
import type { PINCallback, QuickCode, SessionStatus, Store, User, UserState } from "../../build/js/client.js";
import { FileStore } from "../../build/js/store-node.js";

const client: Client = new MIRACLTrust({ projectId: "web", userStorage: localStorage, seed: "00", cors: true, oidc: { scope: "openid" } });
new Client({ projectId: "web", worker: new Worker("worker.js", { type: "module" }), integrity: "sha384-", wasm: new URL("https://a.example/m.wasm") });
new Client({ projectId: "web", store: new FileStore("path") });
const store: Store = new IndexedDBStore();

const asking: PINCallback = (passPin, length) => passPin("0".repeat(length));
const later: PINCallback = async (_, length) => new Uint8Array(length);
const declining: PINCallback = () => null;

export async function flows(user: string, signal: AbortSignal): Promise<User> {
  const { backoff, method } = await client.sendVerificationEmail(user, { signal });
  const wait: number = backoff;
  const { actToken } = await client.getActivationToken("https://a.example/?user_id=a&code=1");
  const byCode = await client.getActivationToken(user, "123456", { timeout: wait });
  const registered = await client.register(user, byCode.actToken || actToken, asking);
  const { jwt } = await client.authenticate(user, later, { signal });
  const token: string | undefined = jwt;
  await client.authenticateWithQRCode(user, "#a", declining);
  await client.authenticateWithAppLink(user, "#a", "1234");
  await client.authenticateWithNotificationPayload({ userID: user, qrURL: "#a" }, new Uint8Array(4));
  const code: QuickCode = await client.generateQuickCode(user, "1234");
  await client.changePIN(user, "1234", asking);
  const { u } = await client.sign(user, "1234", code.code, 1);
  const session = await client.fetchAccessId(null, { description: u, hash: "00" });
  const status: SessionStatus = await client.waitForStatus({ interval: 10, onChange: ({ redirectURL }) => redirectURL?.length });
  const { description } = await client.getSessionDetails(session.qrURL);
  await client.abortSession({ userID: user, qrURL: description + status.status + token + method });
  return registered;
}

export async function users(): Promise<UserState | undefined> {
  const all: User[] = await client.users.all({ everyProject: true });
  const length: number | undefined = await client.users.get("a", "pinLength");
  const list: Record<string, UserState> = await client.users.list();
  const taken: number = await client.users.import(await client.users.export());
  await store.change("web", "a", (old) => (old ? { ...old, count: taken } : null));
  return (await client.users.is("a", "REVOKED")) && length ? list[all[0]!.userId] : undefined;
}

export function handle(error: unknown): number | undefined {
  if (!(error instanceof MPinError)) throw error;
  const status: number = Status[error.code];
  if (error.code === "INCORRECT_PIN" || status === Status.REVOKED) return error.retryAfter;
  return error.httpStatus;
}

// @ts-expect-error: a client needs a project
export const none = new Client({});
// @ts-expect-error: a PIN is no number, because 0042 would be 42
export const number = () => client.authenticate("a", 1234);
// @ts-expect-error: there is no such status
export const wrong = (error: MPinError) => error.code === "WRONG_PIN";
// @ts-expect-error: the token of an identity stays in the store
export const token = async () => (await client.users.get("a"))?.token;
// @ts-expect-error: users are asked for, because the store answers later
export const state: UserState = client.users.list().a;
