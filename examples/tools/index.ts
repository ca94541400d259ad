import OpenAI from 'openai';
import { apiKey, modelOr, url } from '../gateway.ts';

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey });
const TURNS_MAX = 5;

const tools: OpenAI.ChatCompletionTool[] = [
  {
    type: 'function',
    function: {
      name: 'weather',
      description: 'The weather of a city.',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
];
const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Do I need an umbrella in Bergen?' }];

for (let turn = 0; turn < TURNS_MAX; turn++) {
  const { choices } = await client.chat.completions.create({ model: modelOr('sandbox/tools'), messages, tools });
  const message = choices[0]?.message;
  if (message === undefined) throw new Error('no answer');
  messages.push(message);
  if (message.tool_calls === undefined) {
    console.log(message.content);
    break;
  }
  for (const call of message.tool_calls) {
    if (call.type !== 'function') continue;
    console.log(`calls ${call.function.name}(${call.function.arguments})`);
    messages.push({ role: 'tool', tool_call_id: call.id, content: 'Rain all day.' });
  }
}
