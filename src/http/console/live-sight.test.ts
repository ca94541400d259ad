import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConsoleSession } from '../../accounts/console/sessions.ts';
import { DEFAULT_ACCOUNT_ID, DEFAULT_WORKSPACE_ID } from '../../accounts/principal.ts';
import { createLiveSight } from './live-sight.ts';

function sessionOf(role: ConsoleSession['role']): ConsoleSession {
  const row = {
    id: 'session',
    idHash: '',
    tokenHash: '',
    subjectKind: 'user',
    subjectId: 'user',
    role: 'operator',
    createdAtMs: 1,
    lastSeenAtMs: 1,
    idleUntilMs: 2,
    endsAtMs: 2,
    userAgent: '',
    addressPrefix: '',
  } as const;
  const principal = {
    kind: role === 'operator' ? 'management' : 'normal',
    keyHash: 'own',
    accountId: DEFAULT_ACCOUNT_ID,
    workspaceId: DEFAULT_WORKSPACE_ID,
    memberId: 'user',
    name: 'user',
    label: 'user',
  } as const;
  return { row, role, principal };
}

// @spec console-15
test('ends a view whose session gets another role, since counts of all keys go to operators alone', async () => {
  let role: ConsoleSession['role'] = 'operator';
  const sight = await createLiveSight(
    () => Promise.resolve(sessionOf(role)),
    () => Promise.resolve([]),
  );
  await sight.renew();
  role = 'member';
  await assert.rejects(sight.renew(), { status: 401 });
});
