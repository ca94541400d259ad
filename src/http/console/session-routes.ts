import { z } from 'zod';
import type { ListedSession, Proof } from '../../accounts/console/sessions.ts';
import { assert } from '../../lib/assert.ts';
import { serializeTime } from '../../resources/columns.ts';
import { NO_BODY, NOTHING } from '../management/route.ts';
import { emailSchema, nameSchema } from '../management/organization/user-shape.ts';
import { passwordSchema, serializeSignInCookie, SIGN_IN_COOKIE } from './user-shapes.ts';
import { defineConsoleRoute, type ConsoleRoute } from './console-route.ts';

export const SESSION_COOKIE = 'gateway_session';
/** As long as a session lives at most. */
const COOKIE_SECONDS = 604_800;
const PROOF_CHARS_MAX = 1_024;
const OIDC_QUERY_CHARS_MAX = 8_192;

const sessionShape = {
  id: z.uuid(),
  role: z
    .enum(['operator', 'member'])
    .describe('`operator`: by a management key, a link, or an admin of the organization. `member`: all others.'),
  subject: z.strictObject({
    kind: z.enum(['management-key', 'api-key', 'link', 'user']),
    label: z
      .string()
      .nullable()
      .describe('A masked excerpt of the key, or the address of the user. Null: it is not valid any more.'),
    name: z.string().nullable(),
    key_hash: z.string().nullable().describe('Null: a link or a user.'),
    user_id: z.string().nullable().describe('Null: no user.'),
    workspace_id: z.string().nullable(),
  }),
  workspaces: z
    .array(z.strictObject({ id: z.string(), role: z.enum(['admin', 'member']) }))
    .nullable()
    .describe('Those of a user that is no operator, with its role there. Null: all, or that of the key.'),
  created_at: z.iso.datetime(),
  last_seen_at: z.iso.datetime().describe('To the minute.'),
  idle_until: z.iso.datetime().describe('It ends then, unless it is used before.'),
  ends_at: z.iso.datetime().describe('It ends then at the latest.'),
  user_agent: z.string(),
  address_prefix: z.string().describe('The network that it was opened from: `192.0.2.0/24`.'),
  current: z.boolean().describe('Whether it is the session that calls.'),
};
const sessionSchema = z.strictObject(sessionShape).meta({ id: 'ConsoleSession' });
const deletedSchema = z.strictObject({ deleted: z.literal(true) });

function serializeSession(
  { row, role, principal, viewer }: ListedSession,
  currentId: string,
): z.output<typeof sessionSchema> {
  const isUser = row.subjectKind === 'user';
  const isKey = !isUser && row.subjectKind !== 'link';
  return {
    id: row.id,
    role: role ?? row.role,
    subject: {
      kind: row.subjectKind,
      label: principal?.label ?? null,
      name: principal?.name ?? null,
      key_hash: isKey ? row.subjectId : null,
      user_id: isUser ? row.subjectId : null,
      workspace_id: principal?.kind === 'normal' && isKey ? principal.workspaceId : null,
    },
    workspaces: viewer === undefined ? null : [...viewer.workspaces].map(([id, own]) => ({ id, role: own })),
    created_at: serializeTime(row.createdAtMs),
    last_seen_at: serializeTime(row.lastSeenAtMs),
    idle_until: serializeTime(row.idleUntilMs),
    ends_at: serializeTime(row.endsAtMs),
    user_agent: row.userAgent,
    address_prefix: row.addressPrefix,
    current: row.id === currentId,
  };
}

function serializeCookie(value: string, seconds: number, isTls: boolean): string {
  const secure = isTls ? '; Secure' : '';
  return `${SESSION_COOKIE}=${value}; Path=/ui; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}

const proof = z.string().min(1).max(PROOF_CHARS_MAX);

const signInSchema = z.union([
  z.strictObject({ key: proof.describe('A management key or an API key.') }),
  z.strictObject({ link: proof.describe('What stands behind `#t=` in the link.') }),
  z.strictObject({ email: emailSchema, password: passwordSchema }),
  z.strictObject({
    invitation: z.strictObject({
      token: proof.describe('What stands behind `#t=` in the link.'),
      password: passwordSchema,
      first_name: nameSchema.optional(),
      last_name: nameSchema.optional(),
    }),
  }),
  z.strictObject({
    oidc: z.strictObject({
      query: z.string().min(1).max(OIDC_QUERY_CHARS_MAX).describe('Of the address that the provider led to.'),
      token: proof.describe('As the start gave it.'),
    }),
  }),
]);

