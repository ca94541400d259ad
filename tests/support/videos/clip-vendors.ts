import type { ServerResponse } from 'node:http';
import type { JsonObject } from '../../../src/lib/json.ts';
import { CLIP, sendJson, type FakeVendor, type VendorCall } from './fake-vendor.ts';

/** A vendor of clips, as its documentation shows it: it refuses what the vendor refuses. */
export interface ClipVendor {
  readonly headers: Readonly<Record<string, string>>;
  /** Members of a request. */
  readonly members: ReadonlySet<string>;
  readonly inputOf: (body: JsonObject) => JsonObject;
  /** `undefined`: it is no path of the vendor. */
  readonly answer: (call: VendorCall, state: ClipState) => readonly [status: number, body: JsonObject] | undefined;
}

export interface ClipState {
  /** Of the vendor, without a path. */
  readonly origin: string;
  looksLeft: number;
  readonly end: 'done' | 'refused' | 'failed';
  isCancelled: boolean;
}

export function serveClips(
  vendor: FakeVendor,
  { headers, members, inputOf, answer }: ClipVendor,
  end: ClipState['end'],
  looksLeft = 1,
): ClipState {
  const state: ClipState = { origin: new URL(vendor.baseUrl).origin, looksLeft, end, isCancelled: false };
  vendor.answer = (call, response) => {
    if (call.path === '/clip.mp4') return sendClip(response);
    if (Object.entries(headers).some(([name, value]) => call.headers[name] !== value))
      return sendJson(response, 401, { error: 'Unauthorized' });
    const odd = Object.keys(inputOf(call.body)).find((member) => !members.has(member));
    if (call.method === 'POST' && odd !== undefined)
      return sendJson(response, 422, { detail: [{ loc: ['body', odd], msg: 'Extra input', type: 'extra' }] });
    const found = answer(call, state);
    return found === undefined ? sendJson(response, 404, { detail: 'Not Found' }) : sendJson(response, ...found);
  };
  return state;
}

function sendClip(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': CLIP.length }).end(CLIP);
}

/** @source fal.ai/docs "Inference API" (2026-11); vercel/ai, `fal-video-model.test.ts` */
export const FAL_CLIPS: ClipVendor = {
  headers: { authorization: 'Key sk' },
  members: new Set('prompt image_url aspect_ratio resolution duration generate_audio seed cfg_scale'.split(' ')),
  inputOf: (body) => body,
  answer({ method, path }, state) {
    const job = `${state.origin}/fal-ai/kling-video/requests/id-1`;
    const urls = { status_url: `${job}/status`, response_url: job, cancel_url: `${job}/cancel` };
    if (method === 'POST' && path === '/fal-ai/kling-video/v2/master/image-to-video')
      return [200, { status: 'IN_QUEUE', request_id: 'id-1', ...urls }];
    if (method === 'PUT' && path === '/fal-ai/kling-video/requests/id-1/cancel') {
      state.isCancelled = true;
      return [202, { status: 'CANCELLATION_REQUESTED' }];
    }
    if (method !== 'GET') return undefined;
    if (path === '/fal-ai/kling-video/requests/id-1/status') {
      if (state.looksLeft-- > 0) return [202, { status: 'IN_PROGRESS', ...urls }];
      const failed = state.end === 'failed' ? { error: 'The runner stopped', error_type: 'runner_disconnected' } : {};
      return [200, { status: 'COMPLETED', ...urls, ...failed }];
    }
    if (path !== '/fal-ai/kling-video/requests/id-1') return undefined;
    const flagged = { loc: ['body', 'prompt'], msg: 'The content was flagged.', type: 'content_policy_violation' };
    if (state.end === 'refused') return [422, { detail: [flagged] }];
    return [200, { video: { url: `${state.origin}/clip.mp4`, content_type: 'video/mp4', duration: 5 }, seed: 7 }];
  },
};

/** @source replicate.com/docs "HTTP API" (2026-11) */
export const REPLICATE_CLIPS: ClipVendor = {
  headers: { authorization: 'Bearer sk' },
  members: new Set(
    'prompt start_image aspect_ratio resolution duration generate_audio seed negative_prompt'.split(' '),
  ),
  inputOf: (body) => (body['input'] ?? {}) as JsonObject,
  answer({ method, path }, state) {
    const made = { id: 'p1', urls: { get: `${state.origin}/v1/predictions/p1` } };
    if (method === 'POST' && path === '/v1/models/kwaivgi/kling-v2.5-turbo-pro/predictions')
      return [201, { ...made, status: 'starting', output: null }];
    if (method === 'POST' && path === '/v1/predictions/p1/cancel') {
      state.isCancelled = true;
      return [200, { ...made, status: 'canceled' }];
    }
    if (method !== 'GET' || path !== '/v1/predictions/p1') return undefined;
    if (state.looksLeft-- > 0) return [200, { ...made, status: 'processing', output: null }];
    const error = state.end === 'refused' ? 'The input was flagged as sensitive (E005)' : 'CUDA out of memory';
    if (state.end !== 'done') return [200, { ...made, status: 'failed', error, output: null }];
    return [200, { ...made, status: 'succeeded', output: `${state.origin}/clip.mp4` }];
  },
};

/** @source @runwayml/sdk 4.20, `image-to-video.ts`, `tasks.ts` (2026-11) */
export const RUNWAY_CLIPS: ClipVendor = {
  headers: { authorization: 'Bearer sk', 'x-runway-version': '2024-11-06' },
  members: new Set('model promptText promptImage ratio duration audio seed contentModeration'.split(' ')),
  inputOf: (body) => body,
  answer({ method, path }, state) {
    if (method === 'POST' && ['/v1/image_to_video', '/v1/text_to_video'].includes(path)) return [200, { id: 't1' }];
    if (path !== '/v1/tasks/t1') return undefined;
    if (method === 'DELETE') {
      state.isCancelled = true;
      return [200, {}];
    }
    const task = { id: 't1', createdAt: '2026-11-27T00:00:00Z' };
    if (state.looksLeft-- > 0) return [200, { ...task, status: 'RUNNING', progress: 0.25 }];
    if (state.end === 'refused')
      return [200, { ...task, status: 'FAILED', failure: 'Unsafe.', failureCode: 'SAFETY.INPUT.TEXT' }];
    if (state.end === 'failed')
      return [200, { ...task, status: 'FAILED', failure: 'Internal.', failureCode: 'INTERNAL.BAD_OUTPUT.CODE01' }];
    return [200, { ...task, status: 'SUCCEEDED', output: [`${state.origin}/clip.mp4`] }];
  },
};
