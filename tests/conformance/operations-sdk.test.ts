import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { OpenRouter } from '@openrouter/sdk';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';

const YAML = `
interns: { enabled: true }
scim: { enabled: true }
organization: { enabled: true }
`;
const MODEL = { author: 'sandbox', slug: 'echo' };

async function countItems(items: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _item of items) count++;
  return count;
}

/**
 * The public client of the reference API validates what it gets: whatever lacks a member that it demands is thrown. What
 * beside these it knows is in the other files `*-sdk.test.ts`, or is not built here (docs/comparison.md).
 */
suite('the public SDK of the reference API', () => {
  let gateway: RunningGateway;
  let sdk: OpenRouter;
  let manager: OpenRouter;
  before(async () => {
    gateway = await startGateway({ yaml: YAML });
    const options = { serverURL: gateway.baseUrl, retryConfig: { strategy: 'none' } } as const;
    sdk = new OpenRouter({ apiKey: API_KEY, ...options });
    manager = new OpenRouter({ apiKey: MANAGEMENT_KEY, ...options });
  });
  after(() => gateway.close());

  // @spec catalog-12
  test('lists models, endpoints and providers, and which tool choices an endpoint has', async () => {
    assert.ok((await countItems(await sdk.models.list())) > 0);
    assert.ok((await countItems(await sdk.models.listForUser({ bearer: API_KEY }))) > 0);
    assert.ok((await sdk.models.count()).data.count > 0);
    assert.equal((await sdk.models.get(MODEL)).data.id, 'sandbox/echo');
    const [endpoint] = (await sdk.endpoints.list(MODEL)).data.endpoints;
    assert.deepEqual(endpoint?.supportsToolChoice, { auto: true, none: true, required: true, function: true });
    assert.ok((await sdk.endpoints.listZdrEndpoints()).data.length > 0);
    assert.ok((await sdk.providers.list()).data.some(({ slug }) => slug === 'sandbox'));
    assert.ok((await sdk.videoGeneration.listVideosModels()).data.length > 0);
    assert.ok((await sdk.images.listModels()).data.length > 0);
    assert.ok((await sdk.images.listModelEndpoints({ author: 'sandbox', slug: 'image' })).endpoints.length > 0);
  });

  // @spec embeddings-16
  test('lists the models that make embeddings, page by page', async () => {
    const idsOf = async (query: string): Promise<readonly string[]> => {
      const response = await fetch(`${gateway.baseUrl}/embeddings/models${query}`);
      return ((await response.json()) as { data: readonly { id: string }[] }).data.map(({ id }) => id);
    };
    const ids = await idsOf('');
    // Those that fail, fail on every route.
    assert.deepEqual(
      ids.filter((id) => !id.startsWith('sandbox/error-')),
      ['sandbox/embed'],
    );
    assert.deepEqual(await idsOf('?offset=1'), ids.slice(1));
    assert.equal(await countItems(await sdk.embeddings.listModels()), 1, 'pages');
  });

  test('makes embeddings, ranks, and decides', async () => {
    const made = await sdk.embeddings.generate({ requestBody: { model: 'sandbox/embed', input: 'hi' } });
    assert.ok(typeof made === 'object' && made.data.length === 1);
    const ranked = await sdk.rerank.rerank({
      requestBody: { model: 'sandbox/rerank', query: 'a', documents: ['a', 'b'] },
    });
    assert.ok(typeof ranked === 'object' && ranked.results.length === 2);
    const decided = await sdk.alpha.decisions.create(
      {
        decisionsRequest: {
          model: 'sandbox/decide',
          state: 'It rains.',
          questions: { wet: { type: 'noul', instructions: 'Is it wet?' } },
        },
      },
      { serverURL: gateway.url },
    );
    assert.deepEqual(Object.keys(decided.answers), ['wet']);
  });

  test('generates responses and presets of them', async () => {
    const responsesRequest = { model: 'sandbox/echo', input: 'Hi' };
    const whole = await sdk.responses.send({ responsesRequest });
    assert.ok('output' in whole && whole.output.length === 1);
    const events = await sdk.responses.send({ responsesRequest: { ...responsesRequest, stream: true } });
    assert.ok(Symbol.asyncIterator in events);
    assert.ok((await countItems(events)) > 5);
    const preset = await manager.presets.createPresetsResponses({ slug: 'of-responses', responsesRequest });
    assert.equal(preset.data.slug, 'of-responses');
  });

  test('makes pictures, speech, transcripts and clips', async () => {
    const imageGenerationRequest = { model: 'sandbox/image', prompt: 'a cat' };
    const whole = await sdk.images.generate({ imageGenerationRequest });
    assert.ok('data' in whole && whole.data.length === 1);
    const events = await sdk.images.generate({ imageGenerationRequest: { ...imageGenerationRequest, stream: true } });
    assert.ok(Symbol.asyncIterator in events);
    assert.ok((await countItems(events)) > 0);
    const speechRequest = { model: 'sandbox/speech', input: 'hi', voice: 'one', responseFormat: 'mp3' } as const;
    const sound = Buffer.from(await new Response(await sdk.tts.createSpeech({ speechRequest })).arrayBuffer());
    const sttRequest = {
      model: 'sandbox/transcribe',
      inputAudio: { data: sound.toString('base64'), format: 'mp3' },
    } as const;
    assert.ok((await sdk.stt.createTranscription({ sttRequest })).text.length > 0);
    const file = { fileName: 'a.mp3', content: new Uint8Array(sound) };
    const sent = await sdk.stt.createTranscriptionMultipart({ requestBody: { model: 'sandbox/transcribe', file } });
    assert.ok(typeof sent === 'object' && sent.text.length > 0);
    const { id: jobId } = await sdk.videoGeneration.generate({
      videoGenerationRequest: { model: 'sandbox/video', prompt: 'ms=10 a cat' },
    });
    for (let look = 0; (await sdk.videoGeneration.getGeneration({ jobId })).status !== 'completed'; look++) {
      assert.ok(look < 1_200, 'the clip is made');
      await wait(50);
    }
    assert.ok((await countItems(await sdk.videoGeneration.getVideoContent({ jobId }))) > 0);
  });

  test('keeps files', async () => {
    const file = { fileName: 'a.txt', content: new Uint8Array([65]) };
    const kept = await sdk.files.upload({ requestBody: { file } });
    const [fileId = ''] = /file_[0-9a-f]+/.exec(JSON.stringify(kept)) ?? [];
    assert.ok(fileId !== '');
    assert.ok((await countItems(await sdk.files.list())) > 0);
    assert.match(JSON.stringify(await sdk.files.retrieve({ fileId })), /a\.txt/);
    await sdk.files.delete({ fileId });
  });

  test('reads benchmarks and shares of tasks without any', async () => {
    const { data, meta } = await sdk.benchmarks.getBenchmarks();
    assert.deepEqual([data, /^\d{4}-\d\d-\d\d$/.test(meta.asOf)], [[], true]);
    assert.deepEqual((await manager.classifications.getTaskClassifications()).data.classifications, []);
  });

  test('stores, lists page by page and deletes secrets', async () => {
    for (const name of ['one', 'two']) {
      const { data } = await manager.vault.storeVaultSecret({
        name,
        vaultSecretWriteRequest: { value: 'a-value', hosts: ['api.example.com'] },
      });
      assert.equal(data.name, name);
    }
    const first = await manager.vault.listVaultSecrets({ limit: 1 });
    assert.deepEqual([first.data.map(({ name }) => name), first.hasMore], [['one'], true]);
    const last = await manager.vault.listVaultSecrets({ limit: 1, offset: 1 });
    assert.deepEqual([last.data.map(({ name }) => name), last.hasMore], [['two'], false]);
    for (const name of ['one', 'two']) await manager.vault.deleteVaultSecret({ name });
    assert.deepEqual((await manager.vault.listVaultSecrets()).data, []);
  });

  // @spec intern-21
  test('creates, provisions, runs, suspends and deletes interns', async () => {
    const { id: internId, status } = await sdk.interns.createIntern({ createInternRequest: { name: 'One' } });
    assert.equal(status, 'queued');
    const changed = await sdk.interns.updateIntern({ internId, updateInternRequest: { model: 'sandbox/echo' } });
    assert.equal(changed.model, 'sandbox/echo');
    assert.equal((await sdk.interns.provisionIntern({ internId })).provisioning, true);
    assert.equal((await sdk.interns.getIntern({ internId })).status, 'running');
    const listed = await sdk.interns.listInterns();
    assert.deepEqual([listed.data.map(({ id }) => id), listed.hasMore], [[internId], false]);
    const { result } = await sdk.interns.chat({
      internId,
      internChatCompletionRequest: { messages: [{ role: 'user', content: 'hi' }], stream: true },
    });
    assert.ok(Symbol.asyncIterator in result);
    assert.ok((await countItems(result)) > 0);
    assert.equal((await sdk.interns.suspendIntern({ internId })).suspended, true);
    assert.equal((await sdk.interns.deleteIntern({ internId, deleteInternRequest: {} })).deleting, true);
  });

  test('lists groups of a directory and their mappings', async () => {
    assert.equal(await countItems(await manager.scim.listGroups()), 1);
    assert.equal(await countItems(await manager.scim.listMappings()), 1);
  });
});
