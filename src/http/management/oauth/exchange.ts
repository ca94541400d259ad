import { z } from 'zod';
import { defineRoute, NOTHING } from '../route.ts';

const CODE_CHARS_MAX = 256;

/** @spec key-14 */
const bodySchema = z
  .strictObject({
    code: z.string().min(1).max(CODE_CHARS_MAX),
    code_verifier: z.string().max(CODE_CHARS_MAX).optional().describe('Required where the code has a challenge.'),
    code_challenge_method: z.enum(['S256', 'plain']).nullable().optional().describe('The one of the start.'),
  })
  .meta({ id: 'ExchangeAuthCodeRequest' });

export const exchangeAuthCode = defineRoute({
  method: 'POST',
  path: '/auth/keys',
  scope: 'public',
  role: 'member',
  operationId: 'exchangeAuthCodeForAPIKey',
  tag: 'OAuth',
  summary: 'Exchange a code for the key that a member agreed to',
  refusesOtherMethods: true,
  params: NOTHING,
  query: NOTHING,
  body: bodySchema,
  responses: {
    200: {
      description: 'The key, shown this once.',
      schema: z.strictObject({
        key: z.string(),
        user_id: z.string().nullable().describe('The member that agreed to it.'),
      }),
    },
  },
  errors: [400, 403, 413, 503],
  async handle({ body, services }) {
    const { key, keyHash, name, workspaceId, userId, issuer } = await services.oauth.exchange({
      code: body.code,
      verifier: body.code_verifier,
      challengeMethod: body.code_challenge_method,
    });
    // The exchange has no key of its own: the event names the key that agreed.
    await services.audit.record({
      actor: issuer,
      action: 'exchangeAuthCodeForAPIKey',
      subject: `/keys/${keyHash}`,
      changes: { name, workspace_id: workspaceId },
    });
    return { status: 200, body: { key, user_id: userId } };
  },
});
