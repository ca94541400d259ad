import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock as clock } from '../../lib/clock.ts';
import { openDatabase } from '../../store/engine/database.ts';
import { createWorkspaceStore } from '../../store/accounts/workspaces.ts';
import { defaultGuardrailId } from './default-guardrail-id.ts';
import { DEFAULT_WORKSPACE_ID } from '../principal.ts';

test('matches the ids in the first workspace of an empty database', async (context) => {
  const database = await openDatabase({ path: ':memory:', url: undefined, clock });
  context.after(() => database.close());
  const workspace = await createWorkspaceStore({ database }).find('default');
  assert.equal(workspace?.id, DEFAULT_WORKSPACE_ID);
  assert.equal(workspace?.defaultGuardrailId, defaultGuardrailId(DEFAULT_WORKSPACE_ID));
});
