import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { formatResult } from './format-result.ts';

suite('what a call came to', () => {
  test('contains structured content once, although servers repeat it as text', () => {
    const structured = { city: 'Ulm', days: [1, 2] };
    const again = { type: 'text', text: '{"days":[1,2],"city":"Ulm"}' };
    const more = { type: 'text', text: 'Two days.' };
    assert.deepEqual(formatResult({ content: [again, more], structured, failed: false }), {
      result: { content: [more], structured_content: structured },
    });
  });

  test('contains every text without it, even JSON', () => {
    const text = { type: 'text', text: '{"a":1}' };
    assert.deepEqual(formatResult({ content: [text], failed: false }), { result: { content: [text] } });
  });

  test('contains the message of a failure', () => {
    const content = [
      { type: 'text', text: 'No such' },
      { type: 'text', text: 'city.' },
    ];
    assert.deepEqual(formatResult({ content, failed: true }), {
      result: { status: 'error', error: 'No such\ncity.' },
      failed: true,
    });
  });

  test('contains other content of a failure without a message', () => {
    const { result } = formatResult({ content: [], structured: { code: 5 }, failed: true });
    assert.deepEqual(result, { status: 'error', error: '{"code":5}' });
  });

  test('pictures in resources are shown, too; other kinds of picture are only described', () => {
    const resource = (mimeType: string): object => ({
      type: 'resource',
      resource: { uri: 'x:y', mimeType, blob: 'AAAA' },
    });
    const shown = formatResult({ content: [{ ...resource('image/webp') }], failed: false });
    assert.equal(shown.modelReads?.length, 2);
    const described = formatResult({ content: [{ ...resource('image/tiff') }], failed: false });
    assert.deepEqual(described, {
      result: { content: [{ type: 'resource', uri: 'x:y', mime_type: 'image/tiff', bytes: 3 }] },
    });
  });

  test('describes bytes by type and size, whatever a server declares as base64', () => {
    const reported = (data: string): unknown =>
      formatResult({ content: [{ type: 'audio', data }], failed: false }).result;
    const sizes = { AAAA: 3, 'AAA=': 2, 'AA==': 1, '': 0 };
    for (const [data, bytes] of Object.entries(sizes))
      assert.deepEqual(reported(data), { content: [{ type: 'audio', mime_type: null, bytes }] }, data);
    // If each of its characters were a starting point, the search for the end of the padding would block the process.
    assert.doesNotThrow(() => reported(`${'='.repeat(1_000_000)}A`));
  });

  test('describes unknown content by its type', () => {
    const content = [{ type: 'hologram', data: 'AAAA' }, { type: 'resource' }, {}];
    assert.deepEqual(formatResult({ content, failed: false }), {
      result: { content: [{ type: 'hologram' }, { type: 'resource', uri: '', bytes: 0 }, { type: 'unknown' }] },
    });
  });
});
