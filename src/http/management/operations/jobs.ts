import { z } from 'zod';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { serializeTime } from '../../../resources/columns.ts';
import { filterSchema, pageShape } from '../page.ts';
import { defineGet, defineList } from '../resource-routes.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { JOB_STATES, type ListedJob } from './services.ts';

const tag = 'Operations';
const time = z.iso.datetime();
const state = z.enum(JOB_STATES);

const jobSchema = z
  .strictObject({
    id: z.string(),
    kind: z.string().describe('The area that it is of, such as `notify` or `evaluate`.'),
    subject_id: z.string().describe('What it is about, in its area.'),
    state: state.describe('`waiting`: for something outside. The last three are final.'),
    attempts: z.int().describe('Runs since it stored progress last, the one under way included.'),
    is_stopping: z.boolean().describe('It runs, and is to stop.'),
    error: z.string().nullable().describe('Of the last run that failed.'),
    runs_at: time.nullable().describe('Not before. Null: it does not wait to run.'),
    created_at: time,
    updated_at: time,
    finished_at: time.nullable(),
    expires_at: time.nullable().describe('It is forgotten then. Null: it is not over.'),
  })
  .meta({ id: 'Job' });

function serializeJob(job: ListedJob): z.output<typeof jobSchema> {
  const { id, kind, subjectId, attempt, isCancelled, error, runAfterMs, finishedAtMs, expiresAtMs } = job;
  return {
    id,
    kind,
    subject_id: subjectId,
    state: job.state,
    attempts: attempt,
    is_stopping: isCancelled && job.state === 'running',
    error,
    runs_at: job.state === 'queued' ? serializeTime(runAfterMs) : null,
    created_at: serializeTime(job.createdAtMs),
    updated_at: serializeTime(job.updatedAtMs),
    finished_at: finishedAtMs === null ? null : serializeTime(finishedAtMs),
    expires_at: expiresAtMs === null ? null : serializeTime(expiresAtMs),
  };
}

/** @spec job-8 */
export const listJobs = defineList({
  path: '/jobs',
  operationId: 'listJobs',
  tag,
  summary: 'List work that outlives requests, newest first',
  params: NOTHING,
  query: z.strictObject({
    ...pageShape,
    kind: filterSchema.describe('Only this kind.'),
    state: state.optional().describe('Only this state.'),
    subject_id: filterSchema.describe('Only those about this.'),
  }),
  description: 'A page of jobs. Those that are over stay for a time that their kind chose, mostly 7 days.',
  schema: jobSchema,
  serialize: serializeJob,
  find: ({ operations }, window, { query: { kind, state: wanted, subject_id: subjectId } }) =>
    operations.jobs.list({ kind, state: wanted, subjectId }, window),
});

export const getJob = defineGet({
  path: '/jobs/{id}',
  operationId: 'getJob',
  tag,
  summary: 'One job',
  params: z.strictObject({ id: z.string() }),
  description: 'The job.',
  schema: jobSchema,
  serialize: serializeJob,
  async find({ operations }, { id }) {
    const job = await operations.jobs.find(id);
    if (job === undefined) throw new GatewayError('not_found', 'There is no such job.');
    return job;
  },
});

export const countJobs = defineRoute({
  method: 'GET',
  path: '/jobs/count',
  scope: 'management',
  operationId: 'countJobs',
  tag,
  summary: 'Count jobs by kind and state',
  params: NOTHING,
  query: NOTHING,
  body: NO_BODY,
  responses: {
    200: {
      description: 'Kinds and states that have a job.',
      schema: z.strictObject({ data: z.array(z.strictObject({ kind: z.string(), state, count: z.int() })) }),
    },
  },
  errors: [],
  async handle({ services }) {
    const counts = await services.operations.jobs.count();
    return { status: 200, body: { data: counts.map(({ jobs, ...of }) => ({ ...of, count: jobs })) } };
  },
});
