import { z } from 'zod';
import type { EventBatch, GenerationEvent } from '../../canonical/events.ts';
import type { ModelChoice } from '../../canonical/model-choice.ts';
import type { GenerationRequest, Turn } from '../../canonical/request.ts';
import { BODIES_SCHEMA, readBodies, writeBodies, type NamedModel } from '../../model-selection/build-bodies.ts';
import { rankForTask } from '../../model-selection/rank/rank-for-task.ts';
import { collectTaskCandidates } from '../../model-selection/candidates/task-candidates.ts';
import { assert } from '../../lib/assert.ts';
import type { StreamTransform, Plugin, PluginContext } from '../contract.ts';

const ID = 'bodybuilder';
const SLUG = 'service/bodybuilder';
/** Free models that are called, one after the other. */
const CHOSEN_MAX = 2;
/** Serves when no free model is available: its text does not matter, since rules then write the bodies. */
const STAND_IN = 'sandbox/echo';
/** Models listed in the prompt that writes the bodies: the newest ones. */
const NAMED_MAX = 100;
const ANSWER_TOKENS_MAX = 8_192;
/** More of an answer than this is not looked at. UTF-16 units. */
const ANSWER_CHARS_MAX = 262_144;

/** What is known of a request from its choice on, until its answer. */
interface Build {
  readonly lastUserText: string;
  readonly models: readonly NamedModel[];
  /** Models for descriptions that name none. */
  readonly usual: readonly string[];
  readonly resolve: (slug: string) => string | undefined;
}

const builds = new WeakMap<PluginContext, Build>();

/**
 * Writes request bodies from a description in words: `{"requests": [{"model", "messages"}]}`. A free model writes them
 * if there is one; its output is checked, and rules write them when it is unusable. It never costs anything.
 * @spec router-36
 */
export const bodybuilder = {
  id: ID,
  summary: 'Turns a description of a request in words into a body for this API.',
  options: z.object({}),
  slugs: [SLUG],
  async chooseModels(request, slug, _options, context) {
    const { choice } = context.abilities;
    assert(choice !== undefined, 'a router gets a model choice in its context');
    const build = await openBuild(request, slug, choice, context.signal);
    builds.set(context, build);
    const free = choice.candidatePool(withInstructions(request, build)).models.filter(({ isFree }) => isFree);
    const chosen = [...free.slice(0, CHOSEN_MAX).map((model) => model.slug), STAND_IN];
    choice.decided({ router: ID, strategy: 'bodybuilder', chosen, details: () => ({ named: build.models.length }) });
    return chosen;
  },
  transformRequest(request, _options, context) {
    const build = builds.get(context);
    return Promise.resolve(build === undefined ? request : withInstructions(request, build));
  },
  transformEvents(_request, _options, context) {
    const build = builds.get(context);
    return build && createStreamTransform(build, context);
  },
} satisfies Plugin;

async function openBuild(
  request: GenerationRequest,
  slug: string,
  choice: ModelChoice,
  signal: AbortSignal,
): Promise<Build> {
  const { models } = choice.candidatePool(plainRequest(request));
  const pool = await collectTaskCandidates(plainRequest(request), {
    slug,
    options: {},
    choice,
    decide: undefined,
    signal,
  });
  const usual = pool.by === 'rankings' ? rankForTask(pool.models, pool.requests, {}).chosen : [];
  const input = request.turns.findLast(({ role }) => role === 'user');
  return {
    lastUserText: (input?.blocks ?? []).map((block) => (block.type === 'text' ? block.text : '')).join('\n'),
    models,
    usual: usual.length > 0 ? usual : pool.models.slice(0, 1).map((model) => model.slug),
    resolve: (name) => choice.resolve(name),
  };
}

/** The models of the written requests need not support this request. */
function plainRequest(request: GenerationRequest): GenerationRequest {
  return { ...request, tools: [], settings: {} };
}

function withInstructions(request: GenerationRequest, { models, usual }: Build): GenerationRequest {
  const names = [...new Set([...usual, ...models.map(({ slug }) => slug)])].slice(0, NAMED_MAX);
  const instructions: Turn = {
    role: 'system',
    plain: true,
    blocks: [
      {
        type: 'text',
        text:
          'The user says in words which language models should get which request. Do not answer it yourself. Write the requests as JSON: ' +
          '{"requests": [{"model": "author/slug", "messages": [{"role": "user", "content": "..."}]}]}, one for each model. ' +
          `Where no model is named, take these: ${usual.join(', ')}. Use these slugs and no others: ${names.join(', ')}.`,
      },
    ],
  };
  const requested = request.turns.filter(({ role }) => role === 'user' || role === 'assistant');
  return {
    ...request,
    turns: [instructions, ...requested],
    tools: [],
    settings: {
      maxTokens: ANSWER_TOKENS_MAX,
      responseFormat: { type: 'json_schema', name: 'requests', schema: BODIES_SCHEMA },
    },
  };
}

/** Keeps the answer until it is over, and puts the bodies in its place. */
function createStreamTransform(build: Build, context: PluginContext): StreamTransform {
  let held: GenerationEvent[] | undefined = [];
  return (batch) => {
    if (held === undefined) return batch;
    held.push(...batch);
    const over = batch.find(({ type }) => type === 'end' || type === 'failed');
    if (over === undefined) return [];
    const events = held;
    held = undefined;
    return over.type === 'failed' ? events : withBodies(events, build, context);
  };
}

function withBodies(events: EventBatch, build: Build, context: PluginContext): EventBatch {
  const { lastUserText, models, usual, resolve } = build;
  const written = readBodies(textOf(events), resolve);
  const bodies = written ?? writeBodies(lastUserText, models, usual, resolve);
  context.note({
    type: 'plugin',
    name: ID,
    summary: `Wrote ${bodies.length} requests`,
    data: { requests: bodies.length, written_by: written === undefined ? 'rules' : 'model' },
  });
  const text = JSON.stringify({ requests: bodies });
  const before = events.filter(({ type }) => type === 'start').slice(0, 1);
  const counts = events.filter(({ type }) => type === 'usage' || type === 'warning');
  return [
    ...before,
    { type: 'block-start', index: 0, block: { type: 'text', text: '' } },
    { type: 'block-delta', index: 0, text },
    { type: 'block-end', index: 0 },
    ...counts,
    { type: 'end', finish: 'stop' },
  ];
}

function textOf(events: EventBatch): string {
  const texts = new Set<number>();
  let text = '';
  for (const event of events)
    if (event.type === 'block-start' && event.block.type === 'text') {
      texts.add(event.index);
      text += event.block.text;
    } else if (event.type === 'block-delta' && texts.has(event.index)) text += event.text ?? '';
  return text.slice(0, ANSWER_CHARS_MAX);
}
