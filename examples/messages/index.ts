import Anthropic from '@anthropic-ai/sdk';
import { apiKey, modelOr, url } from '../gateway.ts';

const client = new Anthropic({ baseURL: url, apiKey });

const message = await client.messages.create({
  model: modelOr('sandbox/reasoning'),
  max_tokens: 4_000,
  thinking: { type: 'enabled', budget_tokens: 2_000 },
  messages: [{ role: 'user', content: 'Why is the sky blue?' }],
});
for (const block of message.content) {
  if (block.type === 'thinking') console.log(`(thought) ${block.thinking}`);
  if (block.type === 'text') console.log(block.text);
}
