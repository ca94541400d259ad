import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { SettingError, type CallContext, type ConnectionSetup } from '../contract.ts';
import { messagesUpstreamFormat } from '../../wire/messages/format.ts';
import { ADAPTERS } from '../index.ts';
import { TEST_SETTINGS, testCall } from '../../../tests/support/providers/call.ts';

const vertex = ADAPTERS['google-vertex'];
const folder = mkdtempSync(join(tmpdir(), 'vertex-'));
after(() => rmSync(folder, { recursive: true }));

const { privateKey: PRIVATE_KEY } = generateKeyPairSync('ed25519', {
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const ACCOUNT = JSON.stringify({
  type: 'service_account',
  project_id: 'of-the-file',
  client_email: 'a@b.example',
  private_key: PRIVATE_KEY,
});

function connect(setup: Partial<ConnectionSetup>) {
  const connection = vertex.connect?.({ options: {}, env: {}, ...setup });
  assert.ok(connection !== undefined);
  return connection;
}

function pathOf(format: CallContext['format'], model: string, stream: boolean): string | undefined {
  const offer = vertex.formats.find((offered) => offered.format === format);
  return offer?.path?.({ format, settings: TEST_SETTINGS, model, stream });
}

for (const [location, host] of [
  ['global', 'aiplatform.googleapis.com'],
  ['europe-west1', 'europe-west1-aiplatform.googleapis.com'],
  ['eu', 'aiplatform.eu.rep.googleapis.com'],
  ['us', 'aiplatform.us.rep.googleapis.com'],
] as const) {
  test(`reaches the location ${location} at ${host}`, () => {
    const { baseUrl } = connect({ options: { project: 'p-1', location } });
    assert.equal(baseUrl, `https://${host}/v1/projects/p-1/locations/${location}`);
  });
}

test('uses the global location by default', () => {
  assert.match(connect({ options: { project: 'p-1' } }).baseUrl, /^https:\/\/aiplatform\.googleapis\.com\//);
});

test('adds project and location to an address of the operator', () => {
  const { baseUrl } = connect({ baseUrl: 'http://127.0.0.1:9/v1', options: { project: 'p-1', location: 'us-east5' } });
  assert.equal(baseUrl, 'http://127.0.0.1:9/v1/projects/p-1/locations/us-east5');
});

test('takes the project from the entry, then the credential, then the environment', () => {
  const file = join(folder, 'account.json');
  writeFileSync(file, ACCOUNT);
  const env = { GOOGLE_CLOUD_PROJECT: 'of-the-environment' };
  assert.match(connect({ env }).baseUrl, /projects\/of-the-environment\//);
  assert.match(connect({ env, options: { credentials_file: file } }).baseUrl, /projects\/of-the-file\//);
  assert.match(connect({ env, options: { credentials: ACCOUNT } }).baseUrl, /projects\/of-the-file\//);
  assert.match(connect({ env, options: { credentials: ACCOUNT, project: 'own' } }).baseUrl, /projects\/own\//);
  assert.match(connect({ env: { ...env, GOOGLE_VERTEX_PROJECT: 'v' } }).baseUrl, /projects\/v\//);
});

test('never repeats a private key or the project in an error', () => {
  assert.deepEqual(connect({ options: { credentials: ACCOUNT } }).secrets, ['of-the-file', PRIVATE_KEY]);
});

test('serves Gemini alone with a key, without project and location', async () => {
  const connection = connect({ apiKey: 'express' });
  assert.equal(connection.baseUrl, 'https://aiplatform.googleapis.com/v1');
  assert.deepEqual(
    connection.formats?.map(({ format }) => format),
    ['gemini'],
  );
  const call = testCall({ format: 'gemini', settings: { ...TEST_SETTINGS, apiKey: 'express' } });
  assert.deepEqual(await vertex.authorize(call), { 'x-goog-api-key': 'express' });
});

test('refuses an invalid project or location by the name of its variable', () => {
  for (const [env, member] of [
    [{ GOOGLE_CLOUD_PROJECT: 'my project' }, 'GOOGLE_CLOUD_PROJECT'],
    [{ GOOGLE_VERTEX_PROJECT: 'p-1', GOOGLE_VERTEX_LOCATION: 'Europe West1' }, 'GOOGLE_VERTEX_LOCATION'],
    [{ GOOGLE_VERTEX_PROJECT: 'p-1', GOOGLE_CLOUD_LOCATION: 'evil.example/#' }, 'GOOGLE_CLOUD_LOCATION'],
  ] as const)
    assert.throws(
      () => connect({ env }),
      (error: unknown) => error instanceof SettingError && error.member === member,
    );
});

test('never replaces a project, a location or a credential silently by a key', () => {
  for (const options of [{ project: 'p-1' }, { location: 'eu' }, { credentials: ACCOUNT }])
    assert.throws(() => connect({ apiKey: 'express', options }), SettingError);
});

for (const [model, format] of [
  ['gemini-3.5-flash', 'gemini'],
  ['google/gemini-3.5-flash', 'gemini'],
  ['claude-sonnet-4-5@20250929', 'messages'],
  ['anthropic/claude-opus-5', 'messages'],
  ['meta/llama-4-maverick-17b-128e-instruct-maas', 'chat'],
  ['deepseek-ai/deepseek-v3.2-maas', 'chat'],
] as const) {
  test(`calls ${model} in the format ${format}`, () => {
    assert.deepEqual(vertex.formatsOf?.(model), [format]);
  });
}

test('puts the model in the path', () => {
  const gemini = '/publishers/google/models/gemini-3.5-flash';
  assert.equal(pathOf('gemini', 'gemini-3.5-flash', false), `${gemini}:generateContent`);
  assert.equal(pathOf('gemini', 'google/gemini-3.5-flash', true), `${gemini}:streamGenerateContent?alt=sse`);
  const claude = '/publishers/anthropic/models/claude-sonnet-4-5@20250929';
  assert.equal(pathOf('messages', 'claude-sonnet-4-5@20250929', false), `${claude}:rawPredict`);
  assert.equal(pathOf('messages', 'anthropic/claude-sonnet-4-5@20250929', true), `${claude}:streamRawPredict`);
  assert.equal(pathOf('chat', 'meta/x', true), '/endpoints/openapi/chat/completions');
});

test('keeps any name of a model in its place in the path', () => {
  assert.equal(pathOf('gemini', '../../x?y=z', false), '/publishers/google/models/..%2F..%2Fx%3Fy%3Dz:generateContent');
});

test('sends Claude the version in place of the model', () => {
  const context: CallContext = { format: 'messages', settings: TEST_SETTINGS, model: 'claude-opus-5', stream: true };
  const body = { model: 'claude-opus-5', max_tokens: 5, messages: [], stream: true };
  assert.deepEqual(vertex.adjust?.(body, context), {
    max_tokens: 5,
    messages: [],
    stream: true,
    anthropic_version: 'vertex-2023-10-16',
  });
  assert.deepEqual(vertex.adjust?.({ model: 'meta/x' }, { ...context, format: 'chat' }), { model: 'meta/x' });
});

for (const [name, options, member] of [
  ['no project', {}, 'options.project'],
  ['two credentials', { credentials: ACCOUNT, credentials_file: '/x' }, 'options.credentials'],
  ['a file that is not there', { credentials_file: '/nonexistent.json' }, 'options.credentials_file'],
  ['a text that is no credential', { credentials: 'sk-secret-text' }, 'options.credentials'],
  [
    'an account whose key lost its line breaks',
    { credentials: ACCOUNT.replaceAll('\\n', '\\\\n').replace('a@b.example', 'sk-secret-text') },
    'options.credentials',
  ],
  ['an account without its key', { credentials: '{"type":"service_account"}' }, 'options.credentials'],
] as const) {
  test(`refuses ${name} by name, and repeats nothing of it`, () => {
    assert.throws(
      () => connect({ options }),
      (error: unknown) =>
        error instanceof SettingError && error.member === member && !error.message.includes('sk-secret-text'),
    );
  });
}

test('fetches media before it calls Claude, which fetches nothing there', () => {
  const dialect = vertex.dialect({ format: 'messages', model: 'claude-opus-5' });
  assert.equal(messagesUpstreamFormat.mustInlineUrl?.('https://a.example/x.png', 'image', dialect), true);
  assert.equal(messagesUpstreamFormat.mustInlineUrl?.('https://a.example/x.png', 'image', {}), false);
});
