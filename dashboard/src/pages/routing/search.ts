import type { Schemas } from '../../api/client.ts';
import { oneOf, type Search } from '../../parts/search.ts';
import { RANGES, type Range } from '../../parts/time.ts';

export const SORTS = ['', 'price', 'throughput', 'latency'] as const;
export const TABS = ['explain', 'health', 'routers', 'backtest'] as const;

/** Every position of the controls is an address. */
export interface RoutingSearch {
  readonly tab: (typeof TABS)[number];
  readonly model: string;
  readonly sort: (typeof SORTS)[number];
  readonly maxPrice: string;
  readonly maxLatency: string;
  readonly minThroughput: string;
  readonly isZdr: boolean;
  readonly isTrainingDenied: boolean;
  readonly needsTools: boolean;
  readonly needsImage: boolean;
  /** Endpoints that are pretended to be down, by the slugs of their providers. */
  readonly down: readonly string[];
  /** The same, in cooldown. */
  readonly resting: readonly string[];
  /** The hash of the key whose rules hold, or whose traffic it is; empty: the session's own, or all. */
  readonly key: string;
  /** Of a backtest. */
  readonly range: Range;
}

export function parseRoutingSearch(search: Search): RoutingSearch {
  return {
    tab: oneOf(search['tab'], TABS),
    model: search['model'] ?? '',
    sort: oneOf(search['sort'] ?? '', SORTS),
    maxPrice: search['max_price'] ?? '',
    maxLatency: search['max_ttft'] ?? '',
    minThroughput: search['min_tps'] ?? '',
    isZdr: search['zdr'] === 'true',
    isTrainingDenied: search['deny'] === 'true',
    needsTools: search['tools'] === 'true',
    needsImage: search['image'] === 'true',
    down: (search['down'] ?? '').split(',').filter(Boolean),
    resting: (search['resting'] ?? '').split(',').filter(Boolean),
    key: search['key'] ?? '',
    range: oneOf(search['range'] ?? '24h', RANGES),
  };
}

/** A picture of one pixel: it stands for any. */
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Preferences that the gateway has, never weights that it has not. */
export function toProvider({
  sort,
  maxPrice,
  maxLatency,
  minThroughput,
  isZdr,
  isTrainingDenied,
}: RoutingSearch): NonNullable<Schemas['BacktestRequest']['provider']> {
  return {
    ...(sort !== '' && { sort }),
    ...(maxPrice !== '' && { max_price: { prompt: Number(maxPrice), completion: Number(maxPrice) } }),
    ...(maxLatency !== '' && { preferred_max_latency: Number(maxLatency) }),
    ...(minThroughput !== '' && { preferred_min_throughput: Number(minThroughput) }),
    ...(isZdr && { zdr: true }),
    ...(isTrainingDenied && { data_collection: 'deny' as const }),
  };
}

/** The request that the controls stand for. */
export function toRequest(search: RoutingSearch): Readonly<Record<string, unknown>> {
  const { model, needsTools, needsImage } = search;
  const text = { type: 'text', text: 'Hello' };
  const provider = toProvider(search);
  return {
    model,
    messages: [
      { role: 'user', content: needsImage ? [text, { type: 'image_url', image_url: { url: PIXEL } }] : 'Hello' },
    ],
    ...(needsTools && { tools: [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } }] }),
    ...(Object.keys(provider).length > 0 && { provider }),
  };
}

/** What is pretended beside the request: calls of a session alone may hold it. */
export function toPretended({ down, resting, key }: RoutingSearch): Readonly<Record<string, unknown>> {
  return {
    ...(key !== '' && { as_key: key }),
    ...((down.length > 0 || resting.length > 0) && { pretend: { down, resting } }),
  };
}
