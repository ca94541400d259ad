import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { OpenRouter } from '@openrouter/sdk';
import { MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

/** The public client of the reference API: whatever it cannot parse is thrown. */
suite('the public SDK of the reference API', () => {
  let gateway: RunningGateway;
  let receiver: ScriptedUpstream;
  let sdk: OpenRouter;
  let generationId = '';
  before(async () => {
    gateway = await startGateway({ yaml: 'observability: { private_destinations: true }' });
    receiver = await startUpstream((_arrived, response) => void response.writeHead(200).end());
    sdk = new OpenRouter({ apiKey: MANAGEMENT_KEY, serverURL: gateway.baseUrl, retryConfig: { strategy: 'none' } });
    await fetch(`${gateway.baseUrl}/workspaces/default`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${MANAGEMENT_KEY}` },
      body: JSON.stringify({ is_observability_io_logging_enabled: true }),
    });
    const messages = [{ role: 'user', content: 'Hello' }];
    const answer = await gateway.post('/chat/completions', { model: 'sandbox/echo', messages });
    generationId = answer.headers.get('x-generation-id') ?? '';
    await answer.text();
  });
  after(async () => {
    await gateway.close();
    await receiver.close();
  });

  test('reads the content of a generation', async () => {
    const content = async () => {
      for (let attempt = 0; ; attempt++) {
        try {
          return await sdk.generations.listGenerationContent({ id: generationId });
        } catch (error) {
          // The record may come a moment after the answer.
          if (attempt === 40) throw error;
          await sleep(25);
        }
      }
    };
    const { data } = await content();
    assert.equal(data.output.completion, 'Hello');
    assert.equal(data.error, null);
  });

  test('sends feedback', async () => {
    const { data } = await sdk.generations.submitFeedback({
      submitGenerationFeedbackRequest: { generationId, category: 'other', comment: 'fine' },
    });
    assert.equal(data.success, true);
  });

  test('reads activity', async () => {
    assert.deepEqual((await sdk.analytics.getUserActivity()).data, []);
  });

  test('queries analytics', async () => {
    const { data: meta } = await sdk.analytics.getAnalyticsMeta();
    assert.ok(meta.metrics.some(({ name }) => name === 'request_count'));
    const { data } = await sdk.analytics.queryAnalytics({
      requestBody: { metrics: ['request_count'], dimensions: ['model'], granularity: 'day' },
    });
    assert.equal(data.metadata.rowCount, 1);
    assert.equal(data.data.length, 1);
  });

  test('creates, reads, changes, lists and deletes destinations', async () => {
    const { data: made } = await sdk.observability.create({
      createObservabilityDestinationRequest: {
        type: 'webhook',
        name: 'Hook',
        config: { url: receiver.baseUrl, headers: { authorization: 'a long secret of thirty characters' } },
        filterRules: { groups: [{ rules: [{ field: 'model', operator: 'equals', value: 'acme/one' }] }] },
      },
    });
    assert.ok(made.type === 'webhook');
    assert.equal(made.config.url, receiver.baseUrl);
    assert.ok(!JSON.stringify(made).includes('thirty'));
    const { id } = made;
    const { data: changed } = await sdk.observability.update({
      id,
      updateObservabilityDestinationRequest: { enabled: false, samplingRate: 0.5, filterRules: null },
    });
    assert.ok(changed.type === 'webhook');
    assert.deepEqual([changed.enabled, changed.samplingRate, changed.filterRules], [false, 0.5, null]);
    const { data: got } = await sdk.observability.get({ id });
    assert.ok(got.type === 'webhook');
    assert.equal(got.name, 'Hook');
    const listed = await sdk.observability.list({});
    assert.ok(JSON.stringify(listed).includes(id));
    assert.equal((await sdk.observability.delete({ id })).deleted, true);
  });
});
