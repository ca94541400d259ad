import type { z } from 'zod';
import type { AnyFormatId, FormatId, OperationFormatId } from '../canonical/extra.ts';
import type { UpstreamErrorBody, UpstreamFailure } from '../canonical/failure/failure.ts';
import type { ImageFacts } from '../canonical/image.ts';
import type { EmbeddingsFacts, OperationKind } from '../canonical/operation.ts';
import type { RerankFacts } from '../canonical/rerank.ts';
import type { SpeechFacts } from '../canonical/speech.ts';
import type { TranscriptionFacts } from '../canonical/transcription.ts';
import type { VideoFacts } from '../canonical/video.ts';
import type { JsonObject } from '../lib/json.ts';
import type { BetaRules } from '../wire/beta-flags.ts';
import type { EmbeddingsDialect } from '../wire/embeddings/dialect.ts';
import type { Dialect } from '../wire/format.ts';
import type { ImageDialect } from '../wire/image/dialect.ts';

/** Time limits of the steps of one attempt, ms. */
export interface AttemptTimeouts {
  readonly connectMs: number;
  readonly headersMs: number;
  readonly firstTokenMs: number;
  readonly idleMs: number;
  readonly wholeMs: number;
  /** Of one call of a kind. Absent: `wholeMs`. */
  readonly embeddingsMs?: number | undefined;
  readonly rerankMs?: number | undefined;
  readonly imageMs?: number | undefined;
  /** Of short sound; longer sound has more. Absent: `wholeMs`. */
  readonly transcriptionMs?: number | undefined;
  /** Absent: `headersMs` and `firstTokenMs`. */
  readonly speechFirstByteMs?: number | undefined;
  /** Absent: `idleMs`. */
  readonly speechIdleMs?: number | undefined;
}

/** The operator's settings of one provider. */
export interface ProviderSettings {
  readonly slug: string;
  /** Display name. */
  readonly name: string;
  /** With its version segment and without a trailing slash: `https://api.example.com/v1`. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** Further secrets, which no error may repeat. */
  readonly secrets?: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly timeouts: AttemptTimeouts;
  /** It receives the trace that a call belongs to. */
  readonly sendsTraceContext?: true;
}

/** The facts about a call on which parts of an adapter depend. */
export interface CallContext {
  readonly format: AnyFormatId;
  readonly settings: ProviderSettings;
  /** The upstream's own name of the model. */
  readonly model: string;
  readonly stream: boolean;
}

/** A request about to be sent, for signing. */
export interface OutgoingCall extends CallContext {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Complete, with the query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Exactly the bytes that will be sent; `undefined` for a form, which is read while it is sent. */
  readonly body: string | undefined;
  /** The key whose request it serves, for the record of released secrets. Absent: none. */
  readonly keyHash?: string | undefined;
}

/**
 * Returns the authentication headers of a call; a promise if a token must be fetched first.
 * @throws CredentialError when there is no valid credential
 */
export type Authorize = (
  call: OutgoingCall,
) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;

/** The credentials of a provider are expired, revoked or unreadable. The message contains no secret. */
export class CredentialError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CredentialError';
  }
}

/** Formats that can name a file stored at the provider. */
export const STORED_FILE_FORMATS: ReadonlySet<FormatId> = new Set(['chat', 'messages', 'responses']);

/** One format that a provider offers. */
export interface FormatOffer {
  readonly format: FormatId;
  /** Below the base URL; absent: the standard path of the format. */
  readonly path?: (context: CallContext) => string;
  /**
   * Replaces the path of the provider's own base URL (`/anthropic/v1`). Such a format is offered only at that base URL:
   * the paths of an operator's address are unknown.
   */
  readonly basePath?: string;
}

