import type { Schemas } from '../client.ts';

export type LiveRow = Schemas['GenerationListItem'];
export type LiveCounts = Schemas['LiveCounts'];
/** Names and values, as `GET /generations` has them. */
export type LiveFilters = Readonly<Record<string, string>>;

/** From a page to the worker. */
export type PageMessage =
  | { readonly kind: 'watch'; readonly token: string; readonly filters: LiveFilters }
  | { readonly kind: 'leave' };

/** From the worker to a page. */
export type LiveMessage =
  /** Newest last. `isSampled`: there were more in this moment. */
  | { readonly kind: 'rows'; readonly rows: readonly LiveRow[]; readonly isSampled: boolean }
  | { readonly kind: 'counts'; readonly counts: LiveCounts }
  /** `missed`: undefined where it is not known how many. */
  | { readonly kind: 'gap'; readonly missed: number | undefined }
  /** `status`: of the refusal, where the gateway responded with one. */
  | { readonly kind: 'state'; readonly isLive: boolean; readonly status?: number };
