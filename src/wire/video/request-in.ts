import { z } from 'zod';
import { invalid } from '../../canonical/gateway-error.ts';
import { isOwnFileId } from '../../canonical/tools/stored-files.ts';
import type { VideoFrame, VideoOperation, VideoReference } from '../../canonical/video.ts';
import type { Json } from '../../lib/json.ts';
import { restOf } from '../extra.ts';
import { decodeDirectives, modelOf, GATEWAY_FIELDS, gatewayShape, modelSlug } from '../gateway/directives.ts';
import type { HeaderDirectives } from '../gateway/headers.ts';
import { metadata } from '../gateway/metadata.ts';
import { providerWithOptions, splitOptions } from '../provider-options.ts';
import { checkShape } from '../gateway/validation/check-shape.ts';
import { refuseMembers } from '../gateway/validation/refused-members.ts';
import { compileSoon } from '../gateway/validation/fast-schema.ts';

const PROMPT_CHARS_MAX = 10_000;
const REFERENCES_MAX = 16;
const FRAMES_MAX = 2;
const USER_CHARS_MAX = 256;
const DURATION_S_MAX = 3_600;
const SEED_MAX = 4_294_967_295;
const UPSCALE_MAX = 16;
const CREATIVITY_MAX = 100;
const URL_CHARS_MAX = 2_048;
const RESOLUTIONS = ['480p', '720p', '768p', '1080p', '1K', '2K', '4K'] as const;
const RATIOS = ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3', '21:9', '9:21'] as const;

const { session_id, trace } = gatewayShape({ plugin: z.never() });
const url = z.looseObject({ url: z.string().nullish(), file_id: z.string().nullish() });
const picture = { type: z.literal('image_url'), image_url: url };

/** The body of `POST /videos`. Null is the same as absent. */
export const videoSchema = z.looseObject({
  model: modelSlug.nullish(),
  prompt: z.string().max(PROMPT_CHARS_MAX).nullish(),
  duration: z.int().min(1).max(DURATION_S_MAX).nullish(),
  resolution: z.enum(RESOLUTIONS).nullish(),
  aspect_ratio: z.enum(RATIOS).nullish(),
  size: z
    .string()
    .regex(/^\d{2,5}x\d{2,5}$/, 'must be a width and a height: 1280x720')
    .nullish(),
  frame_images: z
    .array(z.looseObject({ ...picture, frame_type: z.enum(['first_frame', 'last_frame']) }))
    .max(FRAMES_MAX)
    .nullish(),
  input_references: z
    .array(
      z.discriminatedUnion('type', [
        z.looseObject(picture),
        z.looseObject({ type: z.literal('audio_url'), audio_url: url }),
        z.looseObject({ type: z.literal('video_url'), video_url: url }),
      ]),
    )
    .max(REFERENCES_MAX)
    .nullish(),
  generate_audio: z.boolean().nullish(),
  seed: z.int().min(0).max(SEED_MAX).nullish(),
  upscale_factor: z.number().positive().max(UPSCALE_MAX).nullish(),
  creativity: z.int().min(0).max(CREATIVITY_MAX).nullish(),
  callback_url: z.string().max(URL_CHARS_MAX).nullish(),
  previous_job_id: z.string().nullish(),
  // The form of OpenAI's client.
  seconds: z.union([z.string(), z.number()]).nullish(),
  input_reference: z
    .union([z.string(), z.looseObject({ image_url: z.string().nullish(), file_id: z.string().nullish() })])
    .nullish(),
  provider: providerWithOptions,
  user: z.string().max(USER_CHARS_MAX).nullish(),
  session_id: session_id.nullish(),
  trace: trace.nullish(),
  metadata: metadata.nullish(),
});

type ParsedVideo = z.output<typeof videoSchema>;
type MediaName = Pick<VideoFrame, 'path' | 'url'>;

const KNOWN: ReadonlySet<string> = new Set([...Object.keys(videoSchema.shape), ...GATEWAY_FIELDS]);

compileSoon(videoSchema);

export interface VideoDefaults {
  /** Of requests in the form of OpenAI that name no model. */
  readonly model: string | undefined;
  /** It came as a form, as OpenAI's client sends it. */
  readonly isForm: boolean;
}

/** @throws GatewayError 400 with `issues` */
export function decodeVideo(
  body: Json,
  text: string,
  headers: HeaderDirectives,
  defaults: VideoDefaults,
): VideoOperation {
  const parsed = checkShape(videoSchema, body, { text });
  refuseMembers(parsed, 'clips', { isWhole: true });
  if (parsed.previous_job_id) throw invalid('previous_job_id', 'is not built yet: leave it out');
  const isOpenAi = defaults.isForm || present(parsed.seconds) || present(parsed.input_reference);
  const model = modelOf(parsed, defaults.model);
  const { preferences, options } = splitOptions(parsed.provider);
  return {
    kind: 'video',
    delivery: 'whole',
    ...promptOf(parsed),
    ...clipOf(parsed),
    ...mediaOf(parsed),
    ...(parsed.callback_url && { callbackUrl: parsed.callback_url }),
    shape: isOpenAi ? 'vendor' : 'gateway',
    ...(options !== undefined && { providerOptions: options }),
    directives: decodeDirectives(
      {
        provider: preferences,
        ...(parsed.session_id && { session_id: parsed.session_id }),
        ...(parsed.trace && { trace: parsed.trace }),
      },
      headers,
      { model, user: parsed.user ?? undefined, metadata: parsed.metadata ?? undefined },
    ),
    warnings: [...droppedReferences(parsed), ...unknownMembers(parsed)],
  };
}

