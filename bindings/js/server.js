// SPDX-License-Identifier: Apache-2.0
// Requests to the server (TRUST wire section 3), and the meaning of its errors.

import { MPinError, invalid } from "./error.js";
import { VERSION } from "./status.js";

/** The largest answer that is read, in bytes. */
const LARGEST_ANSWER = 1 << 20;

/** What the server's errors mean: the code, and the message of MIRACL's client. */
const REFUSALS = {
  REQUEST_BACKOFF: ["REQUEST_BACKOFF", "Request backoff"],
  BACKOFF_ERROR: ["REQUEST_BACKOFF", "Request backoff"],
  UNSUCCESSFUL_VERIFICATION: ["VERIFICATION_FAILED", "Unsuccessful verification"],
  INVALID_VERIFICATION_CODE: ["VERIFICATION_FAILED", "Unsuccessful verification"],
  INVALID_ACTIVATION_TOKEN: ["ACTIVATION_TOKEN_INVALID", "Invalid activation token"],
  EXPIRED_MPINID: ["REVOKED", "Revoked"],
  MPINID_EXPIRED: ["REVOKED", "Revoked"],
  REVOKED_MPINID: ["REVOKED", "Revoked"],
  MPINID_REVOKED: ["REVOKED", "Revoked"],
  UNSUCCESSFUL_AUTHENTICATION: ["INCORRECT_PIN", "Unsuccessful authentication"],
  INVALID_AUTH: ["INCORRECT_PIN", "Unsuccessful authentication"],
  INVALID_AUTHENTICATION_SESSION: ["SESSION_INVALID", "Invalid authentication session"],
  INVALID_AUTH_SESSION: ["SESSION_INVALID", "Invalid authentication session"],
  LIMITED_QUICKCODE_GENERATION: ["OPERATION_NOT_ALLOWED", "Limited QuickCode generation"],
  NO_PUSH_TOKEN: ["HTTP_REQUEST_ERROR", "No push token"],
};

/** What HTTP statuses mean without such an error. */
const STATUSES = {
  403: "IDENTITY_NOT_AUTHORIZED",
  406: "BAD_USER_AGENT",
  408: "REQUEST_EXPIRED",
  429: "TOO_MANY_REQUESTS",
};

export const canceled = (signal) => new MPinError("CANCELED", "The request was aborted", { cause: signal?.reason });

/** What the promise gives, unless the signal is aborted before. The work behind the promise goes on. */
export function unlessAborted(promise, signal) {
  return new Promise((resolve, reject) => {
    const abort = () => reject(canceled(signal));
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal?.removeEventListener("abort", abort));
  });
}

/** Whether a request may go to a URL: https, and plain http to this machine only. */
export function checkURL(text) {
  let url;
  try {
    url = new URL(text);
  } catch {
    throw new MPinError("UNTRUSTED_DOMAIN_ERROR", "not a URL");
  }
  const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol === "https:" || (url.protocol === "http:" && loopback)) return url;
  throw new MPinError("UNTRUSTED_DOMAIN_ERROR", `neither https nor this machine: ${url.origin}`);
}

export class Server {
  #options;

  constructor(options) {
    this.#options = options;
  }

  post(path, body, call) {
    return this.#request("POST", checkURL(this.#options.server + path), body, call);
  }

  /** Fetches from one of the URLs that the server has named. */
  get(url, call) {
    return this.#request("GET", checkURL(url), undefined, call);
  }

  async #request(method, url, body, { signal, timeout }) {
    if (this.#options.cors) url.searchParams.append("project_id", this.#options.projectId);
    const headers = { "X-MIRACL-CID": this.#options.projectId, "X-MIRACL-CLIENT": this.#clientName };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const modes = { redirect: "error", credentials: "omit", cache: "no-store" };
    const request = { method, headers, body: JSON.stringify(body), ...modes };
    return timed(signal, timeout ?? this.#options.requestTimeout, async (limit) => {
      const response = await fetch(url, { ...request, signal: limit });
      const text = await limited(response);
      return response.status === 200 ? parsed(text) : refuse(response, text);
    });
  }

