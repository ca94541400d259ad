import { z } from 'zod';
import type { Principal } from '../../../accounts/principal.ts';
import { parseBlocks, textOf } from '../../../interns/history.ts';
import type { Interns } from '../../../interns/interns.ts';
import { serializeTime } from '../../../resources/columns.ts';
import { pageSchema, pageShape, parseWindow, serializePage } from '../page.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { internPath, internsOf, runPath, runSchema, serializeRun, serializeStep, stepSchema } from './intern-shape.ts';

const sessionSchema = z
  .strictObject({
    id: z.string(),
    title: z.string().describe('The beginning of its first message; empty: that is no longer kept.'),
    created_at: z.iso.datetime(),
    last_at: z.iso.datetime(),
  })
  .meta({ id: 'InternSession' });

export const listInternSessions = defineRoute({
  method: 'GET',
  path: '/interns/{internId}/sessions',
  scope: 'any',
  role: 'member',
  operationId: 'listInternSessions',
  tag: 'Interns',
  summary: 'List the sessions of an intern that the caller may read, the last used first',
  params: internPath,
  query: z.strictObject(pageShape),
  body: NO_BODY,
  responses: { 200: { description: 'A page of sessions.', schema: pageSchema(sessionSchema) } },
  errors: [400, 404],
  async handle({ params, query, ...context }) {
    const { interns, caller } = internsOf(context);
    const page = await interns.sessions(caller, params.internId, parseWindow(query));
    return {
      status: 200,
      body: serializePage(page, ({ row, title }) => ({
        id: row.id,
        title,
        created_at: serializeTime(row.createdAtMs),
        last_at: serializeTime(row.lastAtMs),
      })),
    };
  },
});

const MESSAGE_RUNS_MAX = 50;
const messageSchema = z
  .strictObject({ role: z.enum(['user', 'assistant']), content: z.string(), run_id: z.string() })
  .meta({ id: 'InternMessage' });

export const listInternMessages = defineRoute({
  method: 'GET',
  path: '/interns/{internId}/sessions/{sessionId}/messages',
  scope: 'any',
  role: 'member',
  operationId: 'listInternMessages',
  tag: 'Interns',
  summary: 'List the messages of the last 50 runs of a session, the oldest first',
  params: z.strictObject({ internId: z.string(), sessionId: z.string() }),
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'Messages.', schema: z.strictObject({ data: z.array(messageSchema) }) } },
  errors: [403, 404],
  async handle({ params, ...context }) {
    const { interns, caller } = internsOf(context);
    const { id } = await interns.openSession(caller, params.internId, params.sessionId);
    const runs = (await interns.runs.ofSession(id, params.sessionId, MESSAGE_RUNS_MAX)).toReversed();
    const data = (await Promise.all(runs.map((run) => messagesOf(interns, id, run.id)))).flat();
    return { status: 200, body: { data } };
  },
});

async function messagesOf(
  { runs }: Interns,
  internId: string,
  runId: string,
): Promise<readonly z.output<typeof messageSchema>[]> {
  const [steps, texts] = await Promise.all([runs.steps(runId), runs.ofRun({ internId, runId })]);
  const prompt = texts.get('prompt');
  const said = steps.flatMap(({ n, kind }) => {
    const message = texts.get(`${n} message`);
    const text = kind === 'model' ? textOf(parseBlocks(texts.get(`${n} output`))) : '';
    return [
      ...(text === '' ? [] : [{ role: 'assistant' as const, content: text, run_id: runId }]),
      ...(message === undefined ? [] : [{ role: 'user' as const, content: message, run_id: runId }]),
    ];
  });
  return [...(prompt === undefined ? [] : [{ role: 'user' as const, content: prompt, run_id: runId }]), ...said];
}

export const listInternRuns = defineRoute({
  method: 'GET',
  path: '/interns/{internId}/runs',
  scope: 'any',
  role: 'member',
  operationId: 'listInternRuns',
  tag: 'Interns',
  summary: 'List the runs of an intern, the newest first',
  params: internPath,
  query: z.strictObject({ ...pageShape, session_id: z.string().optional() }),
  body: NO_BODY,
  responses: { 200: { description: 'A page of runs.', schema: pageSchema(runSchema) } },
  errors: [400, 404],
  async handle({ params, query, ...context }) {
    const { interns, caller } = internsOf(context);
    const { id } = await interns.get(caller, params.internId);
    const page = await interns.runs.list(id, parseWindow(query), query.session_id);
    return { status: 200, body: serializePage(page, serializeRun) };
  },
});

export const getInternRun = defineRoute({
  method: 'GET',
  path: '/interns/{internId}/runs/{runId}',
  scope: 'any',
  role: 'member',
  operationId: 'getInternRun',
  tag: 'Interns',
  summary: 'Get a run',
  params: runPath,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'The run.', schema: z.strictObject({ data: runSchema }) } },
  errors: [404],
  async handle({ params, ...context }) {
    const { interns, caller } = internsOf(context);
    return { status: 200, body: { data: serializeRun(await interns.findRun(caller, params.internId, params.runId)) } };
  },
});

export const listInternSteps = defineRoute({
  method: 'GET',
  path: '/interns/{internId}/runs/{runId}/steps',
  scope: 'any',
  role: 'member',
  operationId: 'listInternSteps',
  tag: 'Interns',
  summary: 'List the calls of the model and of tools that a run has made',
  params: runPath,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'All of them.', schema: z.strictObject({ data: z.array(stepSchema) }) } },
  errors: [403, 404],
  async handle({ params, ...context }) {
    const { interns, caller } = internsOf(context);
    return { status: 200, body: { data: await stepsOf(interns, caller, params) } };
  },
});

async function stepsOf(
  interns: Interns,
  caller: Principal,
  { internId, runId }: z.output<typeof runPath>,
): Promise<readonly z.output<typeof stepSchema>[]> {
  const run = await interns.openRun(caller, internId, runId);
  const [steps, texts] = await Promise.all([
    interns.runs.steps(run.id),
    interns.runs.ofRun({ internId: run.internId, runId: run.id }),
  ]);
  return steps.map((step) =>
    serializeStep(step, { input: texts.get(`${step.n} input`), output: texts.get(`${step.n} output`) }),
  );
}

export const cancelInternRun = defineRoute({
  method: 'POST',
  path: '/interns/{internId}/runs/{runId}/cancel',
  scope: 'any',
  role: 'member',
  auditsEveryKey: true,
  operationId: 'cancelInternRun',
  tag: 'Interns',
  summary: 'Cancel a run that is not over',
  params: runPath,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'The run.', schema: z.strictObject({ data: runSchema }) } },
  errors: [403, 404],
  async handle({ params, ...context }) {
    const { interns, caller } = internsOf(context);
    return { status: 200, body: { data: serializeRun(await interns.cancel(caller, params.internId, params.runId)) } };
  },
});
