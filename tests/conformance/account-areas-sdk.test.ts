import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { OpenRouter } from '@openrouter/sdk';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';

const VERIFIER = 'a-verifier-of-enough-characters-0123456789';

/** The public client of the reference API: whatever it cannot parse, or would have to guess, is thrown. */
suite('the public SDK of the reference API', () => {
  let gateway: RunningGateway;
  const sdkWith = (apiKey: string): OpenRouter =>
    new OpenRouter({ apiKey, serverURL: gateway.baseUrl, retryConfig: { strategy: 'none' } });
  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.close());

  // @spec byok-1
  test('creates, reads, changes, lists and deletes BYOK credentials', async () => {
    const { byok } = sdkWith(MANAGEMENT_KEY);
    const created = await byok.create({
      createBYOKKeyRequest: {
        provider: 'anthropic',
        key: 'sk-ant-0123456789abcdef0123456789',
        name: 'Ours',
        isFallback: true,
        allowedModels: ['anthropic/claude-sonnet-4.5'],
      },
    });
    const { id, label } = created.data;
    assert.equal(label, 'sk-...6789');
    const google = await byok.create({ createBYOKKeyRequest: { provider: 'google-ai-studio', key: 'AIza0123456789' } });
    assert.equal(google.data.provider, 'google');
    assert.equal((await byok.get({ id })).data.isFallback, true);
    const updated = await byok.update({ id, updateBYOKKeyRequest: { disabled: true, allowedModels: null } });
    assert.deepEqual([updated.data.disabled, updated.data.allowedModels, updated.data.name], [true, null, 'Ours']);
    const listed = await byok.list({ provider: 'anthropic' });
    for await (const page of listed) assert.deepEqual([page.result.totalCount, page.result.data[0]?.id], [1, id]);
    assert.equal((await byok.delete({ id })).deleted, true);
  });

  test('creates and reads presets, and uses one', async () => {
    const { presets, chat } = sdkWith(API_KEY);
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    const written = await presets.createPresetsChatCompletions({
      slug: 'brief',
      chatRequest: {
        model: 'sandbox/echo',
        temperature: 0.5,
        messages: [{ role: 'system', content: 'Be brief.' }, ...messages],
      },
    });
    assert.equal(written.data.designatedVersion?.systemPrompt, 'Be brief.');
    await presets.createPresetsMessages({
      slug: 'brief',
      messagesRequest: { model: 'sandbox/echo', maxTokens: 50, messages },
    });
    assert.equal((await presets.get({ slug: 'brief' })).data.designatedVersion?.version, 2);
    assert.equal((await presets.getVersion({ slug: 'brief', version: '1' })).data?.version, 1);
    for await (const page of await presets.list({})) assert.equal(page.result.totalCount, 1);
    for await (const page of await presets.listVersions({ slug: 'brief' })) assert.equal(page.result.totalCount, 2);
    const answer = await chat.send({ chatRequest: { model: '@preset/brief', messages } });
    assert.ok('choices' in answer);
    assert.equal(answer.choices[0]?.message.content, 'Hello');
  });

  test('obtains a key with a code', async () => {
    const { data } = await sdkWith(MANAGEMENT_KEY).oAuth.createAuthCode({
      requestBody: {
        callbackUrl: 'https://app.example/done',
        codeChallenge: hash('sha256', VERIFIER, 'base64url'),
        codeChallengeMethod: 'S256',
        limit: 5,
      },
    });
    const { key } = await sdkWith('none').oAuth.exchangeAuthCodeForAPIKey({
      requestBody: { code: data.id, codeVerifier: VERIFIER, codeChallengeMethod: 'S256' },
    });
    assert.equal((await sdkWith(key).apiKeys.getCurrentKeyMetadata()).data.limit, 5);
  });
});
