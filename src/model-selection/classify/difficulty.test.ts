import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GenerationRequest, Turn } from '../../canonical/request.ts';
import { estimateDifficulty } from './difficulty.ts';
import type { TaskTag } from './task-tags.ts';
import { plainDirectives } from '../../../tests/support/plain-directives.ts';

function ask(text: string, more: Partial<GenerationRequest> = {}): GenerationRequest {
  return {
    format: 'chat',
    delivery: 'whole',
    turns: [{ role: 'user', blocks: [{ type: 'text', text }] }],
    tools: [],
    settings: {},
    directives: plainDirectives(),
    warnings: [],
    ...more,
  };
}

const scoreOf = (request: GenerationRequest, tag: TaskTag = 'qa_knowledge'): number =>
  estimateDifficulty(request, tag).score;

/** The first of two looks easier than the second. */
const PAIRS: readonly (readonly [what: string, easy: number, hard: number])[] = [
  ['small talk than a bug', scoreOf(ask('hello'), 'conversational_reply'), scoreOf(ask('hello'), 'code:debugging')],
  ['a quick question than a rigorous proof', scoreOf(ask('Just a quick one')), scoreOf(ask('Prove it rigorously'))],
  [
    'a wish without rules than one with many',
    scoreOf(ask('Sort it')),
    scoreOf(ask('Sort it\n- must be stable\n- must not copy\n- exactly once')),
  ],
  ['a short prompt than a long one', scoreOf(ask('word')), scoreOf(ask('word '.repeat(20_000)))],
  [
    'low effort than high effort',
    scoreOf(ask('x', { settings: { reasoning: { effort: 'low' } } })),
    scoreOf(ask('x', { settings: { reasoning: { effort: 'high' } } })),
  ],
];

for (const [what, easy, hard] of PAIRS) {
  test(`rates as easier: ${what}`, () => assert.ok(easy < hard, `${easy} < ${hard}`));
}

function withResult(text: string): GenerationRequest {
  const turns: Turn[] = [
    { role: 'user', blocks: [{ type: 'text', text: 'Make the tests pass' }] },
    {
      role: 'assistant',
      blocks: [{ type: 'tool-call', id: 'c1', name: 'bash', runBy: 'caller', input: '{"command":"npm test"}' }],
    },
    { role: 'tool', blocks: [{ type: 'tool-result', callId: 'c1', content: [{ type: 'text', text }] }] },
  ];
  return ask('', { turns });
}

test('rates the task of an agent that meets errors as harder', () => {
  assert.ok(scoreOf(withResult('all 12 tests passed')) < scoreOf(withResult('Traceback: out of memory')));
});

test('stays between 0 and 1, and adds up to it from its parts inside these bounds', () => {
  const least = estimateDifficulty(
    ask('hi, just a quick simple one', { settings: { reasoning: { enabled: false } } }),
    'conversational_reply',
  );
  const most = estimateDifficulty(
    ask(
      `Prove, optimize and migrate the concurrent lock-free architecture.\n${'- must\n'.repeat(20)}${'word '.repeat(50_000)}`,
      {
        settings: { reasoning: { effort: 'max' } },
      },
    ),
    'security_audit',
  );
  assert.equal(least.score, 0);
  assert.equal(most.score, 1);
  const { score, parts } = estimateDifficulty(ask('Explain monads'), 'qa_knowledge');
  assert.ok(Math.abs(score - Object.values(parts).reduce((sum, part) => sum + part, 0)) < 1e-9);
});
