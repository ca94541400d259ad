import { apiKey, modelOr, url } from '../gateway.ts';

interface Answer {
  readonly choices: readonly {
    readonly message: {
      readonly content: string;
      readonly reasoning_details?: readonly { readonly function_name?: string; readonly result?: string }[];
    };
  }[];
}

// The gateway lists the server's tools for the model, runs the calls, and gives the results back: one request.
const response = await fetch(`${url}/v1/chat/completions`, {
  method: 'POST',
  headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
  body: JSON.stringify({
    model: modelOr('sandbox/tools'),
    messages: [{ role: 'user', content: 'What do my notes say?' }],
    tools: [{ type: 'service:mcp', parameters: { server: 'notes' } }],
  }),
});
if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
const { choices } = (await response.json()) as Answer;
const message = choices[0]?.message;
for (const call of message?.reasoning_details ?? []) console.log(`called ${call.function_name}: ${call.result}`);
console.log(message?.content);
