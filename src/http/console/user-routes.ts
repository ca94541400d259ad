import { z } from 'zod';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { assert } from '../../lib/assert.ts';
import { NO_BODY, NOTHING } from '../management/route.ts';
import { roleSchema } from '../management/organization/user-shape.ts';
import { defineConsoleRoute, type ConsoleRoute } from './console-route.ts';
import { passwordSchema, serializeSignInCookie } from './user-shapes.ts';

/** As long as a start is good for. @spec people-12 */
const SIGN_IN_SECONDS = 600;
const TOKEN_CHARS_MAX = 1_024;

const getSignIn = defineConsoleRoute({
  method: 'GET',
  path: '/sign-in',
  isOpen: true,
  operationId: 'getSignIn',
  summary: 'Show how sessions are opened here',
  params: NOTHING,
  body: NO_BODY,
  responses: {
    200: {
      description: 'A key always opens one.',
      schema: z.strictObject({
        data: z.strictObject({
          organization: z.boolean().describe('Whether users sign in, too.'),
          name: z.string().nullable().describe('Of the organization.'),
          password: z.boolean(),
          oidc: z.strictObject({ name: z.string() }).nullable().describe('The identity provider. Null: none.'),
        }),
      }),
    },
  },
  errors: [],
  handle({ services: { organization } }) {
    const { name = null, password = false, oidc } = organization ?? {};
    return {
      status: 200,
      body: {
        data: {
          organization: organization !== undefined,
          name,
          password,
          oidc: oidc === undefined ? null : { name: oidc.name },
        },
      },
    };
  },
});

const startOidc = defineConsoleRoute({
  method: 'POST',
  path: '/session/oidc',
  isOpen: true,
  operationId: 'startOidcSignIn',
  summary: 'Begin a sign-in with the identity provider',
  params: NOTHING,
  body: NO_BODY,
  responses: {
    201: {
      description: 'A cookie is set. Within 10 minutes, both halves and what the provider sends open a session.',
      schema: z.strictObject({
        data: z.strictObject({
          url: z.string().describe('Where the browser goes.'),
          token: z.string().describe('For the storage of the page.'),
        }),
      }),
    },
  },
  errors: [404, 502],
  async handle({ origin, isTls, services: { organization } }) {
    if (organization?.oidc === undefined)
      throw new GatewayError('not_found', 'There is no identity provider: organization.oidc is not set.');
    const { url, token, sealed } = await organization.oidc.start(origin);
    const headers = { 'set-cookie': serializeSignInCookie(sealed, SIGN_IN_SECONDS, isTls) };
    return { status: 201, headers, body: { data: { url, token } } };
  },
});

const lookAtInvitation = defineConsoleRoute({
  method: 'POST',
  path: '/invitation',
  isOpen: true,
  operationId: 'lookAtInvitation',
  summary: 'Show what a link of an invitation is for; the link stays good',
  params: NOTHING,
  body: z.strictObject({ token: z.string().min(1).max(TOKEN_CHARS_MAX) }),
  responses: {
    200: {
      description: 'The invitation.',
      schema: z.strictObject({
        data: z.strictObject({
          email: z.string(),
          role: roleSchema,
          is_new: z.boolean().describe('False: the user is there, and chooses another password.'),
          organization: z.string().nullable(),
          expires_at: z.iso.datetime(),
        }),
      }),
    },
  },
  errors: [400, 401, 403, 413, 429],
  async handle({ body, address, services: { sessions, organization } }) {
    const { email, role, userId, expiresAtMs } = await sessions.look(address, body.token);
    const data = {
      email,
      role,
      is_new: userId === null,
      organization: organization?.name ?? null,
      expires_at: new Date(expiresAtMs).toISOString(),
    };
    return { status: 200, body: { data } };
  },
});

const changePassword = defineConsoleRoute({
  method: 'POST',
  path: '/password',
  operationId: 'changePassword',
  summary: 'Change the password of the user that calls; its other sessions end',
  params: NOTHING,
  body: z.strictObject({ current: passwordSchema, next: passwordSchema }),
  responses: {
    200: { description: 'It is changed.', schema: z.strictObject({ changed: z.literal(true) }) },
  },
  errors: [400, 403, 413, 429],
  async handle({ session, body, address, services: { sessions } }) {
    assert(session !== undefined, 'the route is not open');
    await sessions.changePassword(session, body, address);
    return { status: 200, body: { changed: true } };
  },
});

/** Of users: how they sign in, and their passwords. */
export const USER_ROUTES: readonly ConsoleRoute[] = [getSignIn, startOidc, lookAtInvitation, changePassword];
