// A client of MIRACL Trust's wire for browsers and node. docs/javascript.md explains how to use it.

import type { StatusName } from "./status.js";
import type { Store } from "./store.js";

export { Status } from "./status.js";
export type { StatusName } from "./status.js";
export { IndexedDBStore } from "./store.js";
export type { Store } from "./store.js";

/** 4 to 6 decimal digits: a text, or their ASCII bytes, which can be overwritten. "0042" is the number 42. */
export type PIN = string | Uint8Array;

/**
 * Asks the user for a PIN of `length` digits. It calls `passPin` or returns the PIN, at once or later. An empty PIN or
 * null means that the user cancelled: the call then ends with PIN_INPUT_CANCELED. `register` asks again while the answer
 * is not `length` digits; other calls then end with PIN_INVALID. The client overwrites bytes that it gets here after use.
 */
export type PINCallback = (
  passPin: (pin: PIN | null) => void,
  length: number,
) => PIN | null | void | Promise<PIN | null | void>;

/** A PIN, or a function that asks for it. Bytes that are passed as an argument stay the caller's and are only read. */
export type PINSource = PIN | PINCallback;

/** Every call takes these as its last argument. */
export interface CallOptions {
  /** Ends the call with CANCELED. */
  signal?: AbortSignal;
  /** Milliseconds for each request instead of `requestTimeout`. */
  timeout?: number;
}

export interface ClientOptions {
  projectId: string;
  /** The project URL; https://api.mpin.io without it. Plain http is allowed only to this machine (loopback). */
  server?: string;
  /** The same, under the name that it has in MIRACL's client since 8.8. `server` counts if both are there. */
  projectUrl?: string;
  /** Shown to the user as the name of this device; "Browser" without it. */
  deviceName?: string;
  /** Appended to the header X-MIRACL-CLIENT. */
  applicationInfo?: string;
  /** Puts the project id into each URL, so that a server of another origin can answer the browser's questions. */
  cors?: boolean;
  /** Milliseconds for each request: 10,000 without it. */
  requestTimeout?: number;
  /** The parameters of an OpenID authorization request, for `sendVerificationEmail` and `sendPushNotificationForAuth`. */
  oidc?: {
    client_id?: string;
    redirect_uri?: string;
    response_type?: string;
    scope?: string;
    state?: string;
    nonce?: string;
    [name: string]: string | undefined;
  };
  /** The number of digits of a PIN if the server does not say it: 4 without it. */
  defaultPinLength?: number;
  /** Where identities are kept. Without it: IndexedDBStore in a browser, FileStore (store-node.js) in node. */
  store?: Store;
  /**
   * What MIRACL's client has kept in, such as localStorage. The first call moves these identities into the store, for
   * all projects, and removes them here.
   */
  userStorage?: { getItem(key: string): string | null; setItem(key: string, value: string): void };
  /** Ignored: random numbers come from the system. MIRACL's client needs it. */
  seed?: string;
  /** The WebAssembly module, or where it is: mpin.wasm beside client.js without it. */
  wasm?: URL | string | Response | BufferSource | WebAssembly.Module;
  /** The integrity of the module, such as "sha384-...", if `wasm` is a URL. */
  integrity?: string;
  /**
   * Does everything in a Worker: the URL of worker.js (under any name), or a module Worker that runs it. `store` must
   * then be absent (`storeName` names the database) and `wasm` no Response.
   */
  worker?: URL | string | WorkerLike;
  /** If `store` is absent: the name of the IndexedDB database ("mpin" without it), or in node the path of the file. */
  storeName?: string;
}

/** A Worker of a browser or of node's worker_threads. */
export interface WorkerLike {
  postMessage(message: unknown, transfer: never[]): void;
}

/** REVOKED: the server refuses this identity for good. The user has to register again. */
export type UserState = "REGISTERED" | "REVOKED";

