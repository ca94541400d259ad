import type { z } from 'zod';
import type { FormatId } from '../canonical/extra.ts';
import type { UpstreamErrorBody, UpstreamFailure } from '../canonical/failure.ts';
import type { JsonObject } from '../lib/json.ts';
import type { BetaRules } from '../wire/beta-flags.ts';
import type { Dialect } from '../wire/format.ts';

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
  /** Further texts that identify us, which no error may repeat. */
  readonly secrets?: readonly string[];
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
  readonly method: 'GET' | 'POST';
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

/** Formats in which a file can be named that was uploaded to the provider. */
export const STORED_FILE_FORMATS: ReadonlySet<FormatId> = new Set(['chat', 'messages', 'responses']);

/** One format that a provider offers. */
export interface FormatOffer {
  readonly format: FormatId;
  /** Below the base URL; absent: where the format always is. */
  readonly path?: (context: CallContext) => string;
  /**
   * Stands in for the path of the provider's own base URL (`/anthropic/v1`). Such a format is offered at that base URL
   * only: nobody knows what lies beside an address of the operator's choice.
   */
  readonly basePath?: string;
}

/** What an adapter makes the connection of one configured provider from. */
export interface ConnectionSetup {
  /** Members of `options`, checked by the adapter's own schema. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly apiKey?: string;
  /** The operator's, where it is given: without a trailing slash. */
  readonly baseUrl?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What holds for all calls of one configured provider. A token is kept here, and fetched with the first call. */
export interface Connection {
  readonly baseUrl: string;
  /** In place of the adapter's, where the credential is more than a key in a header. */
  readonly authorize?: Authorize;
  /** In place of the adapter's, where they depend on the settings. */
  readonly formats?: readonly FormatOffer[];
  /** In place of the adapter's. */
  readonly checkPath?: string | false;
  readonly secrets?: readonly string[];
}

/** A provider cannot be connected as it is configured. The message is a clause for the operator and holds no secret. */
export class SettingError extends Error {
  /** Below the provider's entry: `options.region`. Or an environment variable. */
  readonly member: string;

  constructor(member: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SettingError';
    this.member = member;
  }
}

const REASON_CHARS_MAX = 300;

/**
 * What a vendor's library says of a credential that it cannot use: the beginning of its first line. Libraries name files,
 * profiles, tenants and addresses there, and no secret.
 * @param subject `Entra ID gave no token`
 * @param remedy which settings would be one: `set options.profile`
 */
export function credentialError(subject: string, error: unknown, remedy?: string): CredentialError {
  const reason = error instanceof Error ? error.message : String(error);
  const [line = ''] = reason.split('\n');
  const said = `${subject}: ${line.slice(0, REASON_CHARS_MAX)}`;
  const message = remedy === undefined ? said : `${said.replace(/\.$/, '')}; ${remedy}`;
  return new CredentialError(message, { cause: error });
}

/** A credential that somebody brought to a provider, in the words of an entry of the configuration. */
export interface BroughtCredential {
  readonly apiKey?: string;
  readonly baseUrl?: string;
  readonly options?: Readonly<Record<string, unknown>>;
  /** The part by which its owner recognises it; it is masked before anybody sees it. */
  readonly shown: string;
  /** Good for this model alone, by its slug. Absent: for those that have no other of the same credential. */
  readonly model?: string;
  /** The upstream's own name of that model there. */
  readonly upstreamModel?: string;
}

/** Where the provider of the configuration is, for a credential that leaves that open. */
export interface BroughtTo {
  /** The operator's choice of an address; absent: the provider's own. */
  readonly baseUrl?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
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
  /** The base URL where the operator gives none; absent for a self-hosted kind, and where `connect` computes it. */
  readonly baseUrl?: string;
  /** Names of hosts that are the provider's, beside that of `baseUrl`: a key of the environment may go there. */
  readonly ownHosts?: RegExp;
  /** Its base URLs end without a version segment, so none is added to one that the operator gives. */
  readonly unversioned?: boolean;
  /** The environment variable that holds its key, and turns the provider on by itself unless `turnedOnBy` says more. */
  readonly apiKeyVariable?: string;
  /**
   * Variables that turn it on together, without an entry in the configuration. None of them may be one that is set on
   * machines for other reasons: `AWS_PROFILE` alone is no wish to call a model.
   */
  readonly turnedOnBy?: readonly string[];
  /** What may stand under `options` in its entry. A closed object. */
  readonly options?: z.ZodObject<Readonly<Record<string, z.ZodType>>>;
  /** Members of `options` that are never shown. */
  readonly secretOptions?: readonly string[];
  /**
   * Called once for each configured provider, where base URL or credential take more than a key. Reads no network.
   * @throws SettingError
   */
  connect?(setup: ConnectionSetup): Connection;
  /**
   * What a credential says that is more than a key. Absent: it is a key, and nothing else differs.
   * @param text as its owner gave it: a key, or JSON
   * @throws SettingError whose member is `key` or below it, and whose message holds nothing of the text
   */
  readCredential?(text: string, to: BroughtTo): readonly BroughtCredential[];
  /** Formats that it offers, most native first. */
  readonly formats: readonly FormatOffer[];
  /** Which of its formats a model can be asked in, most native first; absent: every model in all of them. */
  formatsOf?(model: string): readonly FormatId[];
  /** Those of them in which a model can be given tools; absent: all. */
  toolFormatsOf?(model: string): readonly FormatId[] | undefined;
  /**
   * Below the base URL: what a GET answers with 200 to a key that works, for nothing. Default `/models`; `false` where
   * that list is public or missing, so that an empty call must do.
   */
  readonly checkPath?: string | false;
  /** Where it counts the tokens of a request of its first format for nothing, below the base URL. */
  readonly countTokensPath?: string;
  /** Whether hanging up stops the provider's meter. Default false: the safe side for the bill. */
  readonly cancellable?: boolean;
  dialect(context: { readonly format: FormatId; readonly model: string }): Dialect;
  /** With the key of the settings, where that is all. */
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
  readonly authorize: Authorize;
  /** What it offers at this address, most native first. */
  readonly formats: readonly FormatOffer[];
  /** Callers may name files of storage that the provider opens with the operator's rights. Absent: they may not. */
  readonly storageUris?: true;
  /** Callers may name files that were uploaded with the operator's key, by their ids. Absent: they may not. */
  readonly storedFiles?: true;
  /** Callers may name any address of a picture or a file: it is none of a neighbour of the gateway, or the operator says so. */
  readonly opensAnyMedia?: true;
  readonly checkPath: string | false;
  /** The credential is the caller's own: what is wrong with it is the caller's to know. */
  readonly isByok?: true;
  /** The operator has no credential for it, and somebody brought one: it can be asked, if not for everybody. */
  readonly hasOwnCredentials?: true;
  /** Beta features that it takes of the messages format. May change while the gateway runs. */
  readonly betaRules?: () => BetaRules;
}
