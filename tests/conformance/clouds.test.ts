import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { suite, test, type TestContext } from 'node:test';
import { expectedSignature, signatureOf } from '../support/providers/bedrock-signature.ts';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { json, sse, startUpstream, stream, type Script, type ScriptedUpstream } from '../support/upstream.ts';

/*
 * What leaves for a cloud: address, credential and body together, as the configuration of an operator makes them. How each
 * format is written is tested beside it.
 */

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2_048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const ACCOUNT = JSON.stringify({
  type: 'service_account',
  project_id: 'project-1',
  private_key_id: 'k',
  private_key: privateKey,
  client_email: 'gateway@project-1.iam.gserviceaccount.com',
});
const ASK = { messages: [{ role: 'user', content: 'Hello' }] };

interface Cloud {
  readonly gateway: RunningGateway;
  readonly upstream: ScriptedUpstream;
}

/** @param provider lines of the provider's entry; HOST stands for the upstream's address */
async function start(
  t: TestContext,
  script: Script,
  provider: string,
  env: Record<string, string> = {},
): Promise<Cloud> {
  const upstream = await startUpstream(script);
  const host = upstream.baseUrl.replace('/v1', '');
  const yaml = `providers:\n${provider.replaceAll('HOST', host)}`;
  const gateway = await startGateway({ yaml, env });
  t.after(async () => {
    await gateway.close();
    await upstream.close();
  });
  return { gateway, upstream };
}

async function content(answer: Response): Promise<unknown> {
  const body = (await answer.json()) as { choices?: { message?: { content?: unknown } }[] };
  assert.equal(answer.status, 200, JSON.stringify(body));
  return body.choices?.[0]?.message?.content;
}

