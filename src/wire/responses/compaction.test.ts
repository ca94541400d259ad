import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { GenerationRequest } from '../../canonical/request.ts';
import { asCompaction, keptMessages, withTrigger } from './compaction.ts';
import { plainDirectives } from '../../../tests/support/plain-directives.ts';

const REQUEST: GenerationRequest = {
  format: 'responses',
  delivery: 'stream',
  turns: [{ role: 'user', blocks: [{ type: 'text', text: 'Build it.' }] }],
  tools: [
    { type: 'function', name: 'ls' },
    { type: 'server', name: 'service:web_search' },
  ],
  settings: {
    temperature: 1.5,
    reasoning: { effort: 'high' },
    promptCacheKey: 'thread-1',
    toolChoice: { type: 'required' },
  },
  directives: plainDirectives('acme/one'),
  warnings: [],
};

const message = (text: string) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });
const image = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' };

suite('compaction', () => {
  // @spec responses-101
  test('asks the same models for a summary with the caller’s functions, of which none is called', () => {
    const { turns, tools, settings, directives } = asCompaction(REQUEST);
    assert.deepEqual(turns[0], REQUEST.turns[0]);
    assert.match(JSON.stringify(turns.at(-1)), /Summarize this conversation/);
    assert.deepEqual(tools, [{ type: 'function', name: 'ls' }]);
    assert.deepEqual(settings, {
      maxTokens: 4_000,
      toolChoice: { type: 'none' },
      reasoning: { effort: 'none', exclude: true },
      promptCacheKey: 'thread-1',
    });
    assert.equal(directives, REQUEST.directives);
  });

  test('puts the trigger behind the input of a compaction, and leaves out how a response would be given', () => {
    const trigger = { type: 'compaction_trigger' };
    assert.deepEqual(withTrigger({ input: 'Hi', stream: true, store: true }), {
      input: [{ role: 'user', content: 'Hi' }, trigger],
    });
    assert.deepEqual(withTrigger({ previous_response_id: 'resp_1' }), {
      previous_response_id: 'resp_1',
      input: [trigger],
    });
    for (const input of [[], '', null, 7])
      assert.equal(JSON.stringify(withTrigger({ input })).includes('trigger'), false);
  });

  // @spec responses-100
  test('keeps the latest messages of the user that fit, in their order', () => {
    const long = message('x'.repeat(4 * 40_000));
    const kept = keptMessages([message('first'), long, { type: 'function_call' }, long, message('last')]);
    assert.deepEqual(kept, [long, message('last')]);
  });

  // @spec responses-100
  test('leaves out pictures beyond twenty, the oldest first', () => {
    const many = {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: 'See' }, ...Array.from({ length: 15 }, () => image)],
    };
    const kept = keptMessages([many, many]);
    assert.deepEqual(
      kept.map(({ content }) => (Array.isArray(content) ? content.length : 0)),
      [6, 16],
    );
  });
});
