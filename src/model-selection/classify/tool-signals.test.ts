import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Turn } from '../../canonical/request.ts';
import { judgeStage, readToolSignals, type StageVerdict } from './tool-signals.ts';

type Use = readonly [name: string, input: object, result: string, failed?: boolean];

function turnsOf(lastUserText: string, ...uses: readonly Use[]): readonly Turn[] {
  return [
    { role: 'user', blocks: [{ type: 'text', text: lastUserText }] },
    ...uses.flatMap(([name, input, result, failed = false], index): Turn[] => [
      {
        role: 'assistant',
        blocks: [{ type: 'tool-call', id: `c${index}`, name, input: JSON.stringify(input), runBy: 'caller' }],
      },
      {
        role: 'tool',
        blocks: [{ type: 'tool-result', callId: `c${index}`, content: [{ type: 'text', text: result }], failed }],
      },
    ]),
  ];
}

const EDIT: Use = ['edit_file', { path: 'a.py' }, 'done'];
const READ: Use = ['read_file', { path: 'a.py' }, 'def f(): pass'];
const WAIT: Use = ['get_status', {}, 'pending'];
const run = (result: string): Use => ['bash', { command: 'pytest -q' }, result];

const TRANSCRIPTS: readonly (readonly [
  title: string,
  turns: readonly Turn[],
  verdict: Pick<StageVerdict, 'tier' | 'by'> | undefined,
])[] = [
  ['one edit that went well is not enough', turnsOf('Fix it', EDIT), undefined],
  ['one hard error alone is not enough', turnsOf('Fix it', run('Traceback (most recent call last)')), undefined],
  [
    'a hard error of an agent that only looks around',
    turnsOf('Fix it', READ, READ, READ, run('ImportError: no module named x')),
    { tier: 'capable', by: 'dimensions' },
  ],
  ['a critical error', turnsOf('Fix it', EDIT, run('psql: connection refused')), { tier: 'capable', by: 'override' }],
  [
    'tests that pass after an edit',
    turnsOf('Fix it', EDIT, run('12 passed in 0.3s')),
    { tier: 'efficient', by: 'tests_passed' },
  ],
  ['tests of which one fails', turnsOf('Fix it', EDIT, run('11 passed, 1 failed')), undefined],
  [
    'tests of which none fails',
    turnsOf('Fix it', EDIT, run('12 passed, 0 failed')),
    { tier: 'efficient', by: 'tests_passed' },
  ],
  ['long under way, and neither writes nor reads', turnsOf('Wait', WAIT, WAIT, WAIT, WAIT), undefined],
  [
    'the same with an error',
    turnsOf('Wait', WAIT, WAIT, WAIT, ['get_status', {}, 'timed out']),
    { tier: 'capable', by: 'dimensions' },
  ],
  [
    'a conversation that was summed up',
    turnsOf('Summary of the earlier conversation: we began to fix it.', READ),
    { tier: 'capable', by: 'override' },
  ],
  ['writing three times in a row is one signal', turnsOf('x', EDIT, EDIT, EDIT), undefined],
  ['reading three times in a long conversation is one signal', turnsOf('x', READ, READ, READ, READ), undefined],
  [
    'a tool that says itself that it failed, of an agent that only looks around',
    turnsOf('x', READ, READ, READ, ['read_file', { path: 'b.py' }, 'no', true]),
    { tier: 'capable', by: 'dimensions' },
  ],
  ['a command that ends badly', turnsOf('x', EDIT, run('exited with code 2')), undefined],
  ['tests that pass where nothing was written', turnsOf('x', READ, run('12 passed')), undefined],
  [
    'tests that pass after an edit by the shell',
    turnsOf('x', ['bash', { command: 'sed -i s/a/b/ x.py' }, ''], run('ok')),
    { tier: 'efficient', by: 'tests_passed' },
  ],
  ['tests that pass beside a missing file', turnsOf('x', EDIT, run('no such file'), run('3 passed')), undefined],
  [
    'a critical error that three calls have passed over',
    turnsOf('x', run('out of memory'), READ, READ, EDIT),
    undefined,
  ],
  ['a write by the shell counts as one', turnsOf('x', ['bash', { command: 'echo hi > a.txt' }, '']), undefined],
];

suite('what the history of tools decides', () => {
  for (const [title, turns, verdict] of TRANSCRIPTS)
    test(title, () => {
      const signals = readToolSignals({ turns });
      assert.ok(signals !== undefined);
      const found = judgeStage(signals);
      assert.deepEqual(found && { tier: found.tier, by: found.by }, verdict);
    });

  test('decides nothing where no tool was used', () => {
    assert.equal(readToolSignals({ turns: turnsOf('hi') }), undefined);
  });

  // @spec router-31
  test('needs two full signals: one is just below what decides', () => {
    const none = { severity: 0, spinning: 0, exploring: 0, production: 0, testsPassed: false, compacted: false };
    assert.equal(judgeStage({ ...none, severity: 0.7 }), undefined);
    const two = judgeStage({ ...none, severity: 0.7, spinning: 1 });
    assert.equal(two?.score.toFixed(2), '0.76');
  });

  test('counts only the latest calls', () => {
    const signals = readToolSignals({ turns: turnsOf('x', run('connection refused'), EDIT, EDIT, EDIT) });
    assert.deepEqual([signals?.severity, signals?.production], [0, 1]);
  });
});
