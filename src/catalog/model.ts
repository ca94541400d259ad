import type { FormatId, OperationFormatId } from '../canonical/extra.ts';
import type { ImageFacts } from '../canonical/image.ts';
import type { EmbeddingsFacts, OperationKind } from '../canonical/operation.ts';
import type { RerankFacts } from '../canonical/rerank.ts';
import type { SpeechFacts } from '../canonical/speech.ts';
import type { TranscriptionFacts } from '../canonical/transcription.ts';
import type { VideoFacts } from '../canonical/video.ts';
import type { ReasoningHistory } from '../canonical/blocks.ts';
import type { PriceTable } from './price.ts';

/** What a provider does with what it is sent. Unknown counts as training and retaining. @spec catalog-17 */
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
  /** The provider's slug with the endpoint's own variant (`deepinfra/turbo`), as `provider.order` names it. Absent: the slug. */
  readonly tag?: string;
  /** Capacity of the provider's with a price of its own. Absent: the standard one. @spec route-30 */
  readonly serviceTier?: 'priority' | 'flex';
  /** Of the standard endpoint beside one of a tier: what is owed where the provider had no such capacity left. */
  readonly standardPrice?: PriceTable;
  /** Tiers of the same model at the same provider with endpoints of their own: this endpoint does not serve them. */
  readonly tiersApart?: ReadonlySet<string>;
  /** The author lets others train on what the model wrote. Absent: unknown, which counts as no. @spec route-11 */
  readonly distillable?: boolean;
  /** Absent: whatever the format can say. */
  readonly supportedParameters?: ReadonlySet<string>;
  readonly dataPolicy: DataPolicy;
  /** The gateway has no credentials for the provider, so a call is pointless. */
  readonly lacksCredentials?: boolean;
  /** With `lacksCredentials`: the environment variables of which one would be a credential. */
  readonly keyVariables?: readonly string[];
  /** Requests besides generations that it serves, with the format of each. */
  readonly offers?: Readonly<Partial<Record<OperationKind, OperationFormatId>>>;
  readonly embeddings?: EmbeddingsFacts;
  readonly rerank?: RerankFacts;
  readonly image?: ImageFacts;
  readonly transcription?: TranscriptionFacts;
  readonly speech?: SpeechFacts;
  readonly video?: VideoFacts;
  /** Formats that the endpoint speaks, most native first. */
  readonly formats: readonly FormatId[];
  /** Those of them in which it can be given tools. Absent: all. */
  readonly toolFormats?: readonly FormatId[];
  /** The messages format's own vendor: its tools run there (`web_search_20250305`), and nowhere else. @spec messages-21 */
  readonly nativeTools?: boolean;
  /** The responses format's own vendor: its tools run there (`file_search`), and its callers' tools of new kinds go there. */
  readonly openTools?: boolean;
  /** The format in which it searches the web by itself, if that differs from its format for all else. */
  readonly searchFormat?: FormatId;
  /** The model continues a last message of the assistant. Absent: the adapter's fact. */
  readonly continuesResponses?: boolean;
  /** As the operator has it. Absent: as its provider's adapter knows, and as the model itself wrote it in the conversation. */
  readonly reasoningHistory?: ReasoningHistory;
  /** Whether hanging up stops the provider's meter. @spec money-18 */
  readonly cancellable: boolean;
}

/** A provider that would be available with credentials. */
export interface MissingProvider {
  /** Its slug. */
  readonly provider: string;
  readonly providerName: string;
  /** What turns it on: `OPENAI_API_KEY`, `A or B`, `A and B`. */
  readonly turnedOnBy: string;
}

/** What a model does about reasoning. @spec catalog-1 */
export interface ReasoningFacts {
  /** It cannot be turned off. */
  readonly mandatory?: boolean;
  /** Highest first; absent: unknown. */
  readonly supportedEfforts?: readonly string[];
  readonly supportsMaxTokens?: boolean;
}

/** One result of one test. Scores compare inside one metric only, whose name holds its release. */
export interface Score {
  /** `livebench-2026-06-25/coding`. */
  readonly metric: string;
  /** 0 to 1. */
  readonly score: number;
  readonly variant?: string | undefined;
  readonly source?: string;
  readonly date?: string;
  /** Of a benchmark run of this gateway, or of a table that its operator imported. Absent: of the catalog. */
  readonly own?: OwnMeasurement;
}

export interface OwnMeasurement {
  readonly kind: 'local' | 'imported';
  /** Items with a score; absent: unknown. */
  readonly items?: number;
  /** Bounds of its 95 % interval. */
  readonly low?: number;
  readonly high?: number;
  /** Of one item. */
  readonly costNanoUsd?: number;
  readonly license?: string;
}

export interface Model {
  readonly slug: string;
  readonly name: string;
  readonly contextTokensMax?: number;
  readonly endpoints: readonly Endpoint[];
  /** Never changes, whatever the slug comes to mean. Absent: the slug. */
  readonly canonicalSlug?: string;
  /** What `~author/family-latest` looks for. */
  readonly family?: string;
  /** `2026-02` or `2026-02-17`. Absent: unknown. */
  readonly released?: string;
  readonly knowledgeCutoff?: string;
  /** When its author means to end it. */
  readonly expirationDate?: string;
  readonly description?: string;
  readonly tokenizer?: string;
  readonly inputModalities?: readonly string[];
  readonly outputModalities?: readonly string[];
  readonly outputTokensMax?: number;
  readonly supportedParameters?: readonly string[];
  readonly reasoning?: ReasoningFacts;
  readonly huggingFaceId?: string;
  readonly scores?: readonly Score[];
  /** Slugs of models for a generation that names this one alone, once all its endpoints failed. @spec fallback-31 */
  readonly fallbacks?: readonly string[];
  /** From a public list that the project has not reviewed: it can be requested by name, and is never chosen for a caller. */
  readonly unreviewed?: boolean;
  /** It stands in for a model (the sandbox): routers choose it only where there is nothing else. @spec router-3 */
  readonly simulated?: boolean;
}

/** Suffixes that change how a model is called, not which one it is. @spec model-14 */
export type DynamicVariant = 'nitro' | 'floor' | 'exacto' | 'online' | 'thinking';

/** What a slug means. */
export interface Resolution {
  readonly model: Model;
  /** In the order in which they stand. */
  readonly variants: readonly DynamicVariant[];
  /** The request named `~author/family-latest`. */
  readonly alias?: string;
}

/** Pure look-ups over models and endpoints. */
export interface Catalog {
  /** The model that a slug names, a pass-through slug included; `undefined` for an unknown one. */
  find(slug: string): Model | undefined;
  /** Every named model that a provider serves, without pass-through patterns. */
  list(): readonly Model[];
  /**
   * What a slug in any of its forms means: an alias, a variant, a name that was in use. Absent: only `find` is known.
   * @spec model-17
   */
  resolve?(slug: string): Resolution | undefined;
  /** The slug that a name stands for, by an alias or because one model alone is called so; else the name itself. */
  rename?(name: string): string;
  /** Slugs that a name without an author may mean. */
  suggest?(name: string): readonly string[];
  /** Providers that would serve the slug if the gateway had credentials for them. */
  missing?(slug: string): readonly MissingProvider[];
}
