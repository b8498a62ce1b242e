// Written by Sources/Wasm/status.py from include/mpin.h: the statuses, by their names without MPIN_.

export const Status = Object.freeze({
});
