// Where identities are kept.

/** An identity as it is kept. */
export interface StoredIdentity {
  userId: string;
  projectId: string;
  /** The secret that makes a login together with the PIN, 65 bytes. Whoever gets it here overwrites it. */
  token: Uint8Array;
  [member: string]: unknown;
}

/**
 * A store of identities. `change` may be asked of several stores over the same data at once, of other tabs or processes:
 * none loses the change of another.
 */
export interface Store {
  /** All identities of all projects. */
  list(): Promise<StoredIdentity[]>;
  get(projectId: string, userId: string): Promise<StoredIdentity | undefined>;
  /**
   * Replaces an identity by what `next` makes of it: the old one (undefined if there is none) to the new one, or to null,
   * which removes it. Nobody else changes it in between. `next` is synchronous.
   */
  change(
    projectId: string,
    userId: string,
    next: (old: StoredIdentity | undefined) => StoredIdentity | null | undefined,
  ): Promise<void>;
  /** Runs `work` while nobody else who uses the same data runs such work. `signal` ends the wait for the others. */
  exclusively<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** Identities in an IndexedDB database, each sealed by AES-256-GCM under a key that no script can read. */
export declare class IndexedDBStore implements Store {
  constructor(name?: string);
  list(): Promise<StoredIdentity[]>;
  get(projectId: string, userId: string): Promise<StoredIdentity | undefined>;
  change(
    projectId: string,
    userId: string,
    next: (old: StoredIdentity | undefined) => StoredIdentity | null | undefined,
  ): Promise<void>;
  exclusively<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}
