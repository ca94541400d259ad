import { z } from 'zod';
import type { ShownInput } from '../../../interns/interns.ts';
import { DECISIONS, INPUT_STATES } from '../../../resources/interns.ts';
import { serializeTime } from '../../../resources/columns.ts';
import { ownerOf, ownerShape } from '../owner.ts';
import { pageSchema, pageShape, parseWindow, serializePage } from '../page.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { internPath, internsOf, runSchema, serializeRun } from './intern-shape.ts';

const TEXT_CHARS_MAX = 20_000;

const inputSchema = z
  .strictObject({
    id: z.string().describe('The id of the call in the stream.'),
    intern_id: z.string(),
    run_id: z.string(),
    session_id: z.string(),
    kind: z.enum(['permission', 'question']),
    tool: z.string(),
    summary: z.string(),
    input: z.string().describe('Arguments as JSON text, as they would be sent. They are data of a model.'),
    state: z.enum(INPUT_STATES),
    decision: z.enum(DECISIONS).nullable(),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
  })
  .meta({ id: 'InternInput' });

function serializeInput({ row, summary, input }: ShownInput): z.output<typeof inputSchema> {
  const { id, internId, runId, sessionId, kind, tool, state, decision } = row;
  return {
    id,
    intern_id: internId,
    run_id: runId,
    session_id: sessionId,
    kind,
    tool,
    summary,
    input,
    state,
    decision,
    created_at: serializeTime(row.createdAtMs),
    expires_at: serializeTime(row.expiresAtMs),
  };
}

const stateShape = { state: z.enum(['pending', 'all']).optional().describe('Default: `pending`.') };

export const listInternInputs = defineRoute({
  method: 'GET',
  path: '/interns/{internId}/inputs',
  scope: 'any',
  role: 'member',
  operationId: 'listInternInputs',
  tag: 'Interns',
  summary: 'List what waits, or waited, for a decision that the caller may make',
  params: internPath,
  query: z.strictObject({ ...pageShape, ...stateShape }),
  body: NO_BODY,
  responses: { 200: { description: 'A page, the newest first.', schema: pageSchema(inputSchema) } },
  errors: [400, 404],
  async handle({ params, query, ...context }) {
    const { interns, caller } = internsOf(context);
    const filter = { internId: params.internId, pendingOnly: query.state !== 'all' };
    const page = await interns.inputs(caller, filter, parseWindow(query));
    return { status: 200, body: serializePage(page, serializeInput) };
  },
});

export const listAllInternInputs = defineRoute({
  method: 'GET',
  path: '/interns/inputs',
  scope: 'any',
  role: 'member',
  operationId: 'listAllInternInputs',
  tag: 'Interns',
  summary: 'List what waits, or waited, for a decision that the caller may make, of all interns of a workspace',
  params: NOTHING,
  query: z.strictObject({ ...pageShape, ...ownerShape, ...stateShape }),
  body: NO_BODY,
  responses: { 200: { description: 'A page, the newest first.', schema: pageSchema(inputSchema) } },
  errors: [400, 404],
  async handle({ query, ...context }) {
    const { interns } = internsOf(context);
    const caller = await ownerOf(query, context);
    const page = await interns.inputs(caller, { pendingOnly: query.state !== 'all' }, parseWindow(query));
    return { status: 200, body: serializePage(page, serializeInput) };
  },
});

export const answerInternInput = defineRoute({
  method: 'POST',
  path: '/interns/{internId}/inputs/{inputId}/answer',
  scope: 'any',
  role: 'member',
  auditsEveryKey: true,
  operationId: 'answerInternInput',
  tag: 'Interns',
  summary: 'Decide what a run waits for; it goes on',
  params: z.strictObject({ internId: z.string(), inputId: z.string() }),
  query: NOTHING,
  body: z
    .strictObject({
      decision: z.enum(DECISIONS).describe('`allow_session`: this very call, in the whole session.'),
      text: z.string().max(TEXT_CHARS_MAX).optional().describe('For the model.'),
    })
    .meta({ id: 'AnswerInternInputRequest' }),
  responses: { 200: { description: 'The run.', schema: z.strictObject({ data: runSchema }) } },
  errors: [400, 403, 404, 409],
  async handle({ params, body, ...context }) {
    const { interns, caller } = internsOf(context);
    const { decision, text = '' } = body;
    const { run } = await interns.answer(caller, params.internId, { inputId: params.inputId, decision, text });
    return { status: 200, body: { data: serializeRun(run) } };
  },
});