/** How a provider serves one kind of requests besides generations. */
export interface KindOffer {
  readonly kind: OperationKind;
  readonly format: OperationFormatId;
  /** Models that it serves so. Absent: all. */
  readonly models?: RegExp;
  readonly dialect?: EmbeddingsDialect;
  /** What is known of its models, where nothing says more. */
  readonly facts?: EmbeddingsFacts;
  /** The same of models that order documents. */
  readonly rerank?: RerankFacts;
  /** The same of models that hear, and of models that speak. */
  readonly transcription?: TranscriptionFacts;
  readonly speech?: SpeechFacts;
  /** Replaces the path of the provider's own base URL: `''` is the root of its host. */
  readonly basePath?: string;
  /** Below the base URL; absent: the standard path of the format. */
  readonly path?: (model: string) => string;
  /** What is known of its models that make pictures, and in what it differs from others of its form. */
  readonly image?: ImageFacts;
  readonly imageDialect?: ImageDialect;
  /** What is known of its models that make clips. */
  readonly video?: VideoFacts;
  /** It cancels jobs, where its format has words for that. */
  readonly cancels?: true;
}

/** How a provider serves a kind of requests for a model; `undefined`: it does not. */
export function offerOf(
  { adapter }: Pick<Provider, 'adapter'>,
  kind: OperationKind,
  model: string,
): KindOffer | undefined {
  return adapter.offers?.find((offer) => offer.kind === kind && (offer.models?.test(model) ?? true));
}

/** Input of `connect`: the settings of one configured provider. */
export interface ConnectionSetup {
  /** The `options` of the entry, validated by the adapter's schema. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly apiKey?: string;
  /** The operator's, if configured; without a trailing slash. */
  readonly baseUrl?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** State of one configured provider, shared by its calls. A token is fetched with the first call and cached here. */
export interface Connection {
  readonly baseUrl: string;
  /** Replaces the adapter's, for a credential that is more than a key in a header. */
  readonly authorize?: Authorize;
  /** Replaces the adapter's, if the formats depend on the settings. */
  readonly formats?: readonly FormatOffer[];
  /** Replaces the adapter's. */
  readonly checkPath?: string | false;
  readonly secrets?: readonly string[];
  readonly clipBucket?: ClipBucket;
}

/** Into which a provider writes the clips that it makes, and whence they are read with its credential. */
export interface ClipBucket {
  /** `gs://name/folder` without a trailing slash. */
  readonly uri: string;
  /** Of the storage, without a trailing slash. */
  readonly baseUrl: string;
}

/** A setting of a provider is invalid. The message is a clause for the operator and contains no secret. */
export class SettingError extends Error {
  /** The key below the provider's entry (`options.region`), or an environment variable. */
  readonly member: string;

