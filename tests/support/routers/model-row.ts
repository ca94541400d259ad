import type { TestContext } from 'node:test';
import { startGateway, type GatewayOptions, type RunningGateway } from '../gateway.ts';
import { chatAnswer, json, startUpstream, type Arrived, type Script, type ScriptedUpstream } from '../upstream.ts';

export interface RowModel {
  /** USD per million tokens, prompt and completion alike. */
  readonly price: number;
  readonly coding?: number;
  readonly intelligence?: number;
  /** What it answers. Default: its own name. */
  readonly script?: Script;
}

export interface ModelRow {
  readonly gateway: RunningGateway;
  /** By the model's name. */
  readonly upstreams: Readonly<Record<string, ScriptedUpstream>>;
  /** Chats with what stands for a choice, and gives the answer with its metadata. */
  ask(model: string, more?: object, headers?: Record<string, string>): Promise<RowAnswer>;
  explain(model: string, more?: object): Promise<Record<string, unknown>>;
}

export interface RowAnswer {
  readonly status: number;
  readonly text: string | undefined;
  readonly model: string | undefined;
  readonly message: string | undefined;
  readonly cost: number | undefined;
  readonly metadata: {
    readonly strategy?: string;
    readonly params?: Readonly<Record<string, unknown>>;
    readonly pipeline?: readonly Stage[];
  };
}

export interface Stage {
  readonly type: string;
  readonly name: string;
  readonly summary?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly cost_usd?: number;
}

/** A gateway with a row of models `acme/NAME`, each at an upstream of its own that responds with its name. */
export async function startModelRow(
  t: TestContext,
  models: Readonly<Record<string, RowModel>>,
  { more = '', ...options }: Pick<GatewayOptions, 'random'> & { readonly more?: string } = {},
): Promise<ModelRow> {
  const upstreams: Record<string, ScriptedUpstream> = {};
  for (const [name, { script = json(200, chatAnswer(`I am ${name}`)) }] of Object.entries(models))
    upstreams[name] = await startUpstream(script);
  const gateway = await startGateway({ ...options, yaml: formatYaml(models, upstreams, more) });
  t.after(async () => {
    await gateway.close();
    for (const upstream of Object.values(upstreams)) await upstream.close();
  });
  const bodyOf = (model: string, fields: object): object => ({
    model,
    messages: [{ role: 'user', content: 'Write a function that sorts a list' }],
    ...fields,
  });
  return {
    gateway,
    upstreams,
    async ask(model, fields = {}, headers = {}) {
      const response = await gateway.post('/chat/completions', bodyOf(model, fields), {
        'x-service-metadata': 'enabled',
        ...headers,
      });
      return readAnswer(response.status, await response.json());
    },
    async explain(model, fields = {}) {
      const response = await gateway.post('/route/explain', bodyOf(model, fields));
      return (await response.json()) as Record<string, unknown>;
    },
  };
}

function formatYaml(
  models: Readonly<Record<string, RowModel>>,
  upstreams: Readonly<Record<string, ScriptedUpstream>>,
  more: string,
): string {
  const names = Object.keys(models);
  const providers = names.map(
    (name) =>
      `  ${name}: { adapter: openai-compatible, name: ${name}, base_url: "${upstreams[name]?.baseUrl}", api_key: secret }`,
  );
  const entries = names.map((name) => {
    const { price, coding, intelligence } = models[name] ?? { price: 0 };
    const scores = [
      ...(coding === undefined ? [] : [`coding: ${coding}`]),
      ...(intelligence === undefined ? [] : [`intelligence: ${intelligence}`]),
    ];
    return `  acme/${name}:
    name: ${name}
    scores: { ${scores.join(', ')} }
    endpoints: [{ provider: ${name}, model: ${name}, price: { prompt: ${price}, completion: ${price} } }]`;
  });
  return `providers:\n${providers.join('\n')}\nmodels:\n${entries.join('\n')}\n${more}`;
}

function readAnswer(status: number, body: unknown): RowAnswer {
  const {
    choices,
    model,
    error,
    usage,
    service_metadata: metadata = {},
  } = body as {
    choices?: readonly { readonly message: { readonly content: string } }[];
    model?: string;
    error?: { readonly message: string };
    usage?: { readonly cost?: number };
    service_metadata?: RowAnswer['metadata'];
  };
  return {
    status,
    text: choices?.[0]?.message.content,
    model,
    message: error?.message,
    cost: usage?.cost,
    metadata,
  };
}

/** The stage of a router. */
export function stageOf({ metadata }: RowAnswer, name: string): Stage | undefined {
  return metadata.pipeline?.find((stage) => stage.name === name);
}

/** Responds to judge requests with a verdict, and to others with its own name. */
export function judging(name: string, verdict: () => string): Script {
  return (arrived, response, request) =>
    json(200, chatAnswer(isJudged(arrived) ? verdict() : `I am ${name}`))(arrived, response, request);
}

export function isJudged({ text }: Arrived): boolean {
  return text.includes('opening_task');
}
