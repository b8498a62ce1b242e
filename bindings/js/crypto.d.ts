// The client functions of mpin_crypto.h. See crypto.js for the meaning of each function.

export declare const G1_SIZE: 65;
export declare const G2_SIZE: 128;
export declare const SCALAR_SIZE: 32;
export declare const HASH_SIZE: 32;

export declare const PinMapping: {
  readonly DECIMAL6: 0;
  readonly DECIMAL4: 1;
  readonly LEGACY_HASH: 2;
  readonly LEGACY14: 3;
};
export type PinMapping = (typeof PinMapping)[keyof typeof PinMapping];

export declare const CryptoCode: {
  readonly OK: 0; readonly WRONG_PARAMETER: -11; readonly INVALID_POINT: -14; readonly WRONG_ORDER: -18;
  readonly BAD_PIN: -19; readonly RANDOM_FAILED: -32; readonly BUFFER_TOO_SMALL: -33; readonly INVALID_HANDLE: -34;
};

export declare class CryptoError extends Error {
  readonly code: number;
  readonly outputs?: (Uint8Array | null)[];
}

/** A number of at most `bits` bits in the place of a PIN or another factor. */
export interface Factor {
  readonly scalar: Uint8Array;
  readonly bits: number;
}

export declare class Crypto {
  private constructor();
  static load(source?: URL | string | Response | BufferSource | WebAssembly.Module): Promise<Crypto>;
  randomGenerate(): Uint8Array;
  hashID(id: Uint8Array): Uint8Array;
  mapToG1(hash: Uint8Array): Uint8Array;
  recombineG1(a: Uint8Array, b: Uint8Array): Uint8Array;
  pinToScalar(mapping: PinMapping, digits: Uint8Array): Factor;
  extractPIN(id: Uint8Array, pin: Factor, clientSecret: Uint8Array): Uint8Array;
  extractFactor(id: Uint8Array, factor: Factor, token: Uint8Array): Uint8Array;
  restoreFactor(id: Uint8Array, factor: Factor, token: Uint8Array): Uint8Array;
  changePIN(id: Uint8Array, oldPIN: Factor, newPIN: Factor, token: Uint8Array): Uint8Array;
  client1(
    date: number,
    id: Uint8Array,
    x: Uint8Array,
    pin: Factor,
    token: Uint8Array,
    permit?: Uint8Array | null,
  ): { sec: Uint8Array; u: Uint8Array; ut: Uint8Array | null };
  client2(x: Uint8Array, y: Uint8Array, sec: Uint8Array): Uint8Array;
  getY(time: number | bigint, u: Uint8Array, message: Uint8Array): Uint8Array;
  client(
    date: number,
    id: Uint8Array,
    x: Uint8Array,
    pin: Factor,
    token: Uint8Array,
    permit: Uint8Array | null,
    time: number | bigint,
    message: Uint8Array,
  ): { u: Uint8Array; ut: Uint8Array | null; v: Uint8Array };
  getDVSKeyPair(): { z: Uint8Array; publicKey: Uint8Array };
  getDVSPublicKey(z: Uint8Array): Uint8Array;
  getG1Multiple(x: Uint8Array, point: Uint8Array): Uint8Array;
  call(
    name: string,
    sizes: number[],
    ...inputs: (Uint8Array | null | number | bigint)[]
  ): (Uint8Array | null)[];
}
