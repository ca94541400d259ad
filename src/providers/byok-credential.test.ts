import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { suite, test } from 'node:test';
import { bringCredential, byokFor, problemOfCredential, type ByokProvider } from './byok-credential.ts';
import { ProviderSetupError } from './check-settings.ts';
import type { Provider } from './contract.ts';
import type { ProviderEntry } from './build-provider.ts';
import { createProviders } from './index.ts';

const timeouts = { connectMs: 1, headersMs: 1, firstTokenMs: 1, idleMs: 1, wholeMs: 1 };
const KEY = 'sk-canary-0123456789abcdef';
const OPERATORS = 'sk-operator-0123456789';

function providerOf(entry: Partial<ProviderEntry> & Pick<ProviderEntry, 'slug'>): Provider {
  const config = [{ adapter: entry.slug, headers: {}, timeouts: {}, ...entry }];
  return createProviders({ config, env: {}, timeouts }).get(entry.slug) ?? assert.fail();
}

async function headersOf({ provider }: ByokProvider, format: Provider['formats'][number]['format']) {
  const { settings } = provider;
  const call = {
    format,
    settings,
    model: 'm',
    stream: false,
    method: 'POST',
    url: `${settings.baseUrl}/x`,
    body: '{}',
  };
  return { ...settings.headers, ...(await provider.authorize({ ...call, method: 'POST', headers: {} })) };
}

function only(byok: readonly ByokProvider[]): ByokProvider {
  const [first, ...more] = byok;
  assert.ok(first !== undefined && more.length === 0);
  return first;
}

function refusal(base: Provider, text: string): string {
  try {
    bringCredential(base, text, {});
  } catch (error) {
    assert.ok(error instanceof ProviderSetupError, String(error));
    const problem = problemOfCredential(error);
    assert.ok(!`${error.message} ${problem}`.includes('canary'), error.message);
    return problem;
  }
  return assert.fail('it was taken');
}

suite('a key', () => {
  test('takes the place of the operator’s, of which nothing is left', async () => {
    const headers = { Authorization: `Bearer ${OPERATORS}`, 'x-tenant': 'acme' };
    const base = providerOf({ slug: 'openai', apiKey: OPERATORS, headers, sendsTraceContext: true });
    const byok = only(bringCredential(base, ` ${KEY}\n`, {}));
    const sent = await headersOf(byok, 'chat');
    assert.deepEqual(sent, { 'x-tenant': 'acme', authorization: `Bearer ${KEY}` });
    assert.equal(byok.shown, KEY);
    assert.equal(byok.provider.isByok, true);
    assert.equal(byok.provider.settings.sendsTraceContext, undefined, 'traces are of the operator');
    assert.ok(!JSON.stringify(byok.provider.settings).includes(OPERATORS));
    assert.equal(base.settings.apiKey, OPERATORS);
  });

  test('is refused without being repeated when it cannot stand in a header', () => {
    assert.match(refusal(providerOf({ slug: 'anthropic', apiKey: OPERATORS }), 'canary with blanks'), /printable/);
  });
});

suite('Amazon Bedrock', () => {
  const base = providerOf({ slug: 'bedrock', options: { region: 'us-east-1' } });

  // @spec byok-14
  test('signs for the region of the signing keys', async () => {
    const keys = {
      accessKeyId: 'AKIDEXAMPLE',
      secretAccessKey: 'canary-secret',
      region: 'eu-west-1',
      sessionToken: 't',
    };
    const byok = only(bringCredential(base, JSON.stringify(keys), {}));
    assert.equal(byok.provider.settings.baseUrl, 'https://bedrock-runtime.eu-west-1.amazonaws.com');
    const { authorization = '' } = await headersOf(byok, 'converse');
    assert.match(authorization, /Credential=AKIDEXAMPLE\/\d+\/eu-west-1\/bedrock/);
    assert.equal(byok.shown, 'AKIDEXAMPLE');
    assert.ok(byok.provider.settings.secrets?.includes('canary-secret'));
  });

  test("uses a Bedrock key in the operator's region, else in that of the environment", async () => {
    const byok = only(bringCredential(base, KEY, { AWS_REGION: 'ap-south-1' }));
    assert.equal(byok.provider.settings.baseUrl, 'https://bedrock-runtime.ap-south-1.amazonaws.com');
    assert.equal((await headersOf(byok, 'converse'))['authorization'], `Bearer ${KEY}`);
    assert.match(refusal(base, KEY), /region/);
  });

  test('refuses incomplete and unknown credentials', () => {
    for (const text of [
      '{"accessKeyId":"canary"}',
      '{"canary":1}',
      '{canary',
      '{"accessKeyId":"a","secretAccessKey":"b","region":"canary!"}',
    ])
      assert.ok(refusal(base, text).length > 0);
  });
});

