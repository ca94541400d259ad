import type { FormatId } from '../canonical/extra.ts';
import type { PriceTable } from './price.ts';

/** What a provider does with what it is sent. Unknown counts as training and retaining. @source generation.md 3.1 zdr */
export interface DataPolicy {
  readonly training?: boolean;
  readonly retentionDays?: number;
}

/** One model at one provider: data, never code. */
export interface Endpoint {
  /** The model's slug, `author/slug`. */
  readonly model: string;
  /** The provider's slug. */
  readonly provider: string;
  readonly providerName: string;
  /** The upstream's own name of the model. */
  readonly upstreamModel: string;
  /** Absent: unknown, which is never zero. */
  readonly price: PriceTable | undefined;
  readonly contextTokensMax?: number;
  readonly outputTokensMax?: number;
  /** A smaller limit is refused by the upstream, so it is raised. */
  readonly outputTokensMin?: number;
  readonly inputModalities?: readonly string[];
  readonly outputModalities?: readonly string[];
  readonly quantization?: string;
  /** Absent: whatever the format can say. */
  readonly supportedParameters?: ReadonlySet<string>;
  readonly dataPolicy: DataPolicy;
  /** The gateway has nothing to identify itself with to the provider, so asking it is of no use. */
  readonly lacksCredentials?: boolean;
  /** Formats that the endpoint speaks, most native first. */
  readonly formats: readonly FormatId[];
  /** The messages format's own vendor: its tools run there (`web_search_20250305`), and nowhere else. generation.md 7.4 */
  readonly vendorTools?: boolean;
  /** Whether hanging up stops the provider's meter. @source generation.md 6.8 */
  readonly cancellable: boolean;
}

export interface Model {
  readonly slug: string;
  readonly name: string;
  readonly contextTokensMax?: number;
  readonly endpoints: readonly Endpoint[];
}

/** Pure look-ups over models and endpoints. */
export interface Catalog {
  /** The model that a slug names, a pass-through slug included; `undefined` for an unknown one. */
  find(slug: string): Model | undefined;
  /** Every named model; pass-through patterns are not in it. */
  list(): readonly Model[];
}
