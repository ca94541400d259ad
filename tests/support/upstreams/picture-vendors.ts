import type { ServerResponse } from 'node:http';
import type { JsonObject } from '../../../src/lib/json.ts';
import { encodePng } from '../../../src/sandbox/png.ts';
import { sendJson, type RawCall, type RawUpstream } from './raw-upstream.ts';

export const PICTURE = encodePng({ width: 64, height: 36 }, (x) => [x % 256, 1, 2, 128], []);

/** A vendor that makes pictures in jobs, as its documentation shows it: it refuses what the vendor refuses. */
export interface PictureVendor {
  /** The header of its key, as it is sent. */
  readonly key: readonly [name: string, value: string];
  /** Members of the request for a picture. */
  readonly members: ReadonlySet<string>;
  /** Where they stand in the body. */
  readonly inputOf: (body: JsonObject) => JsonObject;
  /** What is answered to a call; `undefined`: it is no path of the vendor. */
  readonly answer: (call: RawCall, state: JobState) => readonly [status: number, body: JsonObject] | undefined;
}

export interface JobState {
  readonly url: string;
  /** Looks at the job before it is over. */
  looksLeft: number;
  /** How it ends. */
  readonly end: 'done' | 'refused' | 'failed';
  isCancelled: boolean;
}

/** Answers as the vendor does, and with the bytes of a picture at `/sample.png`. */
export function serveVendor(upstream: RawUpstream, vendor: PictureVendor, end: JobState['end'], looks = 2): JobState {
  const state: JobState = { url: upstream.url, looksLeft: looks, end, isCancelled: false };
  upstream.answer = (call, response) => {
    if (call.path === '/sample.png') return sendPicture(response);
    const [name, value] = vendor.key;
    if (call.headers[name] !== value) return sendJson(response, { detail: 'Not authenticated' }, 403);
    const odd = Object.keys(vendor.inputOf(call.body)).find((member) => !vendor.members.has(member));
    if (call.method === 'POST' && odd !== undefined)
      return sendJson(
        response,
        { detail: [{ loc: ['body', odd], msg: 'Extra inputs are not permitted', type: 'extra' }] },
        422,
      );
    const answer = vendor.answer(call, state);
    if (answer === undefined) return sendJson(response, { detail: 'Not Found' }, 404);
    response.setHeader('retry-after', '0');
    return sendJson(response, answer[1], answer[0]);
  };
  return state;
}

function sendPicture(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'image/png' });
  response.end(PICTURE);
}

/** @source docs.bfl.ml "Get Result"; black-forest-labs/skills, `references/endpoints.md` (2026-11) */
export const BFL: PictureVendor = {
  key: ['x-key', 'sk'],
  members: new Set([
    ...'prompt width height aspect_ratio seed safety_tolerance output_format input_image'.split(' '),
    ...[2, 3, 4, 5, 6, 7, 8].map((number) => `input_image_${number}`),
  ]),
  inputOf: (body) => body,
  answer({ method, path }, state) {
    if (method === 'POST' && /^\/v1\/flux-[\w.-]+$/.test(path))
      return [200, { id: 'abc123', polling_url: `${state.url}/v1/get_result?id=abc123`, cost: 4.5, output_mp: 1 }];
    if (method !== 'GET' || path !== '/v1/get_result?id=abc123') return undefined;
    if (state.looksLeft-- > 0)
      return [200, { id: 'abc123', status: state.looksLeft > 0 ? 'Pending' : 'Generating', result: null }];
    if (state.end === 'refused') return [200, { id: 'abc123', status: 'Content Moderated', result: null }];
    if (state.end === 'failed') return [200, { id: 'abc123', status: 'Error', result: null }];
    return [200, { id: 'abc123', status: 'Ready', result: { sample: `${state.url}/sample.png`, seed: 7 } }];
  },
};

