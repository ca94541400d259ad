import { apiKey, url } from '../gateway.ts';

interface Explained {
  readonly routers: readonly {
    readonly router: string;
    readonly task_type?: string;
    readonly chosen: readonly string[];
  }[];
}

const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
const body = {
  model: 'service/auto',
  messages: [{ role: 'user', content: 'Write a Python function that parses a CSV file.' }],
};

// Which model a router would choose, and why, without a call.
const explained = await send<Explained>('/route/explain', body);
for (const { router, task_type: task, chosen } of explained.routers)
  console.log(`${router} takes it for ${task} and chooses ${chosen.join(', ')}`);

// The same request: the response names the model that served it.
const { model } = await send<{ model: string }>('/chat/completions', body);
console.log(`served by ${model}`);

// A suffix chooses among the endpoints of one model: the cheapest, or the fastest.
const { model: cheapest } = await send<{ model: string }>('/chat/completions', { ...body, model: 'acme/large:floor' });
console.log(`the cheapest endpoint of ${cheapest}`);

async function send<Answer>(path: string, request: object): Promise<Answer> {
  const response = await fetch(`${url}/v1${path}`, { method: 'POST', headers, body: JSON.stringify(request) });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as Answer;
}
