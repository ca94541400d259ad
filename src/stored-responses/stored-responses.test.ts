import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Policy } from '../accounts/policy/policy.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { GenerationRequest, ResponseOptions } from '../canonical/request.ts';
import { systemClock } from '../lib/clock.ts';
import type { Json, JsonObject } from '../lib/json.ts';
import type { ResponseRows } from '../state/contract.ts';
import { createMemoryResponses } from '../state/memory/response-rows.ts';
import { createStoredResponses, type StoredResponses, type StoredResponsesConfig } from './stored-responses.ts';
import { CLIENT_FORMATS } from '../../tests/support/prepare-request.ts';
import { samplePrincipal } from '../../tests/support/principal.ts';

const KEY = samplePrincipal();
const OTHER_KEY = samplePrincipal({ keyHash: 'b'.repeat(64) });
let nowMs = 1_790_000_000_000;
const POLICY = { zeroRetention: {}, preferences: [] };

interface Opened {
  readonly stored: StoredResponses;
  readonly rows: ResponseRows;
  readonly lost: unknown[];
}

function open(
  config: Partial<StoredResponsesConfig> = {},
  {
    policy = POLICY,
    rows = memoryRows(),
    origins = new Map(),
  }: { readonly policy?: object; readonly rows?: ResponseRows; readonly origins?: Map<string, string> } = {},
): Opened {
  const lost: unknown[] = [];
  const stored = createStoredResponses({
    config: { store: 'memory', share: 'key', zdr: false, bytesMax: 100_000, ...config },
    rows,
    origins: {
      originOf: (_owner, encrypted) => origins.get(encrypted),
      learn: (_owner, encrypted, provider) => origins.set(encrypted, provider),
    },
    policyOf: () => policy as Policy,
    // No two responses are made in the same millisecond.
    clock: { nowMs: () => ++nowMs },
    checkAccepted: () => Promise.resolve(),
    onLost: (_id, error) => lost.push(error),
  });
  return { stored, rows, lost };
}

function memoryRows(): ResponseRows {
  return createMemoryResponses({ clock: systemClock, room: { bytesMax: 10_000_000, lifeMs: 60_000 } });
}

function requestWith(options: Partial<ResponseOptions>, body: JsonObject = {}): GenerationRequest {
  const chat = { model: 'acme/one', messages: [{ role: 'user', content: 'x' }], ...body };
  const request = CLIENT_FORMATS.chat.decodeRequest(chat, JSON.stringify(chat), { serviceMetadata: false, betas: [] });
  return { ...request, response: { echo: {}, include: new Set(), items: [], ...options } };
}

const asked = (id: string): JsonObject => ({
  id,
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text: id }],
});
const said = (id: string): JsonObject => ({
  id,
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: `said ${id}` }],
});

async function keep(
  { stored }: Opened,
  id: string,
  {
    options = {},
    output = [said(`msg_${id}`)],
    status = 'completed',
    isCancelled = false,
    principal = KEY,
  }: {
    readonly options?: Partial<ResponseOptions>;
    readonly output?: readonly JsonObject[];
    readonly status?: string;
    readonly isCancelled?: boolean;
    readonly principal?: typeof KEY;
  } = {},
): Promise<boolean> {
  const keeper = await stored.keeperOf(principal, requestWith({ items: [asked(`in_${id}`)], ...options }));
  assert.ok(keeper !== undefined);
  return keeper({ id, object: 'response', status, error: null, store: true, output }, isCancelled);
}

async function refusalOf(run: () => unknown): Promise<GatewayError> {
  try {
    await run();
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error));
    return error;
  }
  return assert.fail('nothing was refused');
}

async function historyOf({ stored }: Opened, body: Json, principal = KEY): Promise<readonly unknown[]> {
  const { history = [] } = await stored.prepare(principal, body);
  return history.map(({ id }) => id);
}

const SEALED: JsonObject = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'gAAAAAsealed' };

