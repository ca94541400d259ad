import { connect } from 'node:net';

import * as z from 'zod';

import type { Call, Variant } from '../variants.ts';

const LIMIT_MS = 30_000;

const chatWhole = z.object({ choices: z.tuple([z.object({ message: z.object({ content: z.string() }) })]) });
const messagesWhole = z.object({ content: z.array(z.object({ text: z.string() })) });
const chatChunk = z.object({
  choices: z.array(z.object({ delta: z.object({ content: z.string().nullish() }) })),
});
const responsesWhole = z.object({ output_text: z.string() });
const responsesEvent = z.object({ type: z.string(), delta: z.string().optional() });
const messagesEvent = z.object({ type: z.string(), delta: z.object({ text: z.string().optional() }).optional() });

/**
 * Makes one call and reads the whole response, which must equal the mock's text to the letter. Returns the number of
 * SSE frames that every measured response must then have. @throws when the response is wrong: figures of wrong
 * responses are worthless.
 */
export async function checkAnswer(variant: Variant, call: Call): Promise<number> {
  const answer = await ask(call);
  const headEnd = answer.indexOf('\r\n\r\n');
  const head = answer.slice(0, headEnd);
  if (!head.startsWith('HTTP/1.1 200')) throw new Error(`${variant.label} answered: ${answer.slice(0, 1_000)}`);
  const isChunked = head.toLowerCase().includes('transfer-encoding: chunked');
  const body = isChunked ? joinChunks(answer.slice(headEnd + 4)) : answer.slice(headEnd + 4);
  const frames = call.isStream ? body.split('\n\n').slice(0, -1) : [];
  const spelled = call.isStream ? readFrames(variant, frames) : readWhole(variant, body);
  if (spelled !== call.script.text) {
    throw new Error(`${variant.label} answered with another text than the upstream: ${body.slice(0, 1_000)}`);
  }
  return frames.length;
}

async function ask(call: Call): Promise<string> {
  const socket = connect(call.port, call.host);
  socket.setTimeout(LIMIT_MS, () => socket.destroy(new Error('no answer in time')));
  // Ends the exchange from the server's side, so that the socket can be read to its end.
  socket.write(call.request.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n'));
  let answer = '';
  // The mock keeps its connections open in any case, so the end of the response must stop the reader.
  for await (const piece of socket.setEncoding('latin1')) {
    answer += String(piece);
    if (isWholeAnswer(answer)) break;
  }
  return answer;
}

function isWholeAnswer(answer: string): boolean {
  const headEnd = answer.indexOf('\r\n\r\n');
  if (headEnd < 0) return false;
  const length = /\r\ncontent-length: *(\d+)/i.exec(answer.slice(0, headEnd))?.[1];
  return length === undefined ? answer.endsWith('\r\n0\r\n\r\n') : answer.length >= headEnd + 4 + Number(length);
}

function joinChunks(chunked: string): string {
  let body = '';
  for (let at = 0; ;) {
    const lineEnd = chunked.indexOf('\r\n', at);
    const bytes = Number.parseInt(chunked.slice(at, lineEnd), 16);
    if (!(bytes > 0)) return body;
    body += chunked.slice(lineEnd + 2, lineEnd + 2 + bytes);
    at = lineEnd + 2 + bytes + 2;
  }
}

function readWhole(variant: Variant, body: string): string {
  const answer: unknown = JSON.parse(body);
  if (variant.callerFormat === 'chat') return chatWhole.parse(answer).choices[0].message.content;
  if (variant.callerFormat === 'responses') return responsesWhole.parse(answer).output_text;
  return messagesWhole
    .parse(answer)
    .content.map((block) => block.text)
    .join('');
}

function readFrames(variant: Variant, frames: readonly string[]): string {
  let spelled = '';
  for (const frame of frames) {
    const data = /^data: ?(.*)$/m.exec(frame)?.[1];
    if (data === undefined || data === '[DONE]') continue;
    const event: unknown = JSON.parse(data);
    spelled += readEvent(variant, event);
  }
  return spelled;
}

function readEvent({ callerFormat }: Variant, event: unknown): string {
  if (callerFormat === 'chat') return chatChunk.parse(event).choices[0]?.delta.content ?? '';
  if (callerFormat === 'messages') return messagesEvent.parse(event).delta?.text ?? '';
  const { type, delta } = responsesEvent.parse(event);
  return type === 'response.output_text.delta' ? (delta ?? '') : '';
}
