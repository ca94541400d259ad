import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { GenerationRequest, Turn } from '../../canonical/request.ts';
import { classifyTask } from '../classify/classify-task.ts';
import { TASK_FEATURES } from './task-features.ts';
import { TASK_TAGS, type TaskTag } from '../classify/task-tags.ts';
import { plainDirectives } from '../../../tests/support/plain-directives.ts';

const emit = (role: Turn['role'], text: string): Turn => ({ role, blocks: [{ type: 'text', text }] });

function tagOf(turns: readonly Turn[], tools: readonly string[] = []): TaskTag {
  const request: GenerationRequest = {
    format: 'chat',
    delivery: 'whole',
    turns,
    tools: tools.map((name) => ({ type: 'function', name })),
    settings: {},
    directives: plainDirectives(),
    warnings: [],
  };
  return classifyTask(request).tag;
}

/** Instructions, what the user says to them, and what that is: none of it from the evaluation. */
const REPORTED: readonly (readonly [system: string, user: string, tag: TaskTag])[] = [
  [
    'You are an intent router. Possible intents: wifi, billing, checkout, other. Output the intent only.',
    'the wifi in the lobby is slow',
    'classification_tagging',
  ],
  [
    'Does the message ask for code? Reply YES or NO.',
    'How do I implement quicksort in Java?',
    'classification_tagging',
  ],
  [
    'Assign the review to exactly one team: mobile, billing, data, design.',
    'the new update deletes my photos',
    'classification_tagging',
  ],
  [
    'You are the help desk of NordPost. Be brief. Claims can be opened after 5 working days.',
    'my parcel says delivered but I got nothing',
    'customer_support',
  ],
  [
    'Assistant for customers of StepIn Shoes. Returns: 30 days, unworn.',
    'Can I return the shoes if I wore them once outside?',
    'customer_support',
  ],
  [
    'Vous répondez aux clients du Camping des Pins. Arrivée 16 h.',
    'bonjour, je voudrais modifier ma réservation pour deux nuits de plus',
    'customer_support',
  ],
  [
    'Translate everything the user writes into Japanese. Output only the translation.',
    'Good morning, your room is ready.',
    'translation',
  ],
  [
    "Rewrite the user's idea as a detailed prompt for an image generator.",
    'girl with umbrella, rainy street',
    'image_prompting',
  ],
  [
    'You are the game master of a fantasy campaign. Describe scenes.',
    'I draw my bow and step into the dark hallway.',
    'roleplay_fiction',
  ],
  [
    'Answer only from the documents below. If not in there, say so.\n\nDoc 1: The guarantor is liable for five years.',
    'How long can the guarantor be held liable?',
    'qa_knowledge',
  ],
  [
    'SOC tier 1. For each alert give severity, likely cause, next action.',
    'Alert: impossible travel, login Oslo 08:01, login Lagos 08:14',
    'security_audit',
  ],
];

/** What is wanted of agents, by the same tools. */
const REPORTED_AGENTS: readonly (readonly [user: string, tools: readonly string[], tag: TaskTag])[] = [
  ['Where is the retry policy configured in this codebase?', ['Bash', 'Read', 'Edit', 'Grep'], 'code:repo_scan'],
  [
    'Add a "Contributing" section to README.md and link it from docs/index.md',
    ['Bash', 'Read', 'Edit', 'Grep'],
    'code:file_read_write',
  ],
  ['app crashes on Android 14 only, logcat says SecurityException', ['Bash', 'Read', 'Edit', 'Grep'], 'code:debugging'],
  ['which processes use the most memory right now? top 5', ['execute'], 'code:shell_execution'],
  ['is it going to rain in Bergen tomorrow?', ['get_weather', 'get_time'], 'agent:tool_dispatch'],
  ['Merk dir bitte: Rechnungen immer an die Buchhaltung.', ['save_memory', 'search_memory'], 'agent:memory_extraction'],
  [
    'Offboard Tom: disable his accounts, transfer his files to Ana, remove him from the groups, confirm to HR.',
    ['disable_account', 'transfer_files', 'remove_from_group', 'send_email'],
    'agent:workflow_execution',
  ],
  ['who won the marathon in Berlin yesterday?', ['web_search', 'fetch_page'], 'agent:web_search'],
  ['where is my order 55310?', ['lookup_order', 'create_return', 'transfer_to_human'], 'customer_support'],
];

suite('cues', () => {
  test('there are for every tag', () => {
    const tags = new Set(TASK_FEATURES.map(({ tag }) => tag));
    assert.deepEqual(
      TASK_TAGS.filter((tag) => !tags.has(tag)),
      [],
    );
  });

  for (const [system, user, tag] of REPORTED)
    test(`instructions decide: ${JSON.stringify(user)} is ${tag}`, () => {
      assert.equal(tagOf([emit('system', system), emit('user', user)]), tag);
    });

  for (const [user, tools, tag] of REPORTED_AGENTS)
    test(`the wish decides beside tools: ${JSON.stringify(user)} is ${tag}`, () => {
      assert.equal(tagOf([emit('user', user)], tools), tag);
    });

  test('a short message goes on with what was spoken of', () => {
    const before = [
      emit('user', 'parse roman numerals in Go'),
      emit('assistant', '```go\nfunc Parse(s string) int { return 0 }\n```'),
    ];
    assert.equal(tagOf([...before, emit('user', 'and now the edge cases')]), 'code:general_impl');
  });

  test('what is to be worked on does not say what is wanted', () => {
    const input =
      'Summarize this in two lines.\n\nHow do I refactor a Python class? Fix the bug, translate the comments, deploy to kubernetes.';
    assert.equal(tagOf([emit('user', input)]), 'summarization');
  });
});
