import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Turn } from '../../canonical/request.ts';
import { isHumanTurn, readTask } from './conversation.ts';
import { assistant, use, user } from '../../../tests/support/plugins/switchyard-candidates.ts';

const SYSTEM: Turn = { role: 'system', blocks: [{ type: 'text', text: 'You are secret.' }] };
const RESULT: Turn = {
  role: 'user',
  blocks: [{ type: 'tool-result', callId: 'a', content: [{ type: 'text', text: 'a result' }] }],
};

/** What a coding agent says beside. */
const REMINDER = { type: 'text', text: '<system-reminder>\nThe list is empty.\n</system-reminder>' } as const;

suite('the judge', () => {
  test('sees the one message of a new conversation', () => {
    assert.deepEqual(readTask({ turns: [SYSTEM, user('Fix it')] }), { opening: 'Fix it' });
  });

  test('sees the first and the last message of a person, no instructions, no responses and no tool results', () => {
    const turns = [
      SYSTEM,
      user('Fix it'),
      ...use('bash', {}, 'a result'),
      user('Now test it'),
      assistant('Yes'),
      RESULT,
    ];
    assert.deepEqual(readTask({ turns }), { opening: 'Fix it', latest: 'Now test it' });
  });

  test('sees media only by their kind, and both ends of a long text', () => {
    const media: Turn = {
      role: 'user',
      blocks: [
        { type: 'media', media: 'image', source: { type: 'url', url: 'https://example.com/secret.png' } },
        { type: 'text', text: `begin ${'x'.repeat(20_000)} end` },
      ],
    };
    const { opening = '' } = readTask({ turns: [media] }) ?? {};
    assert.match(opening, /^\[image\]\nbegin x+\n\[\.\.\.\]\nx+ end$/);
    assert.ok(opening.length < 6_100);
  });

  test('sees no text of the program that a person writes through', () => {
    const first: Turn = { role: 'user', blocks: [REMINDER, { type: 'text', text: 'Fix it' }] };
    const later: Turn = { role: 'user', blocks: [...RESULT.blocks, REMINDER] };
    assert.deepEqual(readTask({ turns: [first, assistant('x'), later] }), { opening: 'Fix it' });
  });

  test('sees nothing where no person wrote', () => {
    assert.equal(readTask({ turns: [SYSTEM, RESULT] }), undefined);
  });
});

suite('whether a person spoke last', () => {
  for (const [title, turns, expected] of [
    ['a message', [user('hi')], true],
    ['a result of a tool', [user('hi'), ...use('bash', {}, 'a result')], false],
    ['results in a turn of the user’s', [user('hi'), assistant('x'), RESULT], false],
    ['results and words', [user('hi'), { role: 'user', blocks: [...RESULT.blocks, ...user('and?').blocks] }], true],
    [
      'results and what the program says beside',
      [user('hi'), { role: 'user', blocks: [...RESULT.blocks, REMINDER] }],
      false,
    ],
    ['a message and the beginning of its answer', [user('hi'), assistant('Well,')], true],
    ['a result and the beginning of an answer', [user('hi'), ...use('bash', {}, 'x'), assistant('So')], false],
    ['no turn at all', [], true],
  ] as const)
    test(`${title}: ${expected ? 'yes' : 'no'}`, () => {
      assert.equal(isHumanTurn({ turns }), expected);
    });
});
