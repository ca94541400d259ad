import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Block } from '../canonical/blocks.ts';
import { DEFAULT_PREFERENCES } from '../canonical/directives.ts';
import type { GenerationRequest, Tool, Turn } from '../canonical/request.ts';
import { classifyTask } from './classify-task.ts';
import { TASK_TAGS } from './task-tags.ts';
import { TASK_PHRASES } from './task-phrases.ts';
import { TASK_TERMS } from './task-terms.ts';

function requestOf(turns: readonly Turn[], more: Partial<GenerationRequest> = {}): GenerationRequest {
  return {
    format: 'chat',
    delivery: 'whole',
    turns,
    tools: [],
    settings: {},
    directives: {
      models: [],
      provider: DEFAULT_PREFERENCES,
      plugins: [],
      echoUpstreamBody: false,
      serviceMetadata: false,
      betas: [],
    },
    warnings: [],
    ...more,
  };
}

const user = (text: string): Turn => ({ role: 'user', blocks: [{ type: 'text', text }] });
const tool = (name: string): Tool => ({ type: 'function', name });
const call = (id: string, name: string, input: object): Block => ({
  type: 'tool-call',
  id,
  name,
  input: JSON.stringify(input),
  runBy: 'caller',
});

/** A request, one call a turn, and its result. */
function transcript(
  wish: string,
  ...uses: readonly (readonly [name: string, input: object, result: string])[]
): Turn[] {
  return [
    user(wish),
    ...uses.flatMap(([name, input, result], index): Turn[] => [
      { role: 'assistant', blocks: [call(`c${index}`, name, input)] },
      {
        role: 'tool',
        blocks: [{ type: 'tool-result', callId: `c${index}`, content: [{ type: 'text', text: result }] }],
      },
    ]),
  ];
}

suite('what a request is about, by its words', () => {
  for (const [text, tag] of [
    ['Write a Python function that merges two sorted lists.', 'code:general_impl'],
    ['Why does this throw TypeError: x is undefined?', 'code:debugging'],
    ['What is the capital of France?', 'qa_knowledge'],
    ['Solve 3x + 4 = 19 for x.', 'math'],
    ['Übersetze bitte ins Englische: Guten Tag', 'translation'],
    ['请把这句话翻译成英文：再见', 'translation'],
    ['この記事を要約してください', 'summarization'],
    ['My order has not arrived, I want a refund', 'customer_support'],
    ['Classify the sentiment of this review: I loved it', 'classification_tagging'],
    ['hi there!', 'conversational_reply'],
    ['', 'other'],
  ] as const)
    test(`${JSON.stringify(text)} is ${tag}`, () => assert.equal(classifyTask(requestOf([user(text)])).tag, tag));
});

suite('what a request is about, by its structure', () => {
  const FIX = 'Make the tests pass.';
  for (const [title, turns, more, tag] of [
    ['an image is asked for', [user('a cat')], { settings: { modalities: ['image', 'text'] } }, 'image_prompting'],
    [
      'an agent has edited a file',
      transcript(FIX, ['str_replace', { path: 'a.py', old: 'x', new: 'y' }, 'done']),
      {},
      'code:file_read_write',
    ],
    [
      'an agent has met an error',
      transcript(FIX, ['bash', { command: 'pytest' }, 'Traceback (most recent call last):\nValueError: no']),
      {},
      'code:debugging',
    ],
    [
      'an agent looks around',
      transcript(FIX, ['bash', { command: 'ls src' }, 'a.py'], ['grep', { pattern: 'def' }, 'a.py:1: def f()']),
      {},
      'code:repo_scan',
    ],
    ['an agent has searched the web', transcript('Who won?', ['web_search', { q: 'x' }, 'A']), {}, 'agent:web_search'],
    [
      'an agent uses several tools one after the other',
      transcript('Book it and tell Ann.', ['find_slot', {}, '10:00'], ['send_mail', { to: 'ann' }, 'sent']),
      {},
      'agent:workflow_execution',
    ],
    ['tools are offered', [user('Turn on the lights')], { tools: [tool('set_light')] }, 'agent:tool_dispatch'],
  ] as const satisfies readonly (readonly [string, readonly Turn[], Partial<GenerationRequest>, string])[])
    test(title, () => {
      const found = classifyTask(requestOf(turns, more));
      assert.deepEqual([found.tag, found.source], [tag, 'structure']);
    });
});

suite('the terms', () => {
  test('belong to tags that there are', () => {
    const known: ReadonlySet<string> = new Set(TASK_TAGS);
    for (const tag of [...Object.keys(TASK_TERMS), ...Object.keys(TASK_PHRASES)]) assert.ok(known.has(tag), tag);
  });

  test('stand once in a list, in lower case', () => {
    for (const [tag, { strong, weak }] of Object.entries(TASK_TERMS)) {
      const all = [...strong, ...weak];
      assert.deepEqual(
        all.filter((term, index) => all.indexOf(term) !== index || term !== term.toLowerCase()),
        [],
        tag,
      );
    }
  });
});