/** An identity of this device, without its secrets. */
export interface User {
  userId: string;
  projectId: string;
  state: UserState;
  /** Hex. */
  mpinId: string;
  /** Hex of SHA-256 of the M-Pin ID, as servers log it. */
  hashedMpinId: string;
  /** Hex, 256 digits; absent for identities without a key pair. */
  publicKey?: string;
  dtas: string;
  curve: string;
  pinLength: number;
  verificationType?: string;
  /** Seconds since 1970. */
  created?: number;
  updated?: number;
  /** Milliseconds since 1970; absent before the first login. */
  lastUsed?: number;
}

/** The identities of the client's project on this device. */
export interface Users {
  /** The state of each user, by user id. The most recently used one is the last. */
  list(): Promise<Record<string, UserState>>;
  /** The identities, in the same order; `everyProject`: those of all projects. */
  all(options?: { everyProject?: boolean }): Promise<User[]>;
  get(userId: string): Promise<User | undefined>;
  get<K extends keyof User>(userId: string, property: K): Promise<User[K] | undefined>;
  exists(userId: string): Promise<boolean>;
  is(userId: string, state: UserState): Promise<boolean>;
  count(): Promise<number>;
  /** Forgets an identity. The server is not told. Nothing happens if there is none. */
  remove(userId: string): Promise<void>;
  /**
   * Adds what MIRACL's client keeps under the key `mfa`: a JSON list. Identities of all projects are taken; one that is
   * here already is replaced only by a newer one. Entries without a token are left out. Resolves to the number taken.
   */
  import(text: string): Promise<number>;
  /** All identities in the form of MIRACL's client. The text holds the tokens: it is a secret. */
  export(): Promise<string>;
}

/** What a page shows to a phone. */
export interface Session {
  webOTT: string;
  accessURL: string;
  /** The URL to show as QR code or link. */
  qrURL: string;
  accessId?: string;
  expireTime?: number;
}

export interface SessionStatus {
  status: "new" | "wid" | "user" | "abort" | "authenticated" | "signed" | "expired";
  statusCode?: number;
  userId?: string;
  /** Where the browser goes next, if the session is one of the OpenID provider. */
  redirectURL?: string;
  jwt?: string;
  /** Base64 of a JSON object, if the session was signed. */
  signature?: string;
}

/** What a phone is told of the session that it is asked to log in. Show it before you ask for the PIN. */
export interface SessionDetails {
  accessId: string;
  /** The user that the page suggests; empty: any. */
  userId: string;
  projectId: string;
  description: string;
  /** Hex of what is to be signed; empty: a login. */
  hash: string;
  /** Further texts of the server, such as projectName. */
  [name: string]: unknown;
}

export interface NotificationPayload {
  userID: string;
  qrURL: string;
  projectID?: string;
}

export interface Login {
  status: number;
  message: string;
  /** A token for the application's own server, from `authenticate`. */
  jwt?: string;
  [name: string]: unknown;
}

export interface QuickCode {
  code: string;
  /** Seconds since 1970. */
  expireTime: number;
  ttlSeconds: number;
  /** The same as `code`, under the name that it has in older pages. */
  OTP: string;
}

/** A signature for a designated verifier. All members are hex but dtas, which is base64. */
export interface Signature {
  hash: string;
  u: string;
  v: string;
  mpinId: string;
  publicKey: string;
  dtas: string;
}

/**
 * The one error of this module. `code` is the name of a status of mpin.h without MPIN_, `status` its number. `message`
 * is the text of MIRACL's client where it has one.
 */
export declare class MPinError extends Error {
  readonly name: "MPinError";
  readonly code: StatusName;
  readonly status: number;
  /** The HTTP status, if there was an answer. */
  readonly httpStatus?: number;
  /** The server's name of the error, such as UNSUCCESSFUL_AUTHENTICATION. */
  readonly serverError?: string;
  readonly requestId?: string;
  readonly context?: Readonly<Record<string, string>>;
  /** Seconds after which it is worth trying again. */
  readonly retryAfter?: number;
  readonly cause?: unknown;
}

export declare class Client {
  constructor(options: ClientOptions);
  readonly users: Users;
  /** The session of `fetchAccessId`, and the access id of `setAccessId`. */
  readonly session: Partial<Session>;

