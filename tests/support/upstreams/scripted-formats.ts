import { startGateway, type RunningGateway } from '../gateway.ts';
import {
  chatAnswer,
  chatStream,
  json,
  messagesAnswer,
  messagesStream,
  startUpstream,
  stream,
  type Script,
  type ScriptedUpstream,
} from '../upstream.ts';

export interface ScriptedFormats {
  readonly gateway: RunningGateway;
  /** Behind `acme/chat` (adapter openai-compatible) and `acme/openai` (adapter openai). */
  readonly chat: ScriptedUpstream;
  /** Behind `acme/messages` (adapter messages-compatible) and `acme/anthropic` (adapter anthropic). */
  readonly messages: ScriptedUpstream;
}

/** Sends `text` in the chat format, streamed if the request says so. */
export function speakChat(text: string): Script {
  return (arrived, response, request) =>
    (arrived.body['stream'] === true ? stream(chatStream(text)) : json(200, chatAnswer(text)))(
      arrived,
      response,
      request,
    );
}

/** Sends `text` in the messages format, streamed if the request says so. */
export function speakMessages(text: string): Script {
  return (arrived, response, request) =>
    (arrived.body['stream'] === true ? stream(messagesStream(text)) : json(200, messagesAnswer(text)))(
      arrived,
      response,
      request,
    );
}

/** A gateway in front of one scripted upstream of each format, each behind a plain host's adapter and its vendor's. */
export async function startScriptedFormats(t: { after(close: () => Promise<void>): void }): Promise<ScriptedFormats> {
  const chat = await startUpstream(speakChat('Said in chat.'));
  const messages = await startUpstream(speakMessages('Said in messages.'));
  const policy = 'data_policy: { training: false, retention_days: 0 }';
  const gateway = await startGateway({
    yaml: `
providers:
  chatty: { adapter: openai-compatible, name: Chatty, base_url: "${chat.baseUrl}", api_key: upstream-secret-1, ${policy} }
  chat-vendor: { adapter: openai, name: Chat Vendor, base_url: "${chat.baseUrl}", api_key: upstream-secret-2, ${policy} }
  wordy: { adapter: messages-compatible, name: Wordy, base_url: "${messages.baseUrl}", api_key: upstream-secret-3, ${policy} }
  messages-vendor: { adapter: anthropic, name: Messages Vendor, base_url: "${messages.baseUrl}", api_key: upstream-secret-4, ${policy} }
models:
  acme/chat: { endpoints: [{ provider: chatty, model: one-2026, price: { prompt: 1, completion: 2 } }] }
  acme/openai: { endpoints: [{ provider: chat-vendor, model: gpt-5.2, price: { prompt: 1, completion: 2 } }] }
  acme/messages: { endpoints: [{ provider: wordy, model: one-2026, price: { prompt: 1, completion: 2 } }] }
  acme/anthropic: { endpoints: [{ provider: messages-vendor, model: claude-sonnet-4-6, price: { prompt: 1, completion: 2 } }] }
`,
  });
  t.after(async () => {
    await gateway.close();
    await chat.close();
    await messages.close();
  });
  return { gateway, chat, messages };
}
