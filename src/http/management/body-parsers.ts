import type { FastifyInstance, FastifyRequest } from 'fastify';
import { invalid } from '../../canonical/gateway-error.ts';
import { findTextExcess } from '../../lib/json/scan-text.ts';
import { formatPath } from '../../wire/gateway/validation/check-shape.ts';
import type { BodyShare } from '../body-budget.ts';
import { decodeBody, parseBody } from '../parse-body.ts';
import { readBody, type BodyLimits } from '../read-body.ts';

export const BODY_BYTES_MAX = 262_144;
/** The limit of routes that need no key. */
export const PUBLIC_BODY_BYTES_MAX = 4_096;
const BODY_MS = 15_000;

/** How bodies are read. */
export interface BodyReading {
  /** Absent limits have their defaults. */
  readonly limits: Partial<BodyLimits> | undefined;
  /** Finds the share of the memory budget; absent: no share is counted. */
  readonly shareOf: (request: FastifyRequest) => BodyShare | undefined;
}

export function leaveBodyToRoute(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
}

/** Reads no bodies. A body that comes all the same is dropped after the response (http/connections.ts). */
export function readNoBody(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined));
}

/** Parses bodies as JSON whatever the Content-Type is; many clients send an empty body with a DELETE. */
export function readAnyBodyAsJson(fastify: FastifyInstance, { limits, shareOf }: BodyReading): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', async (request: FastifyRequest) => {
    const { bodyLimit: bytesMax } = request.routeOptions;
    const usual: BodyLimits = { bytesMax, idleMs: BODY_MS, totalMs: BODY_MS };
    const text = decodeBody(await readBody(request.raw, { ...usual, ...limits }, shareOf(request)));
    if (text === '') return undefined;
    const excess = findTextExcess(text);
    if (excess !== undefined) throw invalid(formatPath(excess.path), excess.message);
    return parseBody(text);
  });
}
