import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { hintOfBase } from './base-path.ts';
import type { SerializeError } from './client-error.ts';
import { BROWSER_HEADERS, CORS_HEADERS } from './cors.ts';
import { problemBody, type ProblemLog } from './problem.ts';

export interface OperationsDeps {
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>;
  /**
   * Settles when everything that a request needs answers, with what does not although requests are served, in words.
   * @throws Error when something does not that they need
   */
  readonly ready: () => Promise<readonly string[]>;
  readonly draining: () => boolean;
  readonly log: ProblemLog;
  /** In whose shape a caller learns that a path leads nowhere. */
  readonly serializeError: SerializeError;
  /** The OpenAPI document; generated on first use. */
  readonly openApi: () => Promise<object>;
}

/** Why a gateway is not ready, in words that are safe to show to anyone. */
export class NotReadyError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'NotReadyError';
  }
}

const READY_WAIT_MS = 2_000;

const PATH_CHARS_MAX = 200;

/** Routes for orchestrators and monitoring systems, without a key. */
export function mountOperations(fastify: FastifyInstance, deps: OperationsDeps): void {
  const refuse = (thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const { error, status, headers } = problemBody(thrown, deps.log);
    return reply
      .code(status)
      .headers({ ...CORS_HEADERS, ...headers })
      .send(deps.serializeError(error, request.url));
  };
  fastify.setErrorHandler(refuse);
  // No body of these routes is read, nor of one that there is not: it is dropped after the answer.
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined));
  // Not 405 where only the method is wrong. @spec error-26
  fastify.setNotFoundHandler((request, reply) => {
    const path = (request.originalUrl.split('?')[0] ?? '').slice(0, PATH_CHARS_MAX);
    const message = `There is no ${request.method} ${path}.${hintOfBase(path)}`;
    return refuse(new GatewayError('not_found', message), request, reply);
  });
  fastify.get('/health/live', (_request, reply) => reply.headers(BROWSER_HEADERS).send({ status: 'ok' }));
  let logged: string | undefined;
  fastify.get('/health/ready', async (_request, reply) => {
    void reply.headers(BROWSER_HEADERS);
    const found = deps.draining() ? 'shutting down' : await findProblem(deps.ready);
    const problem = typeof found === 'string' ? found : undefined;
    // Balancers look many times a second: each reason stands in the log once.
    if (problem !== undefined && problem !== logged && !deps.draining())
      deps.log.error({ err: new NotReadyError(problem) }, 'the gateway is not ready');
    logged = problem;
    if (problem !== undefined) return reply.code(503).send({ status: 'unavailable', reason: problem });
    return typeof found === 'object' && found.length > 0 ? { status: 'ok', degraded: found } : { status: 'ok' };
  });
  let document: string | undefined;
  fastify.get('/openapi.json', async (_request, reply) => {
    document ??= JSON.stringify(await deps.openApi());
    return reply.type('application/json; charset=utf-8').headers(CORS_HEADERS).send(document);
  });
  fastify.get('/metrics', async (_request, reply) => {
    return reply
      .headers(BROWSER_HEADERS)
      .type(deps.metrics.contentType)
      .send(await deps.metrics.text());
  });
}

/** Why the gateway is not ready, or what does not work although it is. */
async function findProblem(ready: OperationsDeps['ready']): Promise<string | readonly string[]> {
  const tooSlow = Promise.withResolvers<string>();
  const timer = setTimeout(() => tooSlow.resolve('the store does not answer'), READY_WAIT_MS);
  const answered = ready().catch((error: unknown) =>
    error instanceof NotReadyError ? error.message : 'the store failed',
  );
  return Promise.race([answered, tooSlow.promise]).finally(() => clearTimeout(timer));
}
