import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { OpenRouter } from '@openrouter/sdk';
import { MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';

/** The public client of the reference API: whatever it cannot parse, or would have to guess, is thrown. */
suite('the public SDK of the reference API', () => {
  let gateway: RunningGateway;
  let sdk: OpenRouter;
  let generationId = '';
  before(async () => {
    gateway = await startGateway();
    sdk = new OpenRouter({
      apiKey: MANAGEMENT_KEY,
      serverURL: gateway.baseUrl,
      retryConfig: { strategy: 'none' },
    });
    const answer = await gateway.post('/chat/completions', {
      model: 'sandbox/echo',
      messages: [{ role: 'user', content: 'Hello' }],
    });
    assert.equal(answer.status, 200);
    generationId = answer.headers.get('x-generation-id') ?? '';
    await answer.text();
  });
  after(() => gateway.close());

  test('creates, reads, changes, lists and deletes keys', async () => {
    const created = await sdk.apiKeys.create({
      requestBody: { name: 'App', limit: 5, limitReset: 'weekly', creatorUserId: 'ann' },
    });
    assert.match(created.key, /^mgw-/);
    const { hash } = created.data;
    assert.deepEqual(
      [created.data.limit, created.data.limitRemaining, created.data.limitReset, created.data.creatorUserId],
      [5, 5, 'weekly', 'ann'],
    );
    assert.equal((await sdk.apiKeys.get({ hash })).data.name, 'App');
    const updated = await sdk.apiKeys.update({ hash, requestBody: { name: 'Renamed', disabled: true } });
    assert.deepEqual([updated.data.name, updated.data.disabled], ['Renamed', true]);
    const listed = await sdk.apiKeys.list({ includeDisabled: true });
    assert.ok(listed.data.some((key) => key.hash === hash));
    assert.equal((await sdk.apiKeys.delete({ hash })).deleted, true);
  });

  // @spec key-11
  test('reads its own key', async () => {
    const { data } = await sdk.apiKeys.getCurrentKeyMetadata();
    assert.equal(data.isManagementKey, true);
  });

  // @spec money-42
  test('reads the credits', async () => {
    const { data } = await sdk.credits.getCredits();
    assert.equal(typeof data.totalCredits, 'number');
    assert.equal(typeof data.totalUsage, 'number');
  });

  test('reads a generation', async () => {
    const { data } = await sdk.generations.getGeneration({ id: generationId });
    assert.deepEqual([data.id, data.model], [generationId, 'sandbox/echo']);
  });

  test('creates, reads, changes, lists and deletes workspaces', async () => {
    const created = await sdk.workspaces.create({ createWorkspaceRequest: { name: 'Team', slug: 'team' } });
    const { id } = created.data;
    assert.equal((await sdk.workspaces.get({ id: 'team' })).data.id, id);
    const updated = await sdk.workspaces.update({
      id,
      updateWorkspaceRequest: { description: 'Search', defaultProviderSort: 'price', ioLoggingSamplingRate: 0.5 },
    });
    assert.deepEqual([updated.data.description, updated.data.ioLoggingSamplingRate], ['Search', 0.5]);
    const slugs: string[] = [];
    for await (const page of await sdk.workspaces.list({ limit: 1 }))
      slugs.push(...page.result.data.map(({ slug }) => slug));
    assert.deepEqual(slugs, ['default', 'team'], 'page after page');

    const upserted = await sdk.workspaces.setBudget({
      workspaceRef: id,
      interval: 'monthly',
      upsertWorkspaceBudgetRequest: { limitUsd: 20, includeByokInBudgets: true },
    });
    assert.deepEqual([upserted.data.limitUsd, upserted.data.resetInterval], [20, 'monthly']);
    assert.equal((await sdk.workspaces.listBudgets({ workspaceRef: id })).data.length, 1);
    assert.equal((await sdk.workspaces.getBudget({ workspaceRef: id, interval: 'monthly' })).data.limitUsd, 20);
    assert.equal((await sdk.workspaces.deleteBudget({ workspaceRef: id, interval: 'monthly' })).deleted, true);

    const added = await sdk.workspaces.bulkAddMembers({ id, bulkAddWorkspaceMembersRequest: { userIds: ['ann'] } });
    assert.equal(added.addedCount, 1);
    for await (const page of await sdk.workspaces.listMembers({ id }))
      assert.deepEqual(
        page.result.data.map(({ userId, role }) => [userId, role]),
        [['ann', 'member']],
      );
    const removed = await sdk.workspaces.bulkRemoveMembers({
      id,
      bulkRemoveWorkspaceMembersRequest: { userIds: ['ann'] },
    });
    assert.equal(removed.removedCount, 1);
    assert.equal((await sdk.workspaces.delete({ id })).deleted, true);
  });

  // @spec workspace-12
  test('lists the users of the organization once a user is named', async () => {
    const list = () => sdk.organization.listMembers({ limit: 10 });
    await assert.rejects(list(), { statusCode: 404 });
    for (const creatorUserId of ['ben@example.com', 'ann'])
      await sdk.apiKeys.create({ requestBody: { name: 'a key of one', creatorUserId } });
    for await (const { result } of await list())
      assert.deepEqual(result, {
        data: [
          { id: 'ann', email: '', firstName: null, lastName: null, role: 'org:member' },
          { id: 'ben@example.com', email: 'ben@example.com', firstName: null, lastName: null, role: 'org:member' },
        ],
        totalCount: 2,
      });
  });

  // @spec guardrail-7
  test('creates, reads, changes, assigns, lists and deletes guardrails', async () => {
    const created = await sdk.guardrails.create({
      createGuardrailRequest: {
        name: 'Web',
        limitUsd: 10,
        resetInterval: 'daily',
        allowedProviders: ['sandbox'],
        enforceZdrOpenai: true,
        contentFilters: [{ pattern: 'acme-\\d+', action: 'redact', label: '[ID]' }],
        contentFilterBuiltins: [{ slug: 'regex-prompt-injection', action: 'block', scanScope: 'user_only' }],
      },
    });
    const { id } = created.data;
    assert.equal((await sdk.guardrails.get({ id })).data.contentFilterBuiltins?.[0]?.label, '[PROMPT_INJECTION]');
    const updated = await sdk.guardrails.update({ id, updateGuardrailRequest: { allowedProviders: null } });
    assert.equal(updated.data.allowedProviders, null);
    for await (const page of await sdk.guardrails.list({}))
      assert.deepEqual(
        page.result.data.map((each) => each.id),
        [id],
      );

    const key = await sdk.apiKeys.create({ requestBody: { name: 'Ruled' } });
    const keyHashes = [key.data.hash];
    const keys = await sdk.guardrails.bulkAssignKeys({ id, bulkAssignKeysRequest: { keyHashes } });
    assert.equal(keys.assignedCount, 1);
    for await (const page of await sdk.guardrails.listGuardrailKeyAssignments({ id }))
      assert.deepEqual(
        page.result.data.map(({ keyName }) => keyName),
        ['Ruled'],
      );
    for await (const page of await sdk.guardrails.listKeyAssignments({})) assert.equal(page.result.totalCount, 1);
    const members = await sdk.guardrails.bulkAssignMembers({
      id,
      bulkAssignMembersRequest: { memberUserIds: ['ann'] },
    });
    assert.equal(members.assignedCount, 1);
    for await (const page of await sdk.guardrails.listMemberAssignments({}))
      assert.deepEqual(
        page.result.data.map(({ userId }) => userId),
        ['ann'],
      );
    const taken = await sdk.guardrails.bulkUnassignKeys({ id, bulkUnassignKeysRequest: { keyHashes } });
    assert.equal(taken.unassignedCount, 1);
    for await (const page of await sdk.guardrails.listGuardrailMemberAssignments({ id }))
      assert.equal(page.result.totalCount, 1);
    const left = await sdk.guardrails.bulkUnassignMembers({
      id,
      bulkUnassignMembersRequest: { memberUserIds: ['ann', 'ben'] },
    });
    assert.equal(left.unassignedCount, 1);
    assert.equal((await sdk.guardrails.delete({ id })).deleted, true);
  });

  test('throws an error class of its own for what does not exist', async () => {
    await assert.rejects(sdk.workspaces.get({ id: 'nobody' }), { statusCode: 404 });
    await assert.rejects(sdk.guardrails.get({ id: '11111111-1111-4111-8111-111111111111' }), { statusCode: 404 });
  });
});
