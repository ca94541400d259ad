import assert from 'node:assert/strict';
import type { EventBatch } from '../../../src/canonical/events.ts';

/**
 * Test support: holds the events of one answer to the grammar of events.ts. The start comes first, indexes are dense,
 * nothing is open twice, only calls stand side by side, and there is one end.
 */
export function checkEvents(events: EventBatch): void {
  const open = new Map<number, string>();
  let next = 0;
  for (const [at, event] of events.entries()) {
    if (at === 0) assert.ok(event.type === 'start' || event.type === 'failed', `${event.type} came before the start`);
    else assert.notEqual(event.type, 'start', 'an answer starts once');
    if (event.type === 'block-start') {
      assert.equal(event.index, next++, 'indexes are dense');
      const beside =
        event.block.type === 'tool-call' ? [...open.values()].filter((type) => type !== 'tool-call') : [...open];
      assert.deepEqual(beside, [], 'only calls stand side by side');
      open.set(event.index, event.block.type);
    }
    if (event.type === 'block-delta') assert.ok(open.has(event.index), 'a delta goes to an open block');
    if (event.type === 'block-end') assert.ok(open.delete(event.index), 'an open block ends');
    if (event.type === 'citation')
      assert.ok(event.index < 0 || open.has(event.index), 'a citation goes to an open block or to the whole');
    if (event.type === 'end') assert.equal(open.size, 0, 'every block has ended');
    if (event.type === 'end' || event.type === 'failed') assert.equal(at, events.length - 1, 'nothing follows');
  }
  const last = events.at(-1)?.type;
  assert.ok(last === 'end' || last === 'failed', 'the answer ends or fails');
}
