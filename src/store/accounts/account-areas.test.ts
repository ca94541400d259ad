import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { systemClock as clock } from '../../lib/clock.ts';
import type { ByokKeyRow } from '../../resources/byok-keys.ts';
import { createByokKeyStore, type ByokKeyStore } from './byok-keys.ts';
import { openDatabase, type Database } from '../engine/database.ts';
import type { OauthCodeRow } from './columns.ts';
import { createOauthCodeStore } from './oauth-codes.ts';
import type { PresetRow } from '../../resources/presets.ts';
import { createPresetStore, type PresetStore } from './presets.ts';
import { createSealedRows } from './sealed-rows.ts';
import { createWorkspaceStore } from './workspaces.ts';
import { ALL_ENGINES, type Place } from '../../../tests/support/store/engines.ts';

/** The workspace that exists from the start and has no keys. */
const DEFAULT_WORKSPACE = '00000000-0000-4000-8000-000000000001';
const WINDOW = { offset: 0, limit: 100 };

function credential(changes: Partial<ByokKeyRow> & Pick<ByokKeyRow, 'id'>): ByokKeyRow {
  return {
    workspaceId: 'w',
    provider: 'acme',
    name: null,
    label: '...',
    sealed: 'v1.one.abc',
    secretId: 'one',
    disabled: false,
    isFallback: false,
    alwaysUse: false,
    sortOrder: 0,
    allowedModels: null,
    allowedApiKeyHashes: null,
    allowedUserIds: null,
    createdAtMs: 1,
    updatedAtMs: 1,
    ...changes,
  };
}

function preset(slug: string, atMs: number): PresetRow {
  return {
    id: `preset-${slug}-${atMs}`,
    workspaceId: 'w',
    slug,
    name: slug,
    description: null,
    status: 'active',
    statusUpdatedAtMs: null,
    creatorUserId: null,
    designatedVersionId: null,
    createdAtMs: atMs,
    updatedAtMs: atMs,
  };
}

function draft(id: string) {
  return { id, creatorId: 'default', systemPrompt: 'Be brief.', config: { temperature: 0.5 }, createdAtMs: 1 };
}

function code(changes: Partial<OauthCodeRow> & Pick<OauthCodeRow, 'codeHash'>): OauthCodeRow {
  return {
    createdAtMs: 0,
    expiresAtMs: 1_000,
    challenge: 'c',
    challengeMethod: 'S256',
    issuerKeyHash: 'k',
    issuerLabel: 'mgw...k',
    keyName: 'App',
    limitNanoUsd: 5,
    limitReset: 'daily',
    keyExpiresAtMs: 9,
    workspaceId: 'w',
    userId: 'u',
    ...changes,
  };
}