suite('a response that continues another', () => {
  for (const body of [{ previous_response_id: 'a' }, { input: [{ type: 'item_reference', id: 'rs_1' }] }])
    // @spec responses-132
    test(`brings along which provider made its encrypted reasoning: ${Object.keys(body).join('')}`, async () => {
      const opened = open({}, { origins: new Map([['gAAAAAsealed', 'two']]) });
      await keep(opened, 'a', { output: [SEALED, said('msg_a')] });
      const later = new Map<string, string>();
      await open({}, { rows: opened.rows, origins: later }).stored.prepare(KEY, body);
      assert.deepEqual([...later], [['gAAAAAsealed', 'two']]);
    });

  // @spec responses-88
  test('has all items before it, from the root on, at once', async () => {
    const opened = open();
    await keep(opened, 'a');
    await keep(opened, 'b', { options: { previousResponseId: 'a' } });
    // A branch beside it.
    await keep(opened, 'c', { options: { previousResponseId: 'a' } });
    assert.deepEqual(await historyOf(opened, { previous_response_id: 'b' }), ['in_a', 'msg_a', 'in_b', 'msg_b']);
    assert.deepEqual(await historyOf(opened, { previous_response_id: 'c' }), ['in_a', 'msg_a', 'in_c', 'msg_c']);
    assert.deepEqual(await historyOf(opened, { previous_response_id: null, input: 'x' }), []);
  });

  // @spec responses-91, responses-pains-37
  test('is refused with one text for what is unknown, of another key, and deleted', async () => {
    const opened = open();
    await keep(opened, 'a');
    await keep(opened, 'gone');
    await opened.stored.delete(KEY, 'gone');
    const refusals = [
      await refusalOf(() => opened.stored.prepare(KEY, { previous_response_id: 'never' })),
      await refusalOf(() => opened.stored.prepare(OTHER_KEY, { previous_response_id: 'a' })),
      await refusalOf(() => opened.stored.prepare(KEY, { previous_response_id: 'gone' })),
    ];
    for (const { type, status, message, issues, metadata } of refusals) {
      assert.deepEqual([type, status, message], ['invalid_request', 400, refusals[0]?.message]);
      assert.deepEqual(
        [issues?.[0]?.path, metadata],
        ['previous_response_id', { reason: 'previous_response_not_found' }],
      );
    }
  });

  // @spec responses-92
  test('may be of another key of the workspace where the operator shares them', async () => {
    const opened = open({ share: 'workspace' });
    await keep(opened, 'a');
    assert.deepEqual(await historyOf(opened, { previous_response_id: 'a' }, OTHER_KEY), ['in_a', 'msg_a']);
    const elsewhere = samplePrincipal({ workspaceId: 'other' });
    await refusalOf(() => opened.stored.prepare(elsewhere, { previous_response_id: 'a' }));
  });

  // @spec responses-93
  test('is refused where a link is missing, with how far back that is', async () => {
    const opened = open();
    await keep(opened, 'a');
    await keep(opened, 'b', { options: { previousResponseId: 'a' } });
    await keep(opened, 'c', { options: { previousResponseId: 'b' } });
    await opened.stored.delete(KEY, 'a');
    const { message } = await refusalOf(() => opened.stored.prepare(KEY, { previous_response_id: 'c' }));
    assert.match(message, /^previous_response_id: .*not kept any more, 2 steps before it/);
  });

  // @spec responses-89
  test('is refused beyond the size of a body, and beyond 1,000 links', async () => {
    const small = open({ bytesMax: 300 });
    await keep(small, 'a');
    await keep(small, 'b', { options: { previousResponseId: 'a' } });
    const { message } = await refusalOf(() => small.stored.prepare(KEY, { previous_response_id: 'b' }));
    assert.match(message, /more than 300 bytes/);
    const long = open({ bytesMax: 10_000_000 });
    for (let index = 0; index <= 1_000; index++)
      await keep(long, `r${index}`, { options: index === 0 ? {} : { previousResponseId: `r${index - 1}` } });
    assert.equal((await historyOf(long, { previous_response_id: 'r999' })).length, 2_000);
    const refusal = await refusalOf(() => long.stored.prepare(KEY, { previous_response_id: 'r1000' }));
    assert.match(refusal.message, /more than 1000 responses/);
  });

  // @spec responses-95
  test('goes on from one that was broken off: its texts stay, its unfinished calls go', async () => {
    const opened = open();
    const call = { id: 'fc_1', type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a', status: 'incomplete' };
    const text = { ...said('msg_1'), status: 'incomplete' };
    await keep(opened, 'a', { output: [text, call], status: 'failed', isCancelled: true });
    assert.deepEqual(await historyOf(opened, { previous_response_id: 'a' }), ['in_a', 'msg_1']);
    const { response } = await opened.stored.find(KEY, 'a');
    assert.deepEqual([response['status'], response['error']], ['cancelled', null]);
  });

  // @spec responses-97
  test('is refused while the store is away, in a way that clients try again', async () => {
    const away = (): Promise<never> => Promise.reject(new Error('away'));
    const opened = open({}, { rows: { ...memoryRows(), find: away, findChain: away, findByItems: away } });
    for (const body of [{ previous_response_id: 'a' }, { input: [{ type: 'item_reference', id: 'x' }] }])
      assert.equal((await refusalOf(() => opened.stored.prepare(KEY, body))).status, 503);
    assert.equal((await refusalOf(() => opened.stored.find(KEY, 'a'))).status, 503);
  });
});

suite('a reference to a kept item', () => {
  // @spec responses-94, responses-pains-38
  test('is resolved among outputs and inputs, the newest of one id, also of a broken response', async () => {
    const opened = open();
    await keep(opened, 'a', { output: [{ ...said('msg_x'), phase: 'old' }] });
    await keep(opened, 'b', { output: [{ ...said('msg_x'), phase: 'new' }], status: 'failed', isCancelled: true });
    const input = ['msg_x', 'in_a', 'unknown'].map((id) => ({ type: 'item_reference', id }));
    const { references } = await opened.stored.prepare(KEY, { input });
    assert.deepEqual([...(references?.keys() ?? [])].toSorted(), ['in_a', 'msg_x']);
    assert.equal(references?.get('msg_x')?.['phase'], 'new');
    const foreign = await opened.stored.prepare(OTHER_KEY, { input });
    assert.equal(foreign.references?.size, 0);
  });

  // @spec responses-94
  test('is refused where it names an item of its own input', async () => {
    const input = [asked('m1'), { type: 'item_reference', id: 'm1' }];
    const { status, issues } = await refusalOf(() => open().stored.prepare(KEY, { input }));
    assert.deepEqual([status, issues?.[0]?.path], [400, 'input[1].id']);
  });

  test('tells the decoder by its absence that nothing is kept', async () => {
    const { stored } = open({ store: 'off' });
    const context = await stored.prepare(KEY, { input: [{ type: 'item_reference', id: 'x' }] });
    assert.deepEqual(context, { accountId: KEY.accountId });
    const { message } = await refusalOf(() => stored.prepare(KEY, { previous_response_id: 'a' }));
    assert.match(message, /responses\.store/);
  });
});

suite('whether a response is kept', () => {
  const keeps = async (opened: Opened, request: GenerationRequest): Promise<boolean> =>
    (await opened.stored.keeperOf(KEY, request)) !== undefined;

  // @spec responses-83, responses-84
  test('follows the request, then the configuration', async () => {
    for (const store of ['memory', 'database'] as const) {
      assert.equal(await keeps(open({ store }), requestWith({})), true);
      assert.equal(await keeps(open({ store }), requestWith({ store: true })), true);
      assert.equal(await keeps(open({ store }), requestWith({ store: false })), false);
    }
    const off = open({ store: 'off' });
    assert.equal(await keeps(off, requestWith({})), false);
    assert.equal(await keeps(off, requestWith({ store: false })), false);
    const { status, issues, message } = await refusalOf(() => off.stored.keeperOf(KEY, requestWith({ store: true })));
    assert.deepEqual([status, issues?.[0]?.path], [400, 'store']);
    assert.match(message, /responses\.store/);
  });

  // @spec responses-84
  test('is no where providers may retain nothing: by the request, a default, a guardrail, the configuration', async () => {
    const zdr = { provider: { zdr: true } };
    const cases: readonly (readonly [Opened, JsonObject])[] = [
      [open(), zdr],
      [open({ zdr: true }), {}],
      [open({}, { policy: { ...POLICY, preferences: [{}, { zdr: true }] } }), {}],
      [open({}, { policy: { ...POLICY, zeroRetention: { openai: true } } }), {}],
    ];
    for (const [opened, body] of cases) {
      assert.equal(await keeps(opened, requestWith({}, body)), false);
      const insist = await refusalOf(() => opened.stored.keeperOf(KEY, requestWith({ store: true }, body)));
      assert.deepEqual([insist.status, insist.issues?.[0]?.path], [400, 'store']);
    }
  });

  // @spec responses-21
  test('is no question for one that is to run in the background, which is refused where nothing does', async () => {
    const request = requestWith({ background: true });
    const accepted = { text: '{}', headers: { serviceMetadata: false, betas: [] }, isLarge: false };
    const of = { generationId: 'gen-1', principal: KEY, request, accepted };
    const { status, issues } = await refusalOf(() => open().stored.accept(of));
    assert.deepEqual([status, issues?.[0]?.path], [400, 'background']);
  });

  // @spec responses-85
  test('is no for a failure without output, and yes for one with output', async () => {
    const opened = open();
    assert.equal(await keep(opened, 'a', { status: 'failed', output: [] }), false);
    assert.equal(await keep(opened, 'b', { status: 'failed' }), true);
    await refusalOf(() => opened.stored.find(KEY, 'a'));
  });

  // @spec responses-85
  test('is no where it cannot be written, without an error, after a second try at the database', async () => {
    for (const [store, tries] of [
      ['memory', 1],
      ['database', 2],
    ] as const) {
      let put = 0;
      const rows: ResponseRows = {
        ...memoryRows(),
        put() {
          put++;
          return Promise.reject(new Error('away'));
        },
      };
      const opened = open({ store }, { rows });
      assert.equal(await keep(opened, 'a'), false);
      assert.deepEqual([put, opened.lost.length], [tries, 1]);
    }
  });
});

suite('a kept response that is read', () => {
  // @spec responses-59
  test('is the object that its caller got, with the text of all messages', async () => {
    const opened = open();
    await keep(opened, 'a', { output: [said('m1'), { id: 'rs', type: 'reasoning', summary: [] }, said('m2')] });
    const { response } = await opened.stored.find(KEY, 'a');
    assert.deepEqual([response['id'], response['status'], response['store']], ['a', 'completed', true]);
    assert.equal(response['output_text'], 'said m1said m2');
    assert.equal((await refusalOf(() => opened.stored.find(OTHER_KEY, 'a'))).status, 404);
  });

  // @spec responses-90
  test('lists its whole input in pages, the newest first, without large images unless they are included', async () => {
    const opened = open();
    const image = { type: 'input_image', image_url: `data:image/png;base64,${'A'.repeat(2_000)}` };
    await keep(opened, 'a');
    await keep(opened, 'b', {
      options: { previousResponseId: 'a', items: [{ ...asked('in_b'), content: [image] }] },
    });
    const page = (window: object): Promise<JsonObject> =>
      opened.stored.listInput(KEY, 'b', { limit: 20, order: 'desc', after: undefined, showsImages: false, ...window });
    const idsOf = ({ data }: JsonObject): unknown => Array.isArray(data) && data.map((item: JsonObject) => item['id']);
    const all = await page({});
    assert.deepEqual(idsOf(all), ['in_b', 'msg_a', 'in_a']);
    assert.deepEqual([all['first_id'], all['last_id'], all['has_more']], ['in_b', 'in_a', false]);
    const first = await page({ limit: 2, order: 'asc' });
    assert.deepEqual([idsOf(first), first['has_more']], [['in_a', 'msg_a'], true]);
    assert.deepEqual(idsOf(await page({ limit: 2, order: 'asc', after: 'msg_a' })), ['in_b']);
    assert.ok(!JSON.stringify(all).includes('AAAA') && JSON.stringify(all).includes('"image_url":null'));
    assert.ok(JSON.stringify(await page({ showsImages: true })).includes('AAAA'));
    assert.equal((await refusalOf(() => page({ after: 'nothing' }))).issues?.[0]?.path, 'after');
  });

  // @spec responses-96
  test('cannot be cancelled unless it runs in the background', async () => {
    const opened = open();
    await keep(opened, 'a');
    assert.equal((await refusalOf(() => opened.stored.cancel(KEY, 'a'))).status, 400);
    assert.equal((await refusalOf(() => opened.stored.cancel(KEY, 'b'))).status, 404);
  });
});