/** @source fal.ai/docs "Inference API" (2026-11); vercel/ai, `fal-image-model.test.ts` */
export const FAL: PictureVendor = {
  key: ['authorization', 'Key sk'],
  members: new Set(
    'prompt image_size num_images seed image_url image_urls output_format aspect_ratio guidance_scale'.split(' '),
  ),
  inputOf: (body) => body,
  answer({ method, path }, state) {
    // Of a model's name only the owner and the app stand before its requests.
    const job = `${state.url}/fal-ai/flux/requests/id-1`;
    const urls = { status_url: `${job}/status`, response_url: job, cancel_url: `${job}/cancel` };
    if (method === 'POST' && path === '/fal-ai/flux/dev')
      return [200, { status: 'IN_QUEUE', request_id: 'id-1', queue_position: 0, ...urls }];
    if (method === 'PUT' && path === '/fal-ai/flux/requests/id-1/cancel') {
      state.isCancelled = true;
      return [202, { status: 'CANCELLATION_REQUESTED' }];
    }
    if (method !== 'GET') return undefined;
    if (path === '/fal-ai/flux/requests/id-1/status') {
      if (state.looksLeft-- > 0) return [202, { status: 'IN_PROGRESS', request_id: 'id-1', ...urls }];
      const failed = state.end === 'failed' ? { error: 'The runner stopped', error_type: 'runner_disconnected' } : {};
      return [200, { status: 'COMPLETED', request_id: 'id-1', ...urls, ...failed }];
    }
    if (path !== '/fal-ai/flux/requests/id-1') return undefined;
    const flagged = { loc: ['body', 'prompt'], msg: 'The content was flagged.', type: 'content_policy_violation' };
    if (state.end === 'refused') return [422, { detail: [flagged] }];
    const image = { url: `${state.url}/sample.png`, width: 64, height: 36, content_type: 'image/png' };
    return [200, { images: [image], seed: 7, has_nsfw_concepts: [false], prompt: 'a cat' }];
  },
};

/** @source replicate.com/docs "HTTP API" (2026-11) */
export const REPLICATE: PictureVendor = {
  key: ['authorization', 'Bearer sk'],
  members: new Set([
    'prompt',
    'aspect_ratio',
    'seed',
    'num_outputs',
    'output_format',
    'input_image',
    'safety_tolerance',
  ]),
  inputOf: (body) => (body['input'] ?? {}) as JsonObject,
  answer({ method, path, headers }, state) {
    const made = { id: 'p1', model: 'black-forest-labs/flux-1.1-pro', urls: { get: `${state.url}/v1/predictions/p1` } };
    if (method === 'POST' && /^\/v1\/(?:models\/[\w.-]+\/[\w.-]+\/)?predictions$/.test(path))
      return headers['prefer'] === 'wait=5' ? [201, { ...made, status: 'starting', output: null }] : undefined;
    if (method === 'POST' && path === '/v1/predictions/p1/cancel') {
      state.isCancelled = true;
      return [200, { ...made, status: 'canceled' }];
    }
    if (method !== 'GET' || path !== '/v1/predictions/p1') return undefined;
    if (state.looksLeft-- > 0) return [200, { ...made, status: 'processing', output: null }];
    const error = state.end === 'refused' ? 'NSFW content detected. Try another prompt.' : 'CUDA out of memory';
    if (state.end !== 'done') return [200, { ...made, status: 'failed', error, output: null }];
    return [200, { ...made, status: 'succeeded', output: `${state.url}/sample.png`, metrics: { predict_time: 2 } }];
  },
};

/** @source docs.fireworks.ai, its pages of FLUX.1 Kontext (2026-11) */
export const FIREWORKS_KONTEXT: PictureVendor = {
  key: ['authorization', 'Bearer sk'],
  members: new Set(['prompt', 'aspect_ratio', 'seed', 'output_format', 'input_image', 'safety_tolerance', 'id']),
  inputOf: (body) => body,
  answer({ method, path, body }, state) {
    const workflow = '/v1/workflows/accounts/fireworks/models/flux-kontext-pro';
    if (method !== 'POST') return undefined;
    if (path === workflow) return [200, { request_id: 'r1' }];
    if (path !== `${workflow}/get_result` || body['id'] !== 'r1') return undefined;
    if (state.looksLeft-- > 0) return [200, { id: 'r1', status: 'Pending', result: null }];
    if (state.end === 'refused') return [200, { id: 'r1', status: 'Request Moderated', result: null }];
    if (state.end === 'failed') return [200, { id: 'r1', status: 'Error', result: null }];
    return [200, { id: 'r1', status: 'Ready', result: { sample: `${state.url}/sample.png` } }];
  },
};
