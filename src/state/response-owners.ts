import type { KeptResponse, ResponseListing, ResponseOwner, ResponseReader } from './contract.ts';

/** The room for kept responses. */
export interface ResponseRoom {
  /** Of all rows together. 0 keeps none. */
  readonly bytesMax: number;
  /** Of a row, since it was used last. */
  readonly lifeMs: number;
}

/** No single row may take more of the room than this part. */
export const ROW_PARTS_MIN = 10;
/** A row beside its texts: its ids, and its places in the indexes. */
export const ROW_BYTES = 1_024;
/** The same for each of its items. */
export const ITEM_BYTES = 256;

/** Rows are found by this text, which names all of their owner; a reader's text is the beginning of it. */
export function ownerText({ accountId, workspaceId, keyHash }: ResponseOwner | ResponseReader): string {
  return `${accountId} ${workspaceId} ${keyHash ?? ''}`;
}

/** None of the three parts contains a space. */
export function parseOwner(text: string): ResponseOwner {
  const [accountId = '', workspaceId = '', keyHash = ''] = text.split(' ');
  return { accountId, workspaceId, keyHash };
}

type Listed = Pick<KeptResponse, 'createdAtMs' | 'id'>;

/** The newest first, in an order that no two rows share. */
export function compareListed(one: Listed, other: Listed): number {
  if (one.createdAtMs !== other.createdAtMs) return other.createdAtMs - one.createdAtMs;
  if (one.id === other.id) return 0;
  return one.id < other.id ? 1 : -1;
}

/** Whether a list has the rows of an owner. */
export function isListed({ accountId, workspaceId, keyHashes }: ResponseListing, owner: ResponseOwner): boolean {
  const isOfPlace = owner.accountId === accountId && owner.workspaceId === workspaceId;
  return isOfPlace && (keyHashes === undefined || keyHashes.includes(owner.keyHash));
}
