import { z } from 'zod';
import { invalid } from '../../../canonical/gateway-error.ts';
import { keyedCall } from '../../../interns/idempotency.ts';
import { INTERN_STATUSES, internSettingsShape, type InternSettings } from '../../../resources/interns.ts';
import { ownerOf, ownerShape } from '../owner.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { answerIntern, internAnswer, internPath, internSchema, internsOf, serializeIntern } from './intern-shape.ts';

const NAME_CHARS_MAX = 128;
const DESCRIPTION_CHARS_MAX = 2_000;
const INSTRUCTIONS_CHARS_MAX = 100_000;
const MODEL_CHARS_MAX = 256;
const STATUSES_MAX = 8;
const LIST_MAX = 500;
const LIST_DEFAULT = 50;

const draftShape = {
  description: z.string().max(DESCRIPTION_CHARS_MAX).nullable().optional(),
  instructions: z.string().max(INSTRUCTIONS_CHARS_MAX).nullable().optional(),
  model: z.string().max(MODEL_CHARS_MAX).nullable().optional().describe('`author/slug`; null: the default.'),
  ...internSettingsShape,
  vault_id: z
    .string()
    .nullable()
    .optional()
    .describe(
      'Another intern of the workspace, whose vault counts after its own: `attached_vault_id` of the response.',
    ),
};
const name = z.string().min(1).max(NAME_CHARS_MAX).describe('Unique among those of its creator in the workspace.');

interface SettingsInput {
  readonly vault_id?: InternSettings['attached_vault_id'] | undefined;
  readonly preset?: InternSettings['preset'] | undefined;
  readonly tools?: InternSettings['tools'] | undefined;
  readonly budget?: InternSettings['budget'] | undefined;
  readonly limits?: InternSettings['limits'] | undefined;
  readonly approval?: InternSettings['approval'] | undefined;
  readonly memory?: InternSettings['memory'] | undefined;
  readonly schedules?: InternSettings['schedules'] | undefined;
}

function settingsOf(input: SettingsInput): Partial<InternSettings> {
  const { preset, vault_id: vaultId, tools, budget, limits, approval, memory, schedules } = input;
  return {
    ...(preset !== undefined && { preset }),
    ...(vaultId !== undefined && { attached_vault_id: vaultId }),
    ...(tools !== undefined && { tools }),
    ...(budget !== undefined && { budget }),
    ...(limits !== undefined && { limits }),
    ...(approval !== undefined && { approval }),
    ...(memory !== undefined && { memory }),
    ...(schedules !== undefined && { schedules }),
  };
}

export const listInterns = defineRoute({
  method: 'GET',
  path: '/interns',
  scope: 'any',
  role: 'member',
  operationId: 'listInterns',
  tag: 'Interns',
  summary: 'List the interns of a workspace, the newest first',
  params: NOTHING,
  query: z.strictObject({
    ...ownerShape,
    limit: z.coerce.number().int().min(1).max(LIST_MAX).optional(),
    status: z.string().optional().describe('Up to 8 statuses, separated by commas.'),
    starting_after: z.string().optional().describe('`next_cursor` of the page before.'),
  }),
  body: NO_BODY,
  responses: {
    200: {
      description: 'A page of interns.',
      schema: z.strictObject({
        data: z.array(internSchema),
        has_more: z.boolean(),
        next_cursor: z.string().optional().describe('Absent on the last page.'),
      }),
    },
  },
  errors: [400, 404],
  async handle({ query, ...context }) {
    const { interns } = internsOf(context);
    const { workspaceId } = await ownerOf(query, context);
    const { limit = LIST_DEFAULT, starting_after: after } = query;
    const statuses = parseStatuses(query.status);
    const rows = await interns.list({ workspaceId, statuses, after, limit: limit + 1 });
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    return {
      status: 200,
      body: { data: page.map(serializeIntern), has_more: last !== undefined, ...(last && { next_cursor: last.id }) },
    };
  },
});

function parseStatuses(text: string | undefined): readonly (typeof INTERN_STATUSES)[number][] {
  if (text === undefined) return [];
  const names = text.split(',');
  if (names.length > STATUSES_MAX) throw invalid('query.status', `has more than ${STATUSES_MAX} statuses`);
  return names.map((each) => {
    const status = INTERN_STATUSES.find((one) => one === each);
    if (status === undefined)
      throw invalid('query.status', `has ${JSON.stringify(each)}, which is none of ${INTERN_STATUSES.join(', ')}`);
    return status;
  });
}