for (const { name: engine, makePlace } of ALL_ENGINES)
  suite(`the store of an account: ${engine}`, () => {
    let database: Database;
    let place: Place;
    let credentials: ByokKeyStore;
    let presets: PresetStore;
    before(async () => {
      place = await makePlace();
      database = await openDatabase({ ...place, clock });
      credentials = createByokKeyStore({ database });
      presets = createPresetStore({ database });
    });
    after(async () => {
      await database.close();
      await place.remove();
    });

    test('returns a credential as it was stored, in the order of use', async () => {
      const full = credential({
        id: 'c1',
        name: 'Ours',
        isFallback: true,
        alwaysUse: true,
        disabled: true,
        sortOrder: 2,
        workspaceId: null,
        allowedModels: ['acme/one'],
        allowedApiKeyHashes: ['a'.repeat(64)],
        allowedUserIds: [],
      });
      await credentials.insert(full);
      await credentials.insert(credential({ id: 'c2', sortOrder: 1 }));
      await credentials.insert(credential({ id: 'c3', provider: 'beta' }));
      assert.deepEqual(await credentials.find('c1'), full);
      const { rows, totalCount } = await credentials.list({ ...WINDOW, provider: 'acme' });
      assert.deepEqual([rows.map(({ id }) => id), totalCount], [['c2', 'c1'], 2]);
      assert.deepEqual((await credentials.list({ limit: 1, offset: 1 })).totalCount, 3);
      assert.equal((await credentials.list({ ...WINDOW, workspaceId: 'w' })).totalCount, 2);
      assert.equal(await credentials.nextSortOrder('acme'), 3);
      assert.equal(await credentials.nextSortOrder('nobody'), 0);
    });

    // @spec byok-5
    test('changes only the named fields, and leaves nothing to open in a deleted credential', async () => {
      const kept = credential({ id: 'c4', provider: 'gone', allowedModels: ['acme/one'] });
      await credentials.insert(kept);
      assert.deepEqual(await credentials.update('c4', { disabled: true, allowedModels: null, updatedAtMs: 5 }), {
        ...kept,
        disabled: true,
        allowedModels: null,
        updatedAtMs: 5,
      });
      assert.equal(await credentials.remove('c4', 6), true);
      assert.equal(await credentials.remove('c4', 6), false);
      assert.equal(await credentials.find('c4'), undefined);
      assert.equal(await credentials.update('c4', { disabled: false, updatedAtMs: 7 }), undefined);
      const [row] = await database.kysely.selectFrom('byok_keys').selectAll().where('id', '=', 'c4').execute();
      assert.deepEqual([row?.sealed, row?.secret_id, row?.label], [null, null, '...']);
    });

    test('finds by page what another secret sealed, and replaces only what did not change meanwhile', async () => {
      const { credentials: rows } = createSealedRows(database);
      await credentials.insert(credential({ id: 's1', provider: 'p1', sealed: 'v1.two.abc', secretId: 'two' }));
      assert.ok((await rows.secretIds()).includes('two'));
      const first = await rows.sealedByOthers('two', '', 1);
      const next = await rows.sealedByOthers('two', first[0]?.id ?? '', 100);
      assert.deepEqual(
        [...first, ...next].map(({ id }) => id),
        ['c1', 'c2', 'c3'],
      );
      assert.equal(first[0]?.context, 'acme');
      const [row] = first;
      assert.ok(row !== undefined);
      assert.equal(await rows.reseal({ ...row, sealed: 'other' }, 'v1.two.x', 'two'), false);
      assert.equal(await rows.reseal(row, 'v1.two.x', 'two'), true);
      assert.equal((await credentials.find('c1'))?.sealed, 'v1.two.x');
    });

    test('creates a preset with its first version, and makes each later version the one in use', async () => {
      const one = await presets.write(preset('p', 1), draft('v1'));
      const two = await presets.write(preset('p', 2), draft('v2'));
      assert.deepEqual([one?.preset.id, one?.designated?.version], [two?.preset.id, 1]);
      const found = await presets.find('w', 'p');
      assert.deepEqual([found?.designated?.version, found?.preset.updatedAtMs], [2, 2]);
      assert.deepEqual(found?.designated?.config, { temperature: 0.5 });
      const { rows, totalCount } = await presets.listVersions(found?.preset.id ?? '', { offset: 1, limit: 5 });
      assert.deepEqual([rows.map(({ id }) => id), totalCount], [['v2'], 2]);
      assert.equal((await presets.findVersion(found?.preset.id ?? '', 1))?.id, 'v1');
      assert.equal(await presets.find('another workspace', 'p'), undefined);
    });

    test('gives concurrent writers of one preset a version each, or none', async () => {
      // Each row has an id of its own, as callers send them: PostgreSQL refuses a second row of one id before it
      // compares slugs.
      const written = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          presets.write({ ...preset('race', 3), id: `race-${index}` }, draft(`race-${index}`)),
        ),
      );
      const versions = written.flatMap((one) => one?.designated?.version ?? []);
      assert.equal(new Set(versions).size, versions.length);
      const found = await presets.find('w', 'race');
      const { totalCount } = await presets.listVersions(found?.preset.id ?? '', WINDOW);
      assert.equal(totalCount, versions.length);
      assert.ok(versions.length >= 1);
    });

    test('activates an archived preset when it is written, and leaves other presets as they are', async () => {
      const archived = await presets.write(preset('old', 4), draft('old-1'));
      await presets.update(archived?.preset.id ?? '', { status: 'archived', statusUpdatedAtMs: 5, updatedAtMs: 5 });
      assert.equal((await presets.write(preset('old', 6), draft('old-2')))?.preset.status, 'active');
      await presets.update(archived?.preset.id ?? '', { status: 'disabled', statusUpdatedAtMs: 7, updatedAtMs: 7 });
      assert.equal((await presets.write(preset('old', 8), draft('old-3')))?.preset.status, 'disabled');
      const { rows } = await presets.list('w', WINDOW);
      assert.deepEqual(
        rows.map(({ slug }) => slug),
        ['old', 'race', 'p'],
      );
      assert.equal(await presets.count('w'), 3);
    });

    // @spec key-15
    test('lets a code be used once, however many requests try at once, and never after it expires', async () => {
      const codes = createOauthCodeStore({ database });
      const row = code({ codeHash: 'h1' });
      assert.equal(await codes.insert(row, 0), true);
      assert.equal(await codes.insert(row, 0), false);
      assert.deepEqual(await codes.find('h1'), row);
      assert.equal(await codes.countOpen(row.issuerKeyHash, 999), 1);
      assert.equal(await codes.countOpen('of another', 999), 0);
      assert.equal(await codes.use('h1', 1_000), false);
      const uses = await Promise.all(Array.from({ length: 10 }, () => codes.use('h1', 999)));
      assert.equal(uses.filter(Boolean).length, 1);
      assert.equal(await codes.find('h1'), undefined);
      assert.equal(await codes.countOpen(row.issuerKeyHash, 0), 0);
    });

    test('deletes expired codes', async () => {
      const codes = createOauthCodeStore({ database });
      await codes.insert(code({ codeHash: 'h2' }), 0);
      await codes.insert(code({ codeHash: 'h3', expiresAtMs: 5_000 }), 2_000);
      const left = await database.kysely.selectFrom('oauth_codes').select('code_hash').execute();
      assert.deepEqual(
        left.map(({ code_hash: hash }) => hash),
        ['h3'],
      );
    });

    test('wipes the credentials of a deleted workspace, removes its codes, and keeps those of other workspaces', async () => {
      const workspaceId = DEFAULT_WORKSPACE;
      const codes = createOauthCodeStore({ database });
      await credentials.insert(credential({ id: 'c5', provider: 'left', workspaceId }));
      await credentials.insert(credential({ id: 'c6', provider: 'left', workspaceId: null }));
      await codes.insert(code({ codeHash: 'h4', workspaceId }), 0);
      await codes.insert(code({ codeHash: 'h5' }), 0);
      assert.equal(await createWorkspaceStore({ database }).remove(workspaceId, 6), 'removed');
      const { rows } = await credentials.list({ ...WINDOW, provider: 'left' });
      assert.deepEqual(
        rows.map(({ id, sealed }) => [id, sealed]),
        [['c6', 'v1.one.abc']],
      );
      const [row] = await database.kysely.selectFrom('byok_keys').selectAll().where('id', '=', 'c5').execute();
      assert.deepEqual([row?.sealed, row?.secret_id, row?.deleted_at_ms], [null, null, 6]);
      assert.deepEqual([await codes.find('h4'), (await codes.find('h5'))?.workspaceId], [undefined, 'w']);
      assert.equal(await codes.use('h5', 1), true);
    });
  });
