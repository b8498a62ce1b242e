// SPDX-License-Identifier: Apache-2.0
// The one error of the client. Its codes are those of mpin.h.

import { Status } from "./status.js";

/** See client.d.ts. */
export class MPinError extends Error {
  constructor(code, message, details = {}) {
    const { cause, ...rest } = details;
    super(message, cause === undefined ? undefined : { cause });
    this.name = "MPinError";
    this.code = code;
    this.status = Status[code];
    for (const [member, value] of Object.entries(rest)) if (value !== undefined) this[member] = value;
  }

  /** The same error with the message of the operation that failed. */
  as(message) {
    const { name, code, status, ...details } = this;
    return new MPinError(code, message, { ...details, cause: this });
  }
}

/** The error as a value that can be sent to another thread, and back. */
export const packed = ({ message, code, httpStatus, serverError, requestId, context, retryAfter, cause }) => ({
  message,
  code,
  details: {
    httpStatus,
    serverError,
    requestId,
    context,
    retryAfter,
    cause: cause instanceof Error ? new Error(cause.message) : undefined,
  },
});
export const unpacked = ({ message, code, details }) => new MPinError(code, message, details);

export const invalid = (message) => new MPinError("INVALID_ARGUMENT", message);