suite('Google Vertex', () => {
  const base = providerOf({ slug: 'google-vertex', options: { project: 'operators' } });
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const account = {
    type: 'service_account',
    project_id: 'theirs',
    client_email: 'bot@theirs.example',
    private_key: privateKey,
  };

  // @spec byok-14
  test("calls the service account's own project, in the region that the account names", () => {
    const at = (more: object) =>
      only(bringCredential(base, JSON.stringify({ ...account, ...more }), {})).provider.settings.baseUrl;
    assert.equal(at({}), 'https://aiplatform.googleapis.com/v1/projects/theirs/locations/global');
    assert.equal(
      at({ region: 'europe-west1', bucket: 'b' }),
      'https://europe-west1-aiplatform.googleapis.com/v1/projects/theirs/locations/europe-west1',
    );
  });

  test('refuses what is no service account', () => {
    for (const text of ['{"type":"canary"}', JSON.stringify({ ...account, private_key: 'canary' }), '{"canary"'])
      assert.ok(refusal(base, text).length > 0);
  });
});

suite('Azure', () => {
  const base = providerOf({ slug: 'azure', apiKey: OPERATORS, options: { resource: 'operators' } });
  const places = [
    { api_key: KEY, resource_name: 'ours' },
    {
      model_slug: 'openai/gpt-4o',
      endpoint_url: 'https://special.openai.azure.com/openai/deployments/my-4o/chat/completions?api-version=2024-10-21',
      api_key: `${KEY}-2`,
      model_id: 'gpt-4o',
    },
  ];

  // @spec byok-14
  test('prefers a deployment to a resource for its own model, and serves others with the resource', async () => {
    const byok = bringCredential(base, JSON.stringify(places), {});
    const special = byokFor(byok, 'openai/gpt-4o') ?? assert.fail();
    const other = byokFor(byok, 'openai/gpt-5') ?? assert.fail();
    assert.deepEqual(
      [special.provider.settings.baseUrl, special.upstreamModel, (await headersOf(special, 'chat'))['api-key']],
      ['https://special.openai.azure.com/openai', 'my-4o', `${KEY}-2`],
    );
    assert.deepEqual(
      [other.provider.settings.baseUrl, other.upstreamModel, (await headersOf(other, 'chat'))['api-key']],
      ['https://ours.openai.azure.com/openai/v1', undefined, KEY],
    );
    assert.equal(byokFor(bringCredential(base, JSON.stringify([places[1]]), {}), 'openai/gpt-5'), undefined);
  });

  test('offers Claude with a Foundry resource, too', () => {
    const text = JSON.stringify([{ api_key: KEY, resource_name: 'ours', resource_type: 'ai_foundry' }]);
    const { provider } = only(bringCredential(base, text, {}));
    assert.equal(provider.settings.baseUrl, 'https://ours.services.ai.azure.com/openai/v1');
    assert.ok(provider.formats.some(({ format }) => format === 'messages'));
  });

  test('refuses an address that is not the vendor’s', () => {
    const elsewhere = { ...places[1], endpoint_url: 'https://canary.example/openai/deployments/x' };
    assert.match(refusal(base, JSON.stringify([elsewhere])), /address of Azure/);
    for (const text of ['[]', '{"canary":1}', `[{"api_key":"canary","resource_name":"not a name"}]`, KEY])
      assert.ok(refusal(base, text).length > 0);
  });
});
