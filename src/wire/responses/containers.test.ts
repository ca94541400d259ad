import assert from 'node:assert/strict';
import { deflateRawSync } from 'node:zlib';
import { suite, test } from 'node:test';
import { createSecretBox, secretFrom } from '../../lib/secret-box.ts';
import { createContainers, isContainer, openBounded } from './containers.ts';

const SECRET = secretFrom('one');
const CONTENT = { v: 1, blocks: [{ form: 'text', text: 'The user wants a list. 🌊', signature: 'EqQB' }] };

suite('containers', () => {
  const containers = createContainers(createSecretBox([SECRET]));

  test('give an account back what was sealed for it', () => {
    const sealed = containers.seal('reasoning', 'acc-1', CONTENT) ?? '';
    assert.match(sealed, /^sr1\.v1\.[0-9a-f]{12}\.[\w-]+$/);
    assert.ok(isContainer('reasoning', sealed));
    assert.deepEqual(containers.open('reasoning', 'acc-1', sealed), CONTENT);
  });

  // @spec responses-51
  test('stay closed for another account, another kind and another secret', () => {
    const sealed = containers.seal('reasoning', 'acc-1', CONTENT) ?? '';
    assert.equal(containers.open('reasoning', 'acc-2', sealed), undefined);
    assert.equal(containers.open('compaction', 'acc-1', sealed.replace('sr1.', 'sc1.')), undefined);
    assert.equal(createContainers(createSecretBox([secretFrom('two')])).open('reasoning', 'acc-1', sealed), undefined);
  });

  // @spec responses-51
  test('open with an earlier secret that is still there', () => {
    const sealed = containers.seal('compaction', 'acc-1', CONTENT) ?? '';
    const rotated = createContainers(createSecretBox([secretFrom('two'), SECRET]));
    assert.deepEqual(rotated.open('compaction', 'acc-1', sealed), CONTENT);
  });

  // @spec responses-53
  test('stay closed when they are cut, changed or made up', () => {
    const sealed = containers.seal('reasoning', 'acc-1', CONTENT) ?? '';
    const at = sealed.length - 10;
    // Not the last character: some of its bits count for nothing.
    const changed = sealed.slice(0, at) + (sealed[at] === 'a' ? 'b' : 'a') + sealed.slice(at + 1);
    for (const text of [sealed.slice(0, -1), changed, 'sr1.', 'sr1.v1.0.x', 'gAAAA', `${sealed}.x`])
      assert.equal(containers.open('reasoning', 'acc-1', text), undefined, text);
  });

  test('do not inflate beyond the bound', () => {
    const box = createSecretBox([SECRET]);
    const bomb = deflateRawSync(Buffer.from(JSON.stringify({ text: 'a'.repeat(64 * 1_024 * 1_024) })));
    const sealed = `sr1.${box.seal(bomb.toString('base64'), 'responses reasoning acc-1')}`;
    assert.equal(containers.open('reasoning', 'acc-1', sealed), undefined);
  });

  // @spec responses-106
  test('stay closed when those of one request hold too much together', () => {
    const sealed = containers.seal('reasoning', 'acc-1', { text: 'a'.repeat(15 * 1_024 * 1_024) }) ?? '';
    assert.ok(sealed.length < 40_000, 'so many fit into a body');
    const ofRequest = openBounded(containers);
    const opened = Array.from({ length: 20 }, () => ofRequest.open('reasoning', 'acc-1', sealed) !== undefined);
    assert.equal(opened.filter(Boolean).length, 3);
    assert.ok(openBounded(containers).open('reasoning', 'acc-1', sealed), 'the next request opens it');
  });

  test('are not made of what is too large for one', () => {
    const noise = Array.from({ length: 400_000 }, (_, at) => Math.imul(at, 2_654_435_761).toString(36)).join('');
    assert.equal(containers.seal('reasoning', 'acc-1', { text: noise.repeat(4) }), undefined);
  });
});
