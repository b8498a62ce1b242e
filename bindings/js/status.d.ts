// Written by Sources/Wasm/status.py from include/mpin.h: its version, and the statuses without MPIN_.

export declare const VERSION: string;

export declare const Status: {
  readonly OK: 0;
  readonly PIN_INPUT_CANCELED: 1;
  readonly CRYPTO_ERROR: 2;
  readonly STORAGE_ERROR: 3;
  readonly NETWORK_ERROR: 4;
  readonly RESPONSE_PARSE_ERROR: 5;
  readonly FLOW_ERROR: 6;
  readonly IDENTITY_NOT_AUTHORIZED: 7;
  readonly IDENTITY_NOT_VERIFIED: 8;
  readonly REQUEST_EXPIRED: 9;
  readonly REVOKED: 10;
  readonly INCORRECT_PIN: 11;
  readonly INCORRECT_ACCESS_NUMBER: 12;
  readonly HTTP_SERVER_ERROR: 13;
  readonly HTTP_REQUEST_ERROR: 14;
  readonly BAD_USER_AGENT: 15;
  readonly CLIENT_SECRET_EXPIRED: 16;
  readonly BAD_CLIENT_VERSION: 17;
  readonly UNTRUSTED_DOMAIN_ERROR: 18;
  readonly REGISTRATION_EXPIRED: 19;
  readonly OPERATION_NOT_ALLOWED: 20;
  readonly VERIFICATION_FAILED: 21;
  readonly INVALID_HANDLE: 32;
  readonly INVALID_ARGUMENT: 33;
  readonly BUFFER_TOO_SMALL: 34;
  readonly CANCELED: 35;
  readonly TIMED_OUT: 36;
  readonly PIN_INVALID: 37;
  readonly UNSUPPORTED_FORMAT: 38;
  readonly TOO_MANY_REQUESTS: 39;
  readonly RANDOM_FAILED: 40;
  readonly REQUEST_BACKOFF: 41;
  readonly ACTIVATION_TOKEN_INVALID: 42;
  readonly PROJECT_MISMATCH: 43;
  readonly UNSUPPORTED_CURVE: 44;
  readonly SESSION_INVALID: 45;
  readonly USER_NOT_FOUND: 46;
};
export type StatusName = keyof typeof Status;
