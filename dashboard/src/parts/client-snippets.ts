/** A client program, with what it needs to be pointed at this gateway. */
export interface ClientSnippet {
  readonly name: string;
  /** The operation that it speaks. */
  readonly operation: string;
  readonly note?: string;
  readonly text: (origin: string, key: string, model: string) => string;
}

const CHAT = 'POST /chat/completions';
const MESSAGES = 'POST /messages';
const RESPONSES = 'POST /responses';

/** @source docs/clients.md of this repository */
export const CLIENTS: readonly ClientSnippet[] = [
  {
    name: 'curl',
    operation: CHAT,
    text: (origin, key, model) =>
      `curl -s ${origin}/v1/chat/completions \\\n  -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' \\\n  -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello"}]}'`,
  },
  {
    name: 'OpenAI SDK',
    operation: CHAT,
    text: (origin, key, model) =>
      `import OpenAI from 'openai';\n\nconst client = new OpenAI({ baseURL: '${origin}/v1', apiKey: '${key}' });\nconst completion = await client.chat.completions.create({\n  model: '${model}',\n  messages: [{ role: 'user', content: 'Hello' }],\n});\nconsole.log(completion.choices[0].message.content);`,
  },
  {
    name: 'Anthropic SDK',
    operation: MESSAGES,
    text: (origin, key, model) =>
      `import Anthropic from '@anthropic-ai/sdk';\n\nconst client = new Anthropic({ baseURL: '${origin}', apiKey: '${key}' });\nconst completion = await client.messages.create({\n  model: '${model}',\n  max_tokens: 100,\n  messages: [{ role: 'user', content: 'Hello' }],\n});\nconsole.log(completion.content);`,
  },
  {
    name: 'Claude Code',
    operation: MESSAGES,
    text: (origin, key, model) =>
      `export ANTHROPIC_BASE_URL=${origin}\nexport ANTHROPIC_AUTH_TOKEN=${key}\nexport ANTHROPIC_MODEL=${model}\nclaude`,
  },
  {
    name: 'Codex',
    operation: RESPONSES,
    text: (origin, key, model) =>
      `# ~/.codex/config.toml\nmodel = "${model}"\nmodel_provider = "gateway"\n\n[model_providers.gateway]\nname = "Model Gateway"\nbase_url = "${origin}/v1"\nenv_key = "GATEWAY_API_KEY"\nwire_api = "responses"\n\n# then:\n# export GATEWAY_API_KEY=${key}`,
  },
  {
    name: 'opencode',
    operation: CHAT,
    text: (origin, key, model) =>
      `// opencode.json\n${JSON.stringify({ provider: { gateway: { npm: '@ai-sdk/openai-compatible', name: 'Model Gateway', options: { baseURL: `${origin}/v1`, apiKey: key }, models: { [model]: {} } } } }, undefined, 2)}`,
  },
  {
    name: 'Vercel AI SDK',
    operation: CHAT,
    text: (origin, key, model) =>
      `import { createOpenAICompatible } from '@ai-sdk/openai-compatible';\nimport { generateText } from 'ai';\n\nconst gateway = createOpenAICompatible({ name: 'gateway', baseURL: '${origin}/v1', apiKey: '${key}' });\nconst { text } = await generateText({ model: gateway('${model}'), prompt: 'Hello' });`,
  },
  {
    name: 'LangChain',
    operation: CHAT,
    text: (origin, key, model) =>
      `from langchain_openai import ChatOpenAI\n\nmodel = ChatOpenAI(base_url="${origin}/v1", api_key="${key}", model="${model}")\nprint(model.invoke("Hello").content)`,
  },
  {
    name: 'Cursor',
    operation: CHAT,
    note: 'Cursor calls from servers of its own: this address has to be reachable from the internet.',
    text: (origin, key, model) =>
      `Settings > Models > OpenAI API Key: ${key}\nOverride OpenAI Base URL: ${origin}/v1\nAdd model: ${model}`,
  },
];
