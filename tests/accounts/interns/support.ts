import type { TestContext } from 'node:test';
import { z } from 'zod';
import type { ServerTool } from '../../../src/tools/contract.ts';
import { API_KEY, startGateway, type GatewayOptions, type RunningGateway } from '../../support/gateway.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

/** What a stream has said. */
export interface Heard {
  readonly status: number;
  readonly runId: string;
  readonly text: string;
  readonly finish: string | undefined;
  readonly sessionId: string;
  readonly cost: number;
  /** `arguments` of the question, with the id of its call. */
  readonly question: (Record<string, unknown> & { readonly id: string }) | undefined;
  readonly raw: string;
}

export interface Setting {
  readonly gateway: RunningGateway;
  readonly call: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;
  /** Makes an agent that runs. @returns its id */
  readonly intern: (members?: object) => Promise<string>;
  readonly chat: (id: string, message: string | object, members?: object) => Promise<Heard>;
}

export const INTERNS_ON = 'interns: { enabled: true }\n';

export async function setUp(t: TestContext, { yaml = INTERNS_ON, ...options }: GatewayOptions = {}): Promise<Setting> {
  const gateway = await startGateway({ yaml, ...options });
  t.after(() => gateway.close());
  return settingOf(gateway);
}

export function settingOf(gateway: RunningGateway): Setting {
  let made = 0;
  const call: Setting['call'] = async (method, path, body, headers = {}) => {
    const response = await fetch(gateway.baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${API_KEY}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} };
  };
  return {
    gateway,
    call,
    async intern(members = {}) {
      made++;
      const { body, status, text } = await call('POST', '/interns', {
        name: `Intern ${made}`,
        model: 'sandbox/echo',
        provision: true,
        ...members,
      });
      const row = z.object({ data: z.looseObject({ id: z.string(), status: z.string() }) }).safeParse(body);
      if (status !== 201 || row.data?.data.status !== 'running') throw new Error(`no intern: ${text}`);
      return row.data.data.id;
    },
    async chat(id, message, members = {}) {
      const last = typeof message === 'string' ? { role: 'user', content: message } : message;
      return heard(
        await call('POST', `/interns/${id}/chat/completions`, { stream: true, messages: [last], ...members }),
      );
    },
  };
}

const chunkSchema = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        delta: z.looseObject({
          content: z.string().optional(),
          tool_calls: z
            .array(z.looseObject({ id: z.string(), function: z.looseObject({ arguments: z.string() }) }))
            .optional(),
        }),
        finish_reason: z.string().nullable(),
      }),
    )
    .default([]),
  session_id: z.string().optional(),
  usage: z.looseObject({ cost: z.number() }).optional(),
});

function heard({ status, headers, text: raw }: Answer): Heard {
  const chunks = [...raw.matchAll(/^data: (\{.*\})$/gm)].map(([, json = '']) => chunkSchema.parse(JSON.parse(json)));
  const choices = chunks.flatMap((chunk) => chunk.choices);
  const asked = choices.flatMap(({ delta }) => delta.tool_calls ?? [])[0];
  return {
    status,
    runId: headers.get('x-run-id') ?? '',
    text: choices.map(({ delta }) => delta.content ?? '').join(''),
    finish: choices.findLast((choice) => choice.finish_reason !== null)?.finish_reason ?? undefined,
    sessionId: chunks.at(-1)?.session_id ?? '',
    cost: chunks.at(-1)?.usage?.cost ?? 0,
    question: asked && { ...JSON.parse(asked.function.arguments), id: asked.id },
    raw,
  };
}

/** A tool that changes something, and counts how often it did. */
export function countingTool(result = 'written'): { readonly tool: ServerTool; readonly runs: string[] } {
  const runs: string[] = [];
  const parameters = z.strictObject({});
  const input = z.object({ note: z.string() });
  return {
    runs,
    tool: {
      type: 'service:note',
      summary: 'Writes a note.',
      parameters,
      describe: () => ({ description: 'Writes a note.', arguments: input }),
      open: () => ({
        run(call) {
          runs.push(JSON.stringify(call.input));
          return Promise.resolve({ result: { text: result } });
        },
      }),
    },
  };
}
