import assert from 'node:assert/strict';
import { isJsonObject, type JsonObject } from '../../../src/lib/json.ts';
import { manage, textAt } from '../byok.ts';
import { startGateway, type GatewayOptions, type RunningGateway } from '../gateway.ts';
import { signIn, type SignedIn } from './console-client.ts';

const ORGANIZATION = 'organization: { enabled: true, name: Acme }';
export const PASSWORD = 'correct horse battery';

export function startOrganization(options: GatewayOptions = {}): Promise<RunningGateway> {
  return startGateway({ yaml: ORGANIZATION, ...options });
}

/** The member of an answer that holds what it is about. */
export function dataOf({ body, text }: { readonly body: JsonObject; readonly text: string }): JsonObject {
  const { data } = body;
  assert.ok(isJsonObject(data), text);
  return data;
}

/** Invites a person. Gives the secret of the link. */
export async function invite(gateway: RunningGateway, email: string, more: object = {}): Promise<string> {
  const reply = await manage(gateway, 'POST', '/organization/members', { email, ...more });
  assert.equal(reply.status, 201, reply.text);
  return secretIn(textAt(reply.body, 'link'));
}

export function secretIn(link: string): string {
  const [, secret] = /^\/ui\/invitation#t=([\w-]{43})$/.exec(link) ?? [];
  assert.ok(secret, link);
  return secret;
}

export interface Colleague {
  readonly id: string;
  readonly email: string;
  readonly session: SignedIn;
}

/** Invites a person and accepts for it: a user with an open session. */
export async function join(gateway: RunningGateway, email: string, more: object = {}): Promise<Colleague> {
  const token = await invite(gateway, email, more);
  const session = await signIn(gateway, { invitation: { token, password: PASSWORD } });
  const shown = dataOf(await session.call('GET', '/ui/api/session'));
  assert.ok(isJsonObject(shown['subject']));
  return { id: textAt(shown['subject'], 'user_id'), email, session };
}

export async function makeWorkspace(gateway: RunningGateway, slug: string): Promise<string> {
  const reply = await manage(gateway, 'POST', '/workspaces', { name: slug, slug });
  assert.equal(reply.status, 201, reply.text);
  return textAt(dataOf(reply), 'id');
}
