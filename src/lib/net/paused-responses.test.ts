import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PAUSED_BYTES, PausedResponses, type PausedResponse } from './paused-responses.ts';

class Response implements PausedResponse {
  isKept = false;
  isDropped = false;
  readonly #paused: PausedResponses;
  readonly #isUnread: boolean;

  constructor(paused: PausedResponses, isUnread: boolean) {
    this.#paused = paused;
    this.#isUnread = isUnread;
  }

  isUnread(): boolean {
    return this.#isUnread;
  }

  drop(): void {
    this.isDropped = true;
    this.#paused.delete(this);
  }
}

function fill(count: number, isUnread: boolean): { paused: PausedResponses; responses: readonly Response[] } {
  const paused = new PausedResponses(count * PAUSED_BYTES);
  const responses = Array.from({ length: count }, () => new Response(paused, isUnread));
  for (const response of responses) assert.ok(paused.add(response));
  return { paused, responses };
}

test('drops the unread response that was paused first for a further one', () => {
  const { paused, responses } = fill(3, true);
  const further = new Response(paused, true);
  assert.ok(paused.add(further));
  assert.deepEqual(
    responses.map(({ isDropped }) => isDropped),
    [true, false, false],
  );
  assert.ok(paused.has(further));
});

test('has no room for a further response where each one is read', () => {
  const { paused, responses } = fill(3, false);
  const further = new Response(paused, true);
  assert.equal(paused.add(further), false);
  assert.equal(paused.has(further), false);
  assert.ok(responses.every((response) => !response.isDropped && paused.has(response)));
});

test('neither counts nor drops a response that is kept', () => {
  const { paused, responses } = fill(2, true);
  for (const response of responses) response.isKept = true;
  const [first, second, third] = [0, 1, 2].map(() => new Response(paused, false));
  assert.ok(first !== undefined && second !== undefined && third !== undefined);
  assert.ok(paused.add(first));
  assert.ok(paused.add(second));
  assert.equal(paused.add(third), false);
  assert.ok(responses.every(({ isDropped }) => !isDropped));
});

test('gives the room of a response that is read again to the next', () => {
  const { paused, responses } = fill(1, false);
  const [first] = responses;
  assert.ok(first !== undefined && paused.delete(first));
  assert.equal(paused.delete(first), false);
  assert.ok(paused.add(new Response(paused, false)));
});
