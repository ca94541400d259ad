import type { FormatId } from '../canonical/extra.ts';
import type { JsonObject } from '../lib/json.ts';
import type { Dialect } from '../wire/format.ts';
import type { OpenAiCompatibleFacts } from './openai-compatible/adapter.ts';

/** A host of the chat or the responses format that needs no code of its own. */
export interface KnownProvider extends Pick<
  OpenAiCompatibleFacts,
  'embeddings' | 'rerank' | 'video' | 'image' | 'ownImages' | 'transcription' | 'speech'
> {
  readonly id: string;
  /** Display name. */
  readonly name: string;
  readonly baseUrl: string;
  /** The first that is set turns the provider on and holds its key; none: on by configuration only. */
  readonly apiKeyVariables: readonly string[];
  /** The variable that turns a local engine on and says where it listens. */
  readonly host?: { readonly variable: string; readonly defaultPort: number };
  /** What its list of models calls their owner, where another server may listen at the same address. */
  readonly modelsOwner?: string;
  /** Differences from the plainest spelling. */
  readonly dialect?: Dialect;
  /** Families of models that differ from the host's others: the first that matches adds to the dialect. */
  readonly families?: readonly {
    readonly match: RegExp;
    readonly dialect: Dialect;
    readonly responses?: Dialect;
    readonly body?: JsonObject;
  }[];
  /** What it speaks of chat and responses, most native first. Default: chat. */
  readonly formats?: readonly FormatId[];
  /** What is particular to its responses format. */
  readonly responses?: {
    /** Stands in for the path of the base URL: `''`. */
    readonly basePath?: string;
    /** Adds to the dialect, whatever the family. */
    readonly dialect?: Dialect;
  };
  /** Models that answer in one of those formats only. */
  readonly onlyIn?: readonly { readonly match: RegExp; readonly format: FormatId }[];
  /** What stands before `/messages` on its host, where it speaks that format too: `/anthropic/v1`. */
  readonly messagesPath?: string;
  /** Where a key can be tried for nothing, when not at `/models`; `false`: nowhere, that list is public. */
  readonly checkPath?: string | false;
  /** Members that every request to it carries, where the caller does not set them. */
  readonly body?: JsonObject;
  /** @spec money-18: whether hanging up stops the meter. */
  readonly cancellable?: boolean;
}
