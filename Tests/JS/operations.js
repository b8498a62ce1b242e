// What a client computes, for bench.mjs: in node, and in the page bench.html. bench_native.c has the same operations.

/** As in bench_native.c. */
const BATCHES = 20;
const unhex = (text) => Uint8Array.from(text.match(/../g), (byte) => parseInt(byte, 16));

/**
 * The operations by name, for an identity with a key pair. `values` are hex: the M-Pin ID and the public key together,
 * two shares of a client secret, and a challenge.
 */
export function operations(crypto, { PinMapping }, values) {
  const { id, shares, y } = { id: unhex(values.id), shares: values.shares.map(unhex), y: unhex(values.y) };
  const digits = new TextEncoder().encode("123456");
  const number = () => crypto.pinToScalar(PinMapping.DECIMAL6, digits);
  const enroll = () => {
    const { z } = crypto.getDVSKeyPair();
    return crypto.extractPIN(id, number(), crypto.getG1Multiple(z, crypto.recombineG1(...shares)));
  };
  const token = enroll();
  const [x, pin] = [crypto.randomGenerate(), number()];
  const { sec } = crypto.client1(0, id, x, pin, token);
  return {
    client_1: () => crypto.client1(0, id, x, pin, token),
    client_2: () => crypto.client2(x, y, sec),
    register: enroll,
    login() {
      const x = crypto.randomGenerate();
      const { sec } = crypto.client1(0, id, x, number(), token);
      return crypto.client2(x, y, sec);
    },
  };
}

/**
 * The microseconds of each operation: the mean of `runs` runs, in the fastest of BATCHES batches, because others use the
 * processor, too.
 */
export function round(all, runs) {
  return Object.fromEntries(
    Object.entries(all).map(([name, operation]) => {
      const batches = Array.from({ length: BATCHES }, () => {
        const began = performance.now();
        for (let i = 0; i < runs; i++) operation();
        return ((performance.now() - began) * 1000) / runs;
      });
      return [name, Math.min(...batches)];
    }),
  );
}
