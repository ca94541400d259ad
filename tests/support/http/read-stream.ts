import assert from 'node:assert/strict';

export interface ChatStream {
  readonly chunks: Record<string, unknown>[];
  readonly text: string;
  readonly finish: string | null;
  readonly error: { readonly code: number; readonly message: string } | undefined;
  readonly raw: string;
}

interface ChunkShape {
  readonly error?: { readonly code: number; readonly message: string };
  readonly choices: readonly {
    readonly delta: { readonly content?: string | null };
    readonly finish_reason: string | null;
  }[];
}

/** Reads a chat stream strictly: every event is JSON, and exactly one `[DONE]` ends it. */
export function readChatStream(raw: string): ChatStream {
  const events = raw.split('\n\n');
  assert.equal(events.pop(), '', 'the stream ends with a blank line');
  const datas = events
    .filter((event) => !event.startsWith(':'))
    .map((event) => {
      assert.match(event, /^data: [^\n]*$/);
      return event.slice('data: '.length);
    });
  assert.equal(datas.pop(), '[DONE]');
  assert.ok(!datas.includes('[DONE]'), 'one terminal frame');
  const chunks = datas.map((data) => JSON.parse(data) as Record<string, unknown>);
  const shapes = chunks as unknown as ChunkShape[];
  return {
    chunks,
    text: shapes.map(({ choices }) => choices[0]?.delta.content ?? '').join(''),
    finish:
      shapes.findLast(({ choices }) => typeof choices[0]?.finish_reason === 'string')?.choices[0]?.finish_reason ??
      null,
    error: shapes.find(({ error }) => error !== undefined)?.error,
    raw,
  };
}

export interface MessagesStream {
  readonly events: (Record<string, unknown> & { readonly type: string })[];
  readonly text: string;
  readonly stopReason: string | null;
  readonly error: { readonly type: string; readonly message: string; readonly code: number } | undefined;
}

interface MessagesEventShape {
  readonly type: string;
  readonly index: number;
  readonly delta: { readonly type: string; readonly text: string; readonly stop_reason: string };
  readonly error: { readonly type: string; readonly message: string; readonly code: number };
}

/** Reads a messages stream strictly: names match types, blocks are dense and never overlap, one terminal frame. */
export function readMessagesStream(raw: string): MessagesStream {
  const frames = raw.split('\n\n');
  assert.equal(frames.pop(), '', 'the stream ends with a blank line');
  const events = frames.map((frame) => {
    const match = /^event: (\w+)\ndata: ([^\n]*)$/.exec(frame);
    assert.ok(match, `a frame with a name and data: ${frame.slice(0, 100)}`);
    const event = JSON.parse(match[2] as string) as Record<string, unknown> & { type: string };
    assert.equal(event.type, match[1]);
    return event;
  });
  const shapes = events as unknown as MessagesEventShape[];
  const terminal = shapes.filter(({ type }) => type === 'message_stop' || type === 'error');
  assert.equal(terminal.length, 1, 'one terminal frame');
  assert.equal(shapes.at(-1), terminal[0]);
  checkBlocks(shapes);
  return {
    events,
    text: shapes.map((event) => (event.delta?.type === 'text_delta' ? event.delta.text : '')).join(''),
    stopReason: shapes.find(({ type }) => type === 'message_delta')?.delta.stop_reason ?? null,
    error: shapes.find(({ type }) => type === 'error')?.error,
  };
}

function checkBlocks(events: readonly MessagesEventShape[]): void {
  let next = 0;
  let open: number | undefined;
  for (const { type, index } of events) {
    if (type === 'content_block_start') {
      assert.equal(open, undefined, 'a block starts after the one before has stopped');
      assert.equal(index, next++);
      open = index;
    } else if (type === 'content_block_delta') {
      assert.equal(index, open);
    } else if (type === 'content_block_stop') {
      assert.equal(index, open);
      open = undefined;
    }
  }
}
