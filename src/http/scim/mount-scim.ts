import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../lib/clock.ts';
import { outcomeOf, type ScimRequestLog } from '../../scim/request-log.ts';
import { respond, SCIM_ROOT, type ScimCall } from '../../scim/respond.ts';
import type { Scim, ScimEvent } from '../../scim/scim.ts';
import { SCIM_IS_OFF, ScimError, serializeScimError, WrongMethod } from '../../scim/scim-error.ts';
import type { ScimTokenRow } from '../../scim/tokens.ts';
import { addressOf } from '../console/origin.ts';
import { problemBody } from '../problem.ts';

export interface ScimHttpDeps {
  /** The resources, for one request. @param onEvent what it changes */
  readonly openScim: (onEvent: (event: ScimEvent) => void) => Scim;
  readonly log: Pick<ScimRequestLog, 'note'>;
  readonly clock: Clock;
  /** Finds the token of a request, within the limits on rates. @throws ScimError 401, 429 */
  readonly admit: (authorization: string | undefined, address: string) => Promise<ScimTokenRow>;
  /** Absent: that of the request. */
  readonly baseUrl: string | undefined;
  readonly groupPatchBody: boolean;
  readonly isForwarded: boolean;
  readonly onBug: (error: unknown) => void;
}

const BODY_BYTES_MAX = 1_048_576;
const TYPE = 'application/scim+json; charset=utf-8';
const PATHS = [SCIM_ROOT, `${SCIM_ROOT}/*`];
/** Entra ID appends it to the address, so that it may stand before the path. */
const NOISE = /\?aadOptscim062020(?=\/)/i;

/** The protocol of identity providers: RFC 7644, at the root of the host. @spec scim-1 */
export function mountScim(fastify: FastifyInstance, deps: ScimHttpDeps): void {
  void fastify.register((context, _options, done) => {
    context.removeAllContentTypeParsers();
    context.addContentTypeParser('*', { parseAs: 'string', bodyLimit: BODY_BYTES_MAX }, (_request, body, parsed) =>
      parsed(null, body),
    );
    context.setErrorHandler((error, _request, reply) => refuse(deps, error, reply));
    for (const url of PATHS)
      context.route({
        method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
        url,
        bodyLimit: BODY_BYTES_MAX,
        handler: (request, reply) => answer(deps, request, reply),
      });
    done();
  });
}

/** The gateway takes nothing from identity providers, and says what changes that. @spec error-25 */
export function refuseScim(fastify: FastifyInstance): void {
  const body = serializeScimError(404, SCIM_IS_OFF);
  for (const url of PATHS)
    fastify.all(url, (_request, reply) => reply.code(404).header('content-type', TYPE).send(body));
}

function refuse({ onBug }: ScimHttpDeps, error: unknown, reply: FastifyReply): void {
  void reply.header('content-type', TYPE);
  if (error instanceof ScimError) {
    if (error.status === 429) void reply.header('retry-after', '1');
    if (error.status === 401) void reply.header('www-authenticate', 'Bearer');
    if (error instanceof WrongMethod) void reply.header('allow', error.allow);
    void reply.code(error.status).send(serializeScimError(error.status, error.message, error.scimType));
    return;
  }
  const problem = problemBody(error, { error: ({ err }) => onBug(err) });
  const { 'retry-after': retryAfter } = problem.headers;
  if (retryAfter !== undefined) void reply.header('retry-after', retryAfter);
  void reply.code(problem.status).send(serializeScimError(problem.status, problem.error.message));
}

async function answer(deps: ScimHttpDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const address = addressOf(request.raw, deps.isForwarded);
  const url = new URL((request.raw.url ?? '').replace(NOISE, ''), 'http://host');
  const events: ScimEvent[] = [];
  const base = { address, method: request.method, path: url.pathname };
  const note = (tokenId: string | null, status: number, outcome: string): void =>
    deps.log.note({ ...base, atMs: deps.clock.nowMs(), tokenId, status, outcome });
  let tokenId: string | null = null;
  try {
    tokenId = (await deps.admit(request.headers.authorization, address)).id;
    const { body, status, headers } = await respond(
      deps.openScim((event) => events.push(event)),
      callOf(request, url),
      {
        baseUrl: deps.baseUrl ?? `${request.protocol}://${request.headers.host ?? ''}${SCIM_ROOT}`,
        groupPatchBody: deps.groupPatchBody,
      },
    );
    note(tokenId, status, outcomeOf(events));
    void reply.code(status).headers({ 'cache-control': 'no-store', ...headers });
    return body === undefined ? reply.send() : reply.header('content-type', TYPE).send(body);
  } catch (error) {
    // Strangers write nothing into the database.
    if (tokenId !== null)
      note(tokenId, error instanceof ScimError ? error.status : 500, error instanceof ScimError ? error.message : '');
    throw error;
  }
}

function callOf({ method, headers, body }: FastifyRequest, url: URL): ScimCall {
  return {
    method,
    url,
    body: typeof body === 'string' ? body : undefined,
    ifMatch: headers['if-match'],
    ifNoneMatch: headers['if-none-match'],
  };
}