  /** Sends a mail with a code or link. `backoff`: when the next mail is possible, in seconds since 1970. */
  sendVerificationEmail(userId: string, options?: CallOptions): Promise<{ backoff: number; method: "link" | "code" }>;
  /** Takes the link of the mail (its query has user_id and code). */
  getActivationToken(
    verificationURI: string,
    options?: CallOptions,
  ): Promise<{ actToken: string; userId: string; projectId: string; accessId: string; expireTime: number }>;
  /** Takes the user id and the code of the mail. */
  getActivationToken(
    userId: string,
    code: string,
    options?: CallOptions,
  ): Promise<{ actToken: string; userId: string; projectId: string; accessId: string; expireTime: number }>;
  /**
   * Registers this device. `activationToken`: the one of `getActivationToken`, one of the back end, or a QuickCode. It is
   * spent before the number of digits is known: let `pin` be a function if the project may demand another number.
   */
  register(userId: string, activationToken: string, pin: PINSource, options?: CallOptions): Promise<User>;

  /** Logs in for a JWT. */
  authenticate(userId: string, pin: PINSource, options?: CallOptions): Promise<Login>;
  /** Logs in the session that shows this QR code or link: what follows its last "#" is the access id. */
  authenticateWithQRCode(userId: string, qrCode: string, pin: PINSource, options?: CallOptions): Promise<Login>;
  authenticateWithAppLink(userId: string, appLink: string, pin: PINSource, options?: CallOptions): Promise<Login>;
  /** Logs in the session of a push message. */
  authenticateWithNotificationPayload(
    payload: NotificationPayload,
    pin: PINSource,
    options?: CallOptions,
  ): Promise<Login>;
  /** Opens a session, if none is open, logs it in from this very page, and gives its status with `redirectURL`. */
  authenticateThisPage(userId: string, pin: PINSource, options?: CallOptions): Promise<SessionStatus>;
  /** Logs in for a code that registers another device of the user. */
  generateQuickCode(userId: string, pin: PINSource, options?: CallOptions): Promise<QuickCode>;
  /** Replaces the PIN. The server does not learn that; a login checks the old PIN before. */
  changePIN(userId: string, oldPIN: PINSource, newPIN: PINSource, options?: CallOptions): Promise<void>;

  /** Signs `message`, hex of 1 to 256 bytes, usually a hash. `timestamp`: whole seconds since 1970. */
  sign(userId: string, pin: PINSource, message: string, timestamp: number, options?: CallOptions): Promise<Signature>;
  /** Signs what the session of this QR code or link asks for, and gives the signature to it. */
  signWithQRCode(userId: string, qrCode: string, pin: PINSource, options?: CallOptions): Promise<Signature>;

  /** Opens a session for a page. `description` and `hash` (hex) make it one that asks for a signature. */
  fetchAccessId(
    userId?: string | null,
    options?: CallOptions & { description?: string; hash?: string },
  ): Promise<Session>;
  setAccessId(accessId: string): void;
  /** How far the session of `fetchAccessId` is. */
  fetchStatus(options?: CallOptions): Promise<SessionStatus>;
  /**
   * Asks every two seconds, or every `interval` milliseconds, until the session has ended. `onChange` sees each new status.
   */
  waitForStatus(
    options?: CallOptions & { interval?: number; onChange?: (status: SessionStatus) => void },
  ): Promise<SessionStatus>;
  /** Sends a push message to the user's device. The status of the session is then that of `fetchStatus`. */
  sendPushNotificationForAuth(userId: string, options?: CallOptions): Promise<{ webOTT: string }>;

  /** Asks what session shows a QR code or link, or sent a push message. Its page learns that the code was read. */
  getSessionDetails(source: string | NotificationPayload, options?: CallOptions): Promise<SessionDetails>;
  /** Tells the session's page that the user has declined. */
  abortSession(source: string | NotificationPayload, options?: CallOptions): Promise<void>;

  /** Ends the calls that are under way, and the client's use of its Worker. */
  close(): void;
}

export default Client;