export const createIntern = defineRoute({
  method: 'POST',
  path: '/interns',
  scope: 'any',
  role: 'member',
  auditsEveryKey: true,
  idempotent: true,
  operationId: 'createIntern',
  tag: 'Interns',
  summary: 'Save an agent',
  params: NOTHING,
  query: NOTHING,
  body: z
    .strictObject({ ...draftShape, ...ownerShape, name, provision: z.boolean().optional().describe('Default: false.') })
    .meta({ id: 'CreateInternRequest' }),
  responses: {
    200: { description: 'What this idempotency key made before.', schema: internAnswer },
    201: { description: 'The intern.', schema: internAnswer },
  },
  errors: [400, 403, 404, 409, 413],
  async handle({ body, headers, ...context }) {
    const { interns } = internsOf(context);
    const caller = await ownerOf(body, context);
    const keyed = keyedCall(caller, 'POST /interns', headers['idempotency-key'], body);
    const { provision = false, ...draft } = body;
    const { row, isNew } = await interns.create(caller, { ...draft, settings: settingsOf(body) }, keyed, provision);
    return {
      status: isNew ? 201 : 200,
      body: answerIntern(row),
      subject: `/interns/${row.id}`,
      ...(!isNew && { changesNothing: true }),
    };
  },
});

export const getIntern = defineRoute({
  method: 'GET',
  path: '/interns/{internId}',
  scope: 'any',
  role: 'member',
  operationId: 'getIntern',
  tag: 'Interns',
  summary: 'Get an intern',
  params: internPath,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'The intern.', schema: internAnswer } },
  errors: [404],
  async handle({ params, ...context }) {
    const { interns, caller } = internsOf(context);
    return { status: 200, body: answerIntern(await interns.get(caller, params.internId)) };
  },
});

export const updateIntern = defineRoute({
  method: 'PATCH',
  path: '/interns/{internId}',
  scope: 'any',
  role: 'member',
  auditsEveryKey: true,
  operationId: 'updateIntern',
  tag: 'Interns',
  summary: 'Change an intern; runs that are under way keep what they began with',
  params: internPath,
  query: NOTHING,
  body: z.strictObject({ ...draftShape, name: name.optional() }).meta({ id: 'UpdateInternRequest' }),
  responses: {
    200: { description: 'The intern. A new model is used after the next provisioning.', schema: internAnswer },
  },
  errors: [400, 403, 404, 409, 413],
  async handle({ params, body, ...context }) {
    const { interns, caller } = internsOf(context);
    const { name: newName, description, instructions, model } = body;
    const row = await interns.update(caller, params.internId, {
      ...(newName !== undefined && { name: newName }),
      ...(description !== undefined && { description }),
      ...(instructions !== undefined && { instructions }),
      ...(model !== undefined && { model }),
      settings: settingsOf(body),
    });
    return { status: 200, body: answerIntern(row) };
  },
});

export const deleteIntern = defineRoute({
  method: 'DELETE',
  path: '/interns/{internId}',
  scope: 'any',
  role: 'member',
  auditsEveryKey: true,
  operationId: 'deleteIntern',
  tag: 'Interns',
  summary: 'Cancel the runs of an intern, disable its key, and delete it',
  params: internPath,
  query: NOTHING,
  body: NO_BODY,
  responses: {
    202: {
      description: 'It is gone.',
      schema: z.strictObject({ deleted: z.literal(true), deleting: z.literal(true) }),
    },
  },
  errors: [403, 404, 503],
  async handle({ params, ...context }) {
    const { interns, caller } = internsOf(context);
    await interns.remove(caller, params.internId);
    return { status: 202, body: { deleted: true, deleting: true } };
  },
});

export const provisionIntern = defineRoute({
  method: 'POST',
  path: '/interns/{internId}/provision',
  scope: 'any',
  role: 'member',
  auditsEveryKey: true,
  operationId: 'provisionIntern',
  tag: 'Interns',
  summary: 'Make the key of an intern, check its model and tools, and let it run',
  params: internPath,
  query: NOTHING,
  body: NO_BODY,
  responses: {
    202: {
      description: 'The intern: `running`, or `failed` with `lastFailureMessage`.',
      schema: internAnswer.extend({ provisioning: z.literal(true) }),
    },
  },
  errors: [403, 404, 409],
  async handle({ params, ...context }) {
    const { interns, caller } = internsOf(context);
    const row = await interns.provision(caller, params.internId);
    return { status: 202, body: { ...answerIntern(row), provisioning: true } };
  },
});

export const suspendIntern = defineRoute({
  method: 'POST',
  path: '/interns/{internId}/suspend',
  scope: 'any',
  role: 'member',
  auditsEveryKey: true,
  operationId: 'suspendIntern',
  tag: 'Interns',
  summary: 'Stop an intern: its runs pause after the step that they are at',
  params: internPath,
  query: NOTHING,
  body: NO_BODY,
  responses: {
    200: { description: 'The intern.', schema: internAnswer.extend({ suspended: z.literal(true) }) },
  },
  errors: [403, 404, 409],
  async handle({ params, ...context }) {
    const { interns, caller } = internsOf(context);
    const row = await interns.suspend(caller, params.internId);
    return { status: 200, body: { ...answerIntern(row), suspended: true } };
  },
});
