// Written by Sources/Packaging/statuses.py: the version of mpin.h, and its statuses without MPIN_.

export declare const VERSION: string;

export declare const Status: {
  readonly OK: 0; readonly PIN_INPUT_CANCELED: 1; readonly CRYPTO_ERROR: 2; readonly STORAGE_ERROR: 3;
  readonly NETWORK_ERROR: 4; readonly RESPONSE_PARSE_ERROR: 5; readonly FLOW_ERROR: 6;
  readonly IDENTITY_NOT_AUTHORIZED: 7; readonly IDENTITY_NOT_VERIFIED: 8; readonly REQUEST_EXPIRED: 9;
  readonly REVOKED: 10; readonly INCORRECT_PIN: 11; readonly INCORRECT_ACCESS_NUMBER: 12;
  readonly HTTP_SERVER_ERROR: 13; readonly HTTP_REQUEST_ERROR: 14; readonly BAD_USER_AGENT: 15;
  readonly CLIENT_SECRET_EXPIRED: 16; readonly BAD_CLIENT_VERSION: 17; readonly UNTRUSTED_DOMAIN_ERROR: 18;
  readonly REGISTRATION_EXPIRED: 19; readonly OPERATION_NOT_ALLOWED: 20; readonly VERIFICATION_FAILED: 21;
  readonly INVALID_HANDLE: 32; readonly INVALID_ARGUMENT: 33; readonly BUFFER_TOO_SMALL: 34; readonly CANCELED: 35;
  readonly TIMED_OUT: 36; readonly PIN_INVALID: 37; readonly UNSUPPORTED_FORMAT: 38; readonly TOO_MANY_REQUESTS: 39;
  readonly RANDOM_FAILED: 40; readonly REQUEST_BACKOFF: 41; readonly ACTIVATION_TOKEN_INVALID: 42;
  readonly PROJECT_MISMATCH: 43; readonly UNSUPPORTED_CURVE: 44; readonly SESSION_INVALID: 45;
  readonly USER_NOT_FOUND: 46; readonly NO_CREDENTIALS: 64; readonly NO_REFRESH_TOKEN: 65; readonly RENEW_FAILED: 66;
  readonly EXCHANGE_FAILED: 67; readonly REVOKE_FAILED: 68; readonly LARGE_MIN_TTL: 69; readonly LOGIN_REQUIRED: 70;
  readonly INTERACTION_NOT_ALLOWED: 71; readonly PROVIDER_UNKNOWN: 72; readonly LOGIN_REFUSED: 73;
  readonly TOKEN_INVALID: 74; readonly FORKED: 75;
};
export type StatusName = keyof typeof Status;