function toProof(body: z.output<typeof signInSchema>, origin: string, sealed: string | undefined): Proof {
  if ('oidc' in body) return { oidc: { ...body.oidc, sealed, origin } };
  if (!('invitation' in body)) return body;
  const { token: secret, password, first_name: firstName, last_name: lastName } = body.invitation;
  return { invitation: { secret, password, firstName, lastName } };
}

const signIn = defineConsoleRoute({
  method: 'POST',
  path: '/session',
  isOpen: true,
  operationId: 'signIn',
  summary:
    'Open a session of the dashboard: with a key, a one-time link, a password, an invitation, or an identity provider',
  params: NOTHING,
  body: signInSchema,
  responses: {
    201: {
      description: 'The session. Its cookie is set; `token` goes into the header `X-Console-Token` of each call.',
      schema: z.strictObject({
        data: z.strictObject({ ...sessionShape, token: z.string().describe('Shown once.') }),
      }),
    },
  },
  errors: [400, 401, 403, 409, 413, 429, 502],
  async handle({ body, secrets: previous, address, origin, cookie, userAgent, isTls, services }) {
    const given = toProof(body, origin, cookie(SIGN_IN_COOKIE));
    const { secrets, ...session } = await services.sessions.signIn({ proof: given, address, userAgent, previous });
    assert(secrets.cookie !== undefined && secrets.token !== undefined, 'a new session has both secrets');
    return {
      status: 201,
      headers: {
        'set-cookie': [
          serializeCookie(secrets.cookie, COOKIE_SECONDS, isTls),
          ...('oidc' in body ? [serializeSignInCookie('', 0, isTls)] : []),
        ],
      },
      body: { data: { ...serializeSession(session, session.row.id), token: secrets.token } },
    };
  },
});

const getSession = defineConsoleRoute({
  method: 'GET',
  path: '/session',
  operationId: 'getSession',
  summary: 'Show the session that calls',
  params: NOTHING,
  body: NO_BODY,
  responses: {
    200: {
      description: 'The session.',
      schema: z.strictObject({
        data: sessionSchema,
        plain_http: z.boolean().describe('Whether sessions may be opened without TLS from other machines.'),
        version: z.string().describe('Of the gateway.'),
      }),
    },
  },
  errors: [],
  handle({ session, services }) {
    assert(session !== undefined, 'the route is not open');
    const data = serializeSession(session, session.row.id);
    return { status: 200, body: { data, plain_http: services.plainHttp, version: services.version } };
  },
});

const signOut = defineConsoleRoute({
  method: 'DELETE',
  path: '/session',
  operationId: 'signOut',
  summary: 'End the session that calls, in all tabs',
  params: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'It has ended.', schema: deletedSchema } },
  errors: [],
  async handle({ session, isTls, services }) {
    assert(session !== undefined, 'the route is not open');
    await services.sessions.signOut(session);
    const headers = { 'set-cookie': serializeCookie('', 0, isTls), 'clear-site-data': '"cache"' };
    return { status: 200, headers, body: { deleted: true } };
  },
});

const listSessions = defineConsoleRoute({
  method: 'GET',
  path: '/sessions',
  operationId: 'listSessions',
  summary: 'List open sessions, newest first: operators see all, others those of their own key',
  params: NOTHING,
  body: NO_BODY,
  responses: {
    200: { description: 'At most 500 sessions.', schema: z.strictObject({ data: z.array(sessionSchema) }) },
  },
  errors: [],
  async handle({ session, services }) {
    assert(session !== undefined, 'the route is not open');
    const listed = await services.sessions.list(session);
    return { status: 200, body: { data: listed.map((each) => serializeSession(each, session.row.id)) } };
  },
});

const endSession = defineConsoleRoute({
  method: 'DELETE',
  path: '/sessions/{id}',
  operationId: 'endSession',
  summary: 'End one of the listed sessions',
  params: z.strictObject({ id: z.uuid() }),
  body: NO_BODY,
  responses: { 200: { description: 'It has ended.', schema: deletedSchema } },
  errors: [400, 404],
  async handle({ session, params, services }) {
    assert(session !== undefined, 'the route is not open');
    await services.sessions.end(session, params.id);
    return { status: 200, body: { deleted: true } };
  },
});

/** Of the sessions of the dashboard. */
export const SESSION_ROUTES: readonly ConsoleRoute[] = [signIn, getSession, signOut, listSessions, endSession];
