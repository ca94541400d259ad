import type { VaultScope } from '../../canonical/vault-reference.ts';

/** Keeps values of secrets outside of the gateway's database. Names and hosts stay there. */
export interface ValueStore {
  readonly kind: 'file' | 'hashicorp';
  /** A clause that says why nothing can be at this place; `undefined`: it may. */
  faultOf(place: string): string | undefined;
  /** `undefined`: nothing is there. @throws ValueStoreError */
  get(place: string): Promise<string | undefined>;
  /** Absent: the gateway stores nothing there. */
  readonly writer?: ValueWriter;
}

export interface ValueWriter {
  /** Where the value of a secret is stored. */
  placeOf(scope: VaultScope, name: string): string;
  /** @throws ValueStoreError */
  put(place: string, value: string): Promise<void>;
  /** Succeeds where nothing is. @throws ValueStoreError */
  remove(place: string): Promise<void>;
}

/** The store failed. The message is a clause with the store as its subject, and holds no value. */
export class ValueStoreError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ValueStoreError';
  }
}