  constructor(member: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SettingError';
    this.member = member;
  }
}

const REASON_CHARS_MAX = 300;

/**
 * Wraps the error of a vendor's library about a credential: the beginning of its first line, in which libraries name
 * files, profiles, tenants and addresses, and no secret.
 * @param subject `Entra ID gave no token`
 * @param remedy what to do: `set options.profile`
 */
export function credentialError(subject: string, error: unknown, remedy?: string): CredentialError {
  const reason = error instanceof Error ? error.message : String(error);
  const [line = ''] = reason.split('\n');
  const sentence = `${subject}: ${line.slice(0, REASON_CHARS_MAX)}`;
  const message = remedy === undefined ? sentence : `${sentence.replace(/\.$/, '')}; ${remedy}`;
  return new CredentialError(message, { cause: error });
}

/** A BYOK credential, in the form of a configuration entry. */
export interface ByokCredential {
  readonly apiKey?: string;
  readonly baseUrl?: string;
  readonly options?: Readonly<Record<string, unknown>>;
  /** The part by which its owner recognises it; it is masked before it is shown. */
  readonly shown: string;
  /** The slug of the only model that it serves. Absent: all models without an entry of their own in the credential. */
  readonly model?: string;
  /** The upstream's own name of that model there. */
  readonly upstreamModel?: string;
}

/** The address of the configured provider, for a credential that names none. */
export interface ByokTo {
  /** The operator's address; absent: the provider's own. */
  readonly baseUrl?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A response that is not a success, for `classify`. */
export interface FailedAnswer {
  readonly status: number;
  readonly error: UpstreamErrorBody;
}

/**
 * A provider: the formats that it offers, how it is called, and what its failures mean beyond their status. Pure facts and
 * small functions; an adapter never sees a caller's key, the store or the pipeline.
 */
export interface ProviderAdapter {
  readonly id: string;
  /** The default display name. */
  readonly name: string;
  /** The default base URL; absent for self-hosted engines, and if `connect` computes it. */
  readonly baseUrl?: string;
  /** Further host names of the provider, to which a key from the environment may be sent. */
  readonly ownHosts?: RegExp;
  /** Its base URLs have no version segment, so none is added to the operator's. */
  readonly unversioned?: boolean;
  /** The environment variable of its key, which enables the provider unless `turnedOnBy` is set. */
  readonly apiKeyVariable?: string;
  /**
   * Variables that enable it together, without an entry in the configuration. None may be set on machines for other
   * reasons: `AWS_PROFILE` alone does not mean that a model should be called.
   */
  readonly turnedOnBy?: readonly string[];
  /** The schema of `options` in its entry. A closed object. */
  readonly options?: z.ZodObject<Readonly<Record<string, z.ZodType>>>;
  /** Keys of `options` whose values are never shown. */
  readonly secretOptions?: readonly string[];
  /**
   * Called once for each configured provider, if its base URL or credential need more than a key. Makes no network calls.
   * @throws SettingError
   */
  connect?(setup: ConnectionSetup): Connection;
  /**
   * Parses a credential that is more than a key. Absent: a credential is a key.
   * @param text as its owner gave it: a key, or JSON
   * @throws SettingError whose member is `key` or below it, and whose message contains nothing of the text
   */
  readCredential?(text: string, to: ByokTo): readonly ByokCredential[];
  /** Formats that it offers, most native first. */
  readonly formats: readonly FormatOffer[];
  /** The formats in which a model can be called, most native first; absent: every model in all of them. */
  formatsOf?(model: string): readonly FormatId[];
  /** Requests besides generations that it serves. Absent: none. */
  readonly offers?: readonly KindOffer[];
  /** Those of them that support tools for a model; absent: all. */
  toolFormatsOf?(model: string): readonly FormatId[] | undefined;
  /**
   * A path below the base URL at which a free GET returns 200 for a valid key. Default `/models`; `false` if that list is
   * public or missing, so that an empty request must verify the key.
   */
  readonly checkPath?: string | false;
  /** The path below the base URL at which it counts the tokens of a request of its first format, free of charge. */
  readonly countTokensPath?: string;
  /** Whether billing stops when the gateway hangs up. Default false, the safe side for the bill. */
  readonly cancellable?: boolean;
  dialect(context: { readonly format: FormatId; readonly model: string }): Dialect;
  /** Authenticates with the key of the settings. */
  readonly authorize: Authorize;
  /** A last change of the encoded body, for what a dialect cannot express. */
  adjust?(body: JsonObject, context: CallContext): JsonObject;
  /** The meaning of a response whose status misleads; `undefined`: as the status says. */
  classify?(answer: FailedAnswer): Partial<UpstreamFailure> | undefined;
}

/** A provider ready to be called: an adapter with its settings. */
export interface Provider {
  readonly adapter: ProviderAdapter;
  readonly settings: ProviderSettings;
  readonly authorize: Authorize;
  /** Its formats at this address, most native first. */
  readonly formats: readonly FormatOffer[];
  /** Callers may name files in buckets, which the provider reads with the operator's rights. Absent: they may not. */
  readonly storageUris?: true;
  /** Callers may name files that were uploaded with the operator's key, by id. Absent: they may not. */
  readonly storedFiles?: true;
  /** Callers may name any media address: the host is not in a private network, or the operator allows it. */
  readonly opensAnyMedia?: true;
  readonly checkPath: string | false;
  readonly clipBucket?: ClipBucket;
  /** The credential is the caller's own, so its errors are shown to the caller. */
  readonly isByok?: true;
  /** The operator has no credential for it, but there is a BYOK credential: it is available to those that match it. */
  readonly hasByokCredentials?: true;
  /** The beta features of the messages format that it accepts. May change while the gateway runs. */
  readonly betaRules?: () => BetaRules;
}
