// Written by Sources/Wasm/status.py from include/mpin.h: the statuses, by their names without MPIN_.

export declare const Status: {
};
export type StatusName = keyof typeof Status;