function present(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function promptOf({ prompt }: ParsedVideo): Pick<VideoOperation, 'prompt'> {
  if (prompt === undefined || prompt === null) return {};
  if (prompt.trim() === '') throw invalid('prompt', 'must not be empty');
  return { prompt };
}

/** What clip is wanted. @throws GatewayError 400 where a size says it twice */
function clipOf(parsed: ParsedVideo) {
  const { resolution, aspect_ratio: aspectRatio, size, generate_audio: generateAudio, seed, creativity } = parsed;
  if (size && (resolution ?? aspectRatio))
    throw invalid('size', 'cannot stand beside resolution and aspect_ratio: it says the same');
  const durationS = parsed.duration ?? secondsOf(parsed);
  return {
    ...(durationS !== undefined && { durationS }),
    ...(resolution && { resolution }),
    ...(aspectRatio && { aspectRatio }),
    ...(size && { size }),
    ...(typeof generateAudio === 'boolean' && { generateAudio }),
    ...(typeof seed === 'number' && { seed }),
    ...(typeof parsed.upscale_factor === 'number' && { upscaleFactor: parsed.upscale_factor }),
    ...(typeof creativity === 'number' && { creativity }),
  };
}

/** OpenAI's client sends a text. */
function secondsOf({ seconds }: ParsedVideo): number | undefined {
  if (!present(seconds)) return undefined;
  const value = Number(seconds);
  if (!Number.isInteger(value) || value < 1 || value > DURATION_S_MAX)
    throw invalid('seconds', `must be a whole number from 1 to ${DURATION_S_MAX}`);
  return value;
}

/** Frames win over references. @throws GatewayError 400 */
function mediaOf(parsed: ParsedVideo): Pick<VideoOperation, 'frames' | 'references'> {
  const frames = [...framesOf(parsed), ...openAiFrame(parsed)];
  for (const type of ['first_frame', 'last_frame'] as const) {
    const [, second] = frames.flatMap((frame, at) => (frame.type === type ? [at] : []));
    if (second !== undefined) throw invalid(`frame_images[${second}].frame_type`, `is a second ${type}`);
  }
  if (frames.length > 0) return { frames, references: [] };
  return { frames, references: (parsed.input_references ?? []).map(referenceOf) };
}

function framesOf({ frame_images: frames }: ParsedVideo): readonly VideoFrame[] {
  return (frames ?? []).map(({ frame_type: type, image_url: named }, at) => ({
    type,
    ...mediaOfName(named, `frame_images[${at}].image_url`),
  }));
}

function openAiFrame({ input_reference: reference }: ParsedVideo): readonly VideoFrame[] {
  if (reference === undefined || reference === null || reference === '') return [];
  const type = 'first_frame';
  if (typeof reference === 'string') return [{ type, ...addressed(reference, 'input_reference') }];
  const { file_id: fileId, image_url: address } = reference;
  if (fileId) return [{ type, ...storedFile(fileId, 'input_reference.file_id') }];
  return [{ type, ...addressed(address ?? '', 'input_reference.image_url') }];
}

function referenceOf(part: NonNullable<ParsedVideo['input_references']>[number], at: number): VideoReference {
  const path = `input_references[${at}].${part.type}`;
  if (part.type === 'image_url') return { media: 'image', ...mediaOfName(part.image_url, path) };
  if (part.type === 'audio_url') return { media: 'audio', ...mediaOfName(part.audio_url, path) };
  return { media: 'video', ...mediaOfName(part.video_url, path) };
}

/** A stored file may stand in the place of an address. */
function mediaOfName({ url: address, file_id: fileId }: z.output<typeof url>, path: string): MediaName {
  return fileId ? storedFile(fileId, `${path}.file_id`) : addressed(address ?? '', `${path}.url`);
}

function storedFile(fileId: string, path: string): MediaName {
  if (isOwnFileId(fileId)) return { path, url: fileId };
  throw invalid(path, 'is not the id of a file of the gateway: upload it to /files');
}

/** An address is fetched by the gateway, whichever provider serves. */
function addressed(address: string, path: string): MediaName {
  if (/^data:[^,]{0,200};base64,/i.test(address) || /^https?:\/\//i.test(address)) return { path, url: address };
  throw invalid(path, 'must be an https address, or a data URL with base64');
}

function droppedReferences({
  frame_images: frames,
  input_references: references,
}: ParsedVideo): VideoOperation['warnings'] {
  if (!frames?.length || !references?.length) return [];
  return [{ code: 'field-dropped', path: 'input_references', message: 'frame_images stand in their place' }];
}

/** No upstream speaks the form of this route: what is not known here is known to none. */
function unknownMembers(parsed: ParsedVideo): VideoOperation['warnings'] {
  return Object.keys(restOf(parsed, KNOWN) ?? {}).map((path) => ({
    code: 'field-dropped',
    path,
    message: 'is no member of this request; members of a provider stand below provider.options',
  }));
}
