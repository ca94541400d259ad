import { createInterface } from 'node:readline';
import { parseFlags } from '../config/flags.ts';
import { findGatewayUrl } from '../config/gateway-url.ts';
import { readSecretVariable } from '../config/secret-file.ts';
import { createHttpClient } from '../lib/net/http-client.ts';
import type { HttpClient } from '../lib/net/http-client.ts';
import { callGateway } from './chat/chat-client.ts';
import type { ChatOutcome, ChatTarget } from './chat/chat-client.ts';
import { CHAT_FORMATS, type ChatFormatId, type ChatMessage } from './chat/chat-formats.ts';
import { UsageError } from './command.ts';
import type { Io } from './command.ts';
import { createAnswerPrinter } from './chat/chat-printer.ts';

/** What is sent again with every turn; older messages are forgotten. */
const HISTORY_MESSAGES_MAX = 200;
const EXIT_INTERRUPTED = 130;

/** `model-gateway chat`: one answer to the words given, or a conversation. */
export async function runChat(args: readonly string[], io: Io): Promise<number> {
  const { values, words } = parseFlags(args, {
    model: { type: 'string' },
    format: { type: 'string' },
    'no-stream': { type: 'boolean' },
    url: { type: 'string' },
    key: { type: 'string' },
    config: { type: 'string' },
  });
  const key = values.key ?? readSecretVariable(io.env, 'GATEWAY_API_KEY');
  if (key === undefined || key === '') throw new UsageError('chat: give a key with --key or in GATEWAY_API_KEY');
  const target: ChatTarget = {
    url: readUrl(values.url ?? findGatewayUrl(values.config, io.env)),
    key,
    model: values.model ?? 'sandbox/echo',
    format: readFormat(values.format ?? 'chat'),
    streams: values['no-stream'] !== true,
  };
  const client = createHttpClient();
  try {
    return await (words.length > 0 ? printOnce(words.join(' '), target, client, io) : converse(target, client, io));
  } finally {
    await client.close();
  }
}

function readFormat(text: string): ChatFormatId {
  if (text === 'chat' || text === 'responses') return text;
  throw new UsageError(`--format: must be one of ${Object.keys(CHAT_FORMATS).join(', ')}, not ${JSON.stringify(text)}`);
}

function readUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new UsageError(`--url: must be an http:// or https:// URL, not ${JSON.stringify(text)}`);
  return url;
}

async function printOnce(text: string, target: ChatTarget, client: HttpClient, io: Io): Promise<number> {
  const interrupt = new AbortController();
  const onSignal = (): void => interrupt.abort();
  process.once('SIGINT', onSignal);
  try {
    const outcome = await answer([{ role: 'user', content: text }], target, client, io, interrupt.signal);
    if (outcome.kind === 'aborted') return EXIT_INTERRUPTED;
    return outcome.kind === 'failed' ? 1 : 0;
  } finally {
    process.removeListener('SIGINT', onSignal);
  }
}

async function converse(target: ChatTarget, client: HttpClient, io: Io): Promise<number> {
  const isTerminal = io.stdin.isTTY && io.stdout.isTTY;
  const lines = createInterface({ input: io.stdin, terminal: isTerminal, ...(isTerminal && { output: io.stdout }) });
  let interrupt: AbortController | undefined;
  let exitCode = 0;
  // While an answer runs Ctrl-C ends the answer; at the prompt it ends the conversation.
  const onSignal = (): void => (interrupt === undefined ? lines.close() : interrupt.abort());
  lines.on('SIGINT', onSignal);
  process.on('SIGINT', onSignal);
  lines.setPrompt(`${target.model}> `);
  if (isTerminal) lines.prompt();
  let history: readonly ChatMessage[] = [];
  for await (const line of lines) {
    const text = line.trim();
    if (text === '/exit') break;
    if (text === '/clear') history = [];
    else if (text !== '') {
      interrupt = new AbortController();
      const requested: readonly ChatMessage[] = [...history, { role: 'user', content: text }];
      const outcome = await answer(requested, target, client, io, interrupt.signal);
      interrupt = undefined;
      if (outcome.kind === 'failed') exitCode = 1;
      if (outcome.text !== '')
        history = [...requested, { role: 'assistant' as const, content: outcome.text }].slice(-HISTORY_MESSAGES_MAX);
    }
    if (isTerminal) lines.prompt();
  }
  process.removeListener('SIGINT', onSignal);
  lines.close();
  return exitCode;
}

async function answer(
  messages: readonly ChatMessage[],
  target: ChatTarget,
  client: HttpClient,
  io: Io,
  signal: AbortSignal,
): Promise<ChatOutcome> {
  const printer = createAnswerPrinter(io.stdout);
  const outcome = await callGateway({ client, target, messages, sink: printer, signal });
  printer.end();
  if (outcome.kind === 'failed') io.stderr.write(`${outcome.message}\n`);
  return outcome;
}
