import { z } from 'zod';
import { serializeTime } from '../../../resources/columns.ts';
import { INTERN_MEMORY_BYTES_MAX } from '../../../resources/interns.ts';
import type { InternMemory } from '../../../interns/rows.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { internPath, internsOf } from './intern-shape.ts';

const memorySchema = z
  .strictObject({
    text: z.string().describe('Notes of the intern: they may quote pages and tools.'),
    version: z.int().describe('Counts changes; 0: there was none.'),
    by: z.string().nullable().describe('The step of a run, or the key, that wrote it.'),
    updated_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'InternMemory' });
const answer = z.strictObject({ data: memorySchema });

function serializeMemory({ text, version, by, atMs }: InternMemory): z.output<typeof memorySchema> {
  const isNew = version === 0;
  return { text, version, by: isNew ? null : by, updated_at: isNew ? null : serializeTime(atMs) };
}

export const getInternMemory = defineRoute({
  method: 'GET',
  path: '/interns/{internId}/memory',
  scope: 'any',
  role: 'member',
  operationId: 'getInternMemory',
  tag: 'Interns',
  summary: 'Get what an intern remembers; for its creator and admins',
  params: internPath,
  query: z.strictObject({
    version: z.coerce.number().int().min(1).optional().describe('One of the last 50. Default: the last.'),
  }),
  body: NO_BODY,
  responses: { 200: { description: 'Its notes.', schema: answer } },
  errors: [400, 403, 404],
  async handle({ params, query, ...context }) {
    const { interns, caller } = internsOf(context);
    const found = await interns.memory(caller, params.internId, query.version);
    return { status: 200, body: { data: serializeMemory(found) } };
  },
});

export const setInternMemory = defineRoute({
  method: 'PUT',
  path: '/interns/{internId}/memory',
  scope: 'any',
  role: 'member',
  auditsEveryKey: true,
  operationId: 'setInternMemory',
  tag: 'Interns',
  summary: 'Replace what an intern remembers; runs that begin later read it',
  params: internPath,
  query: NOTHING,
  body: z
    .strictObject({ text: z.string().max(INTERN_MEMORY_BYTES_MAX).describe('At most `memory.max_bytes` in UTF-8.') })
    .meta({ id: 'SetInternMemoryRequest' }),
  responses: { 200: { description: 'Its notes.', schema: answer } },
  errors: [400, 403, 404, 409, 413],
  async handle({ params, body, ...context }) {
    const { interns, caller } = internsOf(context);
    const found = await interns.remember(caller, params.internId, body.text);
    return { status: 200, body: { data: serializeMemory(found) } };
  },
});

const scheduleSchema = z
  .strictObject({
    id: z.string(),
    cron: z.string(),
    tz: z.string(),
    next_at: z.iso.datetime().nullable().describe('Null: it is off, paused, or never comes.'),
    paused_at: z.iso.datetime().nullable().describe('After five failures in a row; a PATCH of `schedules` resumes it.'),
  })
  .meta({ id: 'InternScheduleState' });

export const listInternSchedules = defineRoute({
  method: 'GET',
  path: '/interns/{internId}/schedules',
  scope: 'any',
  role: 'member',
  operationId: 'listInternSchedules',
  tag: 'Interns',
  summary: 'List when the schedules of an intern begin a run next',
  params: internPath,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'All of them.', schema: z.strictObject({ data: z.array(scheduleSchema) }) } },
  errors: [404],
  async handle({ params, ...context }) {
    const { interns, caller } = internsOf(context);
    const rows = await interns.schedules(caller, params.internId);
    const data = rows.map(({ id, cron, tz, dueAtMs, pausedAtMs }) => ({
      id,
      cron,
      tz,
      next_at: dueAtMs === null ? null : serializeTime(dueAtMs),
      paused_at: pausedAtMs === null ? null : serializeTime(pausedAtMs),
    }));
    return { status: 200, body: { data } };
  },
});