  get #clientName() {
    const { applicationInfo } = this.#options;
    return `mpin.js/${VERSION}${applicationInfo ? ` ${applicationInfo}` : ""}`;
  }
}

/** Runs `work` with a signal that is aborted by `signal` or after `milliseconds`, and says which of them it was. */
export async function timed(signal, milliseconds, work) {
  if (signal?.aborted) throw canceled(signal);
  const limit = new AbortController();
  const abort = () => limit.abort();
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    limit.abort();
  }, milliseconds);
  signal?.addEventListener("abort", abort, { once: true });
  try {
    return await work(limit.signal);
  } catch (error) {
    if (signal?.aborted) throw canceled(signal);
    if (late) throw new MPinError("TIMED_OUT", "The request was aborted");
    if (error instanceof MPinError) throw error;
    throw new MPinError("NETWORK_ERROR", "The request was aborted", { cause: error });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

async function limited(response) {
  const parts = [];
  let size = 0;
  const reader = response.body?.getReader();
  for (let part; reader && !(part = await reader.read()).done; ) {
    size += part.value.length;
    if (size > LARGEST_ANSWER) {
      await reader.cancel();
      throw new MPinError("RESPONSE_PARSE_ERROR", "the answer is too large");
    }
    parts.push(part.value);
  }
  return new Blob(parts).text();
}

function parsed(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new MPinError("RESPONSE_PARSE_ERROR", "the answer is not JSON", { cause: error });
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new MPinError("RESPONSE_PARSE_ERROR", "the answer is not a JSON object");
  }
  return value;
}

function refuse(response, text) {
  const httpStatus = response.status;
  let body = {};
  try {
    body = parsed(text);
  } catch {
    // An error need not have a body; a proxy's has one of its own.
  }
  const { error = {}, requestID: requestId } = body;
  // The first native clients got { "error": { "code", "info", "context" } }.
  const { code: serverError, context = {}, info } = typeof error === "string" ? { ...body, code: error } : error ?? {};
  const general = STATUSES[httpStatus] ?? (httpStatus >= 500 ? "HTTP_SERVER_ERROR" : "HTTP_REQUEST_ERROR");
  const [code, message] = REFUSALS[serverError] ?? [general];
  throw new MPinError(code, message ?? info ?? response.statusText, {
    httpStatus,
    serverError,
    requestId,
    context,
    retryAfter: retryAfter(response, context),
  });
}

function retryAfter(response, context) {
  const header = Number(response.headers.get("Retry-After") ?? NaN);
  if (Number.isFinite(header)) return header;
  const until = Number(context?.backoff ?? context?.blockedUntil ?? NaN);
  return Number.isFinite(until) ? Math.max(0, until - Math.floor(Date.now() / 1000)) : undefined;
}

/** A text of an answer; it must be there. */
export function text(answer, member) {
  if (typeof answer[member] === "string" && answer[member] !== "") return answer[member];
  throw new MPinError("RESPONSE_PARSE_ERROR", `the answer has no ${member}`);
}

/** What the program, the user or the store did, and not the request. */
const OTHERS = new Set([
  "PIN_INPUT_CANCELED",
  "PIN_INVALID",
  "CANCELED",
  "STORAGE_ERROR",
  "UNSUPPORTED_FORMAT",
  "FLOW_ERROR",
]);
const KNOWN = new Set(Object.values(REFUSALS).map(([, message]) => message)).add("Project mismatch");

/** Gives an error of a request the message of the operation, unless the error has a message that clients know. */
export async function named(message, work) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof MPinError) || OTHERS.has(error.code) || KNOWN.has(error.message)) throw error;
    throw error.as(message);
  }
}

export function need(value, message) {
  if (typeof value !== "string" || value === "") throw invalid(message);
}
