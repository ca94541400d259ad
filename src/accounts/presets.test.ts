import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock as clock } from '../lib/clock.ts';
import type { PresetRow, PresetVersionRow } from '../resources/presets.ts';
import type { PresetStore } from '../store/accounts/presets.ts';
import { createPresets } from './presets.ts';
import { samplePrincipal } from '../../tests/support/principal.ts';

const preset: PresetRow = {
  id: 'preset',
  workspaceId: 'w',
  slug: 'p',
  name: 'P',
  description: null,
  status: 'active',
  statusUpdatedAtMs: null,
  creatorUserId: null,
  designatedVersionId: 'first',
  createdAtMs: 1,
  updatedAtMs: 1,
};
const first: PresetVersionRow = {
  id: 'first',
  presetId: 'preset',
  version: 1,
  creatorId: 'default',
  systemPrompt: null,
  config: {},
  createdAtMs: 1,
};

/** Makes a store of one preset with so many versions, the first in use. */
function storeOf(versions: number): PresetStore {
  const neverCalled = (): never => assert.fail('is not called');
  return {
    find: () => Promise.resolve({ preset, designated: first }),
    listVersions: () => Promise.resolve({ rows: [first], totalCount: versions }),
    write: () => Promise.resolve({ preset, designated: first }),
    subscribe: () => undefined,
    list: neverCalled,
    count: neverCalled,
    findVersion: neverCalled,
    update: neverCalled,
  };
}

test('limits the versions of a preset, whichever of them is in use', async () => {
  const write = (versions: number) =>
    createPresets({ store: storeOf(versions), clock }).write(samplePrincipal(), 'p', {
      systemPrompt: null,
      config: {},
    });
  await write(999);
  await assert.rejects(write(1_000), { status: 400, message: /1000 versions already/ });
});