const CHAT_ANSWER = {
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const RESPONSES_ANSWER = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'm',
  output: [
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Hi.', annotations: [] }],
    },
  ],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
};
const GEMINI_ANSWER = {
  candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'Hi.' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
};
const CONVERSE_ANSWER = {
  output: { message: { role: 'assistant', content: [{ text: 'Hi.' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
};
const MESSAGES_STREAM = sse(
  [
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'claude',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 0 },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi.' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ],
  { named: true },
);

suite('azure', () => {
  test('sends the deployment as model and the key in its own header to the v1 API', async (t) => {
    const entry = '  azure: { base_url: "HOST", api_key: azure-key }\n';
    const { gateway, upstream } = await start(t, json(200, CHAT_ANSWER), entry);
    const answer = await gateway.post('/chat/completions', { ...ASK, model: 'azure/my-deployment' });
    assert.equal(await content(answer), 'Hi.');
    const [arrived] = upstream.arrived;
    assert.equal(arrived?.path, '/openai/v1/chat/completions');
    assert.equal(arrived.headers['api-key'], 'azure-key');
    assert.equal(arrived.headers['authorization'], undefined);
    assert.equal(arrived.body['model'], 'my-deployment');
  });

  test('uses the path of the deployment with an API version', async (t) => {
    const entry = '  azure: { base_url: "HOST/openai", api_key: k, options: { api_version: "2024-10-21" } }\n';
    const { gateway, upstream } = await start(t, json(200, CHAT_ANSWER), entry);
    await gateway.post('/chat/completions', { ...ASK, model: 'azure/gpt-4o' });
    assert.equal(upstream.arrived[0]?.path, '/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21');
  });

  test('calls a model without a chat format in the other format', async (t) => {
    const entry = '  azure: { base_url: "HOST", api_key: azure-key }\n';
    const { gateway, upstream } = await start(t, json(200, RESPONSES_ANSWER), entry);
    assert.equal(await content(await gateway.post('/chat/completions', { ...ASK, model: 'azure/gpt-5-pro' })), 'Hi.');
    assert.equal(upstream.arrived[0]?.path, '/openai/v1/responses');
  });
});

suite('google', () => {
  test('sends the key of AI Studio in a header, never in the address', async (t) => {
    const entry = '  google: { base_url: "HOST", api_key: google-key }\n';
    const { gateway, upstream } = await start(t, json(200, GEMINI_ANSWER), entry);
    const answer = await gateway.post('/chat/completions', { ...ASK, model: 'google/gemini-2.5-flash' });
    assert.equal(await content(answer), 'Hi.');
    assert.equal(upstream.arrived[0]?.path, '/v1beta/models/gemini-2.5-flash:generateContent');
    assert.equal(upstream.arrived[0]?.headers['x-goog-api-key'], 'google-key');
  });

  const VERTEX = `  google-vertex:\n    base_url: HOST\n    options: { location: us-east5, credentials: '${ACCOUNT}' }\n`;

  test('calls Gemini at Vertex below project and location, with a token of the service account', async (t) => {
    const { gateway, upstream } = await start(t, json(200, GEMINI_ANSWER), VERTEX);
    const answer = await gateway.post('/chat/completions', { ...ASK, model: 'google-vertex/gemini-2.5-flash' });
    assert.equal(await content(answer), 'Hi.');
    const [arrived] = upstream.arrived;
    assert.equal(
      arrived?.path,
      '/v1/projects/project-1/locations/us-east5/publishers/google/models/gemini-2.5-flash:generateContent',
    );
    assert.match(String(arrived.headers['authorization']), /^Bearer ey[\w-]+\.[\w-]+\.[\w-]+$/);
  });

  test('calls Claude at Vertex in its own format, with the version in the body', async (t) => {
    const { gateway, upstream } = await start(t, stream(MESSAGES_STREAM), VERTEX);
    const answer = await gateway.post('/messages', {
      ...ASK,
      model: 'google-vertex/claude-sonnet-4-5@20250929',
      max_tokens: 10,
      stream: true,
    });
    assert.equal(answer.status, 200);
    assert.match(await answer.text(), /"text":"Hi\."/);
    const [arrived] = upstream.arrived;
    assert.equal(
      arrived?.path,
      '/v1/projects/project-1/locations/us-east5/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict',
    );
    assert.equal(arrived.body['anthropic_version'], 'vertex-2023-10-16');
    assert.equal(arrived.body['stream'], true);
    assert.equal('model' in arrived.body, false);
  });

  test('calls models of other authors at Vertex in the chat format', async (t) => {
    const { gateway, upstream } = await start(t, json(200, CHAT_ANSWER), VERTEX);
    const answer = await gateway.post('/chat/completions', { ...ASK, model: 'google-vertex/meta/llama-4-maas' });
    assert.equal(await content(answer), 'Hi.');
    const [arrived] = upstream.arrived;
    assert.equal(arrived?.path, '/v1/projects/project-1/locations/us-east5/endpoints/openapi/chat/completions');
    assert.equal(arrived.body['model'], 'meta/llama-4-maas');
  });
});

suite('bedrock', () => {
  const SIGNED =
    '  bedrock: { base_url: "HOST", options: { region: eu-west-1, access_key_id: AKID, secret_access_key: shh-secret } }\n';
  const MODEL = 'bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0';
  const TARGET = '/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse';

  test('signs the bytes of a call', async (t) => {
    const { gateway, upstream } = await start(t, json(200, CONVERSE_ANSWER), SIGNED);
    assert.equal(await content(await gateway.post('/chat/completions', { ...ASK, model: MODEL })), 'Hi.');
    const [arrived] = upstream.arrived;
    assert.equal(arrived?.path, TARGET);
    const headers = Object.fromEntries(Object.entries(arrived.headers).map(([name, value]) => [name, String(value)]));
    const request = { method: 'POST', target: arrived.path, headers, body: arrived.text };
    assert.equal(signatureOf(request), expectedSignature(request, 'shh-secret'));
  });

  test('encodes an ARN as one step of the path, with slashes and colons encoded twice in the signature', async (t) => {
    const { gateway, upstream } = await start(t, json(200, CONVERSE_ANSWER), SIGNED);
    const arn = 'arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/a1b2c3';
    await content(await gateway.post('/chat/completions', { ...ASK, model: `bedrock/${arn}` }));
    const [arrived] = upstream.arrived;
    assert.equal(
      arrived?.path,
      '/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A123456789012%3Aapplication-inference-profile%2Fa1b2c3/converse',
    );
    const headers = Object.fromEntries(Object.entries(arrived.headers).map(([name, value]) => [name, String(value)]));
    const request = { method: 'POST', target: arrived.path, headers, body: arrived.text };
    assert.equal(signatureOf(request), expectedSignature(request, 'shh-secret'));
  });

  test('reaches no other path with any model name, and fails with none', async (t) => {
    const { gateway, upstream } = await start(t, json(200, CONVERSE_ANSWER), SIGNED);
    for (const name of ['..', 'x\\ud800', 'a b?c#d'])
      await content(
        await gateway.post(
          '/chat/completions',
          `{"messages":[{"role":"user","content":"Hi"}],"model":"bedrock/${name}"}`,
        ),
      );
    assert.deepEqual(
      upstream.arrived.map(({ path }) => path),
      ['/model/%252E%252E/converse', '/model/x%EF%BF%BD/converse', '/model/a%20b%3Fc%23d/converse'],
    );
    for (const { path, headers, text } of upstream.arrived) {
      const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
      const request = { method: 'POST', target: path, headers: named, body: text };
      assert.equal(signatureOf(request), expectedSignature(request, 'shh-secret'));
    }
  });

  test('sends a Bedrock key as a bearer token', async (t) => {
    const entry = '  bedrock: { base_url: "HOST", api_key: bedrock-key, options: { region: eu-west-1 } }\n';
    const { gateway, upstream } = await start(t, json(200, CONVERSE_ANSWER), entry);
    assert.equal(await content(await gateway.post('/chat/completions', { ...ASK, model: MODEL })), 'Hi.');
    assert.equal(upstream.arrived[0]?.headers['authorization'], 'Bearer bedrock-key');
  });

  // @spec operation-5
  test('hides a secret that a host echoes', async (t) => {
    const echo = json(400, { message: 'The secret shh-secret of AKID-0123 does not match.' });
    const { gateway } = await start(t, echo, SIGNED.replace('AKID', 'AKID-0123'));
    const text = await (await gateway.post('/chat/completions', { ...ASK, model: MODEL })).text();
    assert.ok(!text.includes('shh-secret') && !text.includes('AKID-0123'), text);
  });

  test('sends nothing without a credential, and uses the next provider', async (t) => {
    const chain = {
      AWS_SHARED_CREDENTIALS_FILE: '/nonexistent/credentials',
      AWS_CONFIG_FILE: '/nonexistent/config',
      AWS_EC2_METADATA_DISABLED: 'true',
    };
    // The vendor's chain reads the environment of the process.
    for (const [name, value] of Object.entries(chain)) process.env[name] = value;
    t.after(() => {
      for (const name of Object.keys(chain)) delete process.env[name];
    });
    const entries =
      '  bedrock: { base_url: "HOST", options: { region: eu-west-1, profile: nobody } }\n' +
      '  beta: { adapter: openai-compatible, base_url: "HOST/v1" }\n';
    const { gateway, upstream } = await start(t, json(200, CHAT_ANSWER), entries);
    const alone = await gateway.post('/chat/completions', { ...ASK, model: MODEL });
    assert.equal(alone.status, 502);
    assert.ok(!(await alone.text()).includes('nobody'), 'the reason is only in the log, for the operator');
    assert.equal(upstream.arrived.length, 0);
    const both = await gateway.post('/chat/completions', { ...ASK, models: [MODEL, 'beta/one'] });
    assert.equal(await content(both), 'Hi.');
    assert.deepEqual(
      upstream.arrived.map(({ path }) => path),
      ['/v1/chat/completions'],
    );
  });
});

suite('hosts of the responses format', () => {
  test('is the only format in which Perplexity is called', async (t) => {
    const entry = '  perplexity: { base_url: "HOST/v1", api_key: pplx }\n';
    const { gateway, upstream } = await start(t, json(200, RESPONSES_ANSWER), entry);
    const answer = await gateway.post('/chat/completions', { ...ASK, model: 'perplexity/perplexity/sonar' });
    assert.equal(await content(answer), 'Hi.');
    assert.equal(upstream.arrived[0]?.path, '/v1/responses');
    assert.equal(upstream.arrived[0]?.headers['authorization'], 'Bearer pplx');
    assert.equal(upstream.arrived[0]?.body['model'], 'perplexity/sonar');
  });
});
