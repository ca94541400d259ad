import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { drawResult } from './draw-result.ts';

suite('what a call came to', () => {
  test('structured content is told once, though servers say it again as text', () => {
    const structured = { city: 'Ulm', days: [1, 2] };
    const again = { type: 'text', text: '{"days":[1,2],"city":"Ulm"}' };
    const more = { type: 'text', text: 'Two days.' };
    assert.deepEqual(drawResult({ content: [again, more], structured, failed: false }), {
      result: { content: [more], structured_content: structured },
    });
  });

  test('without it every text is told, though it be JSON', () => {
    const text = { type: 'text', text: '{"a":1}' };
    assert.deepEqual(drawResult({ content: [text], failed: false }), { result: { content: [text] } });
  });

  test('a failure is told in its words', () => {
    const content = [
      { type: 'text', text: 'No such' },
      { type: 'text', text: 'city.' },
    ];
    assert.deepEqual(drawResult({ content, failed: true }), {
      result: { status: 'error', error: 'No such\ncity.' },
      failed: true,
    });
  });

  test('a failure without words is told as what there is', () => {
    const { result } = drawResult({ content: [], structured: { code: 5 }, failed: true });
    assert.deepEqual(result, { status: 'error', error: '{"code":5}' });
  });

  test('pictures in resources are shown, too; other kinds of picture are only described', () => {
    const resource = (mimeType: string): object => ({
      type: 'resource',
      resource: { uri: 'x:y', mimeType, blob: 'AAAA' },
    });
    const shown = drawResult({ content: [{ ...resource('image/webp') }], failed: false });
    assert.equal(shown.modelReads?.length, 2);
    const described = drawResult({ content: [{ ...resource('image/tiff') }], failed: false });
    assert.deepEqual(described, {
      result: { content: [{ type: 'resource', uri: 'x:y', mime_type: 'image/tiff', bytes: 3 }] },
    });
  });

  test('what is no text is told by its bytes, whatever a server calls base64', () => {
    const told = (data: string): unknown => drawResult({ content: [{ type: 'audio', data }], failed: false }).result;
    const sizes = { AAAA: 3, 'AAA=': 2, 'AA==': 1, '': 0 };
    for (const [data, bytes] of Object.entries(sizes))
      assert.deepEqual(told(data), { content: [{ type: 'audio', mime_type: null, bytes }] }, data);
    // Looked for from each of its characters on, the end of the padding would keep everybody waiting.
    assert.doesNotThrow(() => told(`${'='.repeat(1_000_000)}A`));
  });

  test('what a later protocol may bring is told by its kind, and nothing breaks', () => {
    const content = [{ type: 'hologram', data: 'AAAA' }, { type: 'resource' }, {}];
    assert.deepEqual(drawResult({ content, failed: false }), {
      result: { content: [{ type: 'hologram' }, { type: 'resource', uri: '', bytes: 0 }, { type: 'unknown' }] },
    });
  });
});
