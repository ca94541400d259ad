import type { FormatId } from '../canonical/extra.ts';
import type { UpstreamErrorBody, UpstreamFailure } from '../canonical/failure.ts';
import type { JsonObject } from '../lib/json.ts';
import type { Dialect, PathTarget } from '../wire/format.ts';

/** How long each step of one attempt may take, ms. */
export interface AttemptTimeouts {
  readonly connectMs: number;
  readonly headersMs: number;
  readonly firstTokenMs: number;
  readonly idleMs: number;
  readonly wholeMs: number;
}

/** One provider as the operator set it up. */
export interface ProviderSettings {
  readonly slug: string;
  /** Display name. */
  readonly name: string;
  /** With its version segment and without a trailing slash: `https://api.example.com/v1`. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeouts: AttemptTimeouts;
}

/** What a call is about, for the parts of an adapter that depend on it. */
export interface CallContext {
  readonly format: FormatId;
  readonly settings: ProviderSettings;
  /** The upstream's own name of the model. */
  readonly model: string;
  readonly stream: boolean;
}

/** A request as it is about to leave, for those who sign it. */
export interface OutgoingCall extends CallContext {
  readonly method: 'POST';
  /** Complete, with the query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Exactly the bytes that will be sent. */
  readonly body: string;
}

/**
 * Headers that identify the gateway to a provider. A promise where a token must be fetched first.
 * @throws CredentialError when there is nothing to identify with
 */
export type Authorize = (
  call: OutgoingCall,
) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;

/** The credentials of a provider do not work: expired, revoked, not readable. The message holds no secret. */
export class CredentialError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CredentialError';
  }
}

/** An answer that is not a success, for `classify`. */
export interface FailedAnswer {
  readonly status: number;
  readonly error: UpstreamErrorBody;
}

/**
 * A provider: which formats it offers, how it is called, and what its failures mean beyond what the status says. Pure
 * facts and small functions; it never sees a caller's key, the store or the pipeline.
 */
export interface ProviderAdapter {
  readonly id: string;
  /** Display name where the operator gives none. */
  readonly name: string;
  /** The base URL where the operator gives none; absent for a self-hosted kind. */
  readonly baseUrl?: string;
  /** The environment variable that turns the provider on by itself, and holds its key. */
  readonly apiKeyVariable?: string;
  /** Formats that it offers, most native first, with the path below the base URL where it is not the format's own. */
  readonly formats: readonly { readonly format: FormatId; readonly path?: (target: PathTarget) => string }[];
  /** Where it counts the tokens of a request of its first format for nothing, below the base URL. */
  readonly countTokensPath?: string;
  /** Whether hanging up stops the provider's meter. Default false: the safe side for the bill. */
  readonly cancellable?: boolean;
  dialect(context: { readonly format: FormatId; readonly model: string }): Dialect;
  readonly authorize: Authorize;
  /** A last change to the encoded body, for what a dialect cannot say. */
  adjust?(body: JsonObject, context: CallContext): JsonObject;
  /** What an answer means where the status alone misleads; `undefined`: as the status says. */
  classify?(answer: FailedAnswer): Partial<UpstreamFailure> | undefined;
}

/** A provider ready to be called: an adapter with its settings. */
export interface Provider {
  readonly adapter: ProviderAdapter;
  readonly settings: ProviderSettings;
}
