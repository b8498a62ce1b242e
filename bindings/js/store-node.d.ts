// Where programs for node keep identities.

import type { Store, StoredIdentity } from "./store.js";

/**
 * Identities in a file, sealed by AES-256-GCM. The key is in `path` with ".key" appended, which only its owner may read;
 * without it the identities are lost. Several processes may use one file.
 */
export declare class FileStore implements Store {
  constructor(path: string);
  list(): Promise<StoredIdentity[]>;
  get(projectId: string, userId: string): Promise<StoredIdentity | undefined>;
  change(
    projectId: string,
    userId: string,
    next: (old: StoredIdentity | undefined) => StoredIdentity | null | undefined,
  ): Promise<void>;
  exclusively<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}
