import type { OperationFormatId, Warning } from '../../canonical/extra.ts';
import type { UpstreamErrorBody } from '../../canonical/failure/failure.ts';
import type { ImageOperation } from '../../canonical/image.ts';
import type { ByteSource } from '../../lib/files/spool.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { ProviderOptions } from '../provider-options.ts';
import type { FollowJob } from '../operations/job.ts';
import type { ImageDialect } from './dialect.ts';

/** The formats in which upstreams make pictures: a folder each. */
export type ImageFormatId = Extract<OperationFormatId, `image/${string}`>;

export interface ImageTarget {
  /** The upstream's own name of the model. */
  readonly model: string;
  /** Hash of account and end user. */
  readonly endUserId: string;
  /** Whether it is to send pictures as they are made. */
  readonly stream: boolean;
  readonly dialect: ImageDialect;
  /** What the caller has for this provider alone. */
  readonly options: ProviderOptions;
}

export interface EncodedImage {
  /** Below the provider's base URL. */
  readonly path: string;
  readonly body: { readonly json: JsonObject } | { readonly source: ByteSource & { readonly contentType: string } };
  readonly headers?: Readonly<Record<string, string>>;
  /** In the place of JSON. */
  readonly accept?: string;
  readonly warnings: readonly Warning[];
}

/** A picture as an upstream gives it: base64 that is a part of the answer itself, or an address. */
export type RawPicture = { readonly revisedPrompt?: string } & ({ readonly base64: Buffer } | { readonly url: string });

/** As the upstream counted, in tokens. */
export interface ImageTokens {
  readonly input?: number;
  /** Of them, of pictures. */
  readonly inputImages?: number;
  readonly output?: number;
  readonly outputImages?: number;
}

/** What an upstream says of all of its pictures. */
export interface ImageAnswerFacts {
  readonly created?: number;
  readonly quality?: string;
  readonly background?: string;
}

/** The pictures of an answer, or the words with which the vendor refused to make them. */
export type DecodedImages =
  | {
      readonly pictures: readonly RawPicture[];
      readonly tokens?: ImageTokens;
      readonly facts?: ImageAnswerFacts;
      readonly id?: string;
    }
  | { readonly refused: string }
  | { readonly error: UpstreamErrorBody };

/** One event of a stream. */
export type ImageEvent =
  | { readonly type: 'partial'; readonly index: number; readonly base64: Buffer; readonly facts: ImageAnswerFacts }
  | {
      readonly type: 'completed';
      readonly picture: RawPicture;
      readonly tokens?: ImageTokens;
      readonly facts: ImageAnswerFacts;
    }
  | { readonly type: 'error'; readonly error: UpstreamErrorBody };

/** A format in which upstreams make pictures. It sees no key, no store and no caller. */
export interface ImageFormat {
  readonly id: ImageFormatId;
  /** It can send pictures as they are made. */
  readonly streams: boolean;
  /** In one call, as far as the format goes. */
  readonly nMax: number;
  /** @throws GatewayError 400 for what it cannot say, which fails this attempt alone */
  encode(operation: ImageOperation, target: ImageTarget): EncodedImage;
  /** Its vendor makes pictures in jobs: what follows on each answer. Absent: the first one has the pictures. */
  readonly follow?: FollowJob<ImageTarget>;
  /** An answer of status 200. Its pictures are parts of these bytes. @throws NotThatJson */
  decode(answer: Buffer): DecodedImages;
  /** The data of one server-sent event; `undefined`: it says nothing. @throws NotThatJson */
  decodeEvent?(data: Buffer): ImageEvent | undefined;
  decodeError(text: string): UpstreamErrorBody;
}
