import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SettingError, type CallContext, type ConnectionSetup } from '../contract.ts';
import { ADAPTERS } from '../index.ts';
import { TEST_SETTINGS, testCall } from '../../../tests/support/providers/call.ts';

const { azure } = ADAPTERS;
const KEY = { apiKey: 'azure-key' };

function connect(setup: Partial<ConnectionSetup>) {
  const connection = azure.connect?.({ options: {}, env: {}, ...setup });
  assert.ok(connection !== undefined);
  return connection;
}

function pathOf(setup: Partial<ConnectionSetup>, format: CallContext['format']): string | undefined {
  const offer = connect({ ...KEY, ...setup }).formats?.find((offered) => offered.format === format);
  return offer?.path?.({ format, settings: TEST_SETTINGS, model: 'my deployment', stream: true });
}

for (const [baseUrl, expected] of [
  ['https://r1.openai.azure.com', 'https://r1.openai.azure.com/openai/v1'],
  ['https://r1.openai.azure.com/openai', 'https://r1.openai.azure.com/openai/v1'],
  ['https://r1.openai.azure.com/openai/v1', 'https://r1.openai.azure.com/openai/v1'],
  ['https://r1.services.ai.azure.com', 'https://r1.services.ai.azure.com/openai/v1'],
  ['https://gate.example.com/team/openai/v1', 'https://gate.example.com/team/openai/v1'],
  ['https://gate.example.com/team', 'https://gate.example.com/team/openai/v1'],
] as const) {
  test(`completes ${baseUrl}`, () => {
    assert.equal(connect({ ...KEY, baseUrl }).baseUrl, expected);
    assert.equal(connect({ ...KEY, env: { AZURE_OPENAI_ENDPOINT: `${baseUrl}/` } }).baseUrl, expected);
  });
}

test('turns the name of a resource into an address', () => {
  assert.equal(connect({ ...KEY, options: { resource: 'r2' } }).baseUrl, 'https://r2.openai.azure.com/openai/v1');
});

test('uses the paths of the formats with the v1 API, with the deployment as model', () => {
  assert.equal(pathOf({ options: { resource: 'r1' } }, 'chat'), undefined);
  assert.equal(pathOf({ options: { resource: 'r1' } }, 'responses'), undefined);
});

test('uses a path for each deployment with a version of the API, and sends the version with every call', () => {
  const setup = { options: { resource: 'r1', api_version: '2024-10-21' } };
  assert.equal(connect({ ...KEY, ...setup }).baseUrl, 'https://r1.openai.azure.com/openai');
  assert.equal(pathOf(setup, 'chat'), '/deployments/my%20deployment/chat/completions?api-version=2024-10-21');
  assert.equal(pathOf(setup, 'responses'), '/responses?api-version=2024-10-21');
  assert.equal(connect({ ...KEY, ...setup }).checkPath, '/models?api-version=2024-10-21');
});

test('offers Claude at a Foundry resource, in its own format and beside the others', () => {
  const offers = connect({ ...KEY, baseUrl: 'https://r1.services.ai.azure.com' }).formats;
  assert.deepEqual(offers?.at(-1), { format: 'messages', basePath: '/anthropic/v1' });
  assert.deepEqual(
    connect({ ...KEY, options: { resource: 'r1' } }).formats?.map(({ format }) => format),
    ['chat', 'responses'],
  );
  assert.deepEqual(azure.formatsOf?.('claude-sonnet-4-5'), ['messages']);
  assert.notDeepEqual(azure.formatsOf?.('gpt-4o'), ['messages']);
});

test('sends a key in the header that each of its formats reads', async () => {
  const settings = { ...TEST_SETTINGS, ...KEY };
  assert.deepEqual(await azure.authorize(testCall({ format: 'chat', settings })), { 'api-key': 'azure-key' });
  assert.deepEqual(await azure.authorize(testCall({ format: 'responses', settings })), { 'api-key': 'azure-key' });
  assert.deepEqual(await azure.authorize(testCall({ format: 'messages', settings })), {
    'anthropic-version': '2023-06-01',
    'x-api-key': 'azure-key',
  });
});

test('uses an identity of Entra ID in place of a key', () => {
  const options = { resource: 'r1', tenant_id: 't', client_id: 'c', client_secret: 's' };
  assert.equal(typeof connect({ ...KEY, options }).authorize, 'function');
  assert.equal(typeof connect({ options: { resource: 'r1', entra: true } }).authorize, 'function');
  assert.equal(connect({ ...KEY, options: { resource: 'r1' } }).authorize, undefined);
});

for (const [name, setup, member] of [
  ['no resource', KEY, 'options.resource'],
  [
    'a resource beside an address',
    { ...KEY, baseUrl: 'https://a.example.com', options: { resource: 'r' } },
    'options.resource',
  ],
  ['neither key nor identity', { options: { resource: 'r1' } }, 'api_key'],
  ['a secret without its tenant', { options: { resource: 'r1', client_secret: 's' } }, 'options.tenant_id'],
  [
    'a secret without its application',
    { options: { resource: 'r1', client_secret: 's', tenant_id: 't' } },
    'options.client_id',
  ],
  [
    'an identity that is switched off',
    { ...KEY, options: { resource: 'r1', entra: false, client_id: 'c' } },
    'options.entra',
  ],
  ['a variable that is no address', { ...KEY, env: { AZURE_OPENAI_ENDPOINT: 'r1' } }, 'AZURE_OPENAI_ENDPOINT'],
] as const satisfies readonly (readonly [string, Partial<ConnectionSetup>, string])[]) {
  test(`refuses ${name} by name`, () => {
    assert.throws(
      () => connect(setup),
      (error: unknown) => error instanceof SettingError && error.member === member,
    );
  });
}

test('marks reasoning that was encrypted here', () => {
  assert.equal(azure.dialect({ format: 'responses', model: 'gpt-5.2' }).reasoningFamily, 'azure-openai-responses-v1');
  assert.equal(azure.dialect({ format: 'messages', model: 'claude-opus-5' }).reasoningFamily, undefined);
});
