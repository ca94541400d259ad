import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Clock } from '../lib/clock.ts';
import { isJsonObject, parseJson, type Json } from '../lib/json.ts';
import { writeMp4 } from './mp4.ts';
import { Refusal } from './refusal.ts';

/** The models that make clips, with what becomes of their jobs. */
export const VIDEO_MODELS = {
  video: 'Makes a clip of a still picture; `ms=500` in the prompt says how long that takes.',
  'video-fail': 'Fails.',
  'video-moderated': 'Is refused by the filters of the provider.',
  'video-stall': 'Never ends.',
  'video-gone': 'Makes a clip that cannot be fetched.',
} as const;

const BEHAVIOURS: ReadonlySet<string> = new Set(Object.keys(VIDEO_MODELS));
const MS_DEFAULT = 3_000;
const MS_MAX = 3_600_000;
/** The part of the time that a job is pending. */
const PENDING_PART = 1 / 3;
const DURATION_DEFAULT_S = 4;
const DURATION_S_MAX = 60;
const COMMENT_CHARS_MAX = 200;
const PERCENT = 100;

/** All that is known of a job stands in its name: the sandbox keeps nothing, and each process of a gateway has its own. */
interface Job {
  readonly model: string;
  readonly startMs: number;
  readonly takesMs: number;
  readonly seconds: number;
  readonly comment: string;
}

/** The answer of `POST /v1/videos/generations`, as JSON text. @throws Refusal */
export function beginVideo(body: Json | undefined, clock: Clock): string {
  if (!isJsonObject(body)) throw new Refusal(400, 'We could not parse the JSON body of your request.');
  const { model, prompt = '', duration = DURATION_DEFAULT_S } = body;
  const name = typeof model === 'string' ? model.replace(/^sandbox\//, '') : '';
  const error = /^error-([45]\d\d)$/.exec(name);
  if (error !== null) throw new Refusal(Number(error[1]), 'The request was refused.');
  if (!BEHAVIOURS.has(name))
    throw new Refusal(404, `The model \`${name.slice(0, 100)}\` does not exist.`, { code: 'model_not_found' });
  if (typeof prompt !== 'string') throw new Refusal(400, 'prompt: must be a text.');
  if (typeof duration !== 'number' || !Number.isInteger(duration) || duration < 1 || duration > DURATION_S_MAX)
    throw new Refusal(400, `duration: must be from 1 to ${DURATION_S_MAX}.`);
  const wanted = Number(/\bms=(\d{1,7})\b/.exec(prompt)?.[1] ?? MS_DEFAULT);
  const job = [name, Math.floor(clock.nowMs()), Math.min(wanted, MS_MAX), duration, prompt.slice(0, COMMENT_CHARS_MAX)];
  return JSON.stringify({ request_id: `sbx_${Buffer.from(JSON.stringify(job)).toString('base64url')}` });
}

/** The answer of `GET /v1/videos/ID`. */
export function showVideo(
  id: string,
  clock: Clock,
  baseUrl: string,
): { readonly status: number; readonly json: string } {
  const { model, startMs, takesMs, seconds } = readJob(id);
  const passedMs = clock.nowMs() - startMs;
  const running = (status: string, progress: number) => ({ status: 202, json: JSON.stringify({ status, progress }) });
  if (passedMs < takesMs * PENDING_PART) return running('pending', 0);
  if (passedMs < takesMs || model === 'video-stall')
    return running('processing', Math.min(PERCENT - 1, Math.floor((passedMs / Math.max(1, takesMs)) * PERCENT)));
  if (model === 'video-fail')
    return {
      status: 200,
      json: JSON.stringify({
        status: 'failed',
        error: { code: 'internal', message: 'The sandbox failed on purpose.' },
      }),
    };
  const video = {
    url: `${baseUrl}/videos/${id}/content`,
    duration: seconds,
    respect_moderation: model !== 'video-moderated',
  };
  return { status: 200, json: JSON.stringify({ status: 'done', progress: PERCENT, model, video }) };
}

/** `DELETE /v1/videos/ID`: there is nothing that would have to stop. */
export function cancelVideo(id: string): string {
  readJob(id);
  return JSON.stringify({ status: 'cancelled' });
}

const RANGE = /^bytes=(\d+)-(\d*)$/;

/** `GET /v1/videos/ID/content`. */
export function sendClip(id: string, range: string | undefined, response: ServerResponse): void {
  const { model, seconds, comment } = readJob(id);
  if (model === 'video-gone') throw new Refusal(404, 'There is no such clip.');
  const clip = writeMp4({
    columns: SQUARES,
    rows: SQUARES,
    durationMs: seconds * 1_000,
    comment,
    colours: coloursOf(comment),
  });
  const [, first, last] = RANGE.exec(range ?? '') ?? [];
  const start = Number(first ?? 0);
  const end = Math.min(clip.length, last === undefined || last === '' ? clip.length : Number(last) + 1);
  const part = clip.subarray(start, end);
  const isPart = first !== undefined && start < clip.length;
  response.writeHead(isPart ? 206 : 200, {
    'content-type': 'video/mp4',
    'content-length': String(isPart ? part.length : clip.length),
    'accept-ranges': 'bytes',
    ...(isPart && { 'content-range': `bytes ${start}-${end - 1}/${clip.length}` }),
  });
  response.end(isPart ? part : clip);
}

const SQUARES = 4;
const DARKEST = 16;
const SHADES = 219;

/** Of the prompt's digest: equal prompts look alike. */
function coloursOf(comment: string): readonly (readonly [number, number, number])[] {
  const digest = createHash('sha512').update(comment).digest();
  const shade = (at: number): number => DARKEST + ((digest[at % digest.length] ?? 0) % SHADES);
  return Array.from({ length: SQUARES * SQUARES }, (_, at) => [shade(at * 3), shade(at * 3 + 1), shade(at * 3 + 2)]);
}

function readJob(id: string): Job {
  const text = id.startsWith('sbx_') ? Buffer.from(id.slice('sbx_'.length), 'base64url').toString('utf8') : '';
  const job = parseJson(text);
  if (Array.isArray(job)) {
    const [model, startMs, takesMs, seconds, comment]: readonly (Json | undefined)[] = job;
    if (
      typeof model === 'string' &&
      typeof startMs === 'number' &&
      typeof takesMs === 'number' &&
      typeof seconds === 'number' &&
      typeof comment === 'string'
    )
      return { model, startMs, takesMs, seconds, comment };
  }
  throw new Refusal(404, 'There is no such request.');
}
